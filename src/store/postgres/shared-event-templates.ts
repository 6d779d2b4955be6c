/** Reads events in the shared form of databases before version 4 of the layout; no longer written. */
import { describeStored } from "../../ledger/outcome.ts";
import type { EventRecord } from "../../ledger/records.ts";
import { parseDecimal } from "../../numbers/decimal.ts";

/**
 * The parts that events of one form share: their version, the names of their fields, their meters, the description of
 * their outcome.
 */
type EventTemplate = readonly [number, readonly string[], readonly string[], readonly string[], string];

/** The columns of an event with a form. */
export type EventColumns = Pick<
  EventRecord,
  "referenceId" | "accountId" | "number" | "eventId" | "schemaName" | "timestamp" | "createdAt" | "status"
>;

/** Reads an event from its columns, form and body: its customer, attributes, units and dimensions. */
export function readTemplatedEvent(columns: EventColumns, text: string, body: string): EventRecord {
  const [schemaVersion, attributes, dimensions, meterIds, description] = JSON.parse(text) as EventTemplate;
  const [customerId, ...rest] = JSON.parse(body) as [string, ...(number | string)[]];
  // A number is the shortest text of a double, which determines its decimal; minus zero is 0.
  const decimalAt = (at: number): ReturnType<typeof parseDecimal> => parseDecimal(Number(rest[at] ?? 0) + 0);
  const textsFrom = attributes.length + meterIds.length;
  return {
    ...columns,
    customerId,
    schemaVersion,
    payload: {
      accountId: columns.accountId,
      attributes: attributes.map((name, place) => ({ name, value: decimalAt(place) })),
      dimensions: Object.fromEntries(dimensions.map((name, place) => [name, String(rest[textsFrom + place])])),
    },
    description: describeStored(columns.status, description),
    reverted: false,
    enriched: { attributes: [], dimensions: {} },
    units: meterIds.map((meterId, place) => ({ meterId, quantity: decimalAt(attributes.length + place) })),
  };
}
