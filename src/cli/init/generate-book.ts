/** Generates a book, and a map if needed, for an existing file of events. */
import { basename } from "node:path";

import { didYouMean } from "../../book/problems.ts";
import { isAccountId } from "../../book/resources/account.ts";
import { type DecimalMark, TIME_FORMS } from "../../event-files/cell-texts.ts";
import { isTokenName } from "../../event-files/column-words.ts";
import { readEventFileMap } from "../../event-files/event-file-map.ts";
import { type Columns, guessColumns, findTimeLikeValue, type NamedColumns } from "../../event-files/guess-columns.ts";
import { InputError } from "../../event-files/input-error.ts";
import { createFieldSample, readJsonSample } from "../../event-files/json-fields.ts";
import type { Sample } from "../../event-files/sample-columns.ts";
import { quoteText } from "../../problem-table.ts";
import type { Io } from "../io.ts";
import {
  createAccountIds,
  describeColumns,
  describeExample,
  describeGroups,
  describeOrigins,
  findPriceGroups,
  isJsonObject,
  makeUnique,
  parseCsvSample,
  type PriceGroups,
  readAccountNames,
  readSampleText,
  type Texts,
} from "./describe-columns.ts";
import { formatBook, formatEventSchema, formatMap, formatMeter } from "./templates.ts";

export interface GeneratedBook {
  readonly book: string;
  readonly map: string | undefined;
  /** A CSV file of account names and ids that the map reads, if there are many. */
  readonly accounts?: string | undefined;
  /** Whether the file is NDJSON. */
  readonly isJson: boolean;
  /** The price of a unit. */
  readonly rate: string;
  /** Sentences on what was found and what was not. */
  readonly notes: readonly string[];
}

/** What the user named, which is not guessed. */
export interface GuessOptions {
  readonly columns: NamedColumns;
  /** The decimal mark of all numbers. */
  readonly decimal: DecimalMark | undefined;
}

const METERS_MAX = 50;
const RATE = "0.01";
/** The name of the file of account names and ids beside the map. */
export const ACCOUNTS_FILE = "accounts.csv";
/** The maximum number of accounts that a map lists. */
const LISTED_ACCOUNTS_MAX = 50;

/** Generates a book for a file. @throws {InputError} if it can't, with what was expected */
export async function generateBook(path: string, options: GuessOptions, io: Io): Promise<GeneratedBook> {
  const text = await readSampleText(path, io);
  if (!isJsonObject(text)) return generateFromTable(path, parseCsvSample(path, text), { options, isJson: false }, io);
  const objects = readJsonSample(path, text);
  const events = objects.map(toSchemaFields);
  const isReferenceFormat = events.every((event) => event !== undefined) && Object.keys(options.columns).length === 0;
  return isReferenceFormat
    ? generateFromEvents(events)
    : generateFromTable(path, createFieldSample(path, objects), { options, isJson: true }, io);
}

interface TableOptions {
  readonly options: GuessOptions;
  readonly isJson: boolean;
}

async function generateFromTable(
  path: string,
  sample: Sample,
  { options, isJson }: TableOptions,
  io: Io,
): Promise<GeneratedBook> {
  const columns = requireColumns(path, sample, { options, isJson });
  const baseName = basename(path).replace(/\..*$/, "");
  const schema = baseName.replace(/[^a-zA-Z0-9_-]+/g, "_").slice(0, 50) || "usage";
  const { numbers, texts, isMoney } = columns;
  const indexes = texts.map((name) => [name, sample.header.indexOf(name)] as const);
  const rows = sample.rows.map((row) => Object.fromEntries(indexes.map(([name, index]) => [name, row[index]])));
  const groups = findPriceGroups(texts, rows, numbers.filter(isTokenName).length > 1);
  const rate = isMoney ? "1" : RATE;
  const words = isJson ? { column: "field", row: "line" } : { column: "column", row: "row" };
  const plainMap = createMapText(schema, columns, "");
  const ids = await createIds(path, sample, { columns, map: plainMap, isJson }, io);
  const values = formatValues(ids);
  const isFile = ids.size > LISTED_ACCOUNTS_MAX;
  const map = readEventFileMap("map.jsonc", createMapText(schema, columns, values));
  const notes = [
    ...describeOrigins(columns, words),
    ...describeIds(ids, isFile),
    ...describeColumns(columns, words),
    ...describeGroups(groups),
    ...describeExample(sample, columns, { map, words }),
  ];
  return {
    book: createBookText([{ schema, numbers, texts, groups }], rate),
    map: createMapText(schema, columns, isFile ? `, "valuesFrom": "${ACCOUNTS_FILE}"` : values),
    accounts: isFile ? formatIds(ids) : undefined,
    isJson,
    rate,
    notes: [`${path}:`, ...notes.map((note) => `  ${note}`)],
  };
}

