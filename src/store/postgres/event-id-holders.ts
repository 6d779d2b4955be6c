/**
 * Who holds event ids, for one transaction: as asked for, or assumed free and proved by the commit.
 *
 * @module
 */
import type { AcceptedEventId } from "../../ledger/view.ts";
import type { Run } from "./client.ts";
import { type Holder, readHolders } from "./event-view.ts";
import { LostRace } from "./failures.ts";

/**
 * Whether transactions assume event ids to be free. Nearly all that are sent are free, and the unique key of the ids that are
 * held tells when one is not. So a first attempt does not ask: an id that turns out to be held makes it a lost race, and the
 * next attempt asks, as do some transactions after it.
 */
export interface IdCheckPolicy {
  /** So many transactions ask before one assumes again. */
  asking: number;
}

/** For so many transactions after a wrong assumption, ids are asked for: where some are sent twice, more are likely. */
const ASK_AFTER_WRONG = 32;

/** A store that assumes. */
export function createIdCheckPolicy(): IdCheckPolicy {
  return { asking: 0 };
}

/** Whether an attempt of a transaction may assume that event ids are free. */
export function mayAssumeFree(createIdCheckPolicy: IdCheckPolicy, attempt: number): boolean {
  // The attempt before may have lost its race because of this assumption.
  if (attempt === 2) createIdCheckPolicy.asking = ASK_AFTER_WRONG;
  if (attempt > 1) return false;
  if (createIdCheckPolicy.asking === 0) return true;
  createIdCheckPolicy.asking -= 1;
  return false;
}

/** A transaction's knowledge of event ids. */
export interface HeldIds {
  /** Those that are held; where the transaction assumes, none, which is proved by the commit. */
  readonly acceptedIds: (eventIds: readonly string[]) => Promise<readonly AcceptedEventId[]>;
  /**
   * The number with which each of these event ids is held, -1 or absent where it is not. Those of them that new events take
   * stay held by whom they are until the commit.
   *
   * @param eventIds of events to write that hold their ids
   * @param taken those of them that new events take: an id that was assumed to be free is proved so by its unique key
   * @throws a {@link LostRace} when a holder was undone at the same time
   */
  readonly holdsOf: (eventIds: readonly string[], taken: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** Looks for the ids that were assumed to be free, and that no new event took. @throws a {@link LostRace} if one is not */
  readonly prove: () => Promise<void>;
}

/** Starts a transaction's knowledge of event ids, once it has its locks. */
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
    holdsOf: async (eventIds, taken) => {
      await learn(assumed.size === 0 ? eventIds : eventIds.filter((id) => !assumed.has(id)));
      for (const id of taken) if (assumed.has(id)) proved.add(id);
      // One that is held and taken all the same gets the next number: were its holder undone at the same time, another
      // writer would take it with the first one.
      const again = holders.size === 0 ? [] : taken.filter((id) => holders.has(id));
      const still = again.length === 0 ? [] : await readHolders(run, table, again, "for no key update");
      const same = still.filter((one) => holders.get(one.event.eventId)?.event.referenceId === one.event.referenceId);
      if (same.length < again.length)
        throw new LostRace("an event whose id is taken again was undone at the same time");
      return holds;
    },
    prove: async () => {
      if (assumed.size === proved.size) return;
      const unproved = [...assumed].filter((id) => !proved.has(id));
      await learn(unproved);
      if (unproved.some((id) => holders.has(id))) throw new LostRace("an event id that was assumed to be free is held");
    },
  };
}
