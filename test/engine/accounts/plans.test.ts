/** Price plans, associations and migrations through the engine API (S16.1, S16.2, S16.4, S16.5). */
import { describe, expect, test } from "vitest";

import { createEngine, memoryStore, preview, readBook } from "../../../src/index.ts";
import { callBook, callEvent, describeRefusal, loadedAt } from "../support.ts";

test("S16.1 the first plan of an account may begin as far in the past as the engine is configured to allow", async () => {
  const book = { ...callBook([]), accounts: [{ id: "prod" }] };
  const { engine } = await loadedAt("2024-02-29T12:00:00Z", book, { associationYearsMax: 1 });
  const pricePlanId = "team";
  expect(await describeRefusal(engine.associate("prod", { pricePlanId, effectiveFrom: "2023-02-27" }))).toBe(
    "ERR_INPUT_INVALID effectiveFrom: expected 2023-02-28 or later: the first plan of an account can start at most one year in the past, got 2023-02-27",
  );
  expect(await engine.associate("prod", { pricePlanId, effectiveFrom: "2023-02-28" })).toHaveLength(1);
  const none = createEngine({ store: memoryStore(), associationYearsMax: 0 });
  expect(await describeRefusal(none.settings.list())).toMatch(
    "ERR_OPTION_INVALID associationYearsMax: expected a whole",
  );
});

describe("price plans", () => {
  test("S16.4 only a DRAFT can be updated; the next version is a DRAFT, and becomes ACTIVE beside the older one", async () => {
    const { engine } = await loadedAt("2024-03-01", callBook(["prod"]));
    expect(await describeRefusal(engine.pricePlans.update("team", { description: "x" }))).toBe(
      'ERR_REFUSED version 1 of "team" is active; only a draft can be updated',
    );
    const next = await engine.pricePlans.createVersion("team", { description: "dearer" });
    expect([next.item.version, next.item.status, next.item.description]).toEqual([2, "DRAFT", "dearer"]);
    expect(await describeRefusal(engine.pricePlans.createVersion("team"))).toBe(
      'ERR_REFUSED version 2 of "team" is a draft; edit it',
    );
    expect(await describeRefusal(engine.pricePlans.update("team", { mode: "SOON" as never }))).toBe(
      "ERR_INPUT_INVALID mode: expected IMMEDIATE, IMMEDIATE_IGNORE_OVERRIDE, NEXT_CYCLE, NEXT_CYCLE_IGNORE_OVERRIDE",
    );
    await engine.pricePlans.activate("team");
    const versions = [await engine.pricePlans.get("team"), await engine.pricePlans.get("team", 1)];
    expect(versions.map(({ item }) => [item.version, item.status])).toEqual([
      [2, "ACTIVE"],
      [1, "ACTIVE"],
    ]);
    expect((await engine.pricePlans.list({ filter: { status: "ACTIVE" } })).items).toHaveLength(1);
    await engine.pricePlans.archive("team");
    expect(await describeRefusal(engine.pricePlans.update("team", { description: "x" }))).toBe(
      'ERR_REFUSED version 2 of "team" is archived; only a draft can be updated',
    );
  });

  test("an archived plan stays with its accounts, and can't be associated with others", async () => {
    const { engine } = await loadedAt("2024-03-01", callBook(["prod"]));
    await engine.accounts.create({ id: "test", name: "Acme test", customerId: "acme" });
    expect((await engine.pricePlans.archive("team")).item.status).toBe("ARCHIVED");
    expect(await engine.accounts.pricingSchedules("prod")).toHaveLength(1);
    expect(await describeRefusal(engine.associate("test", { pricePlanId: "team", effectiveFrom: "2024-03-01" }))).toBe(
      'ERR_REFUSED the price plan "team" has no active version',
    );
    expect(await describeRefusal(engine.pricePlans.archive("team"))).toBe(
      'ERR_REFUSED the price plan "team" is archived; it must be a draft or active to become archived',
    );
  });
});

test("S18.7 S16.2 an exported account keeps its own rows and factor", async () => {
  const usage = [{ meter: "calls", rateTable: { rows: [{ rate: 10 }] } }];
  const { engine } = await loadedAt("2024-03-01T12:00:00Z", {
    ...callBook(["acme"], { usage }),
    usageMeters: [{ id: "calls", schema: "call", sum: "count", groupBy: ["region"] }],
  });
  const usageRateCards = [{ usageMeterId: "calls", rows: [{ when: { region: "a" }, rate: 3 }], multiply: "0.8" }];
  const association = { pricePlanId: "team", effectiveFrom: "2024-03-01" };
  await engine.associate("acme", { ...association, pricePlanDetailsOverride: { usageRateCards } });
  const events = ["a", "b"].map((region) => ({
    ...callEvent(region, "2024-03-01T10:00:00Z", 1, "acme"),
    dimensions: { region },
  }));
  await engine.ingest(events);
  const exportedBook = readBook((await engine.exportBook()).book);
  const drafts = (await engine.preview({ accountIds: ["acme"] })).invoices.map(({ invoice }) => invoice);
  const totals = [drafts, preview(exportedBook, events).invoices].map((invoices) =>
    invoices.map(({ revenueInfo: { value } }) => value.toFixed()),
  );
  // 1 × 3 + 1 × 10 × 0.8
  expect(totals).toEqual([["11"], ["11"]]);
});