/** Guesses the columns. @throws {InputError} without a time, for an unknown name, or an unknown decimal mark */
function requireColumns(path: string, sample: Sample, { options, isJson }: TableOptions): Columns {
  const [column, header] = isJson ? ["field", "the first lines have"] : ["column", "the header has"];
  const names = `${header} ${sample.header.map(quoteText).join(", ")}`;
  for (const name of Object.values(options.columns)) {
    if (sample.header.includes(name)) continue;
    throw new InputError(
      `${path}: no ${column} is named ${quoteText(name)}: ${names}${didYouMean(name, sample.header)}`,
    );
  }
  const columns = guessColumns(sample, options.columns, options.decimal);
  if (columns === undefined) {
    const time = findTimeLikeValue(sample, options.columns.time);
    throw new InputError(
      `${path}: no ${column} has a time in every ${isJson ? "line" : "row"}; accepted: date-times such as ` +
        `2026-01-31T12:00:00Z, ${[...TIME_FORMS.keys()].join(", ")} (since 1970); ` +
        (time === undefined ? "" : `the ${column} ${quoteText(time.column)} has ${quoteText(time.text)}; `) +
        names,
    );
  }
  if (columns.doubt === undefined) return columns;
  const { text, readings } = columns.doubt.number;
  throw new InputError(
    `${path}: the numbers of the ${column} ${quoteText(columns.doubt.column)} can be read in two ways; ` +
      `add --decimal . if ${text} is ${readings["."]}, or --decimal , if it is ${readings[","]}`,
  );
}

/** An id for each account of the file if some are not called by an id. */
async function createIds(
  path: string,
  { header, rows }: Sample,
  { columns, map, isJson }: { readonly columns: Columns; readonly map: string; readonly isJson: boolean },
  io: Io,
): Promise<ReadonlyMap<string, string>> {
  const at = header.indexOf(columns.account ?? "");
  const hasOnlyIds = rows.every((row) => row[at] === undefined || row[at] === "" || isAccountId(row[at]));
  if (hasOnlyIds) return new Map();
  return createAccountIds(await readAccountNames(path, { map: readEventFileMap("map.jsonc", map), isJson }, io));
}

function describeIds(ids: ReadonlyMap<string, string>, isFile: boolean): readonly string[] {
  const [first] = ids;
  if (first === undefined) return [];
  const place = isFile ? ACCOUNTS_FILE : '"values" in the map';
  return [`names that are no ids get one (see ${place}): ${quoteText(first[0])} is ${first[1]}`];
}

function formatValues(ids: ReadonlyMap<string, string>): string {
  const lines = [...ids].map(([name, id]) => `\n    ${JSON.stringify(name)}: ${JSON.stringify(id)},`);
  return lines.length === 0 ? "" : `, "values": {${lines.join("")}\n  }`;
}

function formatIds(ids: ReadonlyMap<string, string>): string {
  const quote = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return `name,id\n${[...ids].map(([name, id]) => `${quote(name)},${id}\n`).join("")}`;
}

/** @param values a further field of the account */
function createMapText(schema: string, columns: Columns, values: string): string {
  const { timestamp, form, isZoneless, account, id, numbers, numbersWithEmptyCells, decimals, texts } = columns;
  const column = (name: string): string => `"column": ${JSON.stringify(name)}`;
  const formatFields = (name: string): string => {
    const mark = decimals.get(name);
    return (
      (mark === undefined ? "" : `, "decimal": "${mark}"`) +
      (numbersWithEmptyCells.includes(name) ? ', "default": "0"' : "")
    );
  };
  return formatMap({
    schema,
    account: account === undefined ? '{ "value": "account-1" }' : `{ ${column(account)}${values} }`,
    id: id === undefined ? `{ "template": ${JSON.stringify(`${schema}-{row}`)} }` : `{ ${column(id)} }`,
    timestamp: `{ ${column(timestamp)}${form === undefined ? "" : `, "form": "${form}"`}${isZoneless ? ', "zone": "UTC"' : ""} }`,
    attributes: numbers.slice(0, METERS_MAX).map((name) => [name, name] as const),
    dimensions: texts.map((name) => [name, name] as const),
    attributeFields: new Map(numbers.map((name) => [name, formatFields(name)])),
  });
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
  return { book: createBookText(schemaFields, RATE), map: undefined, isJson: true, rate: RATE, notes };
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

/** A book with a meter for each number, at one rate, and without accounts. */
function createBookText(schemaFields: readonly SchemaFields[], rate: string): string {
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
      `A book for ratebook, generated from an event file. Placeholder price: ${rate} per unit. Change it first.`,
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
              `${index === 0 ? '// "rate" is the price per unit. For tiers, see node_modules/ratebook/docs/guide/plans.md.\n      ' : ""}{ "meter": "${id}", ${formatPrices(groups, rate)} }`,
          ),
        ],
      ],
    },
  });
}

/** A rate, or a price table with a rate for each group. */
function formatPrices(groups: PriceGroups | undefined, rate: string): string {
  if (groups === undefined) return `"rate": "${rate}"`;
  const rows = groups.whens.map((when) => {
    const texts = Object.entries(when).map(([name, text]) => `${JSON.stringify(name)}: ${JSON.stringify(text)}`);
    return `        { "when": { ${texts.join(", ")} }, "rate": "${rate}" },\n`;
  });
  return `"rateTable": { "rows": [\n${rows.join("")}        { "rate": "${rate}" }, // All other groups.\n      ] }`;
}

/** A unique meter id of at most 20 characters. */
function createMeterId(text: string, usedTexts: Set<string>): string {
  return makeUnique(`um.${text.replace(/[^a-zA-Z0-9]+/g, "-").replace(/^-+|-+$/g, "") || "meter"}`, 20, usedTexts);
}

/** A unique, valid meter name of at most 50 characters. */
function createMeterName(text: string, usedTexts: Set<string>): string {
  return makeUnique(text.replace(/[^a-zA-Z0-9_-]+/g, " ").trim() || "meter", 50, usedTexts);
}
