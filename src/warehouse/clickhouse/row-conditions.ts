/**
 * The rows of a table that a question is about, as conditions on its columns that its order and its partitions can be used for.
 *
 * @module
 */
import { DAY_MS, dayOf, formatDate, type Instant } from "../../calendar/instant.ts";
import type { Source, SourceTime } from "../source.ts";
import { toComparedTextSql, toPartTextSql, toPlainTextSql } from "../sql/event-parts.ts";
import { clickHouseSql } from "./clickhouse-sql.ts";

/** Which rows are meant. */
export interface RequestedRows {
  readonly schemas: readonly string[];
  /** A statement of the names of accounts. */
  readonly names: string;
  /** Whether one of them has a U+FFFD, as a text may have in the place of bytes that are no UTF-8. */
  readonly hasReplacementCharacters: boolean;
  /** Instants `[from, until)`. */
  readonly from: Instant;
  readonly until: Instant;
}

/** The instants of plain rows: from 1970, exclusive of 2200. */
const [PLAIN_FROM, PLAIN_UNTIL] = [0, Date.UTC(2200, 0, 1)] as const;

/**
 * A condition that holds for every row that is meant, and for no other row that is plain. Others may meet it whose instant is beyond
 * the range, or that have none.
 */
export function createRowCondition(
  source: Pick<Source, "schemaName" | "accountId" | "timestamp">,
  { schemas, names, hasReplacementCharacters, from, until }: RequestedRows,
): string {
  const schemaList = schemas.map((name) => clickHouseSql.quoteText(name)).join(", ");
  return [
    `${toComparedTextSql(source.schemaName, schemas, clickHouseSql)} in (${schemaList})`,
    `${(hasReplacementCharacters ? toPartTextSql : toPlainTextSql)(source.accountId, clickHouseSql)} in (${names})`,
    ...createTimeConditions(source.timestamp, from, until),
  ].join(" and ");
}

function quoteColumn(column: string): string {
  return `e.${clickHouseSql.quoteName(column)}`;
}

function createTimeConditions(time: SourceTime, from: Instant, until: Instant): readonly string[] {
  const { part, form } = time;
  if (!("column" in part)) return [];
  // Beyond these bounds no row is plain, and the types of columns end somewhere.
  const start = Math.min(Math.max(from, PLAIN_FROM), PLAIN_UNTIL);
  const end = Math.min(Math.max(until, PLAIN_FROM), PLAIN_UNTIL);
  const createBounds = (value: string, literal: (at: Instant) => string): readonly string[] => [
    ...(start === PLAIN_FROM ? [] : [`${value} >= ${literal(start)}`]),
    ...(end === PLAIN_UNTIL ? [] : [`${value} < ${literal(end)}`]),
  ];
  const column = quoteColumn(part.column);
  if (form !== undefined) {
    const each = form === "seconds" ? 1000 : 1;
    // Of numbers with a fraction, which are never plain, all are read of the seconds in which the range begins and ends.
    const [first, last] = [part.type.type === "integer" ? Math.ceil : Math.floor, Math.ceil];
    return createBounds(column, (at) => String((at === start ? first : last)(at / each)));
  }
  if (part.type.type === "timestamp")
    return createBounds(column, (at) => `fromUnixTimestamp64Milli(toInt64(${at}), 'UTC')`);
  // A string as it stands, so that an index on it can be used.
  const text = toPlainTextSql(part, clickHouseSql);
  // The date of a text is that of some place, and no offset reaches further than a day.
  const dates = [
    ...(start < DAY_MS ? [] : [`${text} >= '${formatDate(start - DAY_MS)}'`]),
    ...(end === PLAIN_UNTIL ? [] : [`${text} < '${formatDate((dayOf(end) + 2) * DAY_MS)}'`]),
  ];
  if (part.type.type !== "text") return dates;
  const exact = createBounds(clickHouseSql.plainInstant({ ...time, part }), String).map(
    (each) => `coalesce(${each}, true)`,
  );
  return [...dates, ...exact];
}
