/** The price of late usage is reported before credits, including those of the cycle's own invoices (S17.4). */
import { expect, test } from "vitest";

import { createEngine } from "../../../src/engine/engine.ts";
import { usageFromRows } from "../../../src/ledger/external-usage.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { accountOn, calls, feeCards, planOfMonths, sumMeter } from "../../book/builder.ts";

test("S13.4 S17.4 an invoice in advance below zero, which pays for the usage, does not change late usage", async () => {
  let now = Date.parse("2024-01-01T00:00:00Z");
  const rows = [{ accountId: "prod", meterId: "um.calls", date: "2024-01-10", quantity: 1 }];
  const source = usageFromRows({ name: "rows", read: () => rows, stamp: async () => String(rows.length) });
  const engine = createEngine({ store: memoryStore(), clock: () => now, usage: { schemas: ["call"], source } });
  const discount = feeCards(-5, { invoiceTiming: "IN_ADVANCE" });
  await engine.load({
    eventSchemas: [{ name: "call", status: "ACTIVE", attributes: [{ name: "count" }] }],
    usageMeters: [sumMeter("um.calls", "call", "count")],
    addOns: [{ id: "addon.fee", name: "Discount", type: "FIXED_FEE" }],
    pricePlans: [planOfMonths("discounted", { ...calls(2), ...discount })],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [accountOn("prod", "acme", "discounted", "2024-01-01")],
  });
  now = Date.parse("2024-02-02T00:00:00Z");
  await engine.finalize();
  rows.push({ accountId: "prod", meterId: "um.calls", date: "2024-01-11", quantity: 3 });
  const late = await engine.lateUsage({ accountIds: ["prod"], from: "2024-01-01", until: "2024-02-01" });
  // One call at 2, which the discount paid; four calls are 8. After the discount of 5 it would be 0 and 3.
  expect(
    late.map(({ billedAmount, amountNow, lateAmount }) => [billedAmount, amountNow, lateAmount].map(String)),
  ).toEqual([["2", "8", "6"]]);
});
