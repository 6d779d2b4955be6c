/**
 * The statements that meter sources in a database: accounts, sums of plain rows, and all other rows, which the core meters
 * (S17.3).
 */
import { type Day, formatDate, instantOfDay } from "../../calendar/instant.ts";
import type { PushedSchema } from "../pushdown/plan-pushdown.ts";
import type { PushedMeter } from "../pushdown/push-meter.ts";
import { dimensionColumn } from "../pushdown/term.ts";
import type { Source, SourceColumn, SourceTime } from "../source.ts";
import { type PlainRowConditions, selectClassifiedRows, summingDivisor, toIdHashSql } from "./classified-rows.ts";
import {
  type Dialect,
  indent,
  addInstants,
  toComparedTextSql,
  toPartTextSql,
  toPlainTextSql,
  toTextListSql,
  toTimePartsSql,
} from "./expressions.ts";

/** Some rows of a database, and which of them may be plain. */
export interface MeteredSource {
  readonly source: Source;
  readonly pushedSchemas: readonly PushedSchema[];
  /** The columns to read for a row. */
  readonly columns: readonly SourceColumn[];
  /** An expression for the file or table name of a row. */
  readonly fileExpression: string;
  readonly rowCount: number;
}

/** Selects the hashes of ids that occur more than once in all sources together. */
export function selectRepeatedIds(sources: readonly Source[], sql: Dialect): string {
  const hashes = sources.map((source) => `  select ${toIdHashSql(source, sql)} as id_hash from ${source.from}`);
  return `select id_hash from (\n${hashes.join("\n  union all\n")}\n) group by id_hash having count(*) > 1`;
}

/**
 * Selects the accounts in rows of pushed-down schemas, with row counts. An account appears several times if sources
 * store it in different ways.
 */
export function selectAccounts(sources: readonly MeteredSource[], sql: Dialect): string {
  const parts = sources
    .filter(({ pushedSchemas }) => pushedSchemas.length > 0)
    .map(({ source, pushedSchemas }) => {
      const isPushed = toSchemaCondition(source, pushedSchemas, "in", sql);
      return `  select ${toPlainTextSql(source.accountId, sql)} as plain_name from ${source.from} where ${isPushed}`;
    });
  const accountCounts = `select plain_name, count(*) as events from (\n${parts.join("\n  union all\n")}\n) group by plain_name`;
  return `select ${sql.toValidText("plain_name")} as account_id, events from (${accountCounts})`;
}

function toSchemaCondition(
  { schemaName }: Source,
  pushedSchemas: readonly PushedSchema[],
  operator: "in" | "not in",
  sql: Dialect,
): string {
  const names = pushedSchemas.map(({ schema }) => schema.name);
  return `${toComparedTextSql(schemaName, names, sql)} ${operator} (${names.map(sql.quoteText).join(", ")})`;
}

/**
 * Selects plain rows grouped by account, day and the dimensions of the meters' groups: the number of rows, the number that each meter counts, the first and
 * last instant, and the sums `s0` or lists of values `v0`. All other rows form one group with account "" and day -1, of which only the row count is
 * meaningful.
 */
export function selectGroups(
  source: Source,
  pushedSchema: PushedSchema,
  plain: PlainRowConditions,
  sql: Dialect,
): string {
  const { meters } = pushedSchema;
  const anyMatch = meters.length === 0 ? "false" : `(${meters.map((_, place) => `m${place}`).join(" or ")})`;
  const results = meters.map((meter, place) => `${toResultSql(meter, place, sql)} as ${resultColumn(meter, place)}`);
  return [
    `select case when plain then coalesce(account_id, '') else '' end as cell_account,`,
    `  case when plain then coalesce(day, -1) else -1 end as cell_day,`,
    `  count(*) as events, count(*) filter (where ${anyMatch}) as metered,`,
    `  ${["min(at_ms) as first_at", "max(at_ms) as last_at", ...results, ...selectGroupTexts(pushedSchema)].join(",\n  ")}`,
    `from (`,
    indent(selectClassifiedRows(source, pushedSchema, { plain, sql })),
    `)`,
    `group by ${["cell_account", "cell_day", ...pushedSchema.groupDimensions.map((_, place) => groupColumn(place))].join(", ")}`,
  ].join("\n");
}

