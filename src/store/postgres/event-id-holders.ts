/** Which events reserve event ids, for one transaction: queried, or assumed free and checked by the commit. */
import type { AcceptedEventId } from "../../ledger/view.ts";
import type { Run } from "./client.ts";
import { type Holder, readHolders } from "./event-view.ts";
import { LostRaceError } from "./failures.ts";

/**
 * Whether transactions assume event ids to be free. Nearly all are, and a unique key detects the others. So a first
 * attempt does not query: if an id turns out to be reserved, the attempt is a lost race, and the next one queries, as
 * do some transactions after it.
 */
export interface IdCheckPolicy {
  /** The number of transactions that still query before one assumes ids to be free again. */
  queriesLeft: number;
}

/** The number of transactions that query after a wrong assumption: if some events are sent twice, more are likely. */
const QUERIES_AFTER_CONFLICT = 32;

export function createIdCheckPolicy(): IdCheckPolicy {
  return { queriesLeft: 0 };
}

/** Whether an attempt of a transaction may assume that event ids are free. */
export function mayAssumeFree(policy: IdCheckPolicy, attempt: number): boolean {
  // The previous attempt may have lost its race because of this assumption.
  if (attempt === 2) policy.queriesLeft = QUERIES_AFTER_CONFLICT;
  if (attempt > 1) return false;
  if (policy.queriesLeft === 0) return true;
  policy.queriesLeft -= 1;
  return false;
}

/** The event ids of a transaction. */
export interface ReservedIds {
  /** The reserved ids; none if the transaction assumes all ids to be free, which the commit checks. */
  readonly acceptedIds: (eventIds: readonly string[]) => Promise<readonly AcceptedEventId[]>;
  /**
   * The number with which each event id is reserved, -1 or absent if free. The ids that new events take are locked
   * until the commit.
   *
   * @param eventIds of events to write that reserve their ids
   * @param reservedIds those that new events take: the unique key checks the assumption that they are free
   * @throws a {@link LostRaceError} if an event that reserves one was undone at the same time
   */
  readonly reservationNumbers: (
    eventIds: readonly string[],
    reservedIds: readonly string[],
  ) => Promise<ReadonlyMap<string, number>>;
  /** Checks the ids that were assumed to be free and that no new event took. @throws a {@link LostRaceError} if one is not free */
  readonly checkAssumptions: () => Promise<void>;
}

/** Call it once the transaction has its locks. */
export function createReservedIds(run: Run, table: (name: string) => string, assumesFree: boolean): ReservedIds {
  const numbers = new Map<string, number>();
  const holders = new Map<string, Holder>();
  const assumedIds = new Set<string>();
  const checkedIds = new Set<string>();
  const readReservations = async (eventIds: Iterable<string>): Promise<void> => {
    const unknownIds = [...new Set(eventIds)].filter((id) => !numbers.has(id));
    if (unknownIds.length === 0) return;
    for (const id of unknownIds) numbers.set(id, -1);
    for (const holder of await readHolders(run, table, unknownIds)) {
      numbers.set(holder.event.eventId, holder.reservationNumber);
      holders.set(holder.event.eventId, holder);
    }
  };
  return {
    acceptedIds: async (eventIds) => {
      if (assumesFree) {
        for (const id of eventIds) assumedIds.add(id);
        return [];
      }
      await readReservations(eventIds);
      return [...new Set(eventIds)].flatMap((id) => holders.get(id)?.event ?? []);
    },
    reservationNumbers: async (eventIds, reservedIds) => {
      await readReservations(assumedIds.size === 0 ? eventIds : eventIds.filter((id) => !assumedIds.has(id)));
      for (const id of reservedIds) if (assumedIds.has(id)) checkedIds.add(id);
      // An id that is reserved and taken anyway gets the next number: if its event were undone at the same time,
      // another writer would take it with the first number.
      const retakenIds = holders.size === 0 ? [] : reservedIds.filter((id) => holders.has(id));
      const lockedHolders =
        retakenIds.length === 0 ? [] : await readHolders(run, table, retakenIds, "for no key update");
      const unchangedHolders = lockedHolders.filter(
        (holder) => holders.get(holder.event.eventId)?.event.referenceId === holder.event.referenceId,
      );
      if (unchangedHolders.length < retakenIds.length)
        throw new LostRaceError("an event whose id is taken again was undone at the same time");
      return numbers;
    },
    checkAssumptions: async () => {
      if (assumedIds.size === checkedIds.size) return;
      const uncheckedIds = [...assumedIds].filter((id) => !checkedIds.has(id));
      await readReservations(uncheckedIds);
      if (uncheckedIds.some((id) => holders.has(id)))
        throw new LostRaceError("an event id that was assumed to be free is reserved");
    },
  };
}
