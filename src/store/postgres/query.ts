/**
 * Parts of queries.
 *
 * @module
 */
import { DAY_MS } from "../../calendar/instant.ts";
import type { PageRequest } from "../../ledger/view.ts";
import { instantValue, idKey } from "./values.ts";

/** The hash of an event id, by which events are found quicker than by the text alone. */
export const EVENT_KEY = "hashtextextended(event_id, 0)";

/** The day of an event, by which the events of an account are indexed; that days before 1970 are cut otherwise does not matter. */
export const DAY_OF_EVENT: string = `timestamp / ${DAY_MS}`;

/** The constraint of usage and overage that refuses a sum which is not kept exactly. */
export const EXACT = "exact";

/** So many meters or features of an account and day are in one row of usage or overage. */
export const ROW_ITEMS = 4;

/** The same hash of a text. */
export function hashExpression(text: string): string {
  return `hashtextextended(${text} collate "C", 0)`;
}

/** Whether an event has one of the event ids in a parameter, as a condition that the index of held ids answers. */
export function hasEventId(ids: string): string {
  return `${EVENT_KEY} = any(array(select ${hashExpression("asked.id")} from unnest(${ids}) as asked (id)))
        and event_id = any(${ids})`;
}

/**
 * The end of a query for one page: newest first, then by id. Columns are named with their table: a bare name may be that of
 * the text that is selected, which has another order.
 *
 * @param values what the query has as parameters so far; those of the page are added
 * @param list `accountArguments`: of one account, with the condition {@link isOfAccount}
 */
export function pageClause(
  values: string[],
  { limit, after }: PageRequest,
  {
    table,
    id = "id",
    ofAccount = false,
  }: { readonly table: string; readonly id?: string; readonly ofAccount?: boolean },
): string {
  const [createdAt, key] = [`${table}.created_at`, `${table}.${id}`];
  const owner = ofAccount ? `${table}.account_id desc, ` : "";
  const order = `order by ${owner}${createdAt} desc, ${key} limit ${parameter(values, String(limit), "bigint")}`;
  if (after === undefined) return order;
  const last = parameter(values, String(instantValue(after.createdAt)), "bigint");
  const lastKey = parameter(values, idKey(after.id));
  return `and ${createdAt} <= ${last} and (${createdAt} < ${last} or ${key} > ${lastKey}) ${order}`;
}

/**
 * Whether a row is of an account, for a list that is in order of the account first. An equation would let the planner take
 * that order for granted, and look for the account along an index of all rows: for one that did much long ago, through all
 * that others did since.
 */
export function isOfAccount(account: string): string {
  return `account_id >= ${account} and account_id <= ${account}`;
}

/** One parameter more, as an expression of a type. */
export function parameter(values: string[], value: string, type = "text"): string {
  values.push(value);
  return type === "text" ? `$${values.length}::text` : `$${values.length}::text::${type}`;
}

/** A statement whose parameters come after so many others. */
export function shiftParameters(text: string, by: number): string {
  return by === 0 ? text : text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + by}`);
}
