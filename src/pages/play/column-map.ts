/**
 * The map of a file that was dropped on the playground: what its columns probably are, what is still to be said, and changes by a
 * form. Its text is what `--map` takes, and is what counts.
 *
 * @module
 */
import { openDocument } from "../../book/reading/json-document.ts";
import { tryParseInstant } from "../../calendar/instant.ts";
import { type Columns, guessColumns, type Sample } from "../../records/columns.ts";
import { formsThatFit } from "../../records/text-forms.ts";
import { type FormPath, listAt, valueAt } from "./plan-edit.ts";

/** A part of an event, and where the map says where it comes from. */
export interface MapPart {
  readonly path: FormPath;
  /** `account`, `time`, `attribute tokens`. */
  readonly label: string;
}

/** The schemas of a book, by name, as far as maps are about them. */
export function schemaNames(book: unknown): readonly string[] {
  return listAt(book, ["eventSchemas"]).flatMap(nameOf);
}

/** The ids of a book's accounts. */
export function accountIds(book: unknown): readonly string[] {
  return listAt(book, ["accounts"]).flatMap((account) => textsAt(account, "id"));
}

/** The parts that a file of events of a schema must have. */
export function partsOfMap(book: unknown, schema: string): readonly MapPart[] {
  return [
    { path: ["accountId"], label: "account" },
    { path: ["id"], label: "event id" },
    { path: ["timestamp"], label: "time" },
    ...(["attributes", "dimensions"] as const).flatMap((list) =>
      fieldsOf(book, schema, list).map((name) => ({ path: [list, name], label: `${list.slice(0, -1)} ${name}` })),
    ),
  ];
}

/** The labels of what a map leaves open. */
export function missingParts(map: unknown, book: unknown): readonly string[] {
  const schema = schemaOfMap(map);
  if (schema === "") return ["event schema"];
  return partsOfMap(book, schema)
    .filter(({ path }) => valueAt(map, path) === undefined || valueAt(map, [...path, "value"]) === "")
    .map(({ label }) => label);
}

/** The schema that a map gives to all events; empty where it does not. */
export function schemaOfMap(map: unknown): string {
  const schema = valueAt(map, ["schemaName", "value"]);
  return typeof schema === "string" ? schema : "";
}

/**
 * The text of a map for a file: what can be guessed of names and values as `ratebook init --from` does, and what the book leaves
 * no choice about. The rest is left out.
 *
 * @param schema the events' schema; without it the one with the most fields that the file has
 */
export function proposedMap(sample: Sample, book: unknown, schema = likeliestSchema(sample, book)): string {
  const columns = guessColumns(sample);
  const accounts = accountIds(book);
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
    ...(time === undefined ? {} : { timestamp: timeOrigin(sample, time) }),
    attributes: fieldOrigins({ sample, book, columns, schema, list: "attributes" }),
    dimensions: fieldOrigins({ sample, book, columns, schema, list: "dimensions" }),
  };
  return JSON.stringify(map, null, 2);
}

/** Where a time is: its column, the form of its texts where an event has another, and a zone where they name none. */
export function timeOrigin(sample: Sample, column: string): object {
  const texts = valuesOf(sample, column).filter((text) => text !== "");
  const isPlain = texts.every((text) => tryParseInstant(text, 0) !== undefined);
  const [form] = isPlain ? [] : formsThatFit(texts);
  const isZoned = texts.every((text) => tryParseInstant(text) !== undefined);
  return { column, ...(form === undefined ? {} : { form }), ...(isZoned ? {} : { zone: "UTC" }) };
}

/** Where a field is: its column, and the mark of its numbers where they are not plain. */
export function fieldOrigin(sample: Sample, column: string, list: string): object {
  const decimal = list === "attributes" ? guessColumns(sample)?.decimals.get(column) : undefined;
  return { column, ...(decimal === undefined ? {} : { decimal }) };
}

/** Whether a text is a map: an object that says where times come from. A file of events has none of it. */
export function isMapText(text: string): boolean {
  const document = openDocument(text);
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

interface FieldsAsked {
  readonly sample: Sample;
  readonly book: unknown;
  readonly columns: Columns | undefined;
  readonly schema: string | undefined;
  readonly list: "attributes" | "dimensions";
}

/** The columns that are called as fields of the schema; the only number of a file is the only attribute of its schema. */
function fieldOrigins({ sample, book, columns, schema, list }: FieldsAsked): Readonly<Record<string, object>> {
  if (schema === undefined) return {};
  const names = fieldsOf(book, schema, list);
  const [only, ...more] = list === "attributes" ? (columns?.numbers ?? []) : [];
  return Object.fromEntries(
    names.flatMap((name) => {
      const called = columnCalled(name, sample.header);
      const column = called ?? (names.length === 1 && more.length === 0 ? only : undefined);
      return column === undefined ? [] : [[name, fieldOrigin(sample, column, list)] as const];
    }),
  );
}

/** The column of a name, whatever the case of its letters and what stands between its words. */
function columnCalled(name: string, header: readonly string[]): string | undefined {
  const bare = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
  return header.find((column) => column === name) ?? header.find((column) => bare(column) === bare(name));
}

function likeliestSchema({ header }: Sample, book: unknown): string | undefined {
  const known = (name: string): number =>
    (["attributes", "dimensions"] as const)
      .flatMap((list) => fieldsOf(book, name, list))
      .filter((field) => columnCalled(field, header) !== undefined).length;
  return schemaNames(book).toSorted((a, b) => known(b) - known(a))[0];
}

function fieldsOf(book: unknown, schema: string, list: "attributes" | "dimensions"): readonly string[] {
  const found = listAt(book, ["eventSchemas"]).find((each) => nameOf(each).includes(schema));
  return listAt(found, [list]).flatMap(nameOf);
}

function nameOf(item: unknown): readonly string[] {
  return textsAt(item, "name");
}

function textsAt(item: unknown, key: string): readonly string[] {
  const text = valueAt(item, [key]);
  return typeof text === "string" ? [text] : [];
}

function valuesOf({ header, rows }: Sample, column: string): readonly string[] {
  const at = header.indexOf(column);
  return rows.map((row) => row[at] ?? "");
}
