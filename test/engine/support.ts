/** Engines over memory stores with clocks that tests set. */
import type { PricePlanDetailsInput } from "../../src/book/resources/price-plan.ts";
import { parseInstant } from "../../src/calendar/instant.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { RatebookError } from "../../src/errors.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { type MemoryStore, memoryStore } from "../../src/store/memory/memory.ts";
import { MONTHLY, perUnit } from "../book/builder.ts";

/** An engine whose clock stands still until it is set. */
export interface EngineUnderTest {
  readonly engine: Engine;
  readonly store: MemoryStore;
  /** Sets the clock to a date-time, or to a date, which is its midnight. */
  readonly at: (time: string) => Engine;
}

/** An engine over an empty memory store, or over a given one. */
export function engineAt(time: string, store: MemoryStore = memoryStore()): EngineUnderTest {
  let now = instant(time);
  const engine = createEngine({ store, clock: () => now });
  return {
    engine,
    store,
    at(next) {
      now = instant(next);
      return engine;
    },
  };
}

function instant(time: string): number {
  return parseInstant(time.length === 10 ? `${time}T00:00:00Z` : time);
}

/** The code and message of a rejected operation; fails if it was not rejected. */
export async function describeRefusal(operation: Promise<unknown>): Promise<string> {
  try {
    await operation;
  } catch (error) {
    if (error instanceof RatebookError) return `${error.code} ${error.message}`;
    throw error;
  }
  throw new Error("expected a refusal");
}

/** A schema of calls with a count and a region, ACTIVE. */
export async function activeSchema(engine: Engine, name = "call"): Promise<void> {
  await engine.eventSchemas.create({ name, attributes: [{ name: "count" }], dimensions: [{ name: "region" }] });
  await engine.eventSchemas.activate(name);
}

/** A meter that sums the counts of a schema's events. */
export async function sumMeter(engine: Engine, name = "calls", eventSchemaName = "call"): Promise<string> {
  const { item } = await engine.usageMeters.create({
    name,
    aggregation: "SUM",
    eventSchemaName,
    computations: [{ order: 1, computation: { var: "attribute.count" } }],
  });
  return item.id;
}

/** Monthly from the first, in dollars, with a usage card if a meter is given. */
export function monthly(meterId?: string, rate = 1): PricePlanDetailsInput {
  return {
    ...MONTHLY,
    ...(meterId === undefined ? {} : { usageRateCards: [{ usageMeterId: meterId, ...perUnit(rate) }] }),
  };
}

/** An event of {@link activeSchema}. */
export function callEvent(id: string, timestamp: string, count = 1, accountId = "prod"): EventInput {
  const attributes = [{ name: "count", value: count }];
  return { schemaName: "call", id, accountId, timestamp, attributes, dimensions: { region: "eu" } };
}

/** A customer with an account. */
export async function customerWith(engine: Engine, accountId = "prod", customerId = "acme"): Promise<void> {
  await engine.customers.create({ id: customerId, name: "Acme" });
  await engine.accounts.create({ id: accountId, name: "Acme prod", customerId });
}
