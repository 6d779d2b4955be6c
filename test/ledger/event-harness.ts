/** Engines of a book with tokens that a plan may grant, and the totals of what their events consume. */
import { formatInstant, type Instant, toInstant } from "../../src/calendar/instant.ts";
import type { EntrySnapshot } from "../../src/engine/billing/entitlements.ts";
import type { EngineOptions } from "../../src/engine/engine.ts";
import type { IngestResult } from "../../src/ledger/events/ingest.ts";
import type { UndoFilter, UndoneEvent } from "../../src/ledger/events/undo.ts";
import { isCompleted } from "../../src/ledger/outcome.ts";
import type { EntryRecord, EventRecord } from "../../src/ledger/records.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { type Decimal, sum, formatDecimal } from "../../src/numbers/decimal.ts";
import { groupBy } from "../../src/numbers/ids.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import type { Store } from "../../src/store/store.ts";
import { type ClockedEngine, loadedAt } from "../engine/support.ts";

/** The middle of a day of the first cycle. */
export const NOON = "2024-03-05T12:00:00Z";

/** Tokens granted at the start of each month, for the month. */
export const granting = (quantity: number): object => ({
  entitlements: [{ feature: "f.tokens", quantity, for: "P1M", rate: 0 }],
});
/** Tokens beyond the entries, up to a quantity each month. */
export const tokenOverage = (max?: number): object => ({ overages: [{ feature: "f.tokens", rate: 1, max }] });
/** An account, by default on the plan from 1 March on. */
export const accountOf = (id: string, more: object = { plan: "plan", from: "2024-03-01" }): object => ({
  id,
  name: `Account ${id}`,
  customerId: "ann",
  ...more,
});

/**
 * A book of one monthly plan with these cards, and an account on it; its events are `request` (metered, consuming
 * tokens) and `call` (metered, unless it is of the region `lab`).
 */
export function tokenBook(plan: object = {}, gracePeriod = 0, more: object = {}): object {
  return {
    eventSchemas: [
      { name: "request", attributes: ["tokens"] },
      { name: "call", attributes: ["tokens"], dimensions: ["region"] },
      { name: "ping" },
    ],
    usageMeters: [
      { id: "um.requests", name: "requests", schema: "request", count: true },
      { id: "um.tokens", name: "tokens", schema: "call", sum: "tokens", where: { region: { not: "lab" } } },
    ],
    features: [
      { id: "f.tokens", name: "Tokens", schemaAssociations: [{ schemaName: "request", attributeName: "tokens" }] },
    ],
    pricePlans: [{ id: "plan", cycle: { interval: "MONTHLY", gracePeriod }, ...plan }],
    customers: [{ id: "ann", name: "Ann" }],
    accounts: [accountOf("a")],
    ...more,
  };
}

/** A `request` of some tokens. */
export function requestOf(id: string, tokens: unknown, timestamp: string, more: object = {}): object {
  const attributes = [{ name: "tokens", value: tokens }];
  return { schemaName: "request", id, timestamp, accountId: "a", attributes, ...more };
}

/** A `call`, which consumes nothing. */
export function createCall(changes: object = {}): object {
  return { ...requestOf("e1", 10, NOON), schemaName: "call", dimensions: { region: "eu" }, ...changes };
}

/** The totals of an account's ledger that S11.6, S14 and S15.4 refer to. */
export interface Totals {
  readonly usage: Readonly<Record<string, string>>;
  readonly granted: string;
  readonly balance: string;
  readonly overage: string;
  /** From the allocations and overage of the accepted events that are not reverted. */
  readonly consumed: string;
}

