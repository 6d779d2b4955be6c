/**
 * Retention: events that are old and closed leave the store.
 *
 * @module
 */
import { formatInstant, INSTANT_MIN, type Instant, parseInstant } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import { recordSpending, findRemovableEvents, accountsThatSpent } from "../../ledger/events/retention.ts";
import type { LedgerView, PageKey } from "../../ledger/view.ts";
import { sleep } from "../../store/sleep.ts";
import type { EngineContext } from "../context.ts";

/** Events that one transaction looks at. */
const CHUNK = 200;

/** How {@link pruneEvents} goes about it. */
export interface PruneOptions {
  /** Rests after each transaction for so many times as long as it took; at least 0, default 0. */
  readonly rest?: number;
  /** Told how far it is, after each transaction of up to 200 events. */
  readonly onProgress?: (soFar: PruneResult) => void;
}

/** The result of {@link pruneEvents}. */
export interface PruneResult {
  /** Events that left. */
  readonly pruned: number;
}

/**
 * The retention of an engine, checked.
 *
 * @param keepEventsMs how long events are kept; undefined for good
 * @throws {RatebookError} ERR_OPTION_INVALID where ids would be forgotten that S14.1 remembers
 */
export function checkRetention(keepEventsMs: number | undefined, idMemoryMs: number): number | undefined {
  if (keepEventsMs === undefined) return undefined;
  if (Number.isSafeInteger(keepEventsMs) && keepEventsMs >= idMemoryMs) return keepEventsMs;
  const message = `keepEventsMs: expected a whole number of milliseconds, at least idMemoryMs (${idMemoryMs}), got ${String(keepEventsMs).slice(0, 60)}`;
  throw new RatebookError("ERR_OPTION_INVALID", message, { option: "keepEventsMs" });
}

/** Events that were ingested before this instant may have left; undefined where all are kept. */
export function eventsKeptSince({ clock, keepEventsMs }: EngineContext): Instant | undefined {
  return keepEventsMs === undefined ? undefined : clock() - keepEventsMs;
}

/** The document that notes which events may have left; one for a store. */
const NOTE = { kind: "retention", id: "events" } as const;

/** Events that were ingested before this instant may have left, by whatever setting; undefined where none has. */
export async function readRetentionCutoff(view: Pick<LedgerView, "document">): Promise<Instant | undefined> {
  const note = await view.document(NOTE.kind, NOTE.id);
  return note === undefined ? undefined : parseInstant(String(note.body["ingestedBefore"]));
}

/** Notes that events leave, before the first of them does. */
async function recordRetentionCutoff({ store, clock }: EngineContext, until: Instant): Promise<void> {
  await store.transact({ configuration: "exclusive", accountIds: [], eventIds: [] }, async (view) => {
    const before = await readRetentionCutoff(view);
    if (before !== undefined && before >= until) return { result: undefined, changes: {} };
    const now = clock();
    const body = { ingestedBefore: formatInstant(until) };
    return { result: undefined, changes: { documents: [{ ...NOTE, createdAt: now, updatedAt: now, body }] } };
  });
}

/**
 * Removes events that are older than the engine keeps them, and that nothing asks for any more (see `findRemovableEvents`).
 * Stopped in the middle, it goes on where it is called again.
 *
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE
 */
export async function pruneEvents(
  context: EngineContext,
  { rest = 0, onProgress }: PruneOptions = {},
): Promise<PruneResult> {
  const { store, clock, configuration } = context;
  const until = eventsKeptSince(context);
  let pruned = 0;
  if (until === undefined) return { pruned };
  let after: PageKey | undefined;
  for (;;) {
    const filter = { createdAt: { from: INSTANT_MIN, until } };
    const page = after === undefined ? { limit: CHUNK } : { limit: CHUNK, after };
    const events = await store.read.events(filter, page);
    const last = events.at(-1);
    if (last === undefined) return { pruned };
    if (after === undefined) await recordRetentionCutoff(context, until);
    after = { createdAt: last.createdAt, id: last.referenceId };
    const began = performance.now();
    const accountIds = [...new Set(events.map(({ accountId }) => accountId))].filter((id) => id !== "");
    const eventIds = [...new Set(events.map(({ eventId }) => eventId))];
    pruned += await store.transact({ configuration: "shared", accountIds, eventIds }, async (view) => {
      const { catalog } = await configuration(view);
      // As they are now: others may have changed them, or have let them leave.
      const isMeant = new Set(events.map(({ referenceId }) => referenceId));
      const current = (await view.events(filter, page)).filter(({ referenceId }) => isMeant.has(referenceId));
      const removal = findRemovableEvents(catalog, await view.accounts(accountIds), current, clock());
      const { events: removedEvents, accounts } = removal;
      const spenders = accountsThatSpent(removedEvents);
      const entries = spenders.length === 0 ? [] : recordSpending(await view.entries(spenders), removedEvents);
      return { result: removedEvents.length, changes: { removedEvents, accounts, entries } };
    });
    if (rest > 0) await sleep(rest * (performance.now() - began));
    onProgress?.({ pruned });
  }
}
