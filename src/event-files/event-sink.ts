/**
 * The receiver of what readers of event files find: events, and lines that hold none.
 *
 * @module
 */
import type { CountedEvents } from "../ledger/preview/premeasured-events.ts";
import type { EventSlots } from "../metering/event-slots.ts";

/** Takes what readers find. Each answer says whether to read on. */
export interface EventSink {
  /** An event as JSON or a map gave it; not checked yet. */
  onEvent(file: string, line: number, event: unknown): boolean;
  /** A line that holds no event. */
  onBadLine(file: string, line: number, reason: string): boolean;
  /** The slots of a schema's events, for a reader that fills them itself; undefined without an ACTIVE schema. */
  findSlots(schemaName: string): EventSlots | undefined;
  /** The event that was put into the slots: a valid envelope, with every declared attribute and dimension. */
  onFilledSlots(file: string, line: number, slots: EventSlots): boolean;
  /** Events that a database has measured. @returns false where they are to be given one by one */
  onCountedEvents(events: CountedEvents): boolean;
}
