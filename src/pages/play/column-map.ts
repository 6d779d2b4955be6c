/**
 * The map of a file that was dropped on the playground: what its columns probably are, what is still to be said, and changes by a
 * form. Its text is what `--map` takes, and is what counts.
 *
 * @module
 */
import { parseJsonDocument } from "../../book/reading/json-document.ts";
import { tryParseInstant } from "../../calendar/instant.ts";
import { type Columns, guessColumns, type Sample } from "../../event-files/guess-columns.ts";
import { findMatchingForms } from "../../event-files/time-and-number-forms.ts";
import { type FormPath, listAt, valueAt } from "./book-edits.ts";

/** A part of an event, and where the map says where it comes from. */
export interface MapPart {
  readonly path: FormPath;
  /** `account`, `time`, `attribute tokens`. */
  readonly label: string;
}

/** The schemas of a book, by name, as far as maps are about them. */
export function listSchemaNames(book: unknown): readonly string[] {
  return listAt(book, ["eventSchemas"]).flatMap(readName);
}

/** The ids of a book's accounts. */
export function listAccountIds(book: unknown): readonly string[] {
  return listAt(book, ["accounts"]).flatMap((account) => readTextList(account, "id"));
}

/** The parts that a file of events of a schema must have. */
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

/** The labels of what a map leaves open. */
export function findMissingParts(map: unknown, book: unknown): readonly string[] {
  const schema = readMapSchema(map);
  if (schema === "") return ["event schema"];
  return listMapParts(book, schema)
    .filter(({ path }) => valueAt(map, path) === undefined || valueAt(map, [...path, "value"]) === "")
    .map(({ label }) => label);
}

/** The schema that a map gives to all events; empty where it does not. */
export function readMapSchema(map: unknown): string {
  const schema = valueAt(map, ["schemaName", "value"]);
  return typeof schema === "string" ? schema : "";
}

/**
 * The text of a map for a file: what can be guessed of names and values as `ratebook init --from` does, and what the book leaves
 * no choice about. The rest is left out.
 *
 * @param schema the events' schema; without it the one with the most fields that the file has
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

/** Where a time is: its column, the form of its texts where an event has another, and a zone where they name none. */
export function createTimeOrigin(sample: Sample, column: string): object {
  const texts = readColumn(sample, column).filter((text) => text !== "");
  const isPlain = texts.every((text) => tryParseInstant(text, 0) !== undefined);
  const [form] = isPlain ? [] : findMatchingForms(texts);
  const isZoned = texts.every((text) => tryParseInstant(text) !== undefined);
  return { column, ...(form === undefined ? {} : { form }), ...(isZoned ? {} : { zone: "UTC" }) };
}

/** Where a field is: its column, and the mark of its numbers where they are not plain. */
export function createFieldOrigin(sample: Sample, column: string, list: string): object {
  const decimal = list === "attributes" ? guessColumns(sample)?.decimals.get(column) : undefined;
  return { column, ...(decimal === undefined ? {} : { decimal }) };
}

/** Whether a text is a map: an object that says where times come from. A file of events has none of it. */
export function isMapText(text: string): boolean {
  const document = parseJsonDocument(text);
  const time = "value" in document ? valueAt(document.value, ["timestamp"]) : undefined;
  return ["column", "value", "template"].some((kind) => valueAt(time, [kind]) !== undefined);
}

/** Whether no object of some is an event: these have a schema and an account. */
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

/** The columns that are called as fields of the schema; the only number of a file is the only attribute of its schema. */
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

/** The column of a name, whatever the case of its letters and what stands between its words. */
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
