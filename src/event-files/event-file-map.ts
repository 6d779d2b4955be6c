/**
 * Event file maps, which define where each part of an event comes from, and events from records through a map (book.md,
 * "Event files").
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
import type { EventSchema } from "../book/resources/event-schema.ts";
import { recordSchema } from "../book/resources/fields.ts";
import { formatInstant, type Instant, tryParseInstant, tryParseOffset } from "../calendar/instant.ts";
import { createLocalTimeReader, isZoneName } from "../calendar/zone.ts";
import { RatebookError } from "../errors.ts";
import { Decimal } from "../numbers/decimal.ts";
import { createProblem, rejection, type Problem, quoteText } from "../problem-table.ts";
import { type CellRules, createCellReader, createNameReader, type MarkCheck, TIME_FORMS } from "./cell-texts.ts";
import { InputError, describeAtPlace, formatPathPrefix } from "./input-error.ts";

const constant = z.union([
  z.string(),
  z.number().transform(String),
  z.custom<Decimal>((value) => Decimal.isDecimal(value)).transform((value) => value.toFixed()),
]);
const column = z.strictObject({ column: z.string().min(1) });
const value = z.strictObject({ value: constant });
const template = z.strictObject({ template: z.string().min(1) });

/** The ids and names of the book by what the file calls them. */
const values = recordSchema(z.string(), constant).optional();
/** The same in a CSV file. */
const valuesFrom = z.string().min(1).optional();

const ORIGIN_MESSAGE = 'expected {"column": "…"}, {"value": "…"} or {"template": "…"}';
/** The source of one part of an event. */
const origin = z.union([column, value, template], ORIGIN_MESSAGE);
/** The same, of a part for which the file may have other names than the book. */
const namedOrigin = z.union(
  [column.extend({ values, valuesFrom }), value, template.extend({ values, valuesFrom })],
  `${ORIGIN_MESSAGE}, optionally with "values"`,
);

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
const empty = z
  .string()
  .refine((text) => text === "skip" || text === "fail", 'expected "skip" or "fail"')
  .meta({ enum: ["skip", "fail"] })
  .optional();
const attributeColumn = column.extend({ decimal, values, valuesFrom, default: constant.optional(), empty });
const attribute = z
  .union(
    [attributeColumn, value, template.extend({ values, valuesFrom })],
    `${ORIGIN_MESSAGE}, optionally with "decimal" for numbers with commas and "default" or "empty" for empty cells`,
  )
  .refine(
    (origin) => !("empty" in origin && origin.empty !== undefined && origin.default !== undefined),
    'expected either "default" or "empty"',
  );
const dimension = z.union(
  [column.extend({ values, valuesFrom, default: constant.optional() }), value, template.extend({ values, valuesFrom })],
  `${ORIGIN_MESSAGE}, optionally with "values", and "default" for empty cells`,
);

/** The sources of all parts of an event. */
export const eventFileMap = z.strictObject({
  $schema: z.string().optional(),
  schemaName: namedOrigin,
  accountId: namedOrigin,
  id: origin,
  timestamp,
  attributes: recordSchema(z.string().min(1), attribute).default({}),
  dimensions: recordSchema(z.string().min(1), dimension).default({}),
});
export type EventFileMap = z.output<typeof eventFileMap>;
/** The source of one part of an event. */
export type Origin = z.output<typeof namedOrigin | typeof attribute | typeof dimension>;

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
  const issue = narrowIssue(result.error.issues[0]);
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
  const problems = result.error.issues.map((each) => {
    const issue = narrowIssue(each) ?? each;
    const keys = issue.path.map((key) => (typeof key === "number" ? key : String(key)));
    return toProblem(issue, [name, ...keys]);
  });
  const message = problems.map((problem) => `${problem.path}: ${problem.message}`).join("; ");
  throw new RatebookError("ERR_INPUT_INVALID", message, { problems });
}

/** The first issue of the only alternative that has all fields of a value; otherwise the issue itself. */
function narrowIssue(issue: z.core.$ZodIssue | undefined): z.core.$ZodIssue | undefined {
  if (issue?.code !== "invalid_union") return issue;
  const [only, ...others] = issue.errors.filter((issues) => !issues.some(({ code }) => code === "unrecognized_keys"));
  const [first] = others.length === 0 ? (only ?? []) : [];
  return first === undefined ? issue : { ...first, path: [...issue.path, ...first.path] };
}

function toProblem(issue: z.core.$ZodIssue, path: Path): Problem {
  const { code, params } = readIssue(issue);
  return createProblem(formatPath(path), code, params);
}

const ORIGIN_FIELDS = ["value", "template", "form", "zone", ...Object.keys(attributeColumn.shape)];

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

/** Binds an origin to the columns of a file, as they are. @throws {InputError} as `findColumn` does */
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

