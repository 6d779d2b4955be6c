/** COMMITMENT_IDLE is exact: where it is reported, no whole cycle of the plan has a true-up. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { lintBook, parseBook, preview, type ShortBookInput } from "../../../src/index.ts";
import { linesOfType } from "../../support/invoice-lines.ts";

const cents = fc.integer({ min: 0, max: 4000 }).map((thousandths) => thousandths / 1000);
/** Usually a price, sometimes a value below zero. */
const rate = fc.oneof({ weight: 5, arbitrary: cents }, { weight: 1, arbitrary: cents.map((each) => -each) });
const bounds = fc.option(rate, { nil: undefined });

const drafts = fc.record({
  rounding: fc.constantFrom("HALF_UP" as const, "HALF_EVEN" as const, "DOWN" as const),
  fees: fc.array(fc.tuple(rate, fc.constantFrom("IN_ARREARS" as const, "IN_ADVANCE" as const)), {
    minLength: 1,
    maxLength: 3,
  }),
  usage: fc.option(fc.record({ rate, flatRate: bounds, maximumRate: bounds }), { nil: undefined }),
  grant: fc.option(rate, { nil: undefined }),
  // A little more or less than the sum of the fees.
  off: fc.constantFrom(-1, -0.005, -0.001, 0, 0.001, 0.004, 0.01, 1),
  units: fc.array(fc.integer({ min: -5, max: 50 }), { maxLength: 3 }),
});
type Draft = typeof drafts extends fc.Arbitrary<infer T> ? T : never;

function bookOfDraft({ rounding, fees, usage, grant, off }: Draft): ShortBookInput {
  const total = fees.reduce((sum, [each]) => sum + Math.round(each * 1000), 0) / 1000;
  return {
    organization: { id: "acme", rounding },
    eventSchemas: [{ name: "call", attributes: ["units"] }],
    usageMeters: [{ id: "units", schema: "call", sum: "units" }],
    pricePlans: [
      {
        id: "pp",
        cycle: "MONTHLY",
        fees: fees.map(([rate, timing], index) => ({ id: `fee.${index}`, rate, timing })),
        usage: usage && [
          { meter: "units", tiers: [{ rate: usage.rate, flat: usage.flatRate, maximum: usage.maximumRate }] },
        ],
        credits: grant === undefined ? [] : [{ id: "bonus", amount: 1, rate: grant }],
        commitment: Math.max(0, Math.round((total + off) * 1000) / 1000),
      },
    ],
    accounts: [{ id: "prod", plan: "pp", from: "2026-01-01" }],
  };
}

test("S13.3 no whole cycle of a plan with a reported idle commitment has a true-up, whatever is used", () => {
  let findings = 0;
  const law = fc.property(drafts, (draft) => {
    const book = parseBook(bookOfDraft(draft));
    if (!lintBook(book).some(({ code }) => code === "COMMITMENT_IDLE")) return;
    findings++;
    const events = draft.units.map((value, index) => ({
      schemaName: "call",
      id: `call-${index}`,
      timestamp: "2026-02-10T00:00:00Z",
      accountId: "prod",
      attributes: [{ name: "units", value }],
    }));
    const { invoices } = preview(book, events, { from: "2026-01-01", until: "2026-04-01" });
    expect(invoices.flatMap((invoice) => linesOfType(invoice, "TRUE_UP_AMOUNT"))).toEqual([]);
  });
  fc.assert(law, { numRuns: 600 });
  expect(findings).toBeGreaterThan(50);
});