/** The column of a text of groups. */
export function groupColumn(place: number): string {
  return `g${place}`;
}

/**
 * The texts of groups; empty for rows that no meter with the dimension counts, because they add to no group, unless they
 * explain that no meter counts the row.
 */
function selectGroupTexts({ meters, groupDimensions }: PushedSchema): readonly string[] {
  const unmetered = meters.map((_, index) => `not m${index}`).join(" and ");
  return groupDimensions.map(({ name, slot, isExplaining }, place) => {
    const matches = meters.flatMap(({ meter }, index) => (meter.groupBy?.includes(name) ? [`m${index}`] : []));
    const conditions = isExplaining ? [...matches, unmetered] : matches;
    return `case when plain and (${conditions.join(" or ")}) then ${dimensionColumn(slot)} else '' end as ${groupColumn(place)}`;
  });
}

/** Whether a database returns a list of values. */
export function hasList({ kind }: PushedMeter): boolean {
  return kind === "distinct" || kind === "each" || kind === "timed";
}

function resultColumn(meter: PushedMeter, place: number): string {
  return `${hasList(meter) ? "v" : "s"}${place}`;
}

function toResultSql(meter: PushedMeter, place: number, sql: Dialect): string {
  const [u, m, plain] = [`u${place}`, `m${place}`, `plain and m${place}`];
  switch (meter.kind) {
    case "sum": {
      const divisor = summingDivisor(meter.units);
      const units = divisor === 1n ? u : sql.divideInteger(u, sql.operandLiteral(divisor));
      // Sums of 128 bits may exceed them if rows are not plain.
      return meter.isMoment ? sql.sumWideWhere(units, plain) : sql.sumWhere(units, m);
    }
    case "max":
    case "min":
      return `${meter.kind}(case when ${m} then ${u} end)`;
    case "distinct":
    case "each":
      return sql.listWhere(u, plain, meter.kind === "distinct");
    case "timed":
      return sql.listWhere(sql.concatenate(["at_ms", "' '", u, "' '", "id"]), plain, false);
  }
}

/** The most dimensions of groups and the most meters of any schema, and whether a meter has lists of values. */
export function findLayout(sources: readonly MeteredSource[]): {
  readonly dimensionCount: number;
  readonly meterCount: number;
  readonly hasLists: boolean;
} {
  const schemas = sources.flatMap(({ pushedSchemas }) => pushedSchemas);
  return {
    dimensionCount: Math.max(...schemas.map(({ groupDimensions }) => groupDimensions.length)),
    meterCount: Math.max(...schemas.map(({ meters }) => meters.length)),
    hasLists: schemas.some(({ meters }) => meters.some(hasList)),
  };
}

/**
 * Selects the groups of all sources and schemas by day, with their indexes `source` and `schema`: the texts of groups, the
 * sums, and the lists of values if there are any.
 */
export function selectOrderedGroups(
  sources: readonly MeteredSource[],
  plain: PlainRowConditions,
  sql: Dialect,
): string {
  const { dimensionCount, meterCount, hasLists } = findLayout(sources);
  const parts = sources.flatMap(({ source, pushedSchemas }, index) =>
    pushedSchemas.map((schema, place) => {
      const texts = Array.from({ length: dimensionCount }, (_, dimension) =>
        dimension < schema.groupDimensions.length ? groupColumn(dimension) : "null",
      );
      const selectResults = (isList: boolean, absent: string): readonly string[] =>
        Array.from({ length: meterCount }, (_, position) => {
          const meter = schema.meters[position];
          if (meter === undefined || hasList(meter) !== isList) return absent;
          const column = resultColumn(meter, position);
          return isList ? column : sql.toText(column);
        });
      const values = [
        index,
        place,
        "cell_account",
        "cell_day",
        "events",
        "metered",
        "first_at",
        "last_at",
        ...texts,
        ...selectResults(false, "null"),
        ...(hasLists ? selectResults(true, sql.toList([])) : []),
      ];
      const outputColumns = values.map((value, column) => `${value} as c${column}`);
      return `select ${outputColumns.join(", ")} from (\n${indent(selectGroups(source, schema, plain, sql))}\n)`;
    }),
  );
  return `select * from (\n${indent(parts.join("\nunion all\n"))}\n) order by c3, c0, c1, c2`;
}

