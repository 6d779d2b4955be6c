/** Ingests, undoes and reads events (S14, S15). */
import * as z from "zod";

import type { Cycle } from "../../calendar/cycle.ts";
import { formatInstant, type Instant, type InstantInput, toInstant } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import { cycleAt, type Timeline } from "../../invoicing/timeline.ts";
import { findAccountPlan } from "../../ledger/account/account-plan.ts";
import { isBehind } from "../../ledger/account/catch-up.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { aliasTarget } from "../../ledger/commands/accounts.ts";
import {
  withFullDays,
  findIngestNeeds,
  type IngestNeeds,
  type PartialIngestState,
  readForIngest,
} from "../../ledger/events/ingest-reads.ts";
import { decideIngest, type IngestResult } from "../../ledger/events/ingest.ts";
import {
  type UndoFilter,
  parseUndoFilter,
  readForUndo,
  decideUndo,
  UNDO_EVENTS_MAX,
  type UndoneEvent,
} from "../../ledger/events/undo.ts";
import type { EventRecord } from "../../ledger/records.ts";
import { notFoundError } from "../../ledger/refusals.ts";
import type { EventFilter, LedgerView } from "../../ledger/view.ts";
import { readEnvelope, type BatchEvent } from "../../metering/event-envelope.ts";
import { runWithPauses } from "../../store/yielder.ts";
import { splitIntoChunks } from "../all-accounts.ts";
import { type EngineContext, ID, idMethod, listMethod, method, textFields } from "../methods.ts";
import { lockAccounts, runOperation } from "../operation.ts";
import { type Page, type PageOptions, readPage } from "../pages.ts";
import { projectAccounts } from "../projected-accounts.ts";
import { createIngestQueue } from "./ingest-queue.ts";
import { eventsKeptSince } from "./retention.ts";

/** The plan and cycle of an event, by the account's current plans. */
export interface EventCycle {
  readonly pricePlanId: string;
  readonly version: number;
  readonly cycle: Cycle;
}

const INSTANT_INPUT = z.union([z.number(), ID, z.instanceof(Date)]);
const RANGE = z.looseObject({ from: INSTANT_INPUT, until: INSTANT_INPUT }).optional();

export const eventMethods = {
  /** The latest ingested first. */
  list: listMethod(
    {
      ...textFields("accountId", "schemaName", "status", "eventId", "referenceId"),
      accepted: z.boolean().optional(),
      reverted: z.boolean().optional(),
      timestamp: RANGE,
      createdAt: RANGE,
    },
    listEvents,
  ),
  /** All events with an event id, or the one with a referenceId. @throws {RatebookError} ERR_NOT_FOUND */
  get: idMethod(findEvents),
  /** Events ingested before this instant may have been deleted; undefined if all are kept. */
  keptSince: method({}, async (context) => eventsKeptSince(context)),
  /** The cycle in which each event counts, with the plan that prices it; undefined if no plan is in force. */
  cycles: method({ events: z.array(z.looseObject({ accountId: ID, timestamp: z.number() })) }, findEventCycles),
};

/** Maximum number of aliases whose accounts are cached. */
const HINTS_MAX = 10_000;

/** Ingests batches of any size, each event with its own outcome, in order (S14). Concurrent calls share commits. */
export function createIngest(getContext: () => EngineContext): EngineContext["ingest"] {
  const enqueue = createIngestQueue((batch) => ingestBatch(getContext(), batch));
  return async (input) => enqueue(readBatch(input));
}

async function ingestBatch(context: EngineContext, batch: readonly BatchEvent[]): Promise<readonly IngestResult[]> {
  const { store, configuration: source, ids, aliasHints: hints } = context;
  let before = source.last() ?? (await source(store.read));
  let needs = findIngestNeeds(before.catalog, batch);
  let lockedIds: readonly string[] = [];
  return runOperation<readonly IngestResult[], PartialIngestState>(context, {
    scope() {
      const names = [...needs.names.keys()];
      lockedIds = hints.size === 0 ? names : [...new Set(names.map((name) => hints.get(name) ?? name))];
      return { configuration: "shared", accountIds: lockedIds, eventIds: needs.eventIds };
    },
    async needs({ configuration, catalog, view, now }) {
      if (configuration !== before) needs = findIngestNeeds(catalog, batch);
      before = configuration;
      const read = await readForNames(catalog, { view, hints, needs, lockedIds, now });
      return read === undefined
        ? "other locks"
        : { accountIds: read.recordsBehind.map(({ id }) => id), decisionInput: read };
    },
    catchUp: "far behind",
    async decide({ catalog, accounts, now }, read) {
      const behind = accounts.map((parts) => withFullDays(parts, read.fullDays.get(parts.record.id)));
      const completeRead = accounts.length === 0 ? read : { ...read, accounts: [...behind, ...read.accounts] };
      return runWithPauses(decideIngest(catalog, completeRead, batch, now, ids));
    },
  });
}