/** Options of {@link createEventMaker}. */
export interface EventMakerOptions<Record> {
  /** Checks numbers without a decimal mark in the map. Default: they have a point. */
  readonly marks?: MarkCheck | undefined;
  /** Whether a column of a record is text, whose mark can be unknown. Default: always. */
  readonly isText?: ((record: Record, column: string) => boolean) | undefined;
  /** The schemas of the events, which require the attributes that they declare. Default: all attributes are required. */
  readonly eventSchemas?: readonly Pick<EventSchema, "name" | "attributes" | "status">[] | undefined;
}

/**
 * Creates a function that makes events from the records of a file. A row with an empty cell that the map skips is left
 * out with the problem ROW_LEFT_OUT if its schema requires the attribute, and otherwise has no such attribute.
 *
 * @throws {InputError} if the file is known to lack a column
 */
export function createEventMaker<Record>(
  map: EventFileMap,
  findColumn: ColumnReader<Record>,
  options: EventMakerOptions<Record> = {},
): EventMaker<Record> {
  const bindTo = (origin: Origin): OriginReader<Record> => bindOrigin(origin, findColumn);
  const bindNamed = (field: string, origin: Origin): OriginReader<Record> => {
    const read = bindTo(origin);
    const readName = createNameReader(requireCellRules(field, origin));
    return (record, row) => readName(read(record, row));
  };
  const schemaName = bindNamed("schemaName", map.schemaName);
  const accountId = bindNamed("accountId", map.accountId);
  const id = bindTo(map.id);
  const timestamp = bindTo(map.timestamp);
  const { form = "" } = map.timestamp;
  const readTime = TIME_FORMS.get(form);
  const { zone = "" } = map.timestamp;
  const readInstant = createInstantReader(zone);
  const attributes = Object.entries(map.attributes).map(([name, origin]) => ({
    name,
    read: bindAttribute(name, origin, bindTo(origin), options),
    subject: "column" in origin ? origin.column : name,
  }));
  const dimensions = Object.entries(map.dimensions).map(([name, origin]) => ({
    name,
    read: bindNamed(`dimensions.${name}`, origin),
  }));
  const requires = findRequirements(options.eventSchemas);
  return (record, row) => {
    const schema = schemaName(record, row);
    const values: { readonly name: string; readonly value: string }[] = [];
    let problem: Problem | undefined;
    for (const { name, read, subject } of attributes) {
      const value = read(record, row);
      if (typeof value === "string") values.push({ name, value });
      else if (value !== undefined) problem ??= value;
      else if (requires(schema, name)) return createProblem("$", "ROW_LEFT_OUT", { name: subject });
    }
    const timestampText = timestamp(record, row);
    const time = readTime === undefined ? timestampText : readTime(timestampText);
    if (time === undefined)
      return wrongFormatProblem("timestamp", `a time in the form ${form}, which the map sets`, timestampText);
    const instant = readInstant(time);
    if (instant === "skipped")
      return wrongFormatProblem("timestamp", `a time in ${zone}, where clocks skipped it`, timestampText);
    if (problem !== undefined) return problem;
    return {
      schemaName: schema,
      id: id(record, row),
      // Invalid text is left as it is; metering rejects it.
      timestamp: instant === undefined ? time : formatInstant(instant),
      accountId: accountId(record, row),
      attributes: values,
      dimensions: Object.fromEntries(dimensions.map(({ name, read }) => [name, read(record, row)])),
    };
  };
}

/** Whether events of a schema must have an attribute (S4.1). */
function findRequirements(
  eventSchemas: EventMakerOptions<unknown>["eventSchemas"],
): (schemaName: string, attribute: string) => boolean {
  if (eventSchemas === undefined) return () => true;
  const active = eventSchemas.filter(({ status }) => status === "ACTIVE");
  const names = new Map(active.map(({ name, attributes }) => [name, new Set(attributes.map((each) => each.name))]));
  return (schemaName, attribute) => names.get(schemaName)?.has(attribute) === true;
}

/** Binds the reader of an attribute, which returns undefined if the map leaves it out. */
function bindAttribute<Record>(
  name: string,
  origin: Origin,
  read: OriginReader<Record>,
  { marks, isText = () => true }: EventMakerOptions<Record>,
): (record: Record, row: number) => string | Problem | undefined {
  const field = `attributes.${name}`;
  const rules = requireCellRules(field, origin);
  const readCell = createCellReader(field, rules);
  if (marks === undefined || !("column" in origin) || ("decimal" in origin && origin.decimal !== undefined))
    return (record, row) => readCell(read(record, row));
  const { column } = origin;
  const readText = createCellReader(field, rules, marks.watchColumn(column));
  return (record, row) => (isText(record, column) ? readText : readCell)(read(record, row));
}

/** @throws {InputError} if names are in a file that is not read */
function requireCellRules(field: string, origin: Origin): CellRules {
  if ("value" in origin) return {};
  if (!("valuesFrom" in origin) || origin.valuesFrom === undefined) return origin;
  throw new InputError(
    `the map reads names of ${field} from the file ${quoteText(origin.valuesFrom)}, which is not available here; write them into "values"`,
  );
}

function wrongFormatProblem(field: string, expected: string, text: string): Problem {
  return createProblem(`$.${field}`, "NOT_IN_MAP_FORM", { expected, value: text });
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
