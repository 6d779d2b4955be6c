/**
 * Adds the events of a preview in order, and lists the problems of rejected or failed ones.
 *
 * @module
 */
import type { EventInput } from "../../metering/event-envelope.ts";
import type { Problem } from "../../problem-table.ts";
import { type IngestOutcome, type IngestStatus, METERED } from "../outcome.ts";
import type { EventRun } from "./preview-run.ts";

/** A rejected or failed event. */
export interface EventProblem extends Problem {
  /** Its position among the events, from 1. */
  readonly event: number;
  readonly status: IngestStatus;
}

/** The number of events read, and of those with each status that occurred. */
export type EventCounts = { readonly read: number } & { readonly [Status in IngestStatus]?: number };

/** Maximum number of problems listed; all are counted. */
export const PROBLEMS_MAX = 1000;

/** Adds events in order. @returns the first {@link PROBLEMS_MAX} that were rejected or failed */
export function addAllEvents(
  add: (event: EventInput) => IngestOutcome,
  events: Iterable<EventInput>,
): readonly EventProblem[] {
  const problems: EventProblem[] = [];
  let last: IngestOutcome = METERED;
  let position = 0;
  for (const event of events) {
    position++;
    const outcome = add(event);
    // Most events have the same outcome object as the previous one; if that was completed, skip the checks.
    if (outcome === last || problems.length === PROBLEMS_MAX) continue;
    const { status, description, problem } = outcome;
    if (problem === undefined) last = outcome;
    else problems.push({ event: position, status, ...problem, message: description });
  }
  return problems;
}

/** The number of events of a run with each status so far. */
export function eventCountsOf(run: Pick<EventRun, "counts">): EventCounts {
  const occurred = Object.entries(run.counts()).filter(([, count]) => count > 0);
  return { read: occurred.reduce((total, [, count]) => total + count, 0), ...Object.fromEntries(occurred) };
}
