/** External usage of meters with groups (S17, S18.1). */
import { describe, expect, test } from "vitest";

import { createEngine } from "../../../src/engine/engine.ts";
import { createPreview } from "../../../src/index.ts";
import { usageFromRows } from "../../../src/ledger/external-usage.ts";
import type { UsageRowInput } from "../../../src/metering/usage-rows.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { describeRefusal } from "../support.ts";

const book = {
  eventSchemas: [{ name: "tokens", attributes: ["count"], dimensions: ["model", "kind"] }],
  usageMeters: [
    { id: "tokens", schema: "tokens", sum: "count", groupBy: ["model", "kind"] },
    { id: "all", schema: "tokens", sum: "count" },
  ],
  pricePlans: [{ id: "team", cycle: "MONTHLY", usage: [{ meter: "tokens", rate: "0.01" }] }],
  accounts: [{ id: "acme", plan: "team", from: "2026-09-01" }],
} as const;

const rowOf = (quantity: number | string, model: string | number, kind = "in", date = "2026-09-03"): UsageRowInput => ({
  accountId: "acme",
  meterId: "tokens",
  date,
  quantity,
  group: { kind, model },
});

const RANGE = { accountIds: ["acme"], from: "2026-09-01", until: "2026-11-01" };

describe("rows of external usage", () => {
  test("S17.1 S17.4 add up by group, and late usage is that of the group", async () => {
    let now = Date.parse("2026-09-20T00:00:00Z");
    const rows = [rowOf(5, "nova"), rowOf("0.5", "nova"), rowOf(7, 2), rowOf(1, "2"), rowOf(100, "nova", "out")];
    const source = usageFromRows({ name: "rows", read: () => rows, stamp: async () => String(rows.length) });
    const engine = createEngine({ store: memoryStore(), clock: () => now, usage: { schemas: ["tokens"], source } });
    await engine.load(book);
    const listUsage = async (): Promise<readonly string[]> =>
      (await engine.usage(RANGE)).map(({ group, quantity }) => `${JSON.stringify(group)} ${quantity.toFixed()}`);
    const usage = [
      '{"model":"2","kind":"in"} 8',
      '{"model":"nova","kind":"in"} 5.5',
      '{"model":"nova","kind":"out"} 100',
    ];
    expect(await listUsage()).toEqual(usage);
    now = Date.parse("2026-10-02T00:00:00Z");
    await engine.finalize();
    rows.push(rowOf(2, "nova"), rowOf(3, "mini"));
    expect(await listUsage()).toEqual(usage);
    const [late] = await engine.lateUsage(RANGE);
    expect(late?.cells.map(({ group, late: quantity }) => [group, quantity.toFixed()])).toEqual([
      [{ model: "mini", kind: "in" }, "3"],
      [{ model: "nova", kind: "in" }, "2"],
    ]);
    expect(late?.lateAmount.toFixed()).toBe("0.05");
    const many = Array.from({ length: 1001 }, (_, index) => rowOf(1, `m${index}`, "in", "2026-10-01"));
    rows.push(...many);
    expect(await describeRefusal(engine.usage(RANGE))).toBe(
      'ERR_USAGE_UNAVAILABLE the usage in rows cannot be read: the account "acme" has more than 1000 groups of the meter "tokens" on 2026-10-01',
    );
  });

  test("S17.4 S18.3 S18.5 late usage of a price table costs what its row charges for it", async () => {
    let now = Date.parse("2026-09-20T00:00:00Z");
    const rows = [rowOf(8, "nova")];
    const source = usageFromRows({ name: "rows", read: () => rows, stamp: async () => String(rows.length) });
    const engine = createEngine({ store: memoryStore(), clock: () => now, usage: { schemas: ["tokens"], source } });
    const tiers = [{ upTo: 10, rate: "0.30" }, { rate: "0.20" }];
    const rateTable = { allowance: { quantity: 1 }, rows: [{ when: { model: "nova" }, tiers }] };
    await engine.load({ ...book, pricePlans: [{ ...book.pricePlans[0], usage: [{ meter: "tokens", rateTable }] }] });
    now = Date.parse("2026-10-02T00:00:00Z");
    await engine.finalize();
    rows.push(rowOf(6, "nova", "out", "2026-09-29"), rowOf(3, "mini"));
    const [late] = await engine.lateUsage(RANGE);
    // 7 × 0.30; then 10 × 0.30 and 3 × 0.20. No row prices mini.
    const amounts = [late?.billedAmount, late?.amountNow, late?.lateAmount].map((amount) => amount?.toFixed(2));
    expect(amounts).toEqual(["2.10", "3.60", "1.50"]);
  });

  test.each([
    [{ group: { model: "nova" } }, 'the usage meter "tokens" groups usage by "kind", which the row lacks'],
    [{ group: undefined }, 'the usage meter "tokens" groups usage by "model", which the row lacks'],
    [{ group: { model: "", kind: "in" } }, "group.model: expected a string of 1 to 512 characters"],
    [{ group: { model: "x", kinds: "in" } }, 'the usage meter "tokens" has no groups by "kinds": did you mean "kind"?'],
    [{ meterId: "all" }, 'the usage meter "all" has no groups by "kind"'],
  ])("are rejected with %j", (change, message) => {
    const run = createPreview(book);
    expect(() => {
      run.addUsage({ ...rowOf(1, "nova"), ...change });
    }).toThrow(message);
  });

  test("of more than 1,000 groups on a day are rejected", () => {
    const run = createPreview(book);
    for (let index = 0; index < 1000; index++) run.addUsage(rowOf(1, `m${index}`));
    run.addUsage(rowOf(1, "m7"));
    run.addUsage(rowOf(0, "none"));
    expect(() => {
      run.addUsage(rowOf(1, "other"));
    }).toThrow(
      'the account has usage of 1000 groups of the meter "tokens" on 2026-09-03, the maximum; use dimensions with fewer values',
    );
  });
});
