/**
 * Fields of JSON objects by their path, as the columns of a CSV file: `usage.tokens` is the field `tokens` of `usage`.
 *
 * @module
 */
import { hintAt } from "../book/nearest.ts";
import { isDecimalObject, formatDecimal } from "../numbers/decimal.ts";
import { stringifyJson } from "../numbers/json.ts";
import { columnsOf, type CsvMap } from "./csv-map.ts";
import { type EventMaker, eventMaker } from "./mapped-event.ts";
import { quoted } from "./problems.ts";

/** Fields that a message names. */
const NAMED_MAX = 20;
/** Levels that are looked into. */
const DEPTH_MAX = 20;

/** A function that makes events of objects. A field that the map names and a line lacks is reported. */
export function eventOfObject(map: CsvMap): EventMaker<unknown> {
  const names = [...new Set(columnsOf(map))];
  const make = eventMaker<unknown>(map, (name) => (object) => textAt(object, name) ?? "");
  return (object, row) => {
    const missing = names.find((name) => textAt(object, name) === undefined);
    if (missing === undefined) return make(object, row);
    const fields = fieldsOf(object).map(([name]) => name);
    if (fields.length === 0) return "the line is no JSON object with fields";
    const some = fields.slice(0, NAMED_MAX).map(quoted).join(", ");
    return `the map names the field ${quoted(missing)}, and the line has ${some}${hintAt(missing, fields)}`;
  };
}

/** The text of the field at a path; a name with points in it is found before the path. */
export function textAt(value: unknown, path: string): string | undefined {
  if (!isObject(value)) return undefined;
  if (Object.hasOwn(value, path)) return fieldText(value[path]);
  for (let at = path.indexOf("."); at >= 0; at = path.indexOf(".", at + 1)) {
    const name = path.slice(0, at);
    const found = Object.hasOwn(value, name) ? textAt(value[name], path.slice(at + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The fields that hold a text, a number or a truth, each by its path. Lists are left out. */
export function fieldsOf(value: unknown, before = "", depth = 0): readonly (readonly [path: string, text: string])[] {
  if (!isObject(value) || depth > DEPTH_MAX) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const path = before + name;
    if (Array.isArray(field)) return [];
    return isObject(field) ? fieldsOf(field, `${path}.`, depth + 1) : [[path, fieldText(field)] as const];
  });
}

function fieldText(field: unknown): string {
  if (typeof field === "string") return field;
  if (field === null) return "";
  return isDecimalObject(field) ? formatDecimal(field) : stringifyJson(field);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !isDecimalObject(value);
}
