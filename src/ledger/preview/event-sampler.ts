/** The largest events of a day behind the usage of a meter, for reports. */
import { type Day, dayOf, type Instant } from "../../calendar/instant.ts";
import { listMeasured } from "../../metering/measure-units.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import type { Tracer } from "./line-trace.ts";

/** An event in a report. */
export interface DayEvent {
  /** The id as sent. */
  readonly id: string;
  readonly timestamp: Instant;
  /** Units added to the meter; may be negative (S5.2). */
  readonly quantity: Decimal;
}

/** The events that added to a meter on a UTC day. */
export interface DayEvents {
  readonly count: number;
  /** By absolute quantity, largest first. */
  readonly largest: readonly DayEvent[];
}

/** Collects the events behind the usage of days. */
export interface EventSampler extends Pick<Tracer, "note"> {
  /** Undefined if there are none, or if the limit of days was reached. */
  of(accountId: string, meterId: string, day: Day): DayEvents | undefined;
}

/** Maximum number of account and meter days with sampled events: a quarter of a gigabyte with five events each. */
const DAYS_MAX = 200_000;

/** Starts sampling. @param count events per account, meter and day */
export function createEventSampler(count: number): EventSampler {
  const byAccount = new Map<string, Map<string, { count: number; readonly largest: DayEvent[] }>>();
  const keyOf = (meterId: string, day: Day): string => `${day} ${meterId}`;
  let size = 0;
  return {
    note({ state }, { id, timestamp }, program, { units }) {
      const samples = byAccount.get(state.id) ?? new Map<string, { count: number; readonly largest: DayEvent[] }>();
      byAccount.set(state.id, samples);
      for (const { place, quantity } of listMeasured(program, units)) {
        const key = keyOf(program.meterIds[place] ?? "", dayOf(timestamp));
        const sample = samples.get(key) ?? { count: 0, largest: [] };
        if (sample.count === 0) {
          if (size >= DAYS_MAX) continue;
          size += 1;
          samples.set(key, sample);
        }
        sample.count += 1;
        insert(sample.largest, { id, timestamp, quantity }, count);
      }
    },
    of: (accountId, meterId, day) => byAccount.get(accountId)?.get(keyOf(meterId, day)),
  };
}

/** Inserts an event among the largest; of equal ones the earliest comes first. */
function insert(largest: DayEvent[], event: DayEvent, count: number): void {
  const size = event.quantity.abs();
  const after = largest.findIndex(({ quantity }) => quantity.abs().lt(size));
  if (after < 0 && largest.length >= count) return;
  largest.splice(after < 0 ? largest.length : after, 0, event);
  if (largest.length > count) largest.pop();
}
