/** Generates a book, and a map if needed, for an existing file of events. */
import { basename } from "node:path";

import { didYouMean, type Path } from "../../book/problems.ts";
import type { JsonDetail } from "../../book/reading/json-document.ts";
import { isAccountId } from "../../book/resources/account.ts";
import { type DecimalMark, TIME_FORMS } from "../../event-files/cell-texts.ts";
import { isTokenName } from "../../event-files/column-words.ts";
import { readEventFileMap } from "../../event-files/event-file-map.ts";
import { type Columns, guessColumns, findTimeLikeValue, type NamedColumns } from "../../event-files/guess-columns.ts";
import { InputError } from "../../event-files/input-error.ts";
import { createFieldSample, readJsonSample } from "../../event-files/json-fields.ts";
import type { Sample } from "../../event-files/sample-columns.ts";
import { quoteText } from "../../problem-table.ts";
import { formatJson } from "../documents/format-book.ts";
import type { Io } from "../io.ts";
import type { OutputFile } from "../templates.ts";
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

export interface GeneratedBook {
  /** The book, the map if needed, and a CSV file of account names and ids that the map reads, if there are many. */
  readonly files: readonly OutputFile[];
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
const ACCOUNTS_FILE = "accounts.csv";
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
  const ids = await createIds(path, sample, { columns, map: createMapText(schema, columns, {}), isJson }, io);
  const values = ids.size === 0 ? {} : { values: Object.fromEntries(ids) };
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
    files: [
      { name: "book.jsonc", text: createBookText([{ schema, numbers, texts, groups }], rate) },
      { name: "map.jsonc", text: createMapText(schema, columns, isFile ? { valuesFrom: ACCOUNTS_FILE } : values) },
      ...(isFile ? [{ name: ACCOUNTS_FILE, text: formatIds(ids) }] : []),
    ],
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

function formatIds(ids: ReadonlyMap<string, string>): string {
  const quote = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return `name,id\n${[...ids].map(([name, id]) => `${quote(name)},${id}\n`).join("")}`;
}

/** @param names further fields of the account */
function createMapText(schema: string, columns: Columns, names: object): string {
  const { timestamp, form, isZoneless, account, id, numbers, numbersWithEmptyCells, decimals, texts } = columns;
  const attributes = numbers.slice(0, METERS_MAX).map((column) => {
    const decimal = decimals.get(column);
    const hasEmptyCells = numbersWithEmptyCells.includes(column);
    return [column, { column, ...(decimal && { decimal }), ...(hasEmptyCells && { default: "0" }) }] as const;
  });
  const map = {
    schemaName: { value: schema },
    accountId: account === undefined ? { value: "account-1" } : { column: account, ...names },
    id: id === undefined ? { template: `${schema}-{row}` } : { column: id },
    timestamp: { column: timestamp, ...(form !== undefined && { form }), ...(isZoneless && { zone: "UTC" }) },
    attributes: Object.fromEntries(attributes),
    dimensions: Object.fromEntries(texts.map((column) => [column, { column }])),
  };
  return formatJson(map, [
    comment([], 'Where each part of an event is in the file: a "column" (of NDJSON a path, such as "usage.tokens"),'),
    comment([], 'a constant "value", or a "template" such as "x-{row}".'),
  ]);
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
  const book = { name: "book.jsonc", text: createBookText(schemaFields, RATE) };
  return { files: [book], isJson: true, rate: RATE, notes };
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
    (numbers.length === 0 ? [undefined] : numbers).slice(0, METERS_MAX).map((attribute) => {
      const id = createMeterId(attribute ?? schema, usedTexts);
      const name = createMeterName(attribute ?? `${schema} events`, usedTexts);
      const counted = attribute === undefined ? { count: true } : { sum: attribute };
      return { meter: { id, name, schema, ...counted, ...(groups && { groupBy: groups.dimensions }) }, groups };
    }),
  );
  const prices = meters.map(({ meter: { id }, groups }) => {
    const rows = groups?.whens.map((when) => ({ when, rate }));
    return { meter: id, ...(rows === undefined ? { rate } : { rateTable: { rows: [...rows, { rate }] } }) };
  });
  const book = {
    organization: { id: "my-company", name: "My company", baseCurrency: "USD" },
    eventSchemas: schemaFields.map(({ schema, numbers, texts }) => ({
      name: schema,
      attributes: numbers.slice(0, METERS_MAX),
      dimensions: texts,
    })),
    usageMeters: meters.map(({ meter }) => meter),
    pricePlans: [{ id: "pp.first", name: "First plan", cycle: "MONTHLY", usage: prices }],
  };
  const usage = ["pricePlans", 0, "usage"];
  const otherRows = meters.flatMap(({ groups }, index) =>
    groups === undefined ? [] : [[...usage, index, "rateTable", "rows", groups.whens.length]],
  );
  return formatJson(book, [
    comment(
      [],
      `A book for ratebook, generated from an event file. Placeholder price: ${rate} per unit. Change it first.`,
    ),
    comment([], "It has no accounts; --accounts-from-events creates one per account in the events."),
    ...paragraph("eventSchemas", "Fields of events: numbers are attributes, texts are dimensions."),
    ...paragraph("usageMeters", 'How events become usage: "sum" adds up an attribute, "count" counts events.'),
    ...paragraph("pricePlans", 'Prices, for calendar months. Other cycles: "ANNUALLY", "QUARTERLY", "WEEKLY".'),
    comment([...usage, 0], '"rate" is the price per unit. For tiers, see node_modules/ratebook/docs/guide/plans.md.'),
    ...otherRows.map((path) => comment(path, "All other groups.", "after")),
  ]);
}

function comment(path: Path, text: string, position: "above" | "after" = "above"): JsonDetail {
  return { path, text: `// ${text}`, position };
}

/** An empty line and a comment above a list. */
function paragraph(list: string, text: string): readonly JsonDetail[] {
  return [{ path: [list], text: "", position: "above" }, comment([list], text)];
}

/** A unique meter id of at most 20 characters. */
function createMeterId(text: string, usedTexts: Set<string>): string {
  return makeUnique(`um.${text.replace(/[^a-zA-Z0-9]+/g, "-").replace(/^-+|-+$/g, "") || "meter"}`, 20, usedTexts);
}

/** A unique, valid meter name of at most 50 characters. */
function createMeterName(text: string, usedTexts: Set<string>): string {
  return makeUnique(text.replace(/[^a-zA-Z0-9_-]+/g, " ").trim() || "meter", 50, usedTexts);
}
