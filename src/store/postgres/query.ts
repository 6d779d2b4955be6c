/**
 * Parts of queries, and conversion of values for the database and back: keys and their order, instants, lists for
 * set-based statements, and pages.
 *
 * Lists of invoices and draft index entries have one index per kind of filter. `place` is the negated listing instant:
 * newest first is then ascending, like ids, and a page continues at one point of an index. `span` is the maximum length
 * of a billing period, and whether the item is listed at its start: for each span, the periods that overlap a range
 * are then a range of places.
 */
import { createHash } from "node:crypto";

import { DAY_MS, type Instant, parseInstant } from "../../calendar/instant.ts";
import { listingInstant } from "../../ledger/account/invoices.ts";
import type { InvoiceRecord } from "../../ledger/records.ts";
import { serializeRecord } from "../record-json.ts";

/** Maximum length of an id that is its own key; the key of a longer one is a prefix and a digest. */
const KEY_LENGTH_MAX = 128;
/** Half of a surrogate pair, which the database cannot store in a text. */
const LONE_SURROGATE = /\p{Surrogate}/u;
/** Marks a key that is not an id, because ids do not contain this character. */
const MARK = "\u0001";

/** A fast check that matches most texts that are their own keys. */
const PLAIN = /^[ -~]{0,128}$/;

/** The key of an id: nearly always the id itself. Different ids have different keys. */
export function idKey(id: string): string {
  if (PLAIN.test(id)) return id;
  if (id.length <= KEY_LENGTH_MAX && !id.includes("\u0000") && !id.includes(MARK) && !LONE_SURROGATE.test(id))
    return id;
  const digest = createHash("sha256").update(JSON.stringify(id)).digest("hex");
  return `${id.slice(0, KEY_LENGTH_MAX / 2).replace(/[^ -~]/g, "_")}${MARK}${digest}`;
}

/** The id of a key that is not the id itself, as JSON; undefined if it is. */
export function textOfKey(id: string): string | undefined {
  return idKey(id) === id ? undefined : serializeRecord(id);
}

/** The keys of ids, each once. */
export function idKeys(ids: Iterable<string>): readonly string[] {
  return [...new Set(ids)].map(idKey);
}

/** An instant for a `bigint` column; infinite ones become the maximum. */
export function instantValue(instant: Instant): number {
  return Math.min(Math.max(instant, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

/** The instant in a column. */
export function instantFromColumn(text: string | null | undefined): Instant {
  const instant = Number(text);
  if (instant === Number.MAX_SAFE_INTEGER) return Infinity;
  return instant === Number.MIN_SAFE_INTEGER ? -Infinity : instant;
}

/** A day for an `integer` column. */
export function dayValue(day: number): number {
  return Math.min(Math.max(day, -2_000_000_000), 2_000_000_000);
}

/** Formats numbers, booleans and decimals as an array literal. */
export function formatPlainArray(values: readonly (number | boolean | string | undefined)[]): string {
  return `{${values.map((value) => value ?? "NULL").join()}}`;
}

/** The characters to escape in an array. */
const SPECIAL = /["\\]/;

/** Formats texts as an array literal. */
export function formatTextArray(values: readonly (string | undefined)[]): string {
  // Most lists need no escaping; check them with one test of the joined text.
  const isPlain = values.length > 0 && !values.includes(undefined) && !SPECIAL.test(values.join(""));
  if (isPlain) return `{"${values.join('","')}"}`;
  return `{${values.map((value) => (value === undefined ? "NULL" : `"${value.replace(/["\\]/g, "\\$&")}"`)).join()}}`;
}

/** A text literal, escaped so that the server's backslash setting does not matter. */
export function quoteLiteral(text: string): string {
  return `E'${text.replace(/['\\]/g, "$&$&")}'`;
}

/** A list of texts in a statement, written as a query: for a plain list, the planner would look up each text. */
export function formatListQuery(texts: readonly string[]): string {
  return `array(select unnest(${quoteLiteral(formatTextArray(texts))}::text[]))`;
}

/** Joins JSON texts, which contain no line break, as lines: `string_to_array($n, E'\n')` splits them. */
export function formatLines(texts: readonly string[]): string {
  return texts.join("\n");
}

/** The number of an advisory lock, as text; advisory locks are shared by all users of the database. */
export function advisoryKey(schema: string, lock: string): string {
  const digest = createHash("sha256")
    .update(JSON.stringify(["ratebook", schema, lock]))
    .digest();
  return digest.readBigInt64BE().toString();
}

/** Sorts items by key: commits that write in one order never wait for each other. */
export function sortByKey<Item>(items: readonly Item[], key: (item: Item) => string): readonly Item[] {
  const itemsWithKeys = items.map((item) => ({ item, key: key(item) }));
  return itemsWithKeys.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))).map(({ item }) => item);
}

