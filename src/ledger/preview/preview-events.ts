/**
 * Takes the events of a preview in their order, and lists the problems of those that are refused or fail.
 *
 * @module
 */
import type { EventInput } from "../../metering/event-envelope.ts";
import { forEachPrefetched } from "../../metering/prefetch.ts";
import { type IngestOutcome, type IngestStatus, isCompleted, METERED } from "../outcome.ts";
import type { EventRun } from "./preview-run.ts";

/** An event that was refused or failed. */
export interface EventProblem {
  /** Its place among the events, from 1. */
  readonly event: number;
  readonly status: IngestStatus;
  /** A sentence. */
  readonly message: string;
}

/** How many events were read, and how many had each status that occurred. */
export type EventCounts = { readonly read: number } & { readonly [Status in IngestStatus]?: number };

/** How many problems of events are kept; all are counted. */
export const PROBLEMS_MAX = 1000;

/** Takes events in their order. @returns the first {@link PROBLEMS_MAX} that were refused or failed */
export function takeEvents(
  add: (event: EventInput) => IngestOutcome,
  events: Iterable<EventInput>,
): readonly EventProblem[] {
  const problems: EventProblem[] = [];
  let last: IngestOutcome = METERED;
  let place = 0;
  const take = (event: EventInput): void => {
    place++;
    const outcome = add(event);
    // Most events have the very outcome of the one before them: a completed one is not looked at again.
    if (outcome === last || problems.length === PROBLEMS_MAX) return;
    if (isCompleted(outcome.status)) last = outcome;
    else problems.push({ event: place, status: outcome.status, message: outcome.description });
  };
  if (Array.isArray(events)) forEachPrefetched(events, (event) => take(event as EventInput));
  else for (const event of events) take(event);
  return problems;
}

/** How many events of a run had each status so far. */
export function eventCountsOf(run: Pick<EventRun, "counts">): EventCounts {
  const occurred = Object.entries(run.counts()).filter(([, count]) => count > 0);
  return { read: occurred.reduce((total, [, count]) => total + count, 0), ...Object.fromEntries(occurred) };
}
