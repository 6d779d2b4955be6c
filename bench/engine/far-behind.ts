/** How long others wait for the work on an account that is decades of cycles behind. */
import type { BookInput } from "../../src/book/model/book.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import type { Store } from "../../src/store/store.ts";
import type { Bench } from "../bench.ts";
import { withStore } from "../store/postgres.ts";

const LOADED = Date.parse("2024-06-15T00:00:00Z");
const BEHIND = Date.parse("2024-06-17T00:00:00Z");

/** An account on a plan of weeks since a date: 2,967 of them since August 1967. */
function book(effectiveFrom: string): BookInput {
  const pricePlanDetails = {
    supportedCurrencies: ["USD"],
    pricingCycleConfig: { interval: "WEEKLY" as const, startOffset: { dayOffset: "1", monthOffset: "NIL" } },
    fixedFeeRateCards: [{ id: "addon.fee", rateValues: [{ currency: "USD", rate: 30 }] }],
    minimumCommitment: { rateValues: [{ currency: "USD", rate: 37 }] },
  };
  return {
    organization: { id: "acme", name: "Acme", baseCurrency: "USD" },
    addOns: [{ id: "addon.fee", name: "Fee", type: "FIXED_FEE" }],
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

/** The longest time in which a timer had no turn, in milliseconds. */
async function longestWait(work: () => Promise<unknown>): Promise<number> {
  let [longest, last] = [0, performance.now()];
  const beat = (): void => {
    const now = performance.now();
    [longest, last] = [Math.max(longest, now - last), now];
  };
  const timer = setInterval(beat, 1);
  await work();
  beat();
  clearInterval(timer);
  return longest;
}

const WORKS: readonly (readonly [string, (engine: Engine) => Promise<unknown>])[] = [
  ["a list of its invoices", (engine) => engine.invoices.list({ filter: { accountId: "prod" } })],
  ["the bill run", (engine) => engine.finalize()],
  [
    "a plan change after it",
    (engine) => engine.associate("prod", { pricePlanId: "pp.weeks", effectiveFrom: "2024-06-20" }),
  ],
];

async function waits(store: Store, size: "smoke" | "full"): Promise<readonly string[]> {
  let now = LOADED;
  const engine = createEngine({ store, clock: () => now });
  await engine.load(book(size === "full" ? "1967-08-07" : "2024-01-01"));
  now = BEHIND;
  const lines: string[] = [];
  for (const [name, work] of WORKS) {
    lines.push(`${name}: others wait ${(await longestWait(() => work(engine))).toFixed(0)} ms at most`);
  }
  return lines;
}

/** The benches of accounts that are far behind. */
export const farBehindBenches: readonly Bench[] = [
  {
    name: "memory: an account 2,967 weeks behind, others wait below 50 ms wanted",
    run: (size) => waits(memoryStore(), size),
  },
  {
    name: "PostgreSQL: an account 2,967 weeks behind, others wait below 50 ms wanted",
    run: (size) => withStore((store) => waits(store, size)),
  },
];
