/** Events of random cases, and the verifier with them. */
import type { EventInput, ShortBookInput } from "../../src/index.ts";
import { createMetering, type Metering } from "../../src/verify/metering.ts";

/** An event of a meter that does not sum. */
export interface Sample {
  readonly day: number;
  readonly time: string;
  readonly value: number | string;
  readonly region: string;
  readonly user: string;
}

/** Events in time order; of equal times not in that of their ids. @param toDate the date of a numbered day */
export function toSampleEvents(samples: readonly Sample[], toDate: (day: number) => string): readonly EventInput[] {
  return samples
    .map(({ day, time, value, region, user }, index): EventInput => ({
      schemaName: "sample",
      id: `e${(index * 7) % 17}`,
      accountId: "acme",
      timestamp: `${toDate(day)}T${time}`,
      attributes: { value },
      dimensions: { region, user },
    }))
    .toSorted((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp));
}

/** The metering of a verifier that has read these events. */
export function meterEvents(book: ShortBookInput, events: readonly EventInput[]): Metering {
  const metering = createMetering(book);
  for (const event of events) metering.add(event);
  return metering;
}
