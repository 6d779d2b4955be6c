/**
 * The events behind the usage of a day: how many there were, and the largest of them.
 *
 * @module
 */
import { type Day, dayOf, type Instant } from "../../calendar/instant.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import { decimalOfExact } from "../../numbers/exact.ts";
import type { Tracer } from "./line-trace.ts";

/** An event as far as a report names it. */
export interface DayEvent {
  /** The id that it was sent with. */
  readonly id: string;
  readonly timestamp: Instant;
  /** Units that it added to the meter, below 0 too (S5.2). */
  readonly quantity: Decimal;
}

/** The events that added to a meter on a UTC day. */
export interface DayEvents {
  readonly count: number;
  /** Those that added most, above or below 0, first. */
  readonly largest: readonly DayEvent[];
}

/** Keeps the events behind the usage of days. */
export interface EventSampler extends Pick<Tracer, "note"> {
  /** Undefined where there are none, or where they were too many days to keep. */
  of(accountId: string, meterId: string, day: Day): DayEvents | undefined;
}

/** So many days, each of an account and a meter, are kept at most: a quarter of a gigabyte with five events each. */
const DAYS_MAX = 200_000;

/** Starts to keep events. @param most so many of each account, meter and day */
export function startSampling(most: number): EventSampler {
  const byAccount = new Map<string, Map<string, Map<Day, { count: number; largest: DayEvent[] }>>>();
  let sampleSize = 0;
  return {
    note({ seen }, { id, timestamp }, { meterIds }, { units }) {
      const meters = getOrInsert(
        byAccount,
        seen.id,
        () => new Map<string, Map<Day, { count: number; largest: DayEvent[] }>>(),
      );
      for (const [index, meterId] of meterIds.entries()) {
        const unit = units[index];
        const quantity = unit === undefined ? undefined : decimalOfExact(unit);
        if (quantity === undefined || quantity.isZero()) continue;
        const days = getOrInsert(meters, meterId, () => new Map<Day, { count: number; largest: DayEvent[] }>());
        const day = dayOf(timestamp);
        let events = days.get(day);
        if (events === undefined) {
          if (sampleSize >= DAYS_MAX) continue;
          sampleSize += 1;
          days.set(day, (events = { count: 0, largest: [] }));
        }
        events.count += 1;
        insert(events.largest, { id, timestamp, quantity }, most);
      }
    },
    of: (accountId, meterId, day) => byAccount.get(accountId)?.get(meterId)?.get(day),
  };
}

function getOrInsert<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

/** Puts an event where it belongs among the largest; of equal ones the earlier that came stays first. */
function insert(largest: DayEvent[], event: DayEvent, most: number): void {
  const size = event.quantity.abs();
  const after = largest.findIndex(({ quantity }) => quantity.abs().lt(size));
  if (after < 0 && largest.length >= most) return;
  largest.splice(after < 0 ? largest.length : after, 0, event);
  if (largest.length > most) largest.pop();
}
