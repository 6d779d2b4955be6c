/** `ratebook export`: writes the contents of a database as files that other commands read. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { createEngine } from "../../../src/index.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { playHistory } from "./account-history.ts";
import { exportLaw } from "./export-law.ts";
import { exportParts } from "./read-export.ts";

test("S17.1 the files of an export give the invoices of the database, whatever happened to its accounts", async () => {
  const counts = { runs: 0, invoices: 0, same: 0, exact: 0 };
  await fc.assert(
    exportLaw(async () => memoryStore(), counts),
    { numRuns: 12 },
  );
  expect(counts.exact).toBeGreaterThan(6);
});

describe("ratebook export", () => {
  test("exports successive plans, overrides, licenses, credits, a group and entries", async () => {
    let now = Date.parse("2024-01-09T00:00:00Z");
    const engine = createEngine({ store: memoryStore(), clock: () => now });
    await playHistory(engine, (instant) => (now = Date.parse(instant)));
    const { parsedBook: book, notes, differences, invoices } = await exportParts({ engine, now: () => now });
    expect({ notes, differences }).toEqual({ notes: [], differences: [] });
    expect(invoices.length).toBeGreaterThan(6);
    const [a, b] = book.accounts;
    expect(a?.pricePlans.map(({ pricePlanId, retainStartOffsets }) => [pricePlanId, retainStartOffsets])).toEqual([
      ["one", undefined],
      ["two", true],
    ]);
    expect(b?.pricePlans[0]?.pricePlanDetailsOverride?.usageRateCards).toHaveLength(1);
    expect([a?.licenseUpdates.length, a?.credits.length, b?.featureCredits.length]).toEqual([1, 1, 1]);
    expect(book.invoiceGroups.map(({ name, accountIds }) => [name, accountIds])).toEqual([["Group", ["b"]]]);
    await engine.close();
  });

  test("reports a removed plan and a voided credit, because a book can't express them", async () => {
    let now = Date.parse("2024-01-09T00:00:00Z");
    const engine = createEngine({ store: memoryStore(), clock: () => now });
    await playHistory(engine, (instant) => (now = Date.parse(instant)));
    const { items } = await engine.credits.list({ filter: { accountId: "b" } });
    await engine.credits.void(items[0]?.credit.id ?? "");
    await engine.dissociate("b", { effectiveFrom: "2024-03-02" });
    const { notes } = await exportParts({ engine, now: () => now });
    expect(notes).toEqual([
      'account "b": its plan was removed on 2024-03-01T09:00:00.000Z, from 2024-03-02; a book cannot record that decision, so in the book the plan ends then',
      expect.stringMatching(/^account "b": the credit ".+" was voided; the book has only the \d+ used before$/),
    ]);
    await engine.close();
  });

  test("reports an invoice that was final before a credit was created, because in a book the credit always existed", async () => {
    let now = Date.parse("2024-01-09T00:00:00Z");
    const engine = createEngine({ store: memoryStore(), clock: () => now });
    await playHistory(engine, (instant) => (now = Date.parse(instant)));
    // Three seats at 10, for 29 of 31 days from 12 January: 28.06, final at once.
    await engine.credits.create([
      { accountId: "a", purpose: "late", creditAmount: 100, priority: 0, effectiveFrom: "2024-01-20" },
    ]);
    const { differences } = await exportParts({ engine, now: () => now });
    expect(differences).toEqual([
      expect.stringMatching(
        /^account "a": \d of its 6 invoices differ when priced from these files, only in credits; the first, AD_HOC 2024-01-10 to 2024-02-10, dated 2024-01-12, one@1: 0 USD from the files, 28.06 USD in the database$/,
      ),
    ]);
    await engine.close();
  });
});
