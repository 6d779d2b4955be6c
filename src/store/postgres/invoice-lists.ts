/**
 * Lists of invoices and draft index entries, with one index per kind of filter. `place` is the negated listing instant:
 * newest first is then ascending, like ids, and a page continues at one point of an index. `span` is the maximum length
 * of a billing period, and whether the item is listed at its start: for each span, the periods that overlap a range
 * are then a range of places.
 */
import { DAY_MS, type Instant, parseInstant } from "../../calendar/instant.ts";
import { listingInstant } from "../../ledger/account/invoices.ts";
import type { InvoiceRecord } from "../../ledger/records.ts";
import type { InvoiceListFilter, PageRequest } from "../../ledger/view.ts";
import { parameter, instantValue, idKey } from "./query.ts";

/** The maximum number of days of a billing period of each span: a cycle of each interval, or part of one. */
const DAYS_OF_SPAN = [7, 31, 92, 184, 366] as const;
/** The span of an AD_HOC invoice, which may be listed anywhere in its billing period. */
const AD_HOC_SPAN = DAYS_OF_SPAN.length;
const DAYS_MAX = DAYS_OF_SPAN[4];

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

/**
 * A query for a page of a list.
 *
 * @param columns to select
 * @param equal columns with required values; undefined does not filter
 * @param more other conditions
 * @param values the query's parameters so far; those of the page are added
 */
export function listPageQuery(
  from: { readonly table: string; readonly columns: string },
  { equal, more, period, begunBy }: ListConditions,
  { limit, after }: PageRequest,
  values: string[],
): string {
  const conditions = [...more];
  for (const [column, value] of Object.entries(equal)) {
    if (value !== undefined) conditions.push(`${column} = ${parameter(values, value)}`);
  }
  if (after !== undefined) {
    const place = parameter(values, String(listPlace(after.createdAt)), "bigint");
    conditions.push(`(place, id) > (${place}, ${parameter(values, idKey(after.id))})`);
  }
  const limitParameter = parameter(values, String(limit), "bigint");
  const writePage = (moreConditions: readonly string[], order = "place, id"): string =>
    `select place, id, ${from.columns} from ${from.table} where ${["true", ...conditions, ...moreConditions].join(" and ")}
      order by ${order} limit ${limitParameter}`;
  // Not an equality: the planner would then assume the order of the span, and scan the index of all places for a span
  // without items.
  const pageOfSpan = (span: number, moreConditions: readonly string[]): string =>
    writePage([`span >= ${span}`, `span <= ${span}`, ...moreConditions], "span, place, id");
  const instant = (at: Instant): string => parameter(values, String(instantValue(at)), "bigint");
  const unitePages = (parts: readonly string[]): string => {
    const texts = parts.map((part) => `(${part})`);
    return `select * from (${texts.join(" union all ")}) as listed order by place, id limit ${limitParameter}`;
  };
  const now = begunBy === undefined ? undefined : instant(begunBy);
  if (now !== undefined) conditions.push(`starts_at <= ${now}`);
  if (period === undefined) {
    // The place of an item listed at its start shows whether it has begun, so the index skips those that have not.
    return now === undefined
      ? writePage([])
      : unitePages([writePage([`place >= -${now}`]), pageOfSpan(AD_HOC_SPAN, [`place < -${now}`])]);
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

/** The filters of a list. */
export interface ListConditions {
  readonly period: InvoiceListFilter["period"];
  readonly equal: Readonly<Record<string, string | undefined>>;
  readonly more: readonly string[];
  /** With a billing period that has begun by then. */
  readonly begunBy: Instant | undefined;
}
