/**
 * The first objects of an NDJSON file, with fields as columns, to guess from.
 *
 * @module
 */
import { hasCode } from "../errors.ts";
import { parseJson } from "../numbers/json.ts";
import type { Sample } from "./guess-columns.ts";
import { InputError } from "./input-error.ts";
import { listFields } from "./json-fields.ts";

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
