/** The formats of times that maps name. */
import { formatInstant, tryParseInstant } from "../calendar/instant.ts";

/**
 * The time formats by the name that maps use. Each converts a text to an event's timestamp, without a zone if the text
 * has none, or returns undefined if it doesn't match.
 *
 * A date may be followed by a 24-hour time, or a 12-hour time with AM or PM. Without one, it is midnight at the start
 * of the day.
 */
export const TIME_FORMS: ReadonlyMap<string, (text: string) => string | undefined> = new Map([
  ["YYYY-MM-DD", createDateReader(/^(?<year>\d{4})-(?<month>\d\d?)-(?<day>\d\d?)(?<rest>\D.*)?$/)],
  ["YYYY/MM/DD", createDateReader(/^(?<year>\d{4})\/(?<month>\d\d?)\/(?<day>\d\d?)(?<rest>\D.*)?$/)],
  ["DD.MM.YYYY", createDateReader(/^(?<day>\d\d?)\.(?<month>\d\d?)\.(?<year>\d{4})(?<rest>\D.*)?$/)],
  ["MM/DD/YYYY", createDateReader(/^(?<month>\d\d?)\/(?<day>\d\d?)\/(?<year>\d{4})(?<rest>\D.*)?$/)],
  ["DD/MM/YYYY", createDateReader(/^(?<day>\d\d?)\/(?<month>\d\d?)\/(?<year>\d{4})(?<rest>\D.*)?$/)],
  ["seconds", (text) => readEpochTime(text, /^(\d{1,11})(?:\.(\d+))?$/, 3)],
  ["milliseconds", (text) => readEpochTime(text, /^(\d{1,14})(?:\.\d+)?$/, 0)],
]);

function createDateReader(shape: RegExp): (text: string) => string | undefined {
  return (text) => {
    const { year = "", month = "", day = "", rest = "" } = shape.exec(text)?.groups ?? {};
    if (year === "") return undefined;
    const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
    if (rest === "") return `${date}T00:00`;
    const time = readTimeOfDay(rest);
    return time === undefined ? undefined : `${date}T${time}`;
  };
}

/** Reads a time of day and what follows it; the hour gets two digits from 0 to 23. */
function readTimeOfDay(text: string): string | undefined {
  const [, hour, after = ""] = /^[T ](\d\d?)(:\d\d.*)$/.exec(text) ?? [];
  if (hour === undefined) return undefined;
  const [, minutes, dayHalf] = /^(:\d\d[\d:.]*) ?([AP])M$/i.exec(after) ?? [];
  if (minutes === undefined) return hour.padStart(2, "0") + after;
  if (Number(hour) < 1 || Number(hour) > 12) return undefined;
  return String((Number(hour) % 12) + (dayHalf?.toUpperCase() === "P" ? 12 : 0)).padStart(2, "0") + minutes;
}

/** @param digits decimal places of a millisecond; further digits are truncated (S2.2) */
function readEpochTime(text: string, shape: RegExp, digits: number): string | undefined {
  const [, whole, fraction = ""] = shape.exec(text) ?? [];
  return whole === undefined ? undefined : formatInstant(Number(whole + fraction.slice(0, digits).padEnd(digits, "0")));
}

const YEAR_2000 = Date.UTC(2000, 0, 1);
const YEAR_2100 = Date.UTC(2100, 0, 1);

/** The formats in which every text is a time in 2000 to 2099, most likely first. */
export function findMatchingForms(texts: readonly string[]): readonly string[] {
  const isTimeIn = (read: (text: string) => string | undefined, text: string): boolean => {
    const time = tryParseInstant(read(text) ?? "", 0);
    return time !== undefined && time >= YEAR_2000 && time < YEAR_2100;
  };
  if (texts.length === 0) return [];
  return [...TIME_FORMS].filter(([, read]) => texts.every((text) => isTimeIn(read, text))).map(([form]) => form);
}
