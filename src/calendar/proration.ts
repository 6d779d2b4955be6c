/** Proration by whole UTC days (S8). */
import { invariant } from "../errors.ts";
import type { Cycle } from "./cycle.ts";
import { daysBetween, isDayStart } from "./instant.ts";

/** The charged share of a full amount: `days` out of `of`, multiplied first and divided last (S8.1). */
export interface Share {
  readonly days: number;
  /** 1 or more. */
  readonly of: number;
}

/** The days of a period, 0 or more. @throws {InvariantError} if it does not consist of whole UTC days, or ends before it starts */
export function daysIn(period: Cycle): number {
  invariant(
    isDayStart(period.start) && isDayStart(period.end) && period.start <= period.end,
    "S8.1: a period is whole UTC days and does not end before it starts",
  );
  return daysBetween(period.start, period.end);
}

/** The intersection of two half-open periods; undefined if it is empty. */
export function intersection(a: Cycle, b: Cycle): Cycle | undefined {
  const start = Math.max(a.start, b.start);
  const end = Math.min(a.end, b.end);
  return start < end ? { start, end } : undefined;
}

/**
 * The charged share for the `served` days (S8.1): 15 to 30 June of June is 16 of 30.
 *
 * @param served inside `natural`
 * @param natural at least one day
 * @throws {InvariantError} if one of them is not whole UTC days, or `served` is not inside `natural`
 */
export function shareOfDays(served: Cycle, natural: Cycle): Share {
  const of = daysIn(natural);
  invariant(of > 0, "S8.1: the natural period has at least one day");
  invariant(
    natural.start <= served.start && served.end <= natural.end,
    "S8.1: the served period is inside the natural one",
  );
  return { days: daysIn(served), of };
}
