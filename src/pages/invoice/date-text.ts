/**
 * UTC days in long form.
 *
 * @module
 */
import { type Instant, parseInstant, addDays } from "../../calendar/instant.ts";

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

/** `15 June 2026`. */
export function formatLongDate(instant: Instant): string {
  const date = new Date(instant);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()] ?? ""} ${date.getUTCFullYear()}`;
}

/** The first and last day of a half-open period, without repeating equal parts: `15 to 30 June 2026`. */
export function formatLongPeriod(startDate: string, endDate: string): string {
  const start = parseInstant(startDate);
  const last = Math.max(start, addDays(parseInstant(endDate), -1));
  const [from, until] = [formatLongDate(start).split(" "), formatLongDate(last).split(" ")];
  if (from.join(" ") === until.join(" ")) return from.join(" ");
  const partCount = from[2] !== until[2] ? 3 : from[1] !== until[1] ? 2 : 1;
  return `${from.slice(0, partCount).join(" ")} to ${until.join(" ")}`;
}
