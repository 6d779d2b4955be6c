/**
 * Parts of queries.
 *
 * @module
 */
import type { PageRequest } from "../../ledger/view.ts";
import { instantValue, keyOf } from "./values.ts";

/** A number that event ids are found by, quicker than by the text alone. */
export const EVENT_KEY = "hashtextextended(event_id, 0)";

/** The constraint of usage and overage that refuses a sum which is not kept exactly. */
export const EXACT = "exact";

/** The same number of a text. */
export function keyExpression(text: string): string {
  return `hashtextextended(${text} collate "C", 0)`;
}

/** The stamp of the list of items, as an expression: that of its last item. Items are only ever added at the end. */
export function itemStamp(table: (name: string) => string): string {
  return `(select stamp::text from ${table("item")} order by place desc limit 1)`;
}

/**
 * The end of a query for one page: newest first, then by id.
 *
 * @param values what the query has as parameters so far; those of the page are added
 */
export function pageEnd(values: string[], { limit, after }: PageRequest, id = "id"): string {
  const order = `order by created_at desc, ${id} limit ${parameter(values, String(limit), "bigint")}`;
  if (after === undefined) return order;
  const createdAt = parameter(values, String(instantValue(after.createdAt)), "bigint");
  const key = parameter(values, keyOf(after.id));
  return `and created_at <= ${createdAt} and (created_at < ${createdAt} or ${id} > ${key}) ${order}`;
}

/** One parameter more, as an expression of a type. */
export function parameter(values: string[], value: string, type = "text"): string {
  values.push(value);
  return type === "text" ? `$${values.length}::text` : `$${values.length}::text::${type}`;
}
