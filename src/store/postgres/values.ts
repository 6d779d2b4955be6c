/**
 * Values on their way into the database and back: keys, instants, and lists for set-based statements.
 *
 * @module
 */
import { createHash } from "node:crypto";

import type { Instant } from "../../calendar/instant.ts";

/** The length of the longest id that is its own key; the key of a longer one is a part of it and a digest. */
const KEY_LENGTH_MAX = 128;
/** Half of a surrogate pair: no text of the database can hold it. */
const HALF = /\p{Surrogate}/u;
/** Marks a key that is no id, as no id with this character is. */
const MARK = "\u0001";

/** Most texts that are their own keys; a quick test. */
const PLAIN = /^[ -~]{0,128}$/;

/** The key that stands for an id: the id itself, nearly always. Different ids have different keys. */
export function idKey(id: string): string {
  if (PLAIN.test(id)) return id;
  if (id.length <= KEY_LENGTH_MAX && !id.includes("\u0000") && !id.includes(MARK) && !HALF.test(id)) return id;
  const digest = createHash("sha256").update(JSON.stringify(id)).digest("hex");
  return `${id.slice(0, KEY_LENGTH_MAX / 2).replace(/[^ -~]/g, "_")}${MARK}${digest}`;
}

/** The keys of ids, each once. */
export function idKeys(ids: Iterable<string>): readonly string[] {
  return [...new Set(ids)].map(idKey);
}

/** An instant as a number that a `bigint` column holds; without end, the farthest one. */
export function instantValue(instant: Instant): number {
  return Math.min(Math.max(instant, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

/** The instant that a column holds. */
export function instantFromColumn(text: string | null | undefined): Instant {
  const instant = Number(text);
  if (instant === Number.MAX_SAFE_INTEGER) return Infinity;
  return instant === Number.MIN_SAFE_INTEGER ? -Infinity : instant;
}

/** A day as a number that an `integer` column holds. */
export function dayValue(day: number): number {
  return Math.min(Math.max(day, -2_000_000_000), 2_000_000_000);
}

/** Numbers, booleans and decimals as the text of an array. */
export function formatPlainArray(values: readonly (number | boolean | string | undefined)[]): string {
  return `{${values.map((value) => value ?? "NULL").join()}}`;
}

/** The characters that are escaped in an array. */
const SPECIAL = /["\\]/;

/** Texts as the text of an array. */
export function formatTextArray(values: readonly (string | undefined)[]): string {
  // Most lists have nothing to escape, which one test of the whole text tells.
  const isBare = values.length > 0 && !values.includes(undefined) && !SPECIAL.test(values.join(""));
  if (isBare) return `{"${values.join('","')}"}`;
  return `{${values.map((value) => (value === undefined ? "NULL" : `"${value.replace(/["\\]/g, "\\$&")}"`)).join()}}`;
}

/** A text within a statement; escaped so that it means the same whatever a server takes backslashes for. */
export function quoteLiteral(text: string): string {
  return `E'${text.replace(/['\\]/g, "$&$&")}'`;
}

/** A list of texts within a statement, written as a query: of a plain list, the planner would look up each text. */
export function formatListQuery(texts: readonly string[]): string {
  return `array(select unnest(${quoteLiteral(formatTextArray(texts))}::text[]))`;
}

/** JSON texts, which hold no line break, as lines: `string_to_array($n, E'\n')` is their list. */
export function formatLines(texts: readonly string[]): string {
  return texts.join("\n");
}

/** The number of an advisory lock, as text; advisory locks are shared by all that use the database. */
export function advisoryKey(schema: string, lock: string): string {
  const digest = createHash("sha256")
    .update(JSON.stringify(["ratebook", schema, lock]))
    .digest();
  return digest.readBigInt64BE().toString();
}
