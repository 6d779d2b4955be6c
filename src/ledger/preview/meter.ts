/** Meters events into usage cells, to store or to price later (S17.1). */
import { type BookSource, toBook } from "../../book/book.ts";
import type { EventInput } from "../../metering/event-envelope.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import type { UnmeteredEvents } from "../../metering/unmetered-events.ts";
import { toUsageRow, type UsageRow } from "../../metering/usage-rows.ts";
import { featuresBySchema } from "../catalog.ts";
import { type IngestOutcome, isCompleted } from "../outcome.ts";
import { rememberIds } from "./accepted-ids.ts";
import {
  eventCountsOf,
  type EventCounts,
  type EventProblem,
  addAllEvents,
  listUnmetered,
  startEventRun,
  featureUsageError,
} from "./preview-run.ts";
import type { PreviewOptions } from "./preview.ts";
import type { SummedEvents } from "./summed-events.ts";

export type MeterOptions = Pick<PreviewOptions, "ids" | "ruleBudget">;

/** The result of metering. */
export interface MeterResult {
  /** By account in book order, meter and day; includes quantities of 0. */
  readonly usage: readonly UsageRow[];
  readonly events: EventCounts;
  /** As in a preview. */
  readonly unmetered?: readonly UnmeteredEvents[];
  /** The first thousand rejected or failed events. */
  readonly problems: readonly EventProblem[];
}

/** Meters events one at a time. */
export interface MeterRun {
  /** Meters one event as sent. @throws {RatebookError} ERR_REFUSED as {@link meter} */
  add(event: unknown): IngestOutcome;
  /** See {@link EventRun.slotsOf}. */
  slotsOf(schemaName: string): EventSlots | undefined;
  /** Like {@link add}, for the event in the slots. */
  addSlots(slots: EventSlots): IngestOutcome;
  /** See {@link EventRun.addSummed}. */
  addSummed(counted: SummedEvents): boolean;
  /** The result so far. */
  finish(): Omit<MeterResult, "problems">;
}

/**
 * Meters events in the given order like a preview, each arriving at its own timestamp, and returns the usage cells.
 *
 * @throws {RatebookError} ERR_REFUSED at the first accepted event of a schema that consumes a feature, because the
 * order of its events matters and cells have none; ERR_BOOK_INVALID; ERR_OPTION_INVALID for invalid events
 */
export function meter(source: BookSource, events: Iterable<EventInput>, options: MeterOptions = {}): MeterResult {
  const run = createMeter(source, options);
  const problems = addAllEvents((event) => run.add(event), events);
  return { ...run.finish(), problems };
}

/** Starts metering events one at a time. @throws {RatebookError} as {@link meter} */
export function createMeter(source: BookSource, { ids, ruleBudget }: MeterOptions = {}): MeterRun {
  const book = toBook(source, { ruleBudget });
  const run = startEventRun(book, { ids: ids === false ? undefined : (ids ?? rememberIds()), ruleBudget });
  const features = featuresBySchema(book);
  const rejectFeatureSchema = (outcome: IngestOutcome, schemaName: unknown): IngestOutcome => {
    if (features.size === 0 || !isCompleted(outcome.status)) return outcome;
    const feature = features.get(String(schemaName));
    if (feature !== undefined) throw featureUsageError(String(schemaName), feature);
    return outcome;
  };
  return {
    add: (event) =>
      rejectFeatureSchema(run.add(event), (event as { readonly schemaName?: unknown } | null)?.schemaName),
    slotsOf: run.slotsOf,
    addSummed: run.addSummed,
    addSlots: (slots) => rejectFeatureSchema(run.addSlots(slots), slots.schemaName),
    finish: () => ({
      usage: Array.from(run.usage.cells(), (cell) => toUsageRow(cell, book.usageMeters)),
      events: eventCountsOf(run),
      ...listUnmetered(run),
    }),
  };
}
