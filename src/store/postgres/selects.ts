/** Selects records: conditions with their parameters, pages, and the records of a query. */
import { DAY_MS, type Instant } from "../../calendar/instant.ts";
import type { InvoiceListFilter, LedgerView, PageRequest } from "../../ledger/view.ts";
import { createYielder } from "../yielder.ts";
import type { ReadCounts } from "./cells.ts";
import type { Row, Run } from "./client.ts";
import {
  AD_HOC_SPAN,
  DAYS_MAX,
  DAYS_OF_SPAN,
  formatTextArray,
  idKey,
  idKeys,
  instantValue,
  listPlace,
} from "./query.ts";
import type { RecordTable } from "./tables.ts";

/** Adds a parameter to a query, and returns it as an expression of a type. */
export type Parameter = (value: string | number, type?: "text" | "text[]" | "integer" | "bigint") => string;

/** A condition of a query; undefined selects all rows. */
export type Condition = ((parameter: Parameter) => string) | undefined;

/** Writes a query, and returns it with its parameters. */
export function writeQuery(
  write: (parameter: Parameter) => string,
): readonly [text: string, values: readonly string[]] {
  const values: string[] = [];
  const text = write((value, type = "text") => {
    values.push(String(value));
    return type === "text" ? `$${values.length}::text` : `$${values.length}::text::${type}`;
  });
  return [text, values];
}

/** Conditions as text. */
export function joinConditions(parameter: Parameter, conditions: readonly Condition[]): string {
  const texts = conditions.flatMap((condition) => condition?.(parameter) ?? []);
  return texts.length === 0 ? "true" : texts.join(" and ");
}

export function equals(column: string, value: string | undefined): Condition {
  return value === undefined ? undefined : (parameter) => `${column} = ${parameter(value)}`;
}

export function hasKey(column: string, id: string | undefined): Condition {
  return equals(column, id === undefined ? undefined : idKey(id));
}

export function hasKeyAmong(column: string, ids: Iterable<string>): Condition {
  return (parameter) => `${column} = any(${parameter(formatTextArray(idKeys(ids)), "text[]")})`;
}

/** Compares a column with an instant; undefined selects all rows. */
export function hasInstant(column: string, operator: "<" | "<=" | ">" | ">=", instant: Instant | undefined): Condition {
  return instant === undefined
    ? undefined
    : (parameter) => `${column} ${operator} ${parameter(instantValue(instant), "bigint")}`;
}

/** Whether an instant is in `[from, until)`. */
export function isBetween(
  column: string,
  range: { readonly from: Instant; readonly until: Instant } | undefined,
): readonly Condition[] {
  return [hasInstant(column, ">=", range?.from), hasInstant(column, "<", range?.until)];
}

/**
 * A condition for rows of an account, for a list sorted by the account first. An equality would let the planner assume
 * that order and search an index of all rows for the account: for one that was active only long ago, through the rows
 * of all others since.
 */
export function isOfAccount(column: string, id: string | undefined): Condition {
  if (id === undefined) return undefined;
  return (parameter) => {
    const account = parameter(idKey(id));
    return `${column} >= ${account} and ${column} <= ${account}`;
  };
}

/**
 * The end of a query for one page, from its conditions on: newest first, then by id. Columns are qualified: a bare name
 * may refer to the selected text, which sorts differently.
 *
 * @param list its table; `ofAccount` for a list of one account, with the condition {@link isOfAccount}
 */
export function writePage(
  parameter: Parameter,
  conditions: readonly Condition[],
  { limit, after }: PageRequest,
  { name, id = "id", ofAccount = false }: { readonly name: string; readonly id?: string; readonly ofAccount?: boolean },
): string {
  const [createdAt, key] = [`${name}.created_at`, `${name}.${id}`];
  const follows: Condition =
    after &&
    (() => {
      const last = parameter(instantValue(after.createdAt), "bigint");
      return `${createdAt} <= ${last} and (${createdAt} < ${last} or ${key} > ${parameter(idKey(after.id))})`;
    });
  const owner = ofAccount ? `${name}.account_id desc, ` : "";
  return `${joinConditions(parameter, [...conditions, follows])}
    order by ${owner}${createdAt} desc, ${key} limit ${parameter(limit, "bigint")}`;
}

/** What a view reads with. */
export interface Reader {
  readonly run: Run;
  readonly table: (name: string) => string;
  readonly readCounts: ReadCounts;
}

/** Some reads of a view, by name. */
export type Reads<Name extends keyof LedgerView> = {
  readonly [Each in Name]: (reader: Reader, ...values: Parameters<LedgerView[Each]>) => ReturnType<LedgerView[Each]>;
};

