/**
 * Fields of JSON objects by path, used like CSV columns: `usage.tokens` is the field `tokens` of `usage`; and the first
 * objects of an NDJSON file, to guess from.
 */
import { guessName } from "../book/problems.ts";
import { hasCode } from "../errors.ts";
import { isDecimalObject, formatDecimal } from "../numbers/decimal.ts";
import { stringifyJson, parseJson } from "../numbers/json.ts";
import { createProblem } from "../problem-table.ts";
import type { CellRules } from "./cell-texts.ts";
import {
  listMappedColumns,
  type EventFileMap,
  type EventMaker,
  type EventMakerOptions,
  createEventMaker,
} from "./event-file-map.ts";
import { InputError } from "./input-error.ts";
import type { Sample } from "./sample-columns.ts";

/** The maximum number of fields that a message lists. */
const NAMED_MAX = 20;
/** The maximum depth of fields. */
const DEPTH_MAX = 20;

/**
 * Creates a function that makes events from objects. If a line lacks a mapped field, and the map doesn't say what to do
 * with an empty one, it returns an error.
 */
export function createObjectEventMaker(map: EventFileMap, options: EventMakerOptions<unknown>): EventMaker<unknown> {
  const optionalNames = new Set(
    [...Object.values(map.attributes), ...Object.values(map.dimensions)].flatMap((origin) => {
      if (!("column" in origin)) return [];
      const { column, default: defaultText, empty }: CellRules & typeof origin = origin;
      return defaultText === undefined && empty === undefined ? [] : [column];
    }),
  );
  const names = listMappedColumns(map).filter((name) => !optionalNames.has(name));
  const makeEvent = createEventMaker<unknown>(map, (name) => (object) => readText(object, name) ?? "", {
    ...options,
    isText: (object, name) => typeof readField(object, name) === "string",
  });
  return (object, row) => {
    const missingName = names.find((name) => readText(object, name) === undefined);
    if (missingName === undefined) return makeEvent(object, row);
    const fields = listFields(object).map(([name]) => name);
    const params = { name: missingName, fields: fields.slice(0, NAMED_MAX), ...guessName(missingName, fields) };
    return createProblem("$", "MISSING_MAPPED_FIELD", params);
  };
}

/** The text of the field at a path. A name that contains dots takes precedence over a path. */
export function readText(value: unknown, path: string): string | undefined {
  const field = readField(value, path);
  return field === undefined ? undefined : formatField(field);
}

function readField(value: unknown, path: string): unknown {
  if (!isJsonObject(value)) return undefined;
  if (Object.hasOwn(value, path)) return value[path];
  for (let at = path.indexOf("."); at >= 0; at = path.indexOf(".", at + 1)) {
    const name = path.slice(0, at);
    const nestedField = Object.hasOwn(value, name) ? readField(value[name], path.slice(at + 1)) : undefined;
    if (nestedField !== undefined) return nestedField;
  }
  return undefined;
}

/** The string, number and boolean fields by path. Lists are skipped. */
export function listFields(value: unknown, prefix = "", depth = 0): readonly (readonly [path: string, text: string])[] {
  if (!isJsonObject(value) || Array.isArray(value) || depth > DEPTH_MAX) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const path = prefix + name;
    return isJsonObject(field) ? listFields(field, `${path}.`, depth + 1) : [[path, formatField(field)] as const];
  });
}

function formatField(field: unknown): string {
  if (typeof field === "string") return field;
  if (field === null) return "";
  return isDecimalObject(field) ? formatDecimal(field) : stringifyJson(field);
}

function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !isDecimalObject(value);
}

/** The maximum number of rows to guess from. */
export const SAMPLE_ROWS_MAX = 1000;

/** Reads the first objects of an NDJSON file. @throws {InputError} for a line that isn't JSON */
export function readJsonSample(path: string, text: string): readonly unknown[] {
  const lines = text.split("\n").map((line, index) => [line.trim(), index + 1] as const);
  return lines
    .filter(([line]) => line !== "")
    .slice(0, SAMPLE_ROWS_MAX)
    .map(([line, number]) => {
      try {
        return parseJson(line);
      } catch (error) {
        if (!hasCode(error, "ERR_JSON_INVALID")) throw error;
        throw new InputError(`${path}:${number}: expected one JSON object per line: ${error.message}`);
      }
    });
}

/** The fields of objects as rows, with a column for each path. @throws {InputError} without fields */
export function createFieldSample(path: string, objects: readonly unknown[]): Sample {
  const rows = objects.map((object) => new Map(listFields(object)));
  const header = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  if (header.length === 0) throw new InputError(`${path}: expected JSON objects with at least one field`);
  return { header, rows: rows.map((row) => header.map((name) => row.get(name) ?? "")) };
}
