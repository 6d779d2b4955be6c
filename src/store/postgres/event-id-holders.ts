/**
 * Which events reserve event ids, for one transaction: queried, or assumed free and checked by the commit.
 *
 * @module
 */
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
  /** The number of transactions that query before one assumes again. */
  asking: number;
}

/** The number of transactions that query after a wrong assumption: if some events are sent twice, more are likely. */
const ASK_AFTER_WRONG = 32;

export function createIdCheckPolicy(): IdCheckPolicy {
  return { asking: 0 };
}

/** Whether an attempt of a transaction may assume that event ids are free. */
export function mayAssumeFree(policy: IdCheckPolicy, attempt: number): boolean {
  // The previous attempt may have lost its race because of this assumption.
  if (attempt === 2) policy.asking = ASK_AFTER_WRONG;
  if (attempt > 1) return false;
  if (policy.asking === 0) return true;
  policy.asking -= 1;
  return false;
}

/** The event ids of a transaction. */
export interface HeldIds {
  /** The reserved ids; none if the transaction assumes, which the commit checks. */
  readonly acceptedIds: (eventIds: readonly string[]) => Promise<readonly AcceptedEventId[]>;
  /**
   * The number with which each event id is reserved, -1 or absent if free. The ids that new events take are locked
   * until the commit.
   *
   * @param eventIds of events to write that reserve their ids
   * @param reservedIds those that new events take: the unique key checks the assumption that they are free
   * @throws a {@link LostRaceError} if an event that reserves one was undone at the same time
   */
  readonly holdsOf: (
    eventIds: readonly string[],
    reservedIds: readonly string[],
  ) => Promise<ReadonlyMap<string, number>>;
  /** Checks the ids that were assumed to be free and that no new event took. @throws a {@link LostRaceError} if one is not free */
  readonly prove: () => Promise<void>;
}

/** Call it once the transaction has its locks. */
export function createHeldIds(run: Run, table: (name: string) => string, assumes: boolean): HeldIds {
  const holds = new Map<string, number>();
  const holders = new Map<string, Holder>();
  const assumed = new Set<string>();
  const proved = new Set<string>();
  const learn = async (eventIds: Iterable<string>): Promise<void> => {
    const unknown = [...new Set(eventIds)].filter((id) => !holds.has(id));
    if (unknown.length === 0) return;
    for (const id of unknown) holds.set(id, -1);
    for (const holder of await readHolders(run, table, unknown)) {
      holds.set(holder.event.eventId, holder.holds);
      holders.set(holder.event.eventId, holder);
    }
  };
  return {
    acceptedIds: async (eventIds) => {
      if (assumes) {
        for (const id of eventIds) assumed.add(id);
        return [];
      }
      await learn(eventIds);
      return [...new Set(eventIds)].flatMap((id) => holders.get(id)?.event ?? []);
    },
    holdsOf: async (eventIds, reservedIds) => {
      await learn(assumed.size === 0 ? eventIds : eventIds.filter((id) => !assumed.has(id)));
      for (const id of reservedIds) if (assumed.has(id)) proved.add(id);
      // An id that is reserved and taken anyway gets the next number: if its event were undone at the same time,
      // another writer would take it with the first number.
      const again = holders.size === 0 ? [] : reservedIds.filter((id) => holders.has(id));
      const still = again.length === 0 ? [] : await readHolders(run, table, again, "for no key update");
      const same = still.filter((one) => holders.get(one.event.eventId)?.event.referenceId === one.event.referenceId);
      if (same.length < again.length)
        throw new LostRaceError("an event whose id is taken again was undone at the same time");
      return holds;
    },
    prove: async () => {
      if (assumed.size === proved.size) return;
      const unproved = [...assumed].filter((id) => !proved.has(id));
      await learn(unproved);
      if (unproved.some((id) => holders.has(id)))
        throw new LostRaceError("an event id that was assumed to be free is held");
    },
  };
}
