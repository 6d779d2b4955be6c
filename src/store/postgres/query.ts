/** Parts of queries. */
import { DAY_MS } from "../../calendar/instant.ts";
import type { PageRequest } from "../../ledger/view.ts";
import { instantValue, idKey } from "./values.ts";

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

/**
 * The end of a query for one page: newest first, then by id. Columns are qualified: a bare name may refer to the
 * selected text, which sorts differently.
 *
 * @param values the query's parameters so far; those of the page are added
 * @param list its table; `ofAccount` for a list of one account, with the condition {@link isOfAccount}
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
 * A condition for rows of an account, for a list sorted by the account first. An equality would let the planner assume
 * that order and search an index of all rows for the account: for one that was active only long ago, through the rows
 * of all others since.
 */
export function isOfAccount(account: string): string {
  return `account_id >= ${account} and account_id <= ${account}`;
}

/** Adds a parameter, and returns it as an expression of a type. */
export function parameter(values: string[], value: string, type = "text"): string {
  values.push(value);
  return type === "text" ? `$${values.length}::text` : `$${values.length}::text::${type}`;
}

/** Renumbers the parameters of a statement that follow `by` others. */
export function shiftParameters(text: string, by: number): string {
  return by === 0 ? text : text.replace(/\$(\d+)/g, (_, number: string) => `$${Number(number) + by}`);
}
