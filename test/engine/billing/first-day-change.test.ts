/** A plan that changes to another version on the first day of a month: the month is charged once. */
import { expect, test } from "vitest";

import type { PricePlanDetailsInput } from "../../../src/book/resources/price-plan.ts";
import { parseBook, preview } from "../../../src/index.ts";
import type { Invoice } from "../../../src/invoicing/invoice.ts";
import { type Part, perUnit, planOfMonths } from "../../book/builder.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { engineAt } from "../support.ts";

interface Terms {
  readonly invoiceTiming: "IN_ARREARS" | "IN_ADVANCE";
  readonly enableProration: boolean;
  readonly pricingCycleConfig?: object;
}

const WHOLE_AFTER: Terms = { invoiceTiming: "IN_ARREARS", enableProration: false };
const WHOLE_BEFORE: Terms = { invoiceTiming: "IN_ADVANCE", enableProration: false };
const DAYS_AFTER: Terms = { invoiceTiming: "IN_ARREARS", enableProration: true };
const DAYS_BEFORE: Terms = { invoiceTiming: "IN_ADVANCE", enableProration: true };
const ALL = [WHOLE_AFTER, WHOLE_BEFORE, DAYS_AFTER, DAYS_BEFORE];
const describeTerms = ({ invoiceTiming, enableProration }: Terms): string =>
  `${invoiceTiming} ${enableProration ? "by days" : "whole"}`;

/** Cards of each kind that add up to 280.00 a month. */
const CARDS = {
  fee: (terms: Terms): Part => ({
    fixedFeeRateCards: [{ id: "ao.fee", ...terms, rateValues: [{ currency: "USD", rate: 280 }] }],
  }),
  seats: (terms: Terms): Part => ({
    licenseRateCards: [{ id: "ao.seats", ...terms, proratedRefundMode: "CREDITS", ...perUnit(28) }],
  }),
  entitlement: ({ invoiceTiming }: Terms): Part => ({
    billingEntitlementRateCards: [
      {
        featureId: "ft",
        invoiceTiming,
        featureConfigs: [{ featureCreditLimit: 10, effectiveUntil: "P1M" }],
        ...perUnit(28),
      },
    ],
  }),
  "credit grant": ({ invoiceTiming }: Terms): Part => ({
    creditGrantRateCards: [
      {
        id: "ao.grant",
        invoiceTiming,
        rateDetails: {
          pricingModel: "TIERED",
          currencySlabRateDetails: [
            {
              currency: "USD",
              creditAmount: 10,
              slabDetails: [{ order: 1, startAfter: 0, priceType: "PER_UNIT", rate: 28 }],
            },
          ],
        },
        grantDetails: { expiryType: "NO_EXPIRY" },
      },
    ],
  }),
} as const;
type Kind = keyof typeof CARDS;

/** An account with 10 seats that is on the first version from January on. */
const seatBook = (kind: Kind, versions: readonly Terms[], pricePlans: readonly Part[]): Part => ({
  features: [{ id: "ft", name: "Tokens" }],
  addOns: [
    { id: "ao.fee", name: "Fee", type: "FIXED_FEE" },
    { id: "ao.seats", name: "Seats", type: "LICENSE" },
    { id: "ao.grant", name: "Grant", type: "CREDIT_GRANT" },
  ],
  pricePlans: versions.map(({ invoiceTiming, enableProration, ...cycles }, at) => {
    const cards = CARDS[kind]({ invoiceTiming, enableProration }) as PricePlanDetailsInput;
    return planOfMonths("pp", { ...cards, ...cycles }, { version: at + 1 });
  }),
  customers: [{ id: "acme", name: "Acme" }],
  accounts: [
    {
      id: "a",
      name: "Acme a",
      customerId: "acme",
      pricePlans,
      licenseUpdates: [{ licenseId: "ao.seats", effectiveFrom: "2023-01-01", quantity: 10 }],
    },
  ],
});

const FIRST = { pricePlanId: "pp", version: 1, effectiveFrom: "2023-01-01" };

/** The total of February's invoices before credits. */
const februaryOf = (invoices: readonly Invoice[]): number =>
  invoices
    .filter(({ startDate }) => startDate.startsWith("2023-02"))
    .flatMap((invoice) => linesOfType(invoice, "GROSS_AMOUNT"))
    .reduce((sum, { value }) => sum + Number(value.toFixed()), 0);

