/**
 * The receiver of events and bad lines from readers of event files.
 *
 * @module
 */
import type { CountedEvents } from "../ledger/preview/premeasured-events.ts";
import type { EventSlots } from "../metering/event-slots.ts";
import type { Problem } from "../problem-table.ts";

/** Receives what readers find. Methods return whether to continue reading, unless noted. */
export interface EventSink {
  /** Receives an event from JSON or a map, not yet validated. */
  onEvent(file: string, line: number, event: unknown): boolean;
  /** Receives a line without a valid event. */
  onBadLine(file: string, line: number, reason: Problem): boolean;
  /** The slots of a schema for a reader that fills them itself; undefined without an ACTIVE schema. */
  findSlots(schemaName: string): EventSlots | undefined;
  /** Receives the event in the slots, with a valid envelope and every declared attribute and dimension. */
  onFilledSlots(file: string, line: number, slots: EventSlots): boolean;
  /** Receives events that a database measured. @returns false if they must be passed one at a time instead */
  onCountedEvents(events: CountedEvents): boolean;
}
