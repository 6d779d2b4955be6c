/** A month of 1,000 accounts with the events of the benchmarks, prices of every kind, and three drafts. */
import { createLargeBook } from "../../../bench/cli/scenario.ts";
import { feeCards, type Part, planOfMonths, slabs } from "../../book/builder.ts";

/** The prices that drafts change. */
interface Prices {
  /** The rate per code token: up to 700,000, up to 900,000, above. */
  readonly code: readonly [string, string, string];
  /** The rate per chat token, all at the rate of the reached slab: up to 420,000, above. */
  readonly chat: readonly [string, string];
  readonly fee: number;
  /** The minimum and maximum charge for packages of 300 requests. */
  readonly requests: readonly [string, string];
}

const NOW: Prices = {
  code: ["0.0000241", "0.0000193", "0.0000127"],
  chat: ["0.0000317", "0.0000253"],
  fee: 20,
  requests: ["0.8", "1.3"],
};
const DEAR: Prices = { ...NOW, code: ["0.0000301", "0.0000241", "0.0000152"] };

const planDetails = ({ code, chat, fee: monthly, requests: [minimumRate, maximumRate] }: Prices): Part => ({
  usageRateCards: [
    { usageMeterId: "um.code", ...slabs("TIERED", [0, code[0]], [700_000, code[1]], [900_000, code[2]]) },
    { usageMeterId: "um.chat", ...slabs("VOLUME", [0, chat[0]], [420_000, chat[1]]) },
    {
      usageMeterId: "um.requests",
      ratePlan: {
        pricingModel: "TIERED",
        slabs: [{ order: 1, startAfter: 0, priceType: "PACKAGE", slabConfig: { packageSize: 300 } }],
      },
      rateValues: [
        { currency: "USD", slabRates: [{ order: 1, rate: "0.35" }], rateConfig: { minimumRate, maximumRate } },
      ],
    },
  ],
  ...feeCards(monthly, { invoiceTiming: "IN_ADVANCE", enableProration: true }),
  minimumCommitment: { rateValues: [{ currency: "USD", rate: 80 }] },
});

/**
 * The book: every fifth account changes its plan within the month, every seventh has a credit, and half of these
 * credits exceed the amount due.
 */
export function monthBook(): object {
  const book = createLargeBook() as { readonly accounts: readonly object[] };
  return {
    ...book,
    addOns: [{ id: "addon.fee", name: "Platform", type: "FIXED_FEE" }],
    pricePlans: [planOfMonths("pp.tokens", planDetails(NOW)), planOfMonths("pp.dear", planDetails(DEAR))],
    accounts: book.accounts.map((account, n) => ({ ...account, pricePlans: accountPlans(n), credits: creditsOf(n) })),
  };
}

function accountPlans(n: number): readonly Part[] {
  if (n % 5 !== 0) return [{ pricePlanId: n % 3 === 0 ? "pp.dear" : "pp.tokens", effectiveFrom: "2023-12-15" }];
  return [
    { pricePlanId: "pp.tokens", effectiveFrom: "2024-01-01", effectiveUntil: "2024-01-16" },
    { pricePlanId: "pp.dear", effectiveFrom: "2024-01-16" },
  ];
}

function creditsOf(n: number): readonly Part[] {
  if (n % 7 !== 0) return [];
  return [{ id: `credit-${n}`, purpose: "welcome", creditAmount: n % 2 === 0 ? 5 : 500, effectiveFrom: "2024-01-01" }];
}

/** The drafts: one rate for code, other slabs for chat with a lower fee, and higher prices for everything. */
export const MONTH_DRAFTS: readonly object[] = [
  { ...NOW, code: ["0.0000199", "0.0000199", "0.0000199"] } as const,
  { ...NOW, chat: ["0.000029", "0.0000281"], fee: 12, requests: ["0", "1.2"] } as const,
  { ...NOW, code: ["0.00003", "0.00002", "0.00002"], chat: ["0.00004", "0.00003"], fee: 25 } as const,
].map((prices, index) => planOfMonths(`pp.draft-${index}`, planDetails(prices), { status: "DRAFT" }));
