/** Generates a book, and a map if needed, for an existing file of events. */
import { basename } from "node:path";

import { didYouMean } from "../../book/problems.ts";
import { type DecimalMark, removeGrouping, toDecimalPoint } from "../../event-files/decimal-marks.ts";
import {
  type Columns,
  guessColumns,
  type Sample,
  findTimeLikeValue,
  type NamedColumns,
} from "../../event-files/guess-columns.ts";
import { InputError, quoteText } from "../../event-files/input-error.ts";
import { createFieldSample, readJsonSample } from "../../event-files/json-fields.ts";
import { TIME_FORMS } from "../../event-files/time-forms.ts";
import type { Io } from "../io.ts";
import { formatBook, formatMeter, formatEventSchema } from "./book-text.ts";
import { readSampleText, parseCsvSample, isJsonObject } from "./file-sample.ts";
import { findPriceGroups, type PriceGroups, type Texts } from "./price-groups.ts";
import { formatMap } from "./templates.ts";

export interface GeneratedBook {
  readonly book: string;
  readonly map: string | undefined;
  /** Whether the file is NDJSON. */
  readonly isJson: boolean;
  /** Sentences on what was found and what was not. */
  readonly notes: readonly string[];
}

const METERS_MAX = 50;

/** Generates a book for a file. @throws {InputError} if it can't, with what was expected */
export async function generateBook(path: string, namedColumns: NamedColumns, io: Io): Promise<GeneratedBook> {
  const text = await readSampleText(path, io);
  if (!isJsonObject(text)) return generateFromTable(path, parseCsvSample(path, text), { namedColumns, isJson: false });
  const objects = readJsonSample(path, text);
  const events = objects.map(toSchemaFields);
  const isReferenceFormat = events.every((event) => event !== undefined) && Object.keys(namedColumns).length === 0;
  return isReferenceFormat
    ? generateFromEvents(events)
    : generateFromTable(path, createFieldSample(path, objects), { namedColumns, isJson: true });
}

function generateFromTable(
  path: string,
  sample: Sample,
  { namedColumns, isJson }: { readonly namedColumns: NamedColumns; readonly isJson: boolean },
): GeneratedBook {
  const [column, header] = isJson ? ["field", "the first lines have"] : ["column", "the header has"];
  const names = `${header} ${sample.header.map(quoteText).join(", ")}`;
  for (const name of Object.values(namedColumns)) {
    if (sample.header.includes(name)) continue;
    throw new InputError(
      `${path}: no ${column} is named ${quoteText(name)}: ${names}${didYouMean(name, sample.header)}`,
    );
  }
  const columns = guessColumns(sample, namedColumns);
  if (columns === undefined) {
    const time = findTimeLikeValue(sample, namedColumns.time);
    throw new InputError(
      `${path}: no ${column} has a time in every ${isJson ? "line" : "row"}; accepted: date-times such as ` +
        `2026-01-31T12:00:00Z, ${[...TIME_FORMS.keys()].join(", ")} (since 1970); ` +
        (time === undefined ? "" : `the ${column} ${quoteText(time.column)} has ${quoteText(time.text)}; `) +
        names,
    );
  }
  const baseName = basename(path).replace(/\..*$/, "");
  const schema = baseName.replace(/[^a-zA-Z0-9_-]+/g, "_").slice(0, 50) || "usage";
  const { numbers, texts } = columns;
  const indexes = texts.map((name) => [name, sample.header.indexOf(name)] as const);
  const rows = sample.rows.map((row) => Object.fromEntries(indexes.map(([name, index]) => [name, row[index]])));
  const groups = findPriceGroups(texts, rows);
  return {
    book: createBookText([{ schema, numbers, texts, groups }]),
    map: createMapText(schema, columns),
    isJson,
    notes: [
      `${path}:`,
      ...[...describeOrigins(columns, isJson), ...describeColumns(columns, column), ...describeGroups(groups)].map(
        (note) => `  ${note}`,
      ),
    ],
  };
}

function createMapText(
  schema: string,
  { timestamp, form, isZoneless, account, id, numbers, decimals, texts }: Columns,
): string {
  const column = (name: string): string => `"column": ${JSON.stringify(name)}`;
  return formatMap({
    schema,
    account: account === undefined ? '{ "value": "account-1" }' : `{ ${column(account)} }`,
    id: id === undefined ? `{ "template": ${JSON.stringify(`${schema}-{row}`)} }` : `{ ${column(id)} }`,
    timestamp: `{ ${column(timestamp)}${form === undefined ? "" : `, "form": "${form}"`}${isZoneless ? ', "zone": "UTC"' : ""} }`,
    attributes: numbers.slice(0, METERS_MAX).map((name) => [name, name] as const),
    dimensions: texts.map((name) => [name, name] as const),
    decimals,
  });
}