/** Selects the rows that are not plain, each with its number, instant and column texts, in the order of S17.2. */
export function selectRestRows(sources: readonly MeteredSource[], plain: PlainRowConditions, sql: Dialect): string {
  const parts = sources.flatMap((meteredSource, index) => {
    const { source, pushedSchemas } = meteredSource;
    const extraColumns = selectArrivalColumns(meteredSource, index, sql);
    const otherSchemas =
      pushedSchemas.length === 0
        ? ""
        : `\nwhere coalesce(${toSchemaCondition(source, pushedSchemas, "not in", sql)}, true)`;
    const otherRows = `select ${extraColumns}\nfrom ${source.from}${otherSchemas}`;
    const restQueries = pushedSchemas.map(
      (schema) =>
        `select ${ARRIVAL_COLUMNS} from (\n${indent(selectClassifiedRows(source, schema, { plain, sql, extraColumns }))}\n)\nwhere not plain`,
    );
    return [otherRows, ...restQueries];
  });
  return orderByArrival(parts.join("\nunion all\n"), sql);
}

/** Groups of plain rows of one source, schema and day. */
export interface PlainGroupRows {
  readonly meteredSource: MeteredSource;
  /** The index of the source. */
  readonly index: number;
  readonly pushedSchema: PushedSchema;
  readonly day: Day;
  /** A statement that selects the account names. */
  readonly accounts: string;
}

/** Selects the rows of plain groups, in the order of S17.2. */
export function selectGroupRows(groups: readonly PlainGroupRows[], plain: PlainRowConditions, sql: Dialect): string {
  const parts = groups.map(({ meteredSource, index, pushedSchema, day, accounts }) => {
    const extraColumns = selectArrivalColumns(meteredSource, index, sql);
    const sourceCondition = createDayCondition(meteredSource.source.timestamp, day, sql);
    const classifiedRows = selectClassifiedRows(meteredSource.source, pushedSchema, {
      plain,
      sql,
      extraColumns,
      sourceCondition,
    });
    return `select ${ARRIVAL_COLUMNS} from (\n${indent(classifiedRows)}\n)\nwhere plain and day = ${day} and account_id in (${accounts})`;
  });
  return orderByArrival(parts.join("\nunion all\n"), sql);
}

/** A cheap condition that is true for every plain row of a day: no offset from UTC is more than a day. */
function createDayCondition({ part }: SourceTime, day: Day, sql: Dialect): string | undefined {
  if (!("column" in part) || part.type.type !== "text") return undefined;
  const text = toPartTextSql(part, sql);
  return `${text} >= ${sql.quoteText(formatDate(instantOfDay(day - 1)))} and ${text} < ${sql.quoteText(formatDate(instantOfDay(day + 2)))}`;
}

const ARRIVAL_COLUMNS = "source, file, file_row, time_text, time_ms, zone_minutes, order_id, texts";

/** Orders rows by arrival (S17.2). */
function orderByArrival(rows: string, sql: Dialect): string {
  return [
    `select source, file, file_row, at_ms, texts from (`,
    indent(addInstants(rows, sql)),
    `)`,
    `order by at_ms asc nulls first, order_id, texts, file, file_row`,
  ].join("\n");
}

function selectArrivalColumns({ source, columns, fileExpression }: MeteredSource, index: number, sql: Dialect): string {
  return [
    `${index} as source`,
    `${fileExpression} as file`,
    `${sql.rowNumber ?? "-1"} as file_row`,
    ...toTimePartsSql(source.timestamp, sql),
    `${toPartTextSql(source.id, sql)} as order_id`,
    `${toTextListSql(columns, sql)} as texts`,
  ].join(",\n  ");
}
