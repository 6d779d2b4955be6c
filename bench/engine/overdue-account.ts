/** How long other work waits for an account with decades of unprocessed cycles. */
import type { BookInput } from "../../src/book/resources/book.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import type { Store } from "../../src/store/store.ts";
import { type Bench, measureLongestDelay } from "../bench.ts";
import { withStore } from "../store/postgres.ts";

const LOADED = Date.parse("2024-06-15T00:00:00Z");
const NOW = Date.parse("2024-06-17T00:00:00Z");

/** A weekly credit grant, and a weekly grant of feature units. */
const GRANTS = {
  creditGrantRateCards: [
    {
      id: "addon.grant",
      rateDetails: {
        pricingModel: "TIERED" as const,
        currencySlabRateDetails: [
          { currency: "USD", creditAmount: 30, slabDetails: [{ startAfter: 0, priceType: "FLAT" as const, rate: 20 }] },
        ],
      },
      grantDetails: { priority: 1, expiryType: "NO_EXPIRY" as const },
    },
  ],
  billingEntitlementRateCards: [
    {
      featureId: "feature.tokens",
      featureConfigs: [{ featureCreditLimit: 100, effectiveUntil: "P7D" }],
      ratePlan: { pricingModel: "TIERED" as const, slabs: [{ order: 1, startAfter: 0, priceType: "FLAT" as const }] },
      rateValues: [{ currency: "USD", slabRates: [{ order: 1, rate: 5 }] }],
    },
  ],
};

/** A hundred weekly fees in advance, which are rated only for the invoices that are computed. */
const ADVANCE_FEES = {
  fixedFeeRateCards: Array.from({ length: 100 }, (_, index) => ({
    id: `addon.fee.${index}`,
    invoiceTiming: "IN_ADVANCE" as const,
    rateValues: [{ currency: "USD", rate: 30 }],
  })),
};

type Cards = Partial<typeof GRANTS & typeof ADVANCE_FEES>;

/** An account on a weekly plan since a date: 2,967 weeks since August 1967. */
function createWeeklyBook(effectiveFrom: string, cards: Cards): BookInput {
  const pricePlanDetails = {
    supportedCurrencies: ["USD"],
    pricingCycleConfig: { interval: "WEEKLY" as const, startOffset: { dayOffset: "1", monthOffset: "NIL" } },
    fixedFeeRateCards: [{ id: "addon.fee", rateValues: [{ currency: "USD", rate: 30 }] }],
    minimumCommitment: { rateValues: [{ currency: "USD", rate: 37 }] },
    ...cards,
  };
  return {
    organization: { id: "acme", name: "Acme", baseCurrency: "USD" },
    features: [{ id: "feature.tokens", name: "Tokens" }],
    addOns: [
      { id: "addon.fee", name: "Fee", type: "FIXED_FEE" },
      { id: "addon.grant", name: "Grant", type: "CREDIT_GRANT" },
      ...ADVANCE_FEES.fixedFeeRateCards.map(({ id }) => ({ id, name: id, type: "FIXED_FEE" as const })),
    ],
    pricePlans: [{ id: "pp.weeks", name: "Weeks", status: "ACTIVE", version: 1, pricePlanDetails }],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [
      {
        id: "prod",
        name: "Production",
        customerId: "acme",
        pricePlans: [{ pricePlanId: "pp.weeks", effectiveFrom, decidedAt: "2024-06-15T00:00:00Z" }],
      },
    ],
  };
}

const OPERATIONS: readonly (readonly [string, (engine: Engine) => Promise<unknown>])[] = [
  ["a list of its invoices", (engine) => engine.invoices.list({ filter: { accountId: "prod" } })],
  ["the bill run", (engine) => engine.finalize()],
  [
    "a plan change after it",
    (engine) => engine.associate("prod", { pricePlanId: "pp.weeks", effectiveFrom: "2024-06-20" }),
  ],
];

async function measureWaits(store: Store, size: "smoke" | "full", cards: Cards): Promise<readonly string[]> {
  let now = LOADED;
  const engine = createEngine({ store, clock: () => now });
  await engine.load(createWeeklyBook(size === "full" ? "1967-08-07" : "2024-01-01", cards));
  now = NOW;
  const lines: string[] = [];
  for (const [name, work] of OPERATIONS) {
    const [start, longest] = [performance.now(), await measureLongestDelay(() => work(engine))];
    const elapsedMs = performance.now() - start;
    lines.push(
      `${name}: others wait ${longest.clock.toFixed(0)} ms at most (${longest.processor.toFixed(0)} ms of processor time), of ${elapsedMs.toFixed(0)} ms`,
    );
  }
  return lines;
}

export const overdueAccountBenches: readonly Bench[] = [
  { plan: "2,967 weeks behind", cards: {} },
  { plan: "2,967 weeks behind, with grants", cards: GRANTS },
  { plan: "2,967 weeks behind, with 100 advance fees", cards: ADVANCE_FEES },
].flatMap(
  ({ plan, cards }) =>
    [
      {
        name: `memory: an account ${plan}, target: others wait less than 50 ms`,
        run: (size) => measureWaits(memoryStore(), size, cards),
      },
      {
        name: `PostgreSQL: an account ${plan}, target: others wait less than 50 ms`,
        run: (size) => withStore((store) => measureWaits(store, size, cards)),
      },
    ] satisfies readonly Bench[],
);
