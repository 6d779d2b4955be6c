/**
 * The map of a dropped file: guesses from its columns, what is still missing, and edits by a form. Its text is what
 * `--map` reads.
 */
import { valueAt } from "../../book/short/fields.ts";
import { tryParseInstant } from "../../calendar/instant.ts";
import { findMatchingForms } from "../../event-files/cell-texts.ts";
import { guessColumns } from "../../event-files/guess-columns.ts";
import { listColumns, type Sample } from "../../event-files/sample-columns.ts";
import { type FormPath, listAt, textAt, tryParseJson } from "./book-edits.ts";

/** A part of an event, and its place in the map. */
export interface MapPart {
  readonly path: FormPath;
  /** `account`, `time`, `attribute tokens`. */
  readonly label: string;
}

/** The parts with a name for each field of a schema. */
const FIELD_LISTS = ["attributes", "dimensions"] as const;

/** The schema names of a book. */
export function listSchemaNames(book: unknown): readonly string[] {
  return listTexts(book, ["eventSchemas"], "name");
}

/** The ids of a book's accounts. */
export function listAccountIds(book: unknown): readonly string[] {
  return listTexts(book, ["accounts"], "id");
}

/** The parts that events of a schema must have. */
export function listMapParts(book: unknown, schema: string): readonly MapPart[] {
  return [
    { path: ["accountId"], label: "account" },
    { path: ["id"], label: "event id" },
    { path: ["timestamp"], label: "time" },
    ...FIELD_LISTS.flatMap((list) =>
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
  return textAt(map, ["schemaName", "value"]);
}

/**
 * Proposes a map from column names and values, as `ratebook init --from` does, and from what the book determines. Other
 * parts are left out.
 *
 * @param schema the events' schema; by default the one with the most fields in the file
 */
export function proposeMap(sample: Sample, book: unknown, schema = guessSchema(sample, book)): string {
  const { account, timestamp, id, numbers = [] } = guessColumns(sample) ?? {};
  const [onlyAccount, ...otherAccounts] = listAccountIds(book);
  const [onlyNumber, ...otherNumbers] = numbers;
  const listOrigins = (list: (typeof FIELD_LISTS)[number]): object => {
    const names = schema === undefined ? [] : listFieldNames(book, schema, list);
    // If both the file and the schema have only one number, these match too.
    const isOnly = list === "attributes" && names.length === 1 && otherNumbers.length === 0;
    const origins = names.flatMap((name) => {
      const column = findColumn(name, sample.header) ?? (isOnly ? onlyNumber : undefined);
      return column === undefined ? [] : [[name, createFieldOrigin(sample, column, list)] as const];
    });
    return Object.fromEntries(origins);
  };
  const map = {
    schemaName: schema === undefined ? undefined : { value: schema },
    accountId:
      account !== undefined
        ? { column: account }
        : otherAccounts.length === 0 && onlyAccount !== undefined
          ? { value: onlyAccount }
          : undefined,
    id: id === undefined ? { template: "row-{row}" } : { column: id },
    timestamp: timestamp === undefined ? undefined : createTimeOrigin(sample, timestamp),
    attributes: listOrigins("attributes"),
    dimensions: listOrigins("dimensions"),
  };
  return JSON.stringify(map, null, 2);
}

/** A map's entry for times: the column, its format if not ISO 8601, and a zone if it has none. */
export function createTimeOrigin(sample: Sample, column: string): object {
  const { values = [] } = listColumns(sample).find(({ name }) => name === column) ?? {};
  const texts = values.filter((text) => text !== "");
  const isPlain = texts.every((text) => tryParseInstant(text, 0) !== undefined);
  const [form] = isPlain ? [] : findMatchingForms(texts);
  const isZoned = texts.every((text) => tryParseInstant(text) !== undefined);
  return { column, form, zone: isZoned ? undefined : "UTC" };
}

/** A map's entry for a field: the column, its decimal mark if not plain, and 0 for empty cells of numbers. */
export function createFieldOrigin(sample: Sample, column: string, list: string): object {
  const columns = list === "attributes" ? guessColumns(sample) : undefined;
  const hasEmptyCells = columns?.numbersWithEmptyCells.includes(column) === true;
  return { column, decimal: columns?.decimals.get(column), default: hasEmptyCells ? "0" : undefined };
}

/** Whether a text is a map: an object with an entry for times. */
export function isMapText(text: string): boolean {
  const time = valueAt(tryParseJson(text), ["timestamp"]);
  return ["column", "value", "template"].some((kind) => valueAt(time, [kind]) !== undefined);
}

/** Whether none of the objects is an event, which has a schema and an account. */
export function needsMap(objects: readonly unknown[]): boolean {
  return (
    objects.length > 0 &&
    objects.every((object) => ["schemaName", "accountId"].every((key) => valueAt(object, [key]) === undefined))
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
    FIELD_LISTS.flatMap((list) => listFieldNames(book, name, list)).filter(
      (field) => findColumn(field, header) !== undefined,
    ).length;
  return listSchemaNames(book).toSorted((a, b) => countKnownFields(b) - countKnownFields(a))[0];
}

function listFieldNames(book: unknown, schema: string, list: (typeof FIELD_LISTS)[number]): readonly string[] {
  const eventSchema = listAt(book, ["eventSchemas"]).find((each) => textAt(each, ["name"]) === schema);
  return listTexts(eventSchema, [list], "name");
}

/** The texts of a field of the items of a list. */
function listTexts(value: unknown, path: FormPath, field: string): readonly string[] {
  return listAt(value, path)
    .map((item) => textAt(item, [field]))
    .filter((text) => text !== "");
}