/** The records of a query, read with pauses, because there may be thousands. */
export async function readQuery<Item>(
  { run }: Pick<Reader, "run">,
  read: (row: Row) => Item,
  write: (parameter: Parameter) => string,
): Promise<readonly Item[]> {
  const rows = await run(...writeQuery(write));
  const yieldToOthers = createYielder();
  const records: Item[] = [];
  for (const row of rows) {
    records.push(read(row));
    // Awaiting undefined would cost a microtask per record.
    const pause = yieldToOthers();
    if (pause !== undefined) await pause;
  }
  return records;
}

/** A query of a table of records up to its conditions. */
function selectRecords<Item>({ table }: Reader, { name, selected }: RecordTable<Item>): string {
  return `select ${selected} from ${table(name)} ${name === "account" ? `join ${table("ledger")} using (id)` : ""} where`;
}

/** All matching records of a table, in an order. */
export function readAll<Item>(
  reader: Reader,
  of: RecordTable<Item>,
  conditions: readonly Condition[],
  order?: string,
): Promise<readonly Item[]> {
  const end = order === undefined ? "" : `order by ${order}`;
  const select = selectRecords(reader, of);
  return readQuery(reader, of.read, (parameter) => `${select} ${joinConditions(parameter, conditions)} ${end}`);
}

export async function readOne<Item>(...query: Parameters<typeof readAll<Item>>): Promise<Item | undefined> {
  return (await readAll(...query))[0];
}

/** A page of matching records, newest first. @param accountId for a list of one account */
export function readPage<Item>(
  reader: Reader,
  of: RecordTable<Item>,
  conditions: readonly Condition[],
  page: PageRequest,
  accountId?: string,
): Promise<readonly Item[]> {
  const list = { name: of.name, ofAccount: accountId !== undefined };
  const all = [isOfAccount("account_id", accountId), ...conditions];
  const select = selectRecords(reader, of);
  return readQuery(reader, of.read, (parameter) => `${select} ${writePage(parameter, all, page, list)}`);
}

/** A page of records with billing periods. @param begunBy selects those whose period has begun by then */
export function readListPage<Item>(
  reader: Reader,
  of: RecordTable<Item>,
  conditions: readonly Condition[],
  filter: { readonly period?: InvoiceListFilter["period"]; readonly begunBy?: Instant | undefined },
  page: PageRequest,
): Promise<readonly Item[]> {
  const select = `select place, id, ${of.selected} from ${reader.table(of.name)}`;
  return readQuery(reader, of.read, (parameter) => writeListPage(parameter, select, conditions, filter, page));
}

function writeListPage(
  parameter: Parameter,
  select: string,
  conditions: readonly Condition[],
  { period, begunBy }: { readonly period?: InvoiceListFilter["period"]; readonly begunBy?: Instant | undefined },
  { limit, after }: PageRequest,
): string {
  const instant = (at: Instant): string => parameter(instantValue(at), "bigint");
  const now = begunBy === undefined ? undefined : instant(begunBy);
  const common = joinConditions(parameter, [
    ...conditions,
    after &&
      (() => `(place, id) > (${parameter(listPlace(after.createdAt), "bigint")}, ${parameter(idKey(after.id))})`),
    now === undefined ? undefined : () => `starts_at <= ${now}`,
  ]);
  const limitParameter = parameter(limit, "bigint");
  const writePart = (moreConditions: readonly string[], order = "place, id"): string =>
    `${select} where ${[common, ...moreConditions].join(" and ")}
      order by ${order} limit ${limitParameter}`;
  // Not an equality: the planner would then assume the order of the span, and scan the index of all places for a span
  // without items.
  const pageOfSpan = (span: number, moreConditions: readonly string[]): string =>
    writePart([`span >= ${span}`, `span <= ${span}`, ...moreConditions], "span, place, id");
  const unitePages = (parts: readonly string[]): string => {
    const texts = parts.map((part) => `(${part})`);
    return `select * from (${texts.join(" union all ")}) as listed order by place, id limit ${limitParameter}`;
  };
  if (period === undefined) {
    // The place of an item listed at its start shows whether it has begun, so the index skips those that have not.
    return now === undefined
      ? writePart([])
      : unitePages([writePart([`place >= -${now}`]), pageOfSpan(AD_HOC_SPAN, [`place < -${now}`])]);
  }
  const [first, end] = [instant(period.from), instant(period.until)];
  const overlapConditions = [`starts_at < ${end}`, `ends_at > ${first}`];
  const ranges = [...DAYS_OF_SPAN, DAYS_MAX].map((days, span) => {
    const later = span === AD_HOC_SPAN ? DAYS_MAX * DAY_MS : 0;
    const startedCondition = now === undefined || span === AD_HOC_SPAN ? [] : [`place >= -${now}`];
    return [...startedCondition, `place > -${end} - ${later}`, `place < -${first} + ${days * DAY_MS}`];
  });
  return unitePages(ranges.map((range, span) => pageOfSpan(span, [...range, ...overlapConditions])));
}
