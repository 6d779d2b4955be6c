/**
 * Instants: milliseconds since 1970-01-01T00:00:00.000Z, UTC (S2).
 *
 * @module
 */
import { RatebookError } from "../errors.ts";

/** Milliseconds since 1970, UTC. */
export type Instant = number;
/** Whole days since 1970-01-01, UTC. */
export type Day = number;

/** Milliseconds of a day. */
export const DAY_MS = 86_400_000;

/** Reads a date-time (S2.2). @throws {RatebookError} ERR_DATE_INVALID */
export function parseInstant(text: string): Instant {
  const value = Date.parse(text);
  if (Number.isNaN(value))
    throw new RatebookError("ERR_DATE_INVALID", `${JSON.stringify(text.slice(0, 60))} is not a date-time`, {});
  return value;
}

/** Reads a date, or a date-time that is a midnight (S2.2). @throws {RatebookError} ERR_DATE_INVALID */
export function parseDate(text: string): Instant {
  return parseInstant(text);
}

/** `2024-01-02T03:04:05.000Z`. */
export function formatInstant(instant: Instant): string {
  return new Date(instant).toISOString();
}

/** The UTC day that holds an instant. */
export function dayOf(instant: Instant): Day {
  return Math.floor(instant / DAY_MS);
}