/** Reads the envelopes of a batch, each once. */
function readBatch(input: readonly unknown[]): readonly BatchEvent[] {
  return input.map((item): BatchEvent => {
    const envelope = readEnvelope(item);
    if ("sent" in envelope) return envelope;
    const id = findEventId(item);
    return id === undefined ? { problem: envelope } : { problem: envelope, id };
  });
}

/** The id of a malformed event, if it has a valid one. */
function findEventId(item: unknown): string | undefined {
  if (typeof item !== "object" || item === null || !Object.hasOwn(item, "id")) return undefined;
  const { id } = item as { readonly id?: unknown };
  return typeof id === "string" ? id : undefined;
}

interface NameLookup {
  readonly view: LedgerView;
  readonly hints: Map<string, string>;
  readonly needs: IngestNeeds;
  readonly lockedIds: readonly string[];
  readonly now: number;
}

/**
 * Reads what a batch needs of its accounts. Most names are ids; only the others are looked up as aliases (S16.6).
 *
 * @returns undefined if a name resolves to an account that is not locked; the hints are updated then
 */
async function readForNames(
  catalog: Catalog,
  { view, hints, needs, lockedIds, now }: NameLookup,
): Promise<PartialIngestState | undefined> {
  const names = new Map<string, string>();
  for (const name of hints.size === 0 ? [] : needs.names.keys()) {
    const id = hints.get(name);
    if (id !== undefined) names.set(name, id);
  }
  const read = await readForIngest(catalog, view, needs, names, now);
  // Without hints every account was found by its id, so if there are as many accounts as names, no name is an alias.
  if (names.size === 0 && read.accounts.length + read.recordsBehind.length === needs.names.size) return read;
  const existingIds = new Set(
    [...read.accounts.map(({ record }) => record), ...read.recordsBehind].map(({ id }) => id),
  );
  const unsureNames = [...needs.names.keys()]
    .filter((name) => names.has(name) || !existingIds.has(name))
    .map((name) => [name, names.get(name) ?? name] as const);
  if (unsureNames.length === 0) return read;
  const aliases = new Map(
    (
      await view.documentsOf(
        "alias",
        unsureNames.map(([name]) => name),
      )
    ).map((alias) => [alias.id, aliasTarget(alias)]),
  );
  let areHintsRight = true;
  for (const [name, id] of unsureNames) {
    const target = aliases.get(name) ?? name;
    if (target === id || typeof target !== "string") continue;
    areHintsRight = false;
    if (hints.size >= HINTS_MAX) hints.clear();
    if (target === name) hints.delete(name);
    else hints.set(name, target);
  }
  if (areHintsRight) return read;
  const lockedIdSet = new Set(lockedIds);
  const areAllLocked = [...needs.names.keys()].every((name) => lockedIdSet.has(hints.get(name) ?? name));
  return areAllLocked ? readForNames(catalog, { view, hints, needs, lockedIds, now }) : undefined;
}

/** @throws {RatebookError} ERR_INPUT_INVALID for an unsupported filter, ERR_NOT_FOUND for the account */
export async function undo(context: EngineContext, undoFilter: UndoFilter): Promise<readonly UndoneEvent[]> {
  const filter = parseUndoFilter(undoFilter);
  // Most names are ids; an alias is resolved in the transaction.
  let accountId = filter.account;
  return runOperation(context, {
    scope: () => lockAccounts([accountId])(),
    async needs({ view }) {
      const resolvedId = await resolveAccount(view, filter.account);
      if (resolvedId === accountId) {
        return {
          accountIds: [accountId],
          readEvents: () => view.eventsToUndo(accountId, filter.events, UNDO_EVENTS_MAX),
          decisionInput: undefined,
        };
      }
      accountId = resolvedId;
      return "other locks";
    },
    async decide({ catalog, view, workspace, events, now }) {
      const account = workspace.account(accountId);
      const matchingEvents = await readForUndo(catalog, view, account, { ...filter, first: events }, now);
      return { result: await runWithPauses(decideUndo(catalog, account, matchingEvents, now)) };
    },
  });
}

/** The id of the account that an id or alias resolves to (S16.6). */
async function resolveAccount(view: LedgerView, name: string): Promise<string> {
  const [record] = await view.accounts([name]);
  if (record !== undefined) return record.id;
  const alias = await view.document("alias", name);
  const accountId = alias && aliasTarget(alias);
  if (accountId !== undefined) return accountId;
  throw notFoundError("account", name);
}

