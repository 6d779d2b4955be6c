/**
 * The first rows of a file of events, CSV or NDJSON, to guess from.
 *
 * @module
 */
import { isUtf8 } from "node:buffer";

import { parse } from "csv-parse/sync";

import { instantOrUndefined } from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import { parseJson } from "../../numbers/json.ts";
import type { Sample } from "../../records/columns.ts";
import { fieldsOf } from "../../records/json-fields.ts";
import { CARRIAGE_RETURNS } from "../../records/lines.ts";
import { InputError, quoted } from "../../records/problems.ts";
import { separatorOf } from "../../records/separator.ts";
import { openSource } from "../events/byte-source.ts";
import type { Io } from "../io.ts";

const SAMPLE_BYTES = 1 << 20;
const ROWS_MAX = 1000;

/** The first whole lines of a file. @throws {InputError} for a file that is empty or no text */
export async function beginningOf(path: string, io: Io): Promise<string> {
  const source = await openSource(path, io.stdin);
  try {
    const bytes = new Uint8Array(SAMPLE_BYTES);
    let length = 0;
    while (length < SAMPLE_BYTES) {
      const read = await source.read(bytes, length);
      if (read === 0) break;
      length += read;
    }
    const end = length < SAMPLE_BYTES ? length : bytes.lastIndexOf(0x0a, length - 1) + 1;
    const lines = bytes.subarray(0, end);
    if (!isUtf8(lines)) throw new InputError(`${path}: the file is not UTF-8: save it as CSV in UTF-8`);
    const text = new TextDecoder().decode(lines);
    if (text.trim() === "") throw new InputError(`${path}: the file is empty`);
    return text;
  } finally {
    await source.close();
  }
}

/** Whether a text begins like an object of JSON. */
export function isJsonObject(text: string): boolean {
  return /^\s*\{/.test(text);
}

/** The header and the first rows of a CSV file. @throws {InputError} */
export function csvSample(path: string, text: string): Sample {
  if (/^\s*\[\s*[{[\]]/.test(text)) {
    throw new InputError(
      `${path}: the file is one JSON list: expected NDJSON, an object a line, as jq -c '.[]' makes it of a list`,
    );
  }
  const separator = separatorOf(text);
  let records: readonly (readonly string[])[];
  try {
    records = parse(text, {
      bom: true,
      delimiter: separator,
      record_delimiter: ["\r\n", "\n"],
      skip_empty_lines: true,
      relax_column_count: true,
      to: ROWS_MAX + 1,
    });
  } catch (error) {
    throw new InputError(
      `${path}: the file is neither CSV nor NDJSON: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const [header = [], ...rows] = records;
  if (header.some((name) => name.includes("\r"))) throw new InputError(`${path}: ${CARRIAGE_RETURNS}`);
  if (rows.length === 0) throw new InputError(`${path}: expected a header and at least one row`);
  const time = header.find((name) => instantOrUndefined(name, 0) !== undefined);
  if (time !== undefined) {
    throw new InputError(`${path}:1: expected a header, which names the columns, and it has the time ${quoted(time)}`);
  }
  return { header, rows: rows.filter((row) => row.length === header.length), separator };
}

/** The first objects of an NDJSON file. @throws {InputError} for a line that is no JSON */
export function jsonSample(path: string, text: string): readonly unknown[] {
  const lines = text.split("\n").map((line, index) => [line.trim(), index + 1] as const);
  return lines
    .filter(([line]) => line !== "")
    .slice(0, ROWS_MAX)
    .map(([line, number]) => {
      try {
        return parseJson(line);
      } catch (error) {
        if (!hasCode(error, "ERR_JSON_INVALID")) throw error;
        throw new InputError(`${path}:${number}: expected an object of JSON in each line: ${error.message}`);
      }
    });
}

/** The fields of objects as rows: a column for each path that one of them has. @throws {InputError} where there are none */
export function fieldSample(path: string, objects: readonly unknown[]): Sample {
  const rows = objects.map((object) => new Map(fieldsOf(object)));
  const header = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  if (header.length === 0) throw new InputError(`${path}: expected objects with fields in its lines`);
  return { header, rows: rows.map((row) => header.map((name) => row.get(name) ?? "")) };
}