/** The charges of an engine for February less refunds, if the plan changes on these mornings. */
async function netFebruary(
  kind: Kind,
  versions: readonly Terms[],
  mornings: readonly (number | null)[] = [2],
  seats?: number,
): Promise<number> {
  const { engine, at } = engineAt("2023-01-01");
  await engine.load(seatBook(kind, versions, [FIRST]));
  for (const [hour, version] of mornings.entries()) {
    at(`2023-02-01T0${hour + 6}:00:00Z`);
    const effectiveFrom = "2023-02-01";
    if (version === null) await engine.dissociate("a", { effectiveFrom });
    else await engine.associate("a", { pricePlanId: "pp", version, effectiveFrom });
    const update = { licenseId: "ao.seats", updateType: "ABSOLUTE", quantity: seats ?? 10 } as const;
    if (seats !== undefined) await at(`2023-02-01T0${hour + 6}:30:00Z`).licenses.update("a", update);
  }
  at("2023-02-28T12:00:00Z");
  const { items } = await engine.invoices.list({ page: { limit: 100 } });
  const credits = await engine.credits.list({ page: { limit: 100 } });
  const back = credits.items
    .filter(({ credit }) => credit.purpose.startsWith("refund"))
    .reduce((sum, { credit }) => sum + Number(credit.creditAmount.toFixed()), 0);
  return februaryOf(items.map(({ invoice }) => invoice)) - back;
}

const kinds = Object.keys(CARDS) as Kind[];
/** Entitlements and credit grants are never prorated. */
const termsOf = (kind: Kind): readonly Terms[] =>
  kind === "fee" || kind === "seats" ? ALL : [WHOLE_AFTER, WHOLE_BEFORE];
const changes = kinds.flatMap((kind) =>
  termsOf(kind).flatMap((before) =>
    termsOf(kind).map((after) => ({
      kind,
      before,
      after,
      change: `${describeTerms(before)} to ${describeTerms(after)}`,
    })),
  ),
);
test.each(changes)(
  "S9.1 a $kind of 280.00 that changes from $change is charged once",
  async ({ kind, before, after }) => {
    expect(await netFebruary(kind, [before, after])).toBe(280);
  },
);

test.each(kinds)("S9.1 a %s is charged once if the plan was removed in between", async (kind) => {
  expect(await netFebruary(kind, [WHOLE_BEFORE, WHOLE_AFTER], [null, 2])).toBe(280);
  expect(await netFebruary(kind, [WHOLE_AFTER, WHOLE_BEFORE], [null, 2])).toBe(280);
});

test.each(kinds)("S9.1 a %s charged by a version that was in force for a few hours is charged once", async (kind) => {
  expect(await netFebruary(kind, [WHOLE_AFTER, WHOLE_BEFORE, WHOLE_AFTER], [2, 3])).toBe(280);
  expect(await netFebruary(kind, [DAYS_BEFORE, WHOLE_BEFORE, DAYS_AFTER], [2, 3])).toBe(280);
});

test.each(kinds)("S9.1 a %s of a version with other cycles is charged for its own periods too", async (kind) => {
  const quarters = { interval: "QUARTERLY", startOffset: { dayOffset: "1", monthOffset: "2" } };
  for (const terms of termsOf(kind)) {
    const after = { ...terms, pricingCycleConfig: quarters };
    // 280.00 for February, whole, and 280.00 for February to April.
    expect(await netFebruary(kind, [WHOLE_BEFORE, after])).toBe(560);
    // Back on monthly cycles, February is already paid; with proration, the quarter is refunded.
    const quarter = terms.enableProration || terms.invoiceTiming === "IN_ARREARS" ? 0 : 280;
    expect(await netFebruary(kind, [WHOLE_BEFORE, after, WHOLE_AFTER], [2, 3])).toBe(280 + quarter);
  }
});

test("S10.3 seats are charged once if their number grew between two versions of the same morning", async () => {
  // 12 seats at 28.00, whichever version charged the first ten and whichever the other two.
  expect(await netFebruary("seats", [WHOLE_BEFORE, DAYS_BEFORE, WHOLE_AFTER], [2, 3], 12)).toBe(336);
  expect(await netFebruary("seats", [DAYS_BEFORE, WHOLE_BEFORE, DAYS_AFTER], [2, 3], 12)).toBe(336);
});

test.each(kinds)("S13.5 a preview of a book with such a change charges a %s once", (kind) => {
  for (const versions of [
    [WHOLE_AFTER, WHOLE_BEFORE],
    [WHOLE_BEFORE, WHOLE_AFTER],
  ]) {
    const second = { pricePlanId: "pp", version: 2, effectiveFrom: "2023-02-01", decidedAt: "2023-02-01T09:00:00Z" };
    const book = parseBook(seatBook(kind, versions, [{ ...FIRST, decidedAt: "2023-01-01" }, second]));
    const { invoices } = preview(book, [], { from: "2023-02-01", until: "2023-03-01" });
    expect(februaryOf(invoices)).toBe(280);
  }
});
