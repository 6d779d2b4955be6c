/** COMMITMENT_IDLE is exact: where it is reported, no whole cycle of the plan has a true-up. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { type BookInput, lintBook, parseBook, preview } from "../../../src/index.ts";
import { MONTHLY, sumMeter } from "../../book/builder.ts";
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

function bookOfDraft({ rounding, fees, usage, grant, off }: Draft): BookInput {
  const total = fees.reduce((sum, [each]) => sum + Math.round(each * 1000), 0) / 1000;
  const commitment = Math.max(0, Math.round((total + off) * 1000) / 1000);
  const slabs = [{ order: 1, startAfter: 0, priceType: "PER_UNIT" as const }];
  const { flatRate, maximumRate } = usage ?? {};
  const slabRateConfig = {
    ...(flatRate !== undefined && { flatRate }),
    ...(maximumRate !== undefined && { maximumRate }),
  };
  return {
    organization: { id: "acme", rounding },
    eventSchemas: [{ name: "call", attributes: [{ name: "units" }], status: "ACTIVE" }],
    usageMeters: [sumMeter("um.units", "call", "units")],
    addOns: [
      ...fees.map((_, index) => ({ id: `fee.${index}`, name: `Fee ${index}`, type: "FIXED_FEE" as const })),
      { id: "bonus", name: "Bonus", type: "CREDIT_GRANT" },
    ],
    pricePlans: [
      {
        id: "pp",
        name: "Plan",
        status: "ACTIVE",
        pricePlanDetails: {
          ...MONTHLY,
          fixedFeeRateCards: fees.map(([each, invoiceTiming], index) => {
            return { id: `fee.${index}`, invoiceTiming, rateValues: [{ currency: "USD", rate: each }] };
          }),
          ...(usage && {
            usageRateCards: [
              {
                usageMeterId: "um.units",
                ratePlan: { pricingModel: "TIERED", slabs },
                rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: usage.rate, slabRateConfig }] }],
              },
            ],
          }),
          ...(grant !== undefined && {
            creditGrantRateCards: [
              {
                id: "bonus",
                grantDetails: { expiryType: "NO_EXPIRY" },
                rateDetails: {
                  pricingModel: "TIERED",
                  currencySlabRateDetails: [
                    {
                      currency: "USD",
                      creditAmount: 1,
                      slabDetails: [{ order: 1, startAfter: 0, priceType: "PER_UNIT", rate: grant }],
                    },
                  ],
                },
              },
            ],
          }),
          minimumCommitment: { rateValues: [{ currency: "USD", rate: commitment }] },
        },
      },
    ],
    customers: [{ id: "contoso", name: "Contoso" }],
    accounts: [
      {
        id: "prod",
        name: "Production",
        customerId: "contoso",
        pricePlans: [{ pricePlanId: "pp", effectiveFrom: "2026-01-01" }],
      },
    ],
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
