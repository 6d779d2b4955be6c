/**
 * Retention: which old events can be deleted because nothing reads them again. Usage, invoices and their explanations
 * stay.
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
  /** The accounts that change: cycles whose events were deleted stay closed (S6.5). */
  readonly accounts: readonly AccountRecord[];
}

/**
 * Finds the events that can be deleted: failed and reverted ones, and those whose cycle is past its grace period, so
 * that they neither can be undone nor reserve their id (S6.5, S14.1, S15.2), once their account is caught up. Cycles of
 * deleted events are recorded as closed, because they would accept the same event again.
 *
 * @param accounts the events' existing accounts
 * @param events ingested so long ago that their ingest alone reserves no id (S14.1)
 */
export function findRemovableEvents(
  catalog: Catalog,
  accounts: readonly AccountRecord[],
  events: readonly EventRecord[],
  now: Instant,
): Removal {
  const closedDays = new Map(accounts.map((record) => [record.id, findClosedDays(catalog, record, now)]));
  const updatedRecords = new Map<string, AccountRecord>();
  const removed = events.filter(({ accountId, status, reverted, timestamp }) => {
    if (reverted || !isCompleted(status)) return true;
    const closed = closedDays.get(accountId);
    if (closed === undefined || !closed.has(timestamp)) return false;
    if (closed.updatedRecord !== undefined) updatedRecords.set(accountId, closed.updatedRecord);
    return true;
  });
  return { events: removed, accounts: [...updatedRecords.values()] };
}

/** The closed cycles of an account, which nothing reads again. */
interface ClosedDays {
  /** Whether an instant is in a closed cycle. */
  has(at: Instant): boolean;
  /** The account with these cycles recorded as closed; undefined if they already are. */
  readonly updatedRecord: AccountRecord | undefined;
}

function findClosedDays(catalog: Catalog, record: AccountRecord, now: Instant): ClosedDays | undefined {
  const closed = isBehind(record, now) ? undefined : findClosedCycles(catalog, record, now);
  if (closed === undefined) return undefined;
  const { lookup } = findAccountPlan(catalog, record);
  const readFrom = catchUpReadsFrom(catalog, record, now);
  const isRecorded = record.closedCycles?.until === closed.until;
  return {
    has(at) {
      const { end, openUntil } = lookup.periodAt(at);
      return openUntil !== undefined && end <= closed.until && dayOf(at) < readFrom;
    },
    updatedRecord: isRecorded ? undefined : { ...record, closedCycles: closed, caughtUpTo: closed.at },
  };
}

/** The accounts of those events that spent entries, which {@link recordSpending} needs. */
export function accountsThatSpent(removed: readonly EventRecord[]): readonly string[] {
  return [...new Set(removed.filter(hasSpent).map(({ accountId }) => accountId))];
}

/**
 * Records on entries when deleted events spent them, because an entry cannot end at or before an event that spent it
 * (S11.8).
 *
 * @param entries of the accounts of these events
 * @returns the changed entries
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
