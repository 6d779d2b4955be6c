/**
 * The map of a CSV file: where each part of an event comes from (book.md, "Event files").
 *
 * @module
 */
import * as z from "zod";

import { hintAt } from "../../book/nearest.ts";
import { pathText } from "../../book/problems.ts";
import { mapOf } from "../../book/resources/fields.ts";
import { sentenceOf } from "../../book/sentences.ts";
import { parseZone } from "../../calendar/instant.ts";
import type { Problem } from "../../errors.ts";
import { Decimal } from "../../numbers/decimal.ts";
import { openDocument } from "../json-document.ts";
import { InputError, quoted } from "../problems.ts";

const constant = z.union([
  z.string(),
  z.number().transform(String),
  z.custom<Decimal>((value) => Decimal.isDecimal(value)).transform((value) => value.toFixed()),
]);
const column = z.strictObject({ column: z.string().min(1) });
const value = z.strictObject({ value: constant });
const template = z.strictObject({ template: z.string().min(1) });

const ONE_OF = 'expected {"column": "…"}, {"value": "…"} or {"template": "…"}';
/** One place that a part of an event comes from. */
const origin = z.union([column, value, template], ONE_OF);

const zone = z
  .string()
  .refine((text) => {
    try {
      parseZone(text);
      return true;
    } catch {
      return false;
    }
  }, 'expected "UTC" or an offset such as "+05:30"')
  .optional();
const timestamp = z.union(
  [column.extend({ zone }), value.extend({ zone }), template.extend({ zone })],
  `${ONE_OF}, with "zone" beside it where the text has none`,
);

/** Where the parts of an event come from. */
export const csvMap = z.strictObject({
  $schema: z.string().optional(),
  schemaName: origin,
  accountId: origin,
  id: origin,
  timestamp,
  attributes: mapOf(z.string().min(1), origin).default({}),
  dimensions: mapOf(z.string().min(1), origin).default({}),
});
/** A map that was read. */
export type CsvMap = z.output<typeof csvMap>;
/** One origin of a map. */
export type Origin = z.output<typeof origin>;

/**
 * Reads a map; comments, and a `$schema` for editors, are accepted.
 *
 * @param file the map's name, for messages
 * @throws {InputError} with the first thing that is wrong: where, and what was expected
 */
export function readCsvMap(file: string, text: string): CsvMap {
  const document = openDocument(text);
  if (!("value" in document)) {
    throw new InputError(`${file}:${document.line}:${document.column}: not JSON: ${document.message}`);
  }
  const wrong = (problem: Problem): InputError => {
    const { line, column } = document.placeOf(problem);
    return new InputError(`${file}:${line}:${column}: ${problem.path}: ${problem.message}`);
  };
  const [repeated] = document.repeated;
  if (repeated !== undefined) throw wrong(repeated);
  const read = csvMap.safeParse(document.value, { error: sentenceOf });
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  const path = (issue?.path ?? []).map((key) => (typeof key === "number" ? key : String(key)));
  const [unknown] = issue?.code === "unrecognized_keys" ? issue.keys : [];
  if (unknown === undefined) throw wrong({ path: pathText(path), message: issue?.message ?? "expected a map" });
  const known = path.length === 0 ? Object.keys(csvMap.shape) : ["column", "value", "template", "zone"];
  throw wrong({ path: pathText([...path, unknown]), message: `unknown field${hintAt(unknown, known)}` });
}

/** The text of an origin in one record. */
export type OriginReader = (record: readonly string[], row: number) => string;

/**
 * Binds an origin to the columns of a header.
 *
 * @throws {InputError} when it names a column that the header does not have
 */
export function bindOrigin(origin: Origin, header: readonly string[], file: string): OriginReader {
  if ("column" in origin) {
    const index = columnOf(origin.column, header, file);
    return (record) => record[index] ?? "";
  }
  if ("value" in origin) {
    const { value } = origin;
    return () => value;
  }
  const parts = origin.template.split(/\{([^{}]+)\}/).map((part, index): OriginReader => {
    if (index % 2 === 0) return () => part;
    if (part === "row") return (_, row) => String(row);
    const at = columnOf(part, header, file);
    return (record) => record[at] ?? "";
  });
  return (record, row) => parts.map((part) => part(record, row)).join("");
}

function columnOf(name: string, header: readonly string[], file: string): number {
  const index = header.indexOf(name);
  if (index !== header.lastIndexOf(name)) {
    throw new InputError(`${file}: the map names the column ${quoted(name)}, and the header has it more than once`);
  }
  if (index >= 0) return index;
  const columns = header.map((column) => quoted(column)).slice(0, 20);
  throw new InputError(
    `${file}: the map names the column ${quoted(name)}, and the header has ${columns.join(", ")}${hintAt(name, header)}`,
  );
}
