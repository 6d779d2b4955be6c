/**
 * Event file maps, which define where each part of an event comes from, the formats of times and numbers that they name,
 * and events from records through a map (book.md, "Event files").
 */

import * as z from "zod";

import {
  didYouMean,
  findNearest,
  guessName,
  formatPath,
  type Path,
  ISSUE_OPTIONS,
  readIssue,
} from "../book/problems.ts";
import { parseJsonDocument } from "../book/reading/json-document.ts";
import { recordSchema } from "../book/resources/fields.ts";
import { formatInstant, type Instant, tryParseInstant, tryParseOffset } from "../calendar/instant.ts";
import { createLocalTimeReader, isZoneName } from "../calendar/zone.ts";
import { RatebookError } from "../errors.ts";
import { Decimal } from "../numbers/decimal.ts";
import { createProblem, rejection, type Problem } from "../problem-table.ts";
import { InputError, describeAtPlace, formatPathPrefix, quoteText } from "./input-error.ts";

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

/** The decimal mark. The other one may separate thousands. */
export type DecimalMark = "," | ".";

const COMMA_NUMBER = /^-?(?:\d+|\d{1,3}(?:[. \u00a0\u202f]\d{3})+)(?:,\d+)?$/;
const GROUPED_NUMBER = /^-?\d{1,3}(?:[,' \u00a0\u202f]\d{3})+(?:\.\d+)?$/;
const BETWEEN_THOUSANDS = /[,' \u00a0\u202f]/g;

/** Replaces a decimal comma by a point and removes points between thousands; undefined for other text. */
export function toDecimalPoint(text: string): string | undefined {
  return COMMA_NUMBER.test(text) ? text.replaceAll(/[. \u00a0\u202f]/g, "").replace(",", ".") : undefined;
}

/**
 * Removes commas, spaces or apostrophes between thousands; undefined if they are misplaced. Other text is unchanged.
 */
export function removeGrouping(text: string): string | undefined {
  if (GROUPED_NUMBER.test(text)) return text.replaceAll(BETWEEN_THOUSANDS, "");
  return text.search(BETWEEN_THOUSANDS) === -1 ? text : undefined;
}

const constant = z.union([
  z.string(),
  z.number().transform(String),
  z.custom<Decimal>((value) => Decimal.isDecimal(value)).transform((value) => value.toFixed()),
]);
const column = z.strictObject({ column: z.string().min(1) });
const value = z.strictObject({ value: constant });
const template = z.strictObject({ template: z.string().min(1) });

const ORIGIN_MESSAGE = 'expected {"column": "…"}, {"value": "…"} or {"template": "…"}';
/** The source of one part of an event. */
const origin = z.union([column, value, template], ORIGIN_MESSAGE);

const zone = z
  .string()
  .refine((text) => tryParseOffset(text) !== undefined || isZoneName(text), {
    error: ({ input }) => {
      const text = String(input);
      const hint = didYouMean(text, Intl.supportedValuesOf("timeZone"));
      return `no zone ${quoteText(text)}: expected "UTC", an offset such as "+05:30" or a name such as "Europe/Berlin"${hint}`;
    },
  })
  .optional();
const FORMS = [...TIME_FORMS.keys()];
const form = z
  .string()
  .refine((text) => TIME_FORMS.has(text), `expected one of ${FORMS.map(quoteText).join(", ")}`)
  .meta({ enum: FORMS })
  .optional();
const timestamp = z.union(
  [column.extend({ form, zone }), value.extend({ form, zone }), template.extend({ form, zone })],
  `${ORIGIN_MESSAGE}, optionally with "form" and "zone"`,
);
const decimal = z
  .string()
  .refine((text) => text === "," || text === ".", 'expected "," or "."')
  .meta({ enum: [",", "."] })
  .optional();
const attribute = z.union(
  [column.extend({ decimal }), value, template],
  `${ORIGIN_MESSAGE}, optionally with "decimal" for numbers with commas`,
);

/** The sources of all parts of an event. */
export const eventFileMap = z.strictObject({
  $schema: z.string().optional(),
  schemaName: origin,
  accountId: origin,
  id: origin,
  timestamp,
  attributes: recordSchema(z.string().min(1), attribute).default({}),
  dimensions: recordSchema(z.string().min(1), origin).default({}),
});
export type EventFileMap = z.output<typeof eventFileMap>;
/** The source of one part of an event. */
export type Origin = z.output<typeof origin>;

/**
 * Reads a map. Comments, and `$schema` for editors, are allowed.
 *
 * @param file the map's name, for messages
 * @throws {InputError} for the first problem, with its place and what was expected
 */
export function readEventFileMap(file: string, text: string): EventFileMap {
  const document = parseJsonDocument(text);
  if (!("value" in document)) {
    throw new InputError(`${file}:${document.line}:${document.column}: not JSON: ${document.message}`);
  }
  const toInputError = (problem: Problem): InputError => {
    const place = document.findPlace(problem);
    const message = describeAtPlace(problem, place);
    return new InputError(`${file}:${place.line}:${place.column}: ${formatPathPrefix(problem.path)}${message}`);
  };
  const [repeatedKey] = document.repeatedKeys;
  if (repeatedKey !== undefined) throw toInputError(repeatedKey);
  const result = eventFileMap.safeParse(document.value, ISSUE_OPTIONS);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = (issue?.path ?? []).map((key) => (typeof key === "number" ? key : String(key)));
  const [unknownField] = issue?.code === "unrecognized_keys" ? issue.keys : findMisspeltFields(document.value, path);
  if (unknownField === undefined)
    throw toInputError(issue === undefined ? rejection("$", "NOT_ACCEPTED", "expected a map") : toProblem(issue, path));
  const knownFields = path.length === 0 ? Object.keys(eventFileMap.shape) : ORIGIN_FIELDS;
  const params = { field: unknownField, ...guessName(unknownField, knownFields) };
  throw toInputError(createProblem(formatPath([...path, unknownField]), "UNKNOWN_FIELD", params));
}

/**
 * Checks a map that a program passes as a value.
 *
 * @param name the parameter's name, for messages
 * @throws {RatebookError} ERR_INPUT_INVALID with all problems
 */
export function checkEventFileMap(name: string, value: unknown): EventFileMap {
  const result = eventFileMap.safeParse(value, ISSUE_OPTIONS);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => {
    const keys = issue.path.map((key) => (typeof key === "number" ? key : String(key)));
    return toProblem(issue, [name, ...keys]);
  });
  const message = problems.map((problem) => `${problem.path}: ${problem.message}`).join("; ");
  throw new RatebookError("ERR_INPUT_INVALID", message, { problems });
}

function toProblem(issue: z.core.$ZodIssue, path: Path): Problem {
  const { code, params } = readIssue(issue);
  return createProblem(formatPath(path), code, params);
}

const ORIGIN_FIELDS: readonly string[] = ["column", "value", "template", "form", "zone", "decimal"];

/** The fields of an origin whose names look misspelled. */
function findMisspeltFields(map: unknown, path: readonly (string | number)[]): readonly string[] {
  const origin = path.reduce<unknown>((current, key) => Reflect.get(Object(current), key), map);
  if (path.length === 0 || typeof origin !== "object" || origin === null) return [];
  return Object.keys(origin).filter(
    (key) => !ORIGIN_FIELDS.includes(key) && findNearest(key, ORIGIN_FIELDS) !== undefined,
  );
}

/** Reads the text of an origin from a record: a CSV row or an NDJSON object. */
export type OriginReader<Record> = (record: Record, row: number) => string;

/**
 * Finds a column.
 *
 * @throws {InputError} if the file is known to have no such column
 */
export type ColumnReader<Record> = (name: string) => (record: Record) => string;

/** Binds an origin to the columns of a file. @throws {InputError} as `findColumn` does */
export function bindOrigin<Record>(origin: Origin, findColumn: ColumnReader<Record>): OriginReader<Record> {
  if ("column" in origin) return findColumn(origin.column);
  if ("value" in origin) {
    const { value } = origin;
    return () => value;
  }
  const parts = splitTemplate(origin.template).map((part, index): OriginReader<Record> => {
    if (index % 2 === 0) return () => part;
    return part === "row" ? (_, row) => String(row) : findColumn(part);
  });
  return (record, row) => parts.map((part) => part(record, row)).join("");
}

/** The columns that a map uses, in its order, without duplicates. */
export function listMappedColumns(map: EventFileMap): readonly string[] {
  const columns = listOrigins(map).flatMap((origin) =>
    "column" in origin ? [origin.column] : listTemplateNames(origin).filter((name) => name !== "row"),
  );
  return [...new Set(columns)];
}

/** Whether a map uses row numbers. */
export function usesRowNumbers(map: EventFileMap): boolean {
  return listOrigins(map).some((origin) => listTemplateNames(origin).includes("row"));
}

function listOrigins(map: EventFileMap): readonly Origin[] {
  return [
    map.schemaName,
    map.accountId,
    map.id,
    map.timestamp,
    ...Object.values(map.attributes),
    ...Object.values(map.dimensions),
  ];
}

/** The names in braces of a template. */
function listTemplateNames(origin: Origin): readonly string[] {
  return "template" in origin ? splitTemplate(origin.template).filter((_, index) => index % 2 === 1) : [];
}

/** The parts of a template: those at odd indexes are names in braces. */
export function splitTemplate(template: string): readonly string[] {
  return template.split(/\{([^{}]+)\}/);
}

/** Makes an event from a record, or returns the reason why not. */
export type EventMaker<Record> = (record: Record, row: number) => { readonly timestamp: string } | Problem;

/**
 * Creates a function that makes events from the records of a file.
 * @throws {InputError} if the file is known to lack a column
 */
export function createEventMaker<Record>(map: EventFileMap, findColumn: ColumnReader<Record>): EventMaker<Record> {
  const bindTo = (origin: Origin): OriginReader<Record> => bindOrigin(origin, findColumn);
  const schemaName = bindTo(map.schemaName);
  const accountId = bindTo(map.accountId);
  const id = bindTo(map.id);
  const timestamp = bindTo(map.timestamp);
  const { form = "" } = map.timestamp;
  const readTime = TIME_FORMS.get(form);
  const { zone = "" } = map.timestamp;
  const readInstant = createInstantReader(zone);
  const attributes = Object.entries(map.attributes).map(([name, origin]) => ({
    name,
    read: bindTo(origin),
    mark: "decimal" in origin ? origin.decimal : undefined,
  }));
  const markedAttributes = attributes.filter(({ mark }) => mark !== undefined);
  const dimensions = Object.entries(map.dimensions).map(([name, origin]) => ({ name, read: bindTo(origin) }));
  return (record, row) => {
    const timestampText = timestamp(record, row);
    const time = readTime === undefined ? timestampText : readTime(timestampText);
    if (time === undefined)
      return wrongFormatProblem("timestamp", `a time in the form ${form}, which the map sets`, timestampText);
    const instant = readInstant(time);
    if (instant === "skipped")
      return wrongFormatProblem("timestamp", `a time in ${zone}, where clocks skipped it`, timestampText);
    for (const { name, read, mark } of markedAttributes) {
      const text = read(record, row);
      if (normalizeNumber(text, mark) !== undefined) continue;
      const expected = `a number with a decimal ${mark === "," ? "comma" : "point"}, which the map sets`;
      return wrongFormatProblem(`attributes.${name}`, expected, text);
    }
    return {
      schemaName: schemaName(record, row),
      id: id(record, row),
      // Invalid text is left as it is; metering rejects it.
      timestamp: instant === undefined ? time : formatInstant(instant),
      accountId: accountId(record, row),
      attributes: attributes.map(({ name, read, mark }) => ({ name, value: normalizeNumber(read(record, row), mark) })),
      dimensions: Object.fromEntries(dimensions.map(({ name, read }) => [name, read(record, row)])),
    };
  };
}

function wrongFormatProblem(field: string, expected: string, text: string): Problem {
  return createProblem(`$.${field}`, "NOT_IN_MAP_FORM", { expected, value: text });
}

/** Normalizes a number; undefined if it doesn't match the map's format. Empty text stays empty. */
function normalizeNumber(text: string, mark: string | undefined): string | undefined {
  if (mark === undefined || text === "") return text;
  return mark === "," ? toDecimalPoint(text) : removeGrouping(text);
}

/** Creates a reader of times, of which those without a zone are in the given one; undefined for other text. */
function createInstantReader(zone: string): (text: string) => Instant | "skipped" | undefined {
  const offset = tryParseOffset(zone);
  if (zone === "" || offset !== undefined) return (text) => tryParseInstant(text, offset);
  const readLocalTime = createLocalTimeReader(zone);
  return (text) => {
    const instant = tryParseInstant(text);
    if (instant !== undefined) return instant;
    const localTime = tryParseInstant(text, 0);
    return localTime === undefined ? undefined : (readLocalTime(localTime) ?? "skipped");
  };
}
