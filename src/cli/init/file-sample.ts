/** Reads the start of an event file, from which its columns are guessed. */
import { isUtf8 } from "node:buffer";

import { parse } from "csv-parse/sync";

import { tryParseInstant } from "../../calendar/instant.ts";
import { describeCsvError, detectSeparator } from "../../event-files/csv-rows.ts";
import { CARRIAGE_RETURNS, InputError, quoteText } from "../../event-files/input-error.ts";
import { SAMPLE_ROWS_MAX } from "../../event-files/json-fields.ts";
import type { Sample } from "../../event-files/sample-columns.ts";
import { openByteSource } from "../event-inputs/byte-source.ts";
import type { Io } from "../io.ts";

const SAMPLE_BYTES = 1 << 20;

/** Reads the first whole lines of a file. @throws {InputError} if the file is empty or isn't text */
export async function readSampleText(path: string, io: Io): Promise<string> {
  const source = await openByteSource(path, io.stdin);
  try {
    const bytes = new Uint8Array(SAMPLE_BYTES);
    let length = 0;
    while (length < SAMPLE_BYTES) {
      const byteCount = await source.readInto(bytes, length);
      if (byteCount === 0) break;
      length += byteCount;
    }
    const end = length < SAMPLE_BYTES ? length : bytes.lastIndexOf(0x0a, length - 1) + 1;
    const lines = bytes.subarray(0, end);
    if (!isUtf8(lines)) throw new InputError(`${path}: the file is not UTF-8; save it as UTF-8`);
    const text = new TextDecoder().decode(lines);
    if (text.trim() === "") throw new InputError(`${path}: the file is empty`);
    return text;
  } finally {
    await source.close();
  }
}

/** Whether a text starts like a JSON object. */
export function isJsonObject(text: string): boolean {
  return /^\s*\{/.test(text);
}

/** Parses the header and the first rows of a CSV file. @throws {InputError} */
export function parseCsvSample(path: string, text: string): Sample {
  if (/^\s*\[\s*[{[\]]/.test(text)) {
    throw new InputError(
      `${path}: the file is one JSON list; convert it to NDJSON (one object per line), for example with jq -c '.[]'`,
    );
  }
  let records: readonly (readonly string[])[];
  try {
    records = parse(text, {
      bom: true,
      delimiter: detectSeparator(text),
      record_delimiter: ["\r\n", "\n"],
      skip_empty_lines: true,
      relax_column_count: true,
      to: SAMPLE_ROWS_MAX + 1,
    });
  } catch (error) {
    throw new InputError(`${path}: the file is neither CSV nor NDJSON: ${describeCsvError(error)}`);
  }
  const [header = [], ...rows] = records;
  if (header.some((name) => name.includes("\r"))) throw new InputError(`${path}: ${CARRIAGE_RETURNS}`);
  if (rows.length === 0) throw new InputError(`${path}: expected a header and at least one row`);
  const timeInHeader = header.find((name) => tryParseInstant(name, 0) !== undefined);
  if (timeInHeader !== undefined) {
    throw new InputError(
      `${path}:1: expected a header with column names, but the first row contains the time ${quoteText(timeInHeader)}`,
    );
  }
  return { header, rows: rows.filter((row) => row.length === header.length) };
}
