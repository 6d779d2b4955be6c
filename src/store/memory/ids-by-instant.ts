/**
 * Account ids by an instant: when something falls due, or until when the draft index is complete.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { compareIds } from "../../ledger/compare-ids.ts";
import { createOrdered } from "./ordered-list.ts";

/** Ids, each with an instant. */
export interface IdsByInstant {
  /** Sets the instant of an id. */
  put(id: string, at: Instant): void;
  /** The first ids, ascending and after `afterId`, with an instant at or before `instant`. */
  upTo(instant: Instant, limit: number, afterId: string | undefined): readonly string[];
}

interface Place {
  readonly id: string;
  readonly at: Instant;
}

export function createIdsByInstant(): IdsByInstant {
  const places = createOrdered<Place>((a, b) => a.at - b.at || compareIds(a.id, b.id));
  const placeOf = new Map<string, Place>();
  return {
    put(id, at) {
      const old = placeOf.get(id);
      if (old?.at === at) return;
      if (old !== undefined) places.remove(old);
      const place = { id, at };
      places.add(place);
      placeOf.set(id, place);
    },
    upTo(instant, limit, afterId) {
      let ids: string[] = [];
      /** The last id to return, once there are enough. */
      let last: string | undefined;
      for (const { id, at } of places.from()) {
        if (at > instant) break;
        if (afterId !== undefined && compareIds(id, afterId) <= 0) continue;
        if (last !== undefined && compareIds(id, last) > 0) continue;
        if (ids.push(id) < 2 * limit) continue;
        ids = ids.sort(compareIds).slice(0, limit);
        last = ids.at(-1);
      }
      return ids.sort(compareIds).slice(0, limit);
    },
  };
}
