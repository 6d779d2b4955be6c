/**
 * The map of a dropped file: guesses from its columns, what is still missing, and edits by a form. Its text is what
 * `--map` reads.
 */
import { parseJsonDocument } from "../../book/reading/json-document.ts";
import { valueAt } from "../../book/short/json-object.ts";
import { tryParseInstant } from "../../calendar/instant.ts";
import { findMatchingForms } from "../../event-files/cell-texts.ts";
import { type Columns, guessColumns } from "../../event-files/guess-columns.ts";
import type { Sample } from "../../event-files/sample-columns.ts";
import { type FormPath, listAt } from "./book-edits.ts";

/** A part of an event, and its place in the map. */
export interface MapPart {
  readonly path: FormPath;
  /** `account`, `time`, `attribute tokens`. */
  readonly label: string;
}

/** The schema names of a book. */
export function listSchemaNames(book: unknown): readonly string[] {
  return listAt(book, ["eventSchemas"]).flatMap(readName);
}

/** The ids of a book's accounts. */
export function listAccountIds(book: unknown): readonly string[] {
  return listAt(book, ["accounts"]).flatMap((account) => readTextList(account, "id"));
}

/** The parts that events of a schema must have. */
export function listMapParts(book: unknown, schema: string): readonly MapPart[] {
  return [
    { path: ["accountId"], label: "account" },
    { path: ["id"], label: "event id" },
    { path: ["timestamp"], label: "time" },
    ...(["attributes", "dimensions"] as const).flatMap((list) =>
      listFieldNames(book, schema, list).map((name) => ({ path: [list, name], label: `${list.slice(0, -1)} ${name}` })),
    ),
  ];
}

/** The labels of the parts that a map lacks. */
export function findMissingParts(map: unknown, book: unknown): readonly string[] {
  const schema = readMapSchema(map);
  if (schema === "") return ["event schema"];
  return listMapParts(book, schema)
    .filter(({ path }) => valueAt(map, path) === undefined || valueAt(map, [...path, "value"]) === "")
    .map(({ label }) => label);
}

/** The schema that a map assigns to all events; empty without one. */
export function readMapSchema(map: unknown): string {
  const schema = valueAt(map, ["schemaName", "value"]);
  return typeof schema === "string" ? schema : "";
}

/**
 * Proposes a map from column names and values, as `ratebook init --from` does, and from what the book determines. Other
 * parts are left out.
 *
 * @param schema the events' schema; by default the one with the most fields in the file
 */
export function proposeMap(sample: Sample, book: unknown, schema = guessSchema(sample, book)): string {
  const columns = guessColumns(sample);
  const accounts = listAccountIds(book);
  const account = columns?.account;
  const time = columns?.timestamp;
  const map = {
    ...(schema === undefined ? {} : { schemaName: { value: schema } }),
    ...(account === undefined
      ? accounts.length === 1
        ? { accountId: { value: accounts[0] } }
        : {}
      : { accountId: { column: account } }),
    id: columns?.id === undefined ? { template: "row-{row}" } : { column: columns.id },
    ...(time === undefined ? {} : { timestamp: createTimeOrigin(sample, time) }),
    attributes: createFieldOrigins({ sample, book, columns, schema, list: "attributes" }),
    dimensions: createFieldOrigins({ sample, book, columns, schema, list: "dimensions" }),
  };
  return JSON.stringify(map, null, 2);
}

/** A map's entry for times: the column, its format if not ISO 8601, and a zone if it has none. */
export function createTimeOrigin(sample: Sample, column: string): object {
  const texts = readColumn(sample, column).filter((text) => text !== "");
  const isPlain = texts.every((text) => tryParseInstant(text, 0) !== undefined);
  const [form] = isPlain ? [] : findMatchingForms(texts);
  const isZoned = texts.every((text) => tryParseInstant(text) !== undefined);
  return { column, ...(form === undefined ? {} : { form }), ...(isZoned ? {} : { zone: "UTC" }) };
}

/** A map's entry for a field: the column, its decimal mark if not plain, and 0 for empty cells of numbers. */
export function createFieldOrigin(sample: Sample, column: string, list: string): object {
  const columns = list === "attributes" ? guessColumns(sample) : undefined;
  const decimal = columns?.decimals.get(column);
  const hasEmptyCells = columns?.numbersWithEmptyCells.includes(column);
  return { column, ...(decimal !== undefined && { decimal }), ...(hasEmptyCells && { default: "0" }) };
}

/** Whether a text is a map: an object with an entry for times. */
export function isMapText(text: string): boolean {
  const document = parseJsonDocument(text);
  const time = "value" in document ? valueAt(document.value, ["timestamp"]) : undefined;
  return ["column", "value", "template"].some((kind) => valueAt(time, [kind]) !== undefined);
}

/** Whether none of the objects is an event, which has a schema and an account. */
export function needsMap(objects: readonly unknown[]): boolean {
  return (
    objects.length > 0 &&
    objects.every((object) => ["schemaName", "accountId"].every((key) => valueAt(object, [key]) === undefined))
  );
}

interface FieldOriginsInput {
  readonly sample: Sample;
  readonly book: unknown;
  readonly columns: Columns | undefined;
  readonly schema: string | undefined;
  readonly list: "attributes" | "dimensions";
}

/** The columns with names of the schema's fields. If both have only one number, these match too. */
function createFieldOrigins({
  sample,
  book,
  columns,
  schema,
  list,
}: FieldOriginsInput): Readonly<Record<string, object>> {
  if (schema === undefined) return {};
  const names = listFieldNames(book, schema, list);
  const [only, ...more] = list === "attributes" ? (columns?.numbers ?? []) : [];
  return Object.fromEntries(
    names.flatMap((name) => {
      const namesake = findColumn(name, sample.header);
      const column = namesake ?? (names.length === 1 && more.length === 0 ? only : undefined);
      return column === undefined ? [] : [[name, createFieldOrigin(sample, column, list)] as const];
    }),
  );
}

/** The column with a name, ignoring case and word separators. */
function findColumn(name: string, header: readonly string[]): string | undefined {
  const normalizeName = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
  return (
    header.find((column) => column === name) ?? header.find((column) => normalizeName(column) === normalizeName(name))
  );
}

function guessSchema({ header }: Sample, book: unknown): string | undefined {
  const countKnownFields = (name: string): number =>
    (["attributes", "dimensions"] as const)
      .flatMap((list) => listFieldNames(book, name, list))
      .filter((field) => findColumn(field, header) !== undefined).length;
  return listSchemaNames(book).toSorted((a, b) => countKnownFields(b) - countKnownFields(a))[0];
}

function listFieldNames(book: unknown, schema: string, list: "attributes" | "dimensions"): readonly string[] {
  const eventSchema = listAt(book, ["eventSchemas"]).find((each) => readName(each).includes(schema));
  return listAt(eventSchema, [list]).flatMap(readName);
}

function readName(item: unknown): readonly string[] {
  return readTextList(item, "name");
}

function readTextList(item: unknown, key: string): readonly string[] {
  const text = valueAt(item, [key]);
  return typeof text === "string" ? [text] : [];
}

function readColumn({ header, rows }: Sample, column: string): readonly string[] {
  const at = header.indexOf(column);
  return rows.map((row) => row[at] ?? "");
}
