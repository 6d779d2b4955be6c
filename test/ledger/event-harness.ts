/** Accounts and their events, decided without a store: each decision reads, decides and is applied completely. */
import { readBook } from "../../src/book/book.ts";
import type { Book } from "../../src/book/resources/book.ts";
import { resolveCycleConfig } from "../../src/calendar/cycle.ts";
import { type Instant, toInstant } from "../../src/calendar/instant.ts";
import { NO_END } from "../../src/invoicing/timeline.ts";
import { createWorkspace } from "../../src/ledger/account-state.ts";
import { type Catalog, type CatalogOptions, createCatalog } from "../../src/ledger/catalog.ts";
import { grantEntry, patchEntry, voidEntry, readForEntry, readForGrant } from "../../src/ledger/commands/entries.ts";
import { findIngestNeeds, readForIngest } from "../../src/ledger/events/ingest-reads.ts";
import { decideIngest, type IngestResult } from "../../src/ledger/events/ingest.ts";
import {
  type UndoFilter,
  parseUndoFilter,
  readForUndo,
  decideUndo,
  type UndoneEvent,
  UNDO_EVENTS_MAX,
} from "../../src/ledger/events/undo.ts";
import { isCompleted } from "../../src/ledger/outcome.ts";
import { catchUpNeeds, type LedgerReads, readAccounts } from "../../src/ledger/reads.ts";
import {
  type AccountRecord,
  type EntryRecord,
  type EventRecord,
  type InvoiceRecord,
  type LedgerCell,
} from "../../src/ledger/records.ts";
import type { AccountParts } from "../../src/ledger/working-records.ts";
import { type Decimal, parseDecimal, sum, formatDecimal } from "../../src/numbers/decimal.ts";
import { groupBy } from "../../src/numbers/ids.ts";
import { runToCompletion } from "../../src/numbers/steps.ts";
import { applyChanges, emptyState, type MemoryState } from "../../src/store/memory/state.ts";
import { createView } from "../../src/store/memory/view.ts";
import { perUnit } from "../book/builder.ts";
import { newAccount } from "./account-harness.ts";
import { readBatch } from "./read-batch.ts";

/** Midnight of 1 March 2024: associations begin here, and clocks start. */
export const MARCH: Instant = toInstant("2024-03-01");

/** The middle of a day of the first cycle. */
export const NOON = "2024-03-05T12:00:00Z";

/** Tokens granted at the start of each month, for the month. */
export const granting = (featureCreditLimit: number): object => ({
  billingEntitlementRateCards: [
    { featureId: "f.tokens", featureConfigs: [{ featureCreditLimit, effectiveUntil: "P1M" }], ...perUnit(0) },
  ],
});
/** Tokens beyond the entries, up to a quantity each month. */
export const tokenOverage = (maxQuantity?: number): object => ({
  entitlementOverageRateCards: [
    { featureId: "f.tokens", ...perUnit(1), ...(maxQuantity === undefined ? {} : { maxQuantity }) },
  ],
});

/**
 * A book of one monthly plan with these cards; its events are `request` (metered, consuming tokens) and `call`
 * (metered).
 */
export function tokenBook(details: object = {}, gracePeriod = 0, more: object = {}): Book {
  const attributes = [{ name: "tokens" }];
  const tokens = { var: "attribute.tokens" };
  return readBook({
    eventSchemas: [
      { name: "request", attributes },
      { name: "call", attributes, dimensions: [{ name: "region" }] },
      { name: "ping", attributes: [] },
    ],
    usageMeters: [
      {
        id: "um.requests",
        name: "requests",
        aggregation: "COUNT",
        eventSchemaName: "request",
        computations: [{ order: 1 }],
      },
      {
        id: "um.tokens",
        name: "tokens",
        aggregation: "SUM",
        eventSchemaName: "call",
        computations: [{ order: 1, matcher: { "!=": [{ var: "dimension.region" }, "lab"] }, computation: tokens }],
      },
    ],
    features: [
      { id: "f.tokens", name: "Tokens", schemaAssociations: [{ schemaName: "request", attributeName: "tokens" }] },
    ],
    customers: [{ id: "ann", name: "Ann" }],
    pricePlans: [
      {
        id: "plan",
        name: "Plan",
        status: "ACTIVE",
        pricePlanDetails: {
          supportedCurrencies: ["USD"],
          pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" }, gracePeriod },
          ...details,
        },
      },
    ],
    ...more,
  });
}