/** A half-open range of instants. */
export interface InstantRange {
  readonly from: InstantInput;
  /** Exclusive. */
  readonly until: InstantInput;
}

/** Selects stored events; absent fields do not filter. */
export interface EventListFilter extends Omit<EventFilter, "timestamp" | "createdAt"> {
  /** The event's own timestamp. */
  readonly timestamp?: InstantRange;
  /** The time of ingest. */
  readonly createdAt?: InstantRange;
}

/** The overage of the events is what remains after everything due by now is processed. */
async function listEvents(
  context: EngineContext,
  { timestamp, createdAt, ...otherFilters }: EventListFilter,
  options: PageOptions,
): Promise<Page<EventRecord>> {
  const filter: EventFilter = {
    ...otherFilters,
    ...(timestamp === undefined ? {} : { timestamp: toInstants(timestamp) }),
    ...(createdAt === undefined ? {} : { createdAt: toInstants(createdAt) }),
  };
  const page = await readPage(
    options,
    (request) => context.store.read.events(filter, request),
    ({ createdAt, referenceId }) => ({ createdAt, id: referenceId }),
  );
  return { ...page, items: await applyDueGrants(context, page.items) };
}

/** Stored events after everything due by now is processed: a grant takes overage that it covers (S2.4, S11.5). */
async function applyDueGrants(context: EngineContext, events: readonly EventRecord[]): Promise<readonly EventRecord[]> {
  const withOverage = events.filter(({ feature, reverted }) => feature?.overage.isZero() === false && !reverted);
  if (withOverage.length === 0) return events;
  const accountIds = [...new Set(withOverage.map(({ accountId }) => accountId))];
  const [records, now] = [await context.store.read.accounts(accountIds), context.clock()];
  const accountsBehind = records.flatMap((record) => (isBehind(record, now) ? [record.id] : []));
  const changedById = new Map<string, EventRecord>();
  for await (const ids of splitIntoChunks(accountsBehind, ACCOUNTS_AT_ONCE)) {
    const changedEvents = await projectAccounts(context, ids, function* ({ workspace }) {
      yield;
      return workspace.changes().events ?? [];
    });
    for (const event of changedEvents) changedById.set(event.referenceId, event);
  }
  return events.map((event) => changedById.get(event.referenceId) ?? event);
}

/** Accounts per read, among those of the events on a page. */
const ACCOUNTS_AT_ONCE = 50;

function toInstants({ from, until }: InstantRange): { readonly from: Instant; readonly until: Instant } {
  return { from: toInstant(from), until: toInstant(until) };
}

/** The latest ingested first: an id may be reused after its event failed or was undone. */
async function findEvents(context: EngineContext, eventIdOrReferenceId: string): Promise<readonly EventRecord[]> {
  const page = { limit: EVENTS_OF_ID_MAX };
  const { store } = context;
  const byId = await store.read.events({ eventId: eventIdOrReferenceId }, page);
  const byReference = await store.read.events({ referenceId: eventIdOrReferenceId }, page);
  const eventsById = new Map([...byId, ...byReference].map((event) => [event.referenceId, event]));
  if (eventsById.size === 0) throw eventNotFoundError(context, eventIdOrReferenceId);
  return applyDueGrants(context, [...eventsById.values()]);
}

function eventNotFoundError(context: EngineContext, id: string): RatebookError {
  const notFound = notFoundError("event", id);
  const since = eventsKeptSince(context);
  if (since === undefined) return notFound;
  const message = `${notFound.message}; events that were ingested before ${formatInstant(since)} are stored only while their billing period is open`;
  return new RatebookError("ERR_NOT_FOUND", message, notFound.details);
}

/** Maximum number of events returned per id. */
const EVENTS_OF_ID_MAX = 100;

async function findEventCycles(
  { store, configuration }: EngineContext,
  events: readonly Pick<EventRecord, "accountId" | "timestamp">[],
): Promise<readonly (EventCycle | undefined)[]> {
  const { catalog } = await configuration(store.read);
  const records = await store.read.accounts([...new Set(events.map(({ accountId }) => accountId))]);
  const timelines = new Map<string, Timeline>();
  for (const record of records) timelines.set(record.id, findAccountPlan(catalog, record).timeline);
  return events.map(({ accountId, timestamp }) => {
    const timeline = timelines.get(accountId);
    const cycle = timeline && cycleAt(timeline, timestamp);
    if (cycle === undefined) return undefined;
    const { planId: pricePlanId, version } = cycle.term.plan;
    return { pricePlanId, version, cycle: { start: cycle.start, end: cycle.end } };
  });
}
