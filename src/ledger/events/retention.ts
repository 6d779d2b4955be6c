/**
 * The old events that may be removed from the store, because nothing reads them any more. Usage, invoices and their explanations
 * stay.
 *
 * @module
 */
import { dayOf, type Instant } from "../../calendar/instant.ts";
import { findAccountPlan } from "../account/account-plan.ts";
import { catchUpReadsFrom, isBehind } from "../account/catch-up.ts";
import { findClosedCycles } from "../account/open-cycles.ts";
import type { Catalog } from "../catalog.ts";
import { isCompleted } from "../outcome.ts";
import type { AccountRecord, EntryRecord, EventRecord } from "../records.ts";

/** The result of retention for one slice of old events. */
export interface Removal {
  readonly events: readonly EventRecord[];
  /** Their accounts, as far as these change: cycles that events left stay closed (S6.5). */
  readonly accounts: readonly AccountRecord[];
}

/**
 * Those of the events that may leave: failed and undone ones, and those whose cycle is past its grace, so that they can
 * neither be undone nor hold their id (S6.5, S14.1, S15.2), once what falls due of their account is done. A cycle that an
 * event leaves is noted as closed for good: it would take the event again.
 *
 * @param accounts theirs, as far as they exist
 * @param events ingested so long ago that no id is remembered for its time of ingest alone (S14.1)
 */
export function findRemovableEvents(
  catalog: Catalog,
  accounts: readonly AccountRecord[],
  events: readonly EventRecord[],
  now: Instant,
): Removal {
  const closedDays = new Map(accounts.map((record) => [record.id, findClosedDays(catalog, record, now)]));
  const noted = new Map<string, AccountRecord>();
  const removed = events.filter(({ accountId, status, reverted, timestamp }) => {
    if (reverted || !isCompleted(status)) return true;
    const closed = closedDays.get(accountId);
    if (closed === undefined || !closed.has(timestamp)) return false;
    if (closed.noted !== undefined) noted.set(accountId, closed.noted);
    return true;
  });
  return { events: removed, accounts: [...noted.values()] };
}

/** The cycles of an account that take no change, and of which nothing is read again. */
interface ClosedDays {
  /** Whether an instant lies in one of them. */
  has(at: Instant): boolean;
  /** The account that notes them as closed; undefined where it does already. */
  readonly noted: AccountRecord | undefined;
}

function findClosedDays(catalog: Catalog, record: AccountRecord, now: Instant): ClosedDays | undefined {
  const closed = isBehind(record, now) ? undefined : findClosedCycles(catalog, record, now);
  if (closed === undefined) return undefined;
  const { clock } = findAccountPlan(catalog, record);
  const readFrom = catchUpReadsFrom(catalog, record, now);
  const isNoted = record.closedCycles?.until === closed.until;
  return {
    has(at) {
      const { end, openUntil } = clock.periodAt(at);
      return openUntil !== undefined && end <= closed.until && dayOf(at) < readFrom;
    },
    noted: isNoted ? undefined : { ...record, closedCycles: closed, caughtUpTo: closed.at },
  };
}

/** The accounts of those of the events that spent entries: it is their entries that {@link recordSpending} asks for. */
export function accountsThatSpent(removed: readonly EventRecord[]): readonly string[] {
  return [...new Set(removed.filter(hasSpent).map(({ accountId }) => accountId))];
}

/**
 * Notes on entries when events that leave spent them, for an entry cannot end at or before an event that did (S11.8).
 *
 * @param entries of the accounts of these events
 * @returns the entries that change
 */
export function recordSpending(
  entries: readonly EntryRecord[],
  removed: readonly EventRecord[],
): readonly EntryRecord[] {
  const latest = new Map<string, Instant>();
  for (const { feature, timestamp } of removed.filter(hasSpent)) {
    for (const { entryId } of feature?.allocations ?? []) {
      latest.set(entryId, Math.max(timestamp, latest.get(entryId) ?? timestamp));
    }
  }
  return entries.flatMap((entry) => {
    const spentAt = latest.get(entry.id);
    const { spentAtBefore = Number.NEGATIVE_INFINITY } = entry;
    return spentAt === undefined || spentAt <= spentAtBefore ? [] : [{ ...entry, spentAtBefore: spentAt }];
  });
}

function hasSpent({ status, reverted, feature }: EventRecord): boolean {
  return isCompleted(status) && !reverted && feature !== undefined && feature.allocations.length > 0;
}