/** An account without a plan, created just before March. */
export function accountBeforeMarch(id: string, more: Partial<AccountRecord> = {}): AccountRecord {
  const createdAt = MARCH - 1;
  return newAccount(id, { caughtUpTo: createdAt, createdAt: createdAt, updatedAt: createdAt, ...more }).record;
}

/** An account with the plan of {@link tokenBook}. */
export function onPlan(id: string, from = MARCH, decidedAt = from): AccountRecord {
  const cycleConfig = resolveCycleConfig({ interval: "MONTHLY", startOffset: { dayOffset: "1" } }, from);
  const plan = { planId: "plan", version: 1, cycleConfig };
  const association = { id: "as.1", plan, from, until: NO_END, decidedAt };
  return accountBeforeMarch(id, { associations: [association], caughtUpTo: decidedAt - 1, nextDueAt: decidedAt });
}

/** A `request` of some tokens. */
export function requestOf(id: string, tokens: unknown, timestamp: string, more: object = {}): object {
  const attributes = [{ name: "tokens", value: tokens }];
  return { schemaName: "request", id, timestamp, accountId: "a", attributes, ...more };
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

/** Accounts and their events in memory. */
export interface EventLedger {
  readonly catalog: Catalog;
  readonly view: LedgerReads;
  /** The number of event records read so far. */
  readonly eventsRead: () => number;
  ingest(batch: readonly unknown[], now: string | Instant): Promise<readonly IngestResult[]>;
  undo(query: UndoFilter, now: string | Instant): Promise<readonly UndoneEvent[]>;
  grant(quantity: number, from: string, until: string, now: string | Instant, more?: object): Promise<EntryRecord>;
  patch(entryId: string, change: { granted?: number; until?: string }, now: string | Instant): Promise<EntryRecord>;
  voidEntry(entryId: string, now: string | Instant): Promise<EntryRecord>;
  put(invoice: InvoiceRecord): void;
  entries(): readonly EntryRecord[];
  /** In the order of their numbers. */
  events(): readonly EventRecord[];
  records(): readonly AccountRecord[];
  totals(accountId?: string): Totals;
}

/** Opens a ledger with these accounts. */
export function openEvents(book: Book, records: readonly AccountRecord[], options: CatalogOptions = {}): EventLedger {
  const catalog = createCatalog(book, options);
  const state = emptyState();
  applyChanges(state, { accounts: records });
  let eventsRead = 0;
  const stored = createView(state);
  const countEvents = (events: readonly EventRecord[]): readonly EventRecord[] => {
    eventsRead += events.length;
    return events;
  };
  const view: LedgerReads = {
    ...stored,
    eventsToUndo: async (...query) => countEvents(await stored.eventsToUndo(...query)),
    eventsWithOverage: async (...query) => countEvents(await stored.eventsWithOverage(...query)),
  };
  let idCount = 0;
  const nextId = (prefix: string): string => `${prefix}.${++idCount}`;
  const findAccountId = (name: string): string | undefined =>
    state.accounts.get(name)?.id ??
    [...state.accounts.all()].find(({ aliases }) => aliases.some(({ alias }) => alias === name))?.id;
  const requireAccount = (id = "a"): AccountRecord => {
    const record = state.accounts.get(id);
    if (record === undefined) throw new Error(`no account ${id}`);
    return record;
  };
  const read = (records: readonly AccountRecord[], now: Instant): Promise<readonly AccountParts[]> =>
    readAccounts(catalog, view, catchUpNeeds(catalog, records, now), now);
  const decide = async <Result>(
    now: Instant,
    decision: (work: Work) => Promise<Result>,
    { id }: AccountRecord = requireAccount(),
  ): Promise<Result> => {
    const workspace = createWorkspace(catalog, await read([requireAccount(id)], now));
    const result = await decision(workspace.account(id));
    applyChanges(state, workspace.changes());
    return result;
  };
  return {
    catalog,
    view,
    eventsRead: () => eventsRead,
    async ingest(inputs, now) {
      const batch = readBatch(inputs);
      const needs = findIngestNeeds(catalog, batch);
      const names = new Map(
        [...needs.names.keys()].flatMap((name) => (findAccountId(name) ? [[name, findAccountId(name) ?? ""]] : [])),
      );
      const found = await readForIngest(catalog, view, needs, names, toInstant(now));
      const behind = found.recordsBehind.length === 0 ? [] : await read(found.recordsBehind, toInstant(now));
      const accounts = [...behind, ...found.accounts];
      const { result, changes } = runToCompletion(
        decideIngest(catalog, { ...found, accounts }, batch, toInstant(now), nextId),
      );
      applyChanges(state, changes);
      return result;
    },
    async undo(query, now) {
      const filter = parseUndoFilter(query);
      const record = requireAccount(findAccountId(filter.account));
      const undoWork = async (work: Work): Promise<readonly UndoneEvent[]> => {
        const first = await view.eventsToUndo(work.record.id, filter.events, UNDO_EVENTS_MAX);
        const matched = await readForUndo(catalog, view, work, { ...filter, first }, toInstant(now));
        return runToCompletion(decideUndo(catalog, work, matched, toInstant(now)));
      };
      return decide(toInstant(now), undoWork, record);
    },
    async grant(quantity, from, until, now, more = {}) {
      const [effectiveFrom, effectiveUntil] = [toInstant(from), toInstant(until)];
      const request = {
        featureId: "f.tokens",
        granted: parseDecimal(quantity),
        effectiveFrom,
        effectiveUntil,
        ...more,
      };
      return decide(toInstant(now), async (work) => {
        await readForGrant(catalog, view, work, { ...request, quantity: request.granted }, toInstant(now));
        return grantEntry(catalog, work, request, toInstant(now), nextId);
      });
    },
    async patch(entryId, { granted, until }, now) {
      const change = {
        ...(granted === undefined ? {} : { granted: parseDecimal(granted) }),
        ...(until === undefined ? {} : { effectiveUntil: toInstant(until) }),
      };
      return decide(toInstant(now), async (work) => {
        const lastSpent = await readForEntry(catalog, view, work, { entryId, ...change }, toInstant(now));
        return patchEntry(catalog, work, { entryId, lastSpent }, change, toInstant(now));
      });
    },
    async voidEntry(entryId, now) {
      return decide(toInstant(now), async (work) => voidEntry(catalog, work, entryId, toInstant(now)));
    },
    put: (invoice) => applyChanges(state, { invoices: [invoice] }),
    entries: () => [...state.entries.all()],
    events: () => [...state.events.all()],
    records: () => [...state.accounts.all()],
    totals: (accountId = "a") => sumTotals(state, accountId),
  };
}

type Work = ReturnType<ReturnType<typeof createWorkspace>["account"]>;

function sumTotals(state: MemoryState, id: string): Totals {
  const text = (quantities: readonly Decimal[]): string => formatDecimal(sum(quantities));
  const cells = (of: MemoryState["usage"]): readonly LedgerCell[] => of.between([id], -Infinity, Infinity);
  const entries = state.entries.of(id);
  const activeEvents = [...state.events.all()].filter(
    ({ accountId, status, reverted }) => accountId === id && isCompleted(status) && !reverted,
  );
  return {
    usage: Object.fromEntries(
      [...groupBy(cells(state.usage), ({ meterOrFeatureId }) => meterOrFeatureId)].map(([meterId, ofMeter]) => [
        meterId,
        text(ofMeter.map(({ quantity }) => quantity)),
      ]),
    ),
    granted: text(entries.map(({ granted }) => granted)),
    balance: text(entries.map(({ balance }) => balance)),
    overage: text(cells(state.overage).map(({ quantity }) => quantity)),
    consumed: text(activeEvents.flatMap(({ feature }) => feature?.quantity ?? [])),
  };
}

/** A `call`, which consumes nothing. */
export function createCall(changes: object = {}): object {
  return {
    schemaName: "call",
    id: "e1",
    timestamp: NOON,
    accountId: "a",
    attributes: [{ name: "tokens", value: 10 }],
    dimensions: { region: "eu" },
    ...changes,
  };
}

/** A book whose plan grants 10 tokens a month, and accounts with and without a plan, and an archived one. */
export function shop(details: object = granting(10), gracePeriod = 0, more: object = {}): EventLedger {
  const alias = { alias: "ally", createdAt: MARCH };
  return openEvents(tokenBook(details, gracePeriod, more), [
    { ...onPlan("a"), aliases: [alias] },
    accountBeforeMarch("free"),
    accountBeforeMarch("gone", { status: "ARCHIVED" }),
  ]);
}