/** An engine, with its operations at given times. */
export interface EventLedger extends ClockedEngine {
  readonly store: Store;
  ingest(batch: readonly unknown[], now: string | Instant): Promise<readonly IngestResult[]>;
  /** The statuses of a batch, without `INGESTION_`. */
  statuses(batch: readonly unknown[], now: string | Instant): Promise<readonly string[]>;
  undo(query: UndoFilter, now: string | Instant): Promise<readonly UndoneEvent[]>;
  grant(granted: number, from: string, until: string, now: string | Instant, more?: object): Promise<EntrySnapshot>;
  patch(entryId: string, change: { granted?: number; until?: string }, now: string | Instant): Promise<EntrySnapshot>;
  voidEntry(entryId: string, now: string | Instant): Promise<EntrySnapshot>;
  /** In the order of their creation. */
  entries(): Promise<readonly EntryRecord[]>;
  /** In the order of their numbers. */
  events(): Promise<readonly EventRecord[]>;
  totals(accountId?: string): Promise<Totals>;
}

/** An engine that loads a book just before March, with ids by number. */
export async function openEvents(book: object, options: Partial<EngineOptions> = {}): Promise<EventLedger> {
  const { store = memoryStore() } = options;
  let idCount = 0;
  const ids = (prefix: string): string => `${prefix}.${++idCount}`;
  const clocked = await loadedAt("2024-02-29T23:59:59.999Z", book, { ids, ...options, store });
  const at = (now: string | Instant) => clocked.at(formatInstant(toInstant(now)));
  const events = async (): Promise<readonly EventRecord[]> =>
    (await store.read.events({}, { limit: 10_000 })).toSorted((a, b) => a.number - b.number);
  const ingest: EventLedger["ingest"] = (batch, now) => at(now).ingest(batch as readonly EventInput[]);
  return {
    ...clocked,
    store,
    ingest,
    statuses: async (batch, now) => (await ingest(batch, now)).map(({ status }) => status.replace("INGESTION_", "")),
    undo: (query, now) => at(now).undo(query),
    grant: (granted, from, until, now, more) => {
      const [effectiveFrom, effectiveUntil] = [from, until].map((text) => formatInstant(toInstant(text))) as [
        string,
        string,
      ];
      const of = { accountId: "a", featureId: "f.tokens", ...more };
      return at(now).entries.grant(of, { granted, effectiveFrom, effectiveUntil });
    },
    patch: (entryId, { granted, until }, now) => {
      const effectiveUntil = until === undefined ? undefined : formatInstant(toInstant(until));
      return at(now).entries.update({ accountId: "a", entryId }, { granted, effectiveUntil });
    },
    voidEntry: (entryId, now) => at(now).entries.void({ accountId: "a", entryId }),
    entries: async () => (await store.read.entries(["a"])).toSorted((a, b) => a.createdAt - b.createdAt),
    events,
    totals: async (accountId = "a") => sumTotals(store, accountId, await events()),
  };
}

async function sumTotals({ read }: Store, id: string, events: readonly EventRecord[]): Promise<Totals> {
  const text = (quantities: readonly Decimal[]): string => formatDecimal(sum(quantities));
  const usage = await read.usage([id], -1_000_000, 3_000_000);
  const overage = await read.overage([id], -1_000_000, 3_000_000);
  const entries = await read.entries([id]);
  const counted = events.filter((event) => event.accountId === id && isCompleted(event.status) && !event.reverted);
  return {
    usage: Object.fromEntries(
      [...groupBy(usage, ({ meterOrFeatureId }) => meterOrFeatureId)].map(([meterId, cells]) => [
        meterId,
        text(cells.map(({ quantity }) => quantity)),
      ]),
    ),
    granted: text(entries.map(({ granted }) => granted)),
    balance: text(entries.map(({ balance }) => balance)),
    overage: text(overage.map(({ quantity }) => quantity)),
    consumed: text(counted.flatMap(({ feature }) => feature?.quantity ?? [])),
  };
}

/** Accounts on the plan from March on, without a plan, and archived. */
export const MARCH_ACCOUNTS: readonly object[] = [
  { ...accountOf("a"), aliases: ["ally"] },
  accountOf("free", {}),
  accountOf("gone", { status: "ARCHIVED" }),
];

/** An engine with these accounts, whose plan grants 10 tokens a month unless it says otherwise. */
export function shop(plan: object = granting(10), gracePeriod = 0): Promise<EventLedger> {
  return openEvents(tokenBook(plan, gracePeriod, { accounts: MARCH_ACCOUNTS }));
}
