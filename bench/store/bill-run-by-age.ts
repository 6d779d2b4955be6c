/** The time of a monthly bill run by the age of its accounts, which determines their number of invoices. */
import type { BookInput } from "../../src/book/resources/book.ts";
import { createEngine } from "../../src/engine/engine.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import type { Store } from "../../src/store/store.ts";
import type { Bench } from "../bench.ts";
import { withStore } from "./postgres.ts";

const START = Date.UTC(2014, 0, 1);

function createBookOfFees(accounts: number): BookInput {
  const pricePlans = [{ pricePlanId: "pp.fee", effectiveFrom: "2014-01-01", decidedAt: "2014-01-01T00:00:00Z" }];
  return {
    organization: { id: "acme", name: "Acme", baseCurrency: "USD" },
    addOns: [{ id: "addon.fee", name: "Fee", type: "FIXED_FEE" }],
    pricePlans: [
      {
        id: "pp.fee",
        name: "Fee",
        status: "ACTIVE",
        version: 1,
        pricePlanDetails: {
          supportedCurrencies: ["USD"],
          pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1", monthOffset: "NIL" } },
          fixedFeeRateCards: [{ id: "addon.fee", rateValues: [{ currency: "USD", rate: 30 }] }],
        },
      },
    ],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: Array.from({ length: accounts }, (_, place) => ({
      id: `a${place}`,
      name: "Account",
      customerId: "acme",
      pricePlans,
    })),
  };
}

/** Milliseconds per account in the bill run after a number of months. */
async function measureAges(store: Store, size: "smoke" | "full"): Promise<readonly string[]> {
  const accounts = size === "full" ? 300 : 10;
  let now = START;
  const engine = createEngine({ store, clock: () => now });
  await engine.load(createBookOfFees(accounts));
  const times: number[] = [];
  for (const months of [1, 12, 120]) {
    now = Date.UTC(2014, months, 2);
    await engine.finalize();
    now = Date.UTC(2014, months + 1, 2);
    const start = performance.now();
    await engine.finalize();
    times.push((performance.now() - start) / accounts);
  }
  const [first = 1] = times;
  return [1, 12, 120].map((months, place) => {
    const time = times[place] ?? first;
    return `${months} months old: ${time.toFixed(2)} ms per account, ${(time / first).toFixed(2)} times the first`;
  });
}

export const billAgeBenches: readonly Bench[] = [
  {
    name: "memory: a bill run by the age of its accounts, target: at most 1.5 times the time of new ones",
    run: (size) => measureAges(memoryStore(), size),
  },
  {
    name: "PostgreSQL: a bill run by the age of its accounts, target: at most 1.5 times the time of new ones",
    run: (size) => withStore((store) => measureAges(store, size)),
  },
];