/** Notes on the columns of times, accounts and ids. */
function describeOrigins(columns: Columns, isJson: boolean): readonly string[] {
  const { timestamp, account, id, idRepeats } = columns;
  const repeats = idRepeats ? "; the sample has repeated ids, and only the first event with an id counts" : "";
  const [column, row] = isJson ? ["field", "line"] : ["column", "row"];
  return [
    `time in ${quoteText(timestamp)}${describeTimeForm(columns)}`,
    account === undefined
      ? `no ${column} looks like an account: all events belong to account-1 (choose one with --account)`
      : `account in ${quoteText(account)}`,
    id === undefined
      ? `no ${column} for the event id; using ${row} numbers, so duplicate events will be billed`
      : `event id in ${quoteText(id)}${repeats}`,
  ];
}

/** Notes on the other columns. */
function describeColumns(columns: Columns, column: string): readonly string[] {
  const { numbers, nearNumbers, decimals, ambiguousNumber, unused } = columns;
  const columnsWithMark = (mark: DecimalMark): string =>
    numbers
      .filter((name) => decimals.get(name) === mark)
      .map(quoteText)
      .join(", ");
  const [commas, thousands] = [columnsWithMark(","), columnsWithMark(".")];
  return [
    numbers.length === 0
      ? `no ${column} with numbers: events are counted`
      : `meters for ${numbers.slice(0, METERS_MAX).map(quoteText).join(", ")}`,
    ...nearNumbers.map(
      ({ column: name, text }) =>
        `no meter for ${quoteText(name)}, which is a dimension: ${quoteText(text)} is not a number`,
    ),
    ...(commas === "" ? [] : [`numbers with a decimal comma in ${commas}`]),
    ...(thousands === "" ? [] : [`numbers with thousands separators in ${thousands}`]),
    ...(ambiguousNumber === undefined ? [] : [describeDoubt(ambiguousNumber, decimals)]),
    ...unused.map(({ column: name, reason }) => `not used: ${quoteText(name)}, ${reason}`),
  ];
}

/** A note on a price table. */
function describeGroups(groups: PriceGroups | undefined): readonly string[] {
  if (groups === undefined) return [];
  const { dimensions, whens } = groups;
  const count = `${whens.length} ${whens.length === 1 ? "row" : "rows"}`;
  return [`a price table by ${dimensions.map(quoteText).join(" and ")}, with ${count}, and one for all other groups`];
}

/** A note on an ambiguous number and how it was read. */
function describeDoubt(
  { column, text }: NonNullable<Columns["ambiguousNumber"]>,
  decimals: Columns["decimals"],
): string {
  const [value, otherMark] = decimals.get(column) === "," ? [toDecimalPoint(text), "."] : [removeGrouping(text), ","];
  return `${quoteText(text)} in ${quoteText(column)} is read as ${value ?? text}; if that is wrong, change "decimal" in the map to "${otherMark}"`;
}

/** A note on the format of times. */
function describeTimeForm({ form, otherForm, isZoneless }: Columns): string {
  const other = otherForm === undefined ? "" : ` (if it is ${otherForm}, change "form" in the map)`;
  return (
    (form === undefined ? "" : `, ${/second/.test(form) ? `in ${form} since 1970` : `in the form ${form}${other}`}`) +
    (isZoneless ? ', read as UTC (see "zone" in the map)' : "")
  );
}

/** The fields in events of one schema. */
interface SchemaFields {
  readonly schema: string;
  /** Attributes. */
  readonly numbers: readonly string[];
  /** Dimensions. */
  readonly texts: readonly string[];
  /** Those by which prices differ. */
  readonly groups?: PriceGroups | undefined;
}

/** An event in the standard form. */
interface EventFields extends SchemaFields {
  readonly dimensions: Texts;
}

