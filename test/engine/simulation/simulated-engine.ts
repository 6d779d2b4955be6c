/** The world of a simulation: a book, two accounts, a clock, and two engines over a store that fails on request. */
import type { Engine } from "../../../src/engine/engine.ts";
import { createEngine } from "../../../src/engine/engine.ts";
import type { Store } from "../../../src/store/store.ts";
import { perUnit } from "../../book/builder.ts";

/** An hour in milliseconds. */
export const HOUR = 3_600_000;
/** A day in milliseconds. */
export const DAY = 24 * HOUR;
/** The time at which accounts are created and get their first plan. */
export const BEGIN = Date.UTC(2024, 2, 1);
/** Days of grace of every plan. */
export const GRACE_DAYS = 2;
/** The accounts. */
export const ACCOUNTS = ["north", "south"] as const;
/** The plans: one with limited overage, one without overage that grants two entries and bills seats in advance. */
export const PLANS = {
  "pp.small": { rate: 0.125, granted: [10], overageMax: 8, seats: "IN_ARREARS" },
  "pp.strict": { rate: 0.25, granted: [20, 5], overageMax: 0, seats: "IN_ADVANCE" },
} as const;

/** The id of a plan. */
export type PlanId = keyof typeof PLANS;

function simulationPlan(id: PlanId): object {
  const { rate, granted, overageMax, seats } = PLANS[id];
  return {
    id,
    cycle: { interval: "MONTHLY", gracePeriod: GRACE_DAYS },
    usage: [{ meter: "um.calls", rate }],
    fees: [{ id: "ao.base", rate: 30, timing: "IN_ADVANCE", prorate: true }],
    licenses: [{ id: "ao.seats", rate: 3, timing: seats, prorate: true }],
    // Several entitlements of a feature on one card have no short form.
    billingEntitlementRateCards: [
      {
        featureId: "ft.calls",
        featureConfigs: granted.map((featureCreditLimit) => ({ featureCreditLimit, effectiveUntil: "P1M" })),
        ...perUnit(0),
      },
    ],
    overages: overageMax === 0 ? [] : [{ feature: "ft.calls", rate, max: overageMax }],
    commitment: 40,
  };
}

/** Calls that are counted, and summed if they come from the north; each consumes what it counts. */
export const BOOK: object = {
  eventSchemas: [{ name: "call", attributes: ["count"], dimensions: ["region"] }],
  usageMeters: [
    { id: "um.calls", name: "calls", schema: "call", count: true },
    { id: "um.north", name: "north", schema: "call", sum: "count", where: { region: "n" } },
  ],
  features: [{ id: "ft.calls", name: "Calls", schemaAssociations: [{ schemaName: "call", attributeName: "count" }] }],
  addOns: [
    { id: "ao.base", name: "Base", type: "FIXED_FEE" },
    { id: "ao.seats", name: "Seats", type: "LICENSE" },
  ],
  pricePlans: [simulationPlan("pp.small"), simulationPlan("pp.strict")],
  customers: [{ id: "acme", name: "Acme" }],
  accounts: ACCOUNTS.map((id) => ({
    id,
    name: `Acme ${id}`,
    customerId: "acme",
    plan: "pp.small",
    from: "2024-03-01",
  })),
};

/** When a store fails: before the work is committed, or after it, when only the answer is lost. */
export type Failure = "before" | "after";

/** A requested failure. */
export class StoreFailure extends Error {}

/** Engines over one store in a separate world. */
export interface World {
  /** The current engine: two alternate, so that each meets the state that the other left. */
  readonly next: () => Engine;
  now: number;
  /** Makes the next commit fail once. */
  failing: Failure | undefined;
}

/** The number of generated ids of each prefix. */
export type IdCounts = ReadonlyMap<string, number>;

/**
 * Opens a world over a store; its engines continue to number ids after those already generated. Each prefix is counted
 * separately: a database may decide an ingest again after a conflict of event ids, and only events then get other ids.
 */
export function openWorld(
  store: Store,
  now = BEGIN,
  idCounts: IdCounts = new Map(),
): World & { readonly idsMade: IdCounts } {
  const idsMade = new Map(idCounts);
  const world = { now, failing: undefined as Failure | undefined, idsMade };
  const failIf = (isRequested: boolean): void => {
    if (!isRequested) return;
    world.failing = undefined;
    throw new StoreFailure();
  };
  const failable: Store = {
    ...store,
    async transact(scope, work) {
      let isDone = false;
      const result = await store.transact(scope, async (view) => {
        const decision = await work(view);
        isDone = Object.keys(decision.changes).length > 0;
        failIf(isDone && world.failing === "before");
        return decision;
      });
      failIf(isDone && world.failing === "after");
      return result;
    },
  };
  const createId = (prefix: string): string => {
    const count = (idsMade.get(prefix) ?? 0) + 1;
    idsMade.set(prefix, count);
    return `${prefix}.${String(count).padStart(8, "0")}`;
  };
  const openEngine = (): Engine => createEngine({ store: failable, clock: () => world.now, ids: createId });
  const [one, other] = [openEngine(), openEngine()];
  let turns = 0;
  return Object.assign(world, { next: () => ((turns += 1) % 2 === 1 ? one : other) });
}

/** A date-time of an instant. */
export function formatTime(instant: number): string {
  return new Date(instant).toISOString();
}

/** The date of an instant. */
export function formatDay(instant: number): string {
  return formatTime(instant).slice(0, 10);
}
