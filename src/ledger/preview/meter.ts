/**
 * From a book and events to usage cells: what a preview counts, to be kept or to be priced later (S17.1).
 *
 * @module
 */
import { type BookSource, toBook } from "../../book/book-source.ts";
import type { EventInput } from "../../metering/event-envelope.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import { toUsageRow, type UsageRow } from "../../metering/usage-row.ts";
import { featuresBySchema } from "../catalog.ts";
import { type IngestOutcome, isCompleted } from "../outcome.ts";
import { rememberIds } from "./accepted-id-set.ts";
import type { CountedEvents } from "./premeasured-events.ts";
import { eventCountsOf, type EventCounts, type EventProblem, takeEvents } from "./preview-events.ts";
import { startEventRun } from "./preview-run.ts";
import { refusedCells } from "./preview-usage.ts";
import type { PreviewOptions } from "./preview.ts";

/** How events are metered. */
export type MeterOptions = Pick<PreviewOptions, "ids" | "ruleBudget">;

/** The result of metering. */
export interface MeterResult {
  /** By account in book order, meter and day; what was metered and counted 0 is among them. */
  readonly usage: readonly UsageRow[];
  readonly events: EventCounts;
  /** The first thousand refused or failed events. */
  readonly problems: readonly EventProblem[];
}

/** Events that are metered one after another. */
export interface MeterRun {
  /** Meters one event as it was sent. @throws {RatebookError} ERR_REFUSED as {@link meter} */
  add(event: unknown): IngestOutcome;
  /** As {@link EventRun.slotsOf}. */
  slotsOf(schemaName: string): EventSlots | undefined;
  /** As {@link add}, for the event that was laid out in the slots. */
  addSlots(slots: EventSlots): IngestOutcome;
  /** As {@link EventRun.addCounted}. */
  addCounted(counted: CountedEvents): boolean;
  /** As {@link EventRun.takesCounted}. */
  takesCounted(accountId: string): boolean;
  /** The result so far. */
  finish(): Omit<MeterResult, "problems">;
}

/**
 * Meters events as a preview does, in the order given, each arriving at its own timestamp, and gives the usage cells that
 * they leave.
 *
 * @throws {RatebookError} ERR_REFUSED at the first accepted event of a schema that consumes a feature, which it names: the
 * order of its events matters, and cells have none; ERR_BOOK_INVALID; ERR_OPTION_INVALID for events that are none
 */
export function meter(source: BookSource, events: Iterable<EventInput>, options: MeterOptions = {}): MeterResult {
  const run = createMeter(source, options);
  const problems = takeEvents((event) => run.add(event), events);
  return { ...run.finish(), problems };
}

/** Starts to meter events that come one after another. @throws {RatebookError} as {@link meter} */
export function createMeter(source: BookSource, { ids, ruleBudget }: MeterOptions = {}): MeterRun {
  const book = toBook(source, { ruleBudget });
  const run = startEventRun(book, { ids: ids === false ? undefined : (ids ?? rememberIds()), ruleBudget });
  const features = featuresBySchema(book);
  const cellsOnly = (outcome: IngestOutcome, schemaName: unknown): IngestOutcome => {
    if (features.size === 0 || !isCompleted(outcome.status)) return outcome;
    const feature = features.get(String(schemaName));
    if (feature !== undefined) throw refusedCells(String(schemaName), feature);
    return outcome;
  };
  return {
    add: (event) => cellsOnly(run.add(event), (event as { readonly schemaName?: unknown } | null)?.schemaName),
    slotsOf: run.slotsOf,
    addCounted: run.addCounted,
    takesCounted: run.takesCounted,
    addSlots: (slots) => cellsOnly(run.addSlots(slots), slots.schemaName),
    finish: () => ({
      usage: Array.from(run.usage.cells(), toUsageRow),
      events: eventCountsOf(run),
    }),
  };
}
