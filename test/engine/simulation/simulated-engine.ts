/** What a simulation happens in: a book, two accounts, a clock, and two engines over a store that fails when told to. */
import type { Engine } from "../../../src/engine/engine.ts";
import { createEngine } from "../../../src/engine/engine.ts";
import type { Store } from "../../../src/store/store.ts";
import { monthlyWithGrace, perUnit } from "../../book/builder.ts";

/** An hour in milliseconds. */
export const HOUR = 3_600_000;
/** A day in milliseconds. */
export const DAY = 24 * HOUR;
/** The clock stands here when accounts are made and get their first plan. */
export const BEGIN = Date.UTC(2024, 2, 1);
/** Days of grace of every plan. */
export const GRACE_DAYS = 2;
/** The accounts. */
export const ACCOUNTS = ["north", "south"] as const;
/** The plans: one with an end to its overage, one without overage that grants in two entries and bills seats ahead. */
export const PLANS = {
  "pp.small": { rate: 0.125, granted: [10], overageMax: 8, seats: "IN_ARREARS" },
  "pp.strict": { rate: 0.25, granted: [20, 5], overageMax: 0, seats: "IN_ADVANCE" },
} as const;

/** The id of a plan. */
export type PlanId = keyof typeof PLANS;

function simulationPlan(id: PlanId): object {
  const { rate, granted, overageMax, seats } = PLANS[id];
  const overage = { featureId: "ft.calls", maxQuantity: overageMax, ...perUnit(rate) };
  return {
    id,
    name: id,
    status: "ACTIVE",
    pricePlanDetails: {
      ...monthlyWithGrace(GRACE_DAYS),
      usageRateCards: [{ usageMeterId: "um.calls", ...perUnit(rate) }],
      fixedFeeRateCards: [
        {
          id: "ao.base",
          invoiceTiming: "IN_ADVANCE",
          enableProration: true,
          rateValues: [{ currency: "USD", rate: 30 }],
        },
      ],
      licenseRateCards: [{ id: "ao.seats", invoiceTiming: seats, enableProration: true, ...perUnit(3) }],
      billingEntitlementRateCards: [
        {
          featureId: "ft.calls",
          featureConfigs: granted.map((featureCreditLimit) => ({ featureCreditLimit, effectiveUntil: "P1M" })),
          ...perUnit(0),
        },
      ],
      entitlementOverageRateCards: overageMax === 0 ? [] : [overage],
      minimumCommitment: { rateValues: [{ currency: "USD", rate: 40 }] },
    },
  };
}

/** Calls that are counted, and summed where they come from the north; each spends what it counts. */
export const BOOK: object = {
  eventSchemas: [{ name: "call", status: "ACTIVE", attributes: [{ name: "count" }], dimensions: [{ name: "region" }] }],
  usageMeters: [
    {
      id: "um.calls",
      name: "calls",
      status: "ACTIVE",
      aggregation: "COUNT",
      eventSchemaName: "call",
      computations: [{ order: 1 }],
    },
    {
      id: "um.north",
      name: "north",
      status: "ACTIVE",
      aggregation: "SUM",
      eventSchemaName: "call",
      computations: [
        { order: 1, matcher: { "==": [{ var: "dimension.region" }, "n"] }, computation: { var: "attribute.count" } },
      ],
    },
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
    pricePlans: [{ pricePlanId: "pp.small", effectiveFrom: "2024-03-01" }],
  })),
};

/** When a store fails: before the work is committed, or after it, when only the answer is lost. */
export type Failure = "before" | "after";

/** A failure that was asked for. */
export class StoreFailure extends Error {}

/** Engines over one store, in a world of their own. */
export interface World {
  /** The engine whose turn it is: two take turns, so that each meets what the other left. */
  readonly next: () => Engine;
  now: number;
  /** The next commit fails once. */
  failing: Failure | undefined;
}

/** How many ids of each prefix were made. */
export type IdCounts = ReadonlyMap<string, number>;

/**
 * Opens a world over a store; the ids that its engines make go on from those that were made.
 *
 * Each prefix is counted alone: a database may decide an ingest again, after an event id that was taken to be free, and
 * only events get other ids by that.
 */
export function openWorld(
  store: Store,
  now = BEGIN,
  idCounts: IdCounts = new Map(),
): World & { readonly idsMade: IdCounts } {
  const idsMade = new Map(idCounts);
  const world = { now, failing: undefined as Failure | undefined, idsMade };
  const failable: Store = {
    ...store,
    async transact(scope, work) {
      let isDone = false;
      const result = await store.transact(scope, async (view) => {
        const decision = await work(view);
        isDone = Object.keys(decision.changes).length > 0;
        if (isDone && world.failing === "before") {
          world.failing = undefined;
          throw new StoreFailure();
        }
        return decision;
      });
      if (isDone && world.failing === "after") {
        world.failing = undefined;
        throw new StoreFailure();
      }
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
