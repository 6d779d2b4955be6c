/** Engines over memory stores with clocks that tests set. */
import { expect } from "vitest";

import type { BookCache } from "../../src/book/reading/book-cache.ts";
import type { BookInput, ShortBookInput } from "../../src/book/resources/book.ts";
import type { PricePlanDetailsInput } from "../../src/book/resources/price-plan.ts";
import type { ShortAccountInput } from "../../src/book/resources/short-items.ts";
import type { ShortPlanInput } from "../../src/book/resources/short-plan.ts";
import { parseInstant } from "../../src/calendar/instant.ts";
import { createConfigurationSource } from "../../src/engine/configuration.ts";
import { createEngine, type Engine, type EngineOptions } from "../../src/engine/engine.ts";
import { createEngineStore } from "../../src/engine/external-usage.ts";
import { createIds } from "../../src/engine/ids.ts";
import type { EngineContext } from "../../src/engine/methods.ts";
import type { Page, PageOptions } from "../../src/engine/pages.ts";
import { RatebookError } from "../../src/errors.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { type MemoryStore, memoryStore } from "../../src/store/memory/memory.ts";
import type { Store } from "../../src/store/store.ts";
import { MONTHLY, perUnit } from "../book/builder.ts";

/** An engine whose clock stands still until it is set. */
export interface ClockedEngine {
  readonly engine: Engine;
  /** Sets the clock to a date-time, or to a date, which is its midnight. */
  readonly at: (time: string) => Engine;
}

function clockedEngine(time: string, options: EngineOptions): ClockedEngine {
  let now = instant(time);
  const engine = createEngine({ clock: () => now, ...options });
  return {
    engine,
    at(next) {
      now = instant(next);
      return engine;
    },
  };
}

/** An engine over a memory store. */
export interface EngineUnderTest extends ClockedEngine {
  readonly store: MemoryStore;
}

/** An engine over an empty memory store, or over a given one. */
export function engineAt(
  time: string,
  store: MemoryStore = memoryStore(),
  options: Omit<EngineOptions, "store" | "clock"> = {},
): EngineUnderTest {
  return { store, ...clockedEngine(time, { store, ...options }) };
}

/** An engine that loads a book at a time, by default over an empty memory store. */
export async function loadedAt(
  time: string,
  book: BookInput | ShortBookInput,
  options: Partial<EngineOptions> = {},
): Promise<ClockedEngine> {
  const clocked = clockedEngine(time, { store: memoryStore(), ...options });
  await clocked.engine.load(book);
  return clocked;
}

/** What the modules of an engine share, for tests that call them or count their work. */
export function contextOver(store: Store, clock: () => number, bookCache?: BookCache): EngineContext {
  const sources = { external: [], resumeIngest: [] };
  return {
    store: createEngineStore(store, { usage: undefined, sources, clock }),
    clock,
    ids: createIds(clock),
    configuration: createConfigurationSource({}, sources, bookCache),
    onSkipped: undefined,
    keepEventsMs: undefined,
    aliasHints: new Map(),
    ingest: async () => [],
  };
}

/** A book of accounts that pay for calls. */
export interface CallBook extends ShortBookInput {
  readonly pricePlans: readonly ShortPlanInput[];
  readonly accounts: readonly ShortAccountInput[];
}

/** Accounts of a customer that pay 1.00 for each call in months from 1 March, unless the plan says otherwise. */
export function callBook(accountIds: readonly string[], plan: Partial<ShortPlanInput> = {}): CallBook {
  return {
    eventSchemas: [{ name: "call", attributes: ["count"], dimensions: ["region"] }],
    usageMeters: [{ id: "calls", schema: "call", sum: "count" }],
    pricePlans: [{ id: "team", cycle: "MONTHLY", usage: [{ meter: "calls", rate: 1 }], ...plan }],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: accountIds.map((id) => ({
      id,
      name: `Acme ${id}`,
      customerId: "acme",
      plan: "team",
      from: "2024-03-01",
    })),
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

/** The statuses of events that are ingested. */
export async function collectStatuses(engine: Engine, ...events: readonly EventInput[]): Promise<readonly string[]> {
  return (await engine.ingest(events)).map(({ status }) => status);
}

/** The usage of an account in 2024: `um.calls 2024-01-03 5`. */
export async function listUsage(engine: Engine, accountId = "prod"): Promise<readonly string[]> {
  const usage = await engine.usage({ accountIds: [accountId], from: "2024-01-01", until: "2025-01-01" });
  return usage.map(({ meterId, date, quantity }) => `${meterId} ${date} ${quantity.toFixed()}`);
}

/** A schema of calls with a count and a region, ACTIVE. */
export async function activeSchema(engine: Pick<Engine, "eventSchemas">, name = "call"): Promise<void> {
  await engine.eventSchemas.create({ name, attributes: [{ name: "count" }], dimensions: [{ name: "region" }] });
  await engine.eventSchemas.activate(name);
}

/** A meter that sums the counts of a schema's events. */
export async function sumMeter(
  engine: Pick<Engine, "usageMeters">,
  name = "calls",
  eventSchemaName = "call",
): Promise<string> {
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

/** All items of a list, read page by page. */
export async function allPages<Item>(
  list: (page: PageOptions) => Promise<Page<Item>>,
  limit: number,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let after: PageOptions["after"];
  do {
    const page = await list({ limit, after });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    items.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return items;
}
