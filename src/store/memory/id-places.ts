/**
 * Where in a list the first item of each id is: an exact index that holds numbers alone, so that neither growing nor
 * collecting garbage passes through the ids of millions of items.
 *
 * @module
 */
import { GROWTH, hashOfText, PROBES_MAX, takeSlot } from "../../ledger/events/duplicates.ts";

/** Places by id. */
export interface IdPlaces {
  /** The place of an id; -1 where it has none. */
  find(id: string): number;
  /** The place of an id, which is this one where it had none before. */
  findOrPut(id: string, place: number): number;
}

/** Slots of the first table. */
const SLOTS_FIRST = 1024;

/**
 * No places.
 *
 * @param idAt the id of the item at a place
 * @param hashOf 32 bits of an id; ids of one hash are told apart all the same, only slower
 */
export function createIdPlaces(
  idAt: (place: number) => string | undefined,
  hashOf: (id: string) => number = hashOfText,
): IdPlaces {
  /** Open addressing, at most half full: a hash and a place plus one, 0 where the slot is free. */
  let table = new Int32Array(2 * SLOTS_FIRST);
  let count = 0;
  /** The places of ids that found no slot nearby. */
  const aside = new Map<string, number>();

  /** The slot of an id, or the free one where it would be; -1 where there is neither nearby. */
  const slotOf = (id: string, hash: number): number => {
    const mask = table.length / 2 - 1;
    for (let probe = 0; probe < PROBES_MAX; probe++) {
      const slot = 2 * ((hash + probe) & mask);
      const place = (table[slot + 1] ?? 0) - 1;
      if (place < 0 || (table[slot] === hash && idAt(place) === id)) return slot;
    }
    return -1;
  };

  const grow = (): void => {
    const before = table;
    table = new Int32Array(GROWTH * before.length);
    for (let slot = 0; slot < before.length; slot += 2) {
      const place = (before[slot + 1] ?? 0) - 1;
      if (place < 0 || takeSlot(table, before[slot] ?? 0, place)) continue;
      const id = idAt(place);
      if (id !== undefined) aside.set(id, place);
    }
    // What was kept aside may have room now, and is looked for there.
    for (const [id, place] of aside) if (takeSlot(table, hashOf(id), place)) aside.delete(id);
  };

  return {
    find(id) {
      const slot = slotOf(id, hashOf(id));
      return slot < 0 ? (aside.get(id) ?? -1) : (table[slot + 1] ?? 0) - 1;
    },
    findOrPut(id, place) {
      if (4 * count >= table.length) grow();
      const hash = hashOf(id);
      const slot = slotOf(id, hash);
      const known = slot < 0 ? (aside.get(id) ?? -1) : (table[slot + 1] ?? 0) - 1;
      if (known >= 0) return known;
      count += 1;
      if (slot < 0) aside.set(id, place);
      else {
        table[slot] = hash;
        table[slot + 1] = place + 1;
      }
      return place;
    },
  };
}
