/**
 * Conditions on the columns of a table that select the rows of a request, and that its sort order and partitions can
 * use.
 *
 * @module
 */
import { DAY_MS, dayOf, formatDate, type Instant } from "../../calendar/instant.ts";
import type { Source, SourceTime } from "../source.ts";
import { toComparedTextSql, toPartTextSql, toPlainTextSql } from "../sql/event-parts.ts";
import { clickHouseSql } from "./clickhouse-sql.ts";

/** The rows of a request. */
export interface RequestedRows {
  readonly schemas: readonly string[];
  /** A statement that selects the account names. */
  readonly names: string;
  /** Whether a name contains U+FFFD, which also replaces invalid UTF-8. */
  readonly hasReplacementCharacters: boolean;
  /** Instants `[from, until)`. */
  readonly from: Instant;
  readonly until: Instant;
}

/** Plain rows have instants from 1970 to before 2200. */
const [PLAIN_FROM, PLAIN_UNTIL] = [0, Date.UTC(2200, 0, 1)] as const;

/**
 * A condition that is true for every requested row and false for all other plain rows. Rows that aren't plain may
 * satisfy it although their instant is outside the range or missing.
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
  // No row is plain outside these bounds, which keep values within the column types.
  const start = Math.min(Math.max(from, PLAIN_FROM), PLAIN_UNTIL);
  const end = Math.min(Math.max(until, PLAIN_FROM), PLAIN_UNTIL);
  const createBounds = (value: string, literal: (at: Instant) => string): readonly string[] => [
    ...(start === PLAIN_FROM ? [] : [`${value} >= ${literal(start)}`]),
    ...(end === PLAIN_UNTIL ? [] : [`${value} < ${literal(end)}`]),
  ];
  const column = quoteColumn(part.column);
  if (form !== undefined) {
    const each = form === "seconds" ? 1000 : 1;
    // Numbers with fractions are never plain, so all rows in the first and last second of the range are read.
    const [first, last] = [part.type.type === "integer" ? Math.ceil : Math.floor, Math.ceil];
    return createBounds(column, (at) => String((at === start ? first : last)(at / each)));
  }
  if (part.type.type === "timestamp")
    return createBounds(column, (at) => `fromUnixTimestamp64Milli(toInt64(${at}), 'UTC')`);
  // The string itself, so that an index can be used.
  const text = toPlainTextSql(part, clickHouseSql);
  // The date in a text is local, and no offset is more than a day.
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
