/** Retention: deletes events that are old and whose cycles are closed. */
import { formatInstant, INSTANT_MIN, type Instant, parseInstant } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import { recordSpending, findRemovableEvents, accountsThatSpent } from "../../ledger/events/retention.ts";
import type { LedgerView, PageKey } from "../../ledger/view.ts";
import { sleep } from "../../store/yielder.ts";
import type { EngineContext } from "../methods.ts";

/** Events per transaction. */
const CHUNK = 200;

/** Options of {@link pruneEvents}. */
export interface PruneOptions {
  /** After each transaction, pauses for this many times its duration; at least 0, default 0. */
  readonly rest?: number;
  /** Called with the progress after each transaction of up to 200 events. */
  readonly onProgress?: (soFar: PruneResult) => void;
}

/** The result of {@link pruneEvents}. */
export interface PruneResult {
  /** Deleted events. */
  readonly pruned: number;
}

/**
 * Checks the retention of an engine.
 *
 * @param keepEventsMs how long events are kept; undefined: forever
 * @throws {RatebookError} ERR_OPTION_INVALID if events would be deleted while S14.1 still reserves their ids
 */
export function checkRetention(keepEventsMs: number | undefined, idMemoryMs: number): number | undefined {
  if (keepEventsMs === undefined) return undefined;
  if (Number.isSafeInteger(keepEventsMs) && keepEventsMs >= idMemoryMs) return keepEventsMs;
  const message = `keepEventsMs: expected a whole number of milliseconds, at least idMemoryMs (${idMemoryMs}), got ${String(keepEventsMs).slice(0, 60)}`;
  throw new RatebookError("ERR_OPTION_INVALID", message, { option: "keepEventsMs" });
}

/** Events ingested before this instant may have been deleted; undefined if all are kept. */
export function eventsKeptSince({ clock, keepEventsMs }: EngineContext): Instant | undefined {
  return keepEventsMs === undefined ? undefined : clock() - keepEventsMs;
}

/** The document, one per store, that records which events may have been deleted. */
const CUTOFF_DOCUMENT = { kind: "retention", id: "events" } as const;

/** Events ingested before this instant may have been deleted by any engine; undefined if none has been. */
export async function readRetentionCutoff(view: Pick<LedgerView, "document">): Promise<Instant | undefined> {
  const document = await view.document(CUTOFF_DOCUMENT.kind, CUTOFF_DOCUMENT.id);
  return document === undefined ? undefined : parseInstant(String(document.body["ingestedBefore"]));
}

/** Records the cutoff before the first event is deleted. */
async function recordRetentionCutoff({ store, clock }: EngineContext, until: Instant): Promise<void> {
  await store.transact({ configuration: "exclusive", accountIds: [], eventIds: [] }, async (view) => {
    const before = await readRetentionCutoff(view);
    if (before !== undefined && before >= until) return { result: undefined, changes: {} };
    const now = clock();
    const body = { ingestedBefore: formatInstant(until) };
    return {
      result: undefined,
      changes: { documents: [{ ...CUTOFF_DOCUMENT, createdAt: now, updatedAt: now, body }] },
    };
  });
}

/** Removes what nothing needs (see `findRemovableEvents`). If interrupted, the next call continues. */
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
      // Read again, because others may have changed or deleted them.
      const referenceIds = new Set(events.map(({ referenceId }) => referenceId));
      const current = (await view.events(filter, page)).filter(({ referenceId }) => referenceIds.has(referenceId));
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