/** Generates a book for events in the standard form, which need no map. */
function generateFromEvents(events: readonly EventFields[]): GeneratedBook {
  const schemas = new Map<string, Pick<SchemaFields, "numbers" | "texts">>();
  for (const event of events) {
    const previous = schemas.get(event.schema);
    schemas.set(event.schema, {
      numbers: previous === undefined ? event.numbers : previous.numbers.filter((name) => event.numbers.includes(name)),
      texts: previous === undefined ? event.texts : previous.texts.filter((name) => event.texts.includes(name)),
    });
  }
  const schemaFields = [...schemas].map(([schema, fields]): SchemaFields => {
    const rows = events.flatMap((event) => (event.schema === schema ? [event.dimensions] : []));
    return { schema, ...fields, groups: findPriceGroups(fields.texts, rows) };
  });
  const notes = schemaFields.flatMap(({ schema, numbers, groups }) => [
    numbers.length === 0
      ? `events of ${quoteText(schema)} are counted`
      : `meters for ${numbers.map(quoteText).join(", ")} of ${quoteText(schema)}`,
    ...describeGroups(groups),
  ]);
  return { book: createBookText(schemaFields), map: undefined, isJson: true, notes };
}

/** The fields of an event in the standard form; undefined for other objects. */
function toSchemaFields(event: unknown): EventFields | undefined {
  const { schemaName, accountId, attributes, dimensions } = (event ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof schemaName !== "string" || typeof accountId !== "string") return undefined;
  const names = Array.isArray(attributes)
    ? attributes.map((each) => (each as { readonly name?: unknown } | null)?.name)
    : listKeys(attributes);
  return {
    schema: schemaName,
    numbers: names.filter((name) => typeof name === "string"),
    texts: listKeys(dimensions),
    dimensions: (dimensions ?? {}) as Texts,
  };
}

function listKeys(value: unknown): readonly string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

/** A book with a meter for each number, at a cent per unit, and without accounts. */
function createBookText(schemaFields: readonly SchemaFields[]): string {
  const usedTexts = new Set<string>();
  const meters = schemaFields.flatMap(({ schema, numbers, groups }) =>
    (numbers.length === 0 ? [undefined] : numbers).slice(0, METERS_MAX).map((attribute) => ({
      id: createMeterId(attribute ?? schema, usedTexts),
      name: createMeterName(attribute ?? `${schema} events`, usedTexts),
      schema,
      attribute,
      groups,
    })),
  );
  return formatBook({
    introduction: [
      "A book for ratebook, generated from an event file. Placeholder price: 0.01 per unit. Change it first.",
      "It has no accounts; --accounts-from-events creates one per account in the events.",
    ],
    eventSchemas: schemaFields.map(({ schema, numbers, texts }) =>
      formatEventSchema(schema, numbers.slice(0, METERS_MAX), texts),
    ),
    usageMeters: meters.map(({ attribute, groups, ...meter }) =>
      formatMeter({
        ...meter,
        ...(attribute !== undefined && { attribute }),
        ...(groups && { groupBy: groups.dimensions }),
      }),
    ),
    plan: {
      name: "First plan",
      prices: [
        [
          "usage",
          meters.map(
            ({ id, groups }, index) =>
              `${index === 0 ? '// "rate" is the price per unit. For tiers, see node_modules/ratebook/docs/guide/plans.md.\n      ' : ""}{ "meter": "${id}", ${formatPrices(groups)} }`,
          ),
        ],
      ],
    },
  });
}

/** A rate, or a price table with a rate for each group. */
function formatPrices(groups: PriceGroups | undefined): string {
  if (groups === undefined) return '"rate": "0.01"';
  const rows = groups.whens.map((when) => {
    const texts = Object.entries(when).map(([name, text]) => `${JSON.stringify(name)}: ${JSON.stringify(text)}`);
    return `        { "when": { ${texts.join(", ")} }, "rate": "0.01" },\n`;
  });
  return `"rateTable": { "rows": [\n${rows.join("")}        { "rate": "0.01" }, // All other groups.\n      ] }`;
}

/** A unique meter id of at most 20 characters. */
function createMeterId(text: string, usedTexts: Set<string>): string {
  return makeUnique(`um.${text.replace(/[^a-zA-Z0-9]+/g, "-").replace(/^-+|-+$/g, "") || "meter"}`, 20, usedTexts);
}

/** A unique, valid meter name of at most 50 characters. */
function createMeterName(text: string, usedTexts: Set<string>): string {
  return makeUnique(text.replace(/[^a-zA-Z0-9_-]+/g, " ").trim() || "meter", 50, usedTexts);
}

function makeUnique(text: string, max: number, usedTexts: Set<string>): string {
  for (let count = 1; ; count++) {
    const suffix = count === 1 ? "" : `-${count}`;
    const candidate = `${text.slice(0, max - suffix.length)}${suffix}`;
    if (usedTexts.has(candidate)) continue;
    usedTexts.add(candidate);
    return candidate;
  }
}