/** The hash of an event id, which is faster to look up than the text. */
export const EVENT_KEY = "hashtextextended(event_id, 0)";

/**
 * The day of an instant in SQL, for the index of an account's events. Days before 1970 are truncated differently, which
 * does not matter for the index.
 */
export function dayOfSql(instant: string): string {
  return `${instant} / ${DAY_MS}`;
}

/** The day of an event in SQL. */
export const DAY_OF_EVENT: string = dayOfSql("timestamp");

/** The constraint of usage and overage that rejects inexact sums. */
export const EXACT_SUM_CONSTRAINT = "exact";

/** The number of meters or features in one row of usage or overage. */
export const ROW_ITEMS = 4;

/** The same hash for a text. */
export function hashExpression(text: string): string {
  return `hashtextextended(${text} collate "C", 0)`;
}

/** A condition that an event has one of the event ids in a parameter, using the index of reserved ids. */
export function hasEventId(ids: string): string {
  return `${EVENT_KEY} = any(array(select ${hashExpression("requested.id")} from unnest(${ids}) as requested (id)))
        and event_id = any(${ids})`;
}

/** Renumbers the parameters of a statement that follow `by` others. */
export function shiftParameters(text: string, by: number): string {
  return by === 0 ? text : text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + by}`);
}

/** The maximum number of days of a billing period of each span: a cycle of each interval, or part of one. */
export const DAYS_OF_SPAN = [7, 31, 92, 184, 366] as const;
/** The span of an AD_HOC invoice, which may be listed anywhere in its billing period. */
export const AD_HOC_SPAN = DAYS_OF_SPAN.length;
export const DAYS_MAX = DAYS_OF_SPAN[4];

/** The instants by which an item is listed and filtered. */
export interface ListInstants {
  readonly listedAt: Instant;
  readonly start: Instant;
  readonly end: Instant;
}

/** The `place` of a listing instant. */
export function listPlace(listedAt: Instant): number {
  return -instantValue(listedAt);
}

/** The span of a billing period, or of an item not listed at its start, such as an AD_HOC invoice. */
export function periodSpan({ listedAt: listed, start, end }: ListInstants): number {
  if (listed !== start) return AD_HOC_SPAN;
  const span = DAYS_OF_SPAN.findIndex((days) => end - start <= days * DAY_MS);
  return span < 0 ? AD_HOC_SPAN - 1 : span;
}

/** {@link periodSpan} as an SQL expression. */
export function spanExpression(listed: string, start: string, end: string): string {
  const spans = DAYS_OF_SPAN.slice(0, -1).map(
    (days, span) => `when ${end} - ${start} <= ${days * DAY_MS} then ${span}`,
  );
  return `case when ${listed} <> ${start} then ${AD_HOC_SPAN} ${spans.join(" ")} else ${AD_HOC_SPAN - 1} end`;
}

/** The instants by which a final invoice is listed and filtered. */
export function toListInstants({ invoice }: InvoiceRecord): ListInstants {
  return {
    listedAt: listingInstant(invoice),
    start: parseInstant(invoice.startDate),
    end: parseInstant(invoice.endDate),
  };
}
