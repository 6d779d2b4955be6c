/**
 * The statements that meter sources in a database: accounts, sums of plain rows, and all other rows, which the core meters
 * (S17.3).
 */
import { type Day, formatDate, instantOfDay } from "../../calendar/instant.ts";
import { EVENT_ID_LENGTH_MAX } from "../../metering/event-envelope.ts";
import { DIMENSION_LENGTH_MAX } from "../../metering/event-fields.ts";
import type { PushedSchema } from "../pushdown/plan-pushdown.ts";
import { type NumberTerm, INT64_END, largestMagnitude } from "../pushdown/term.ts";
import { type Source, type SourceColumn, type SourceTime, computePartRange, type SourcePart } from "../source.ts";
import { type Dialect, indent, toOneLine } from "./dialect.ts";
import {
  addInstants,
  toComparedTextSql,
  toPartTextSql,
  toPlainTextSql,
  toTextListSql,
  toTimePartsSql,
  plainTextCondition,
  toPlainInstantSql,
  toPlainNumberSql,
  attributeColumn,
  dimensionColumn,
  toNumberSql,
  toTextSql,
  toTruthSql,
} from "./event-parts.ts";

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
      const isPushed = `${toSchemaNameSql(source, pushedSchemas, sql)} in (${toSchemaListSql(pushedSchemas, sql)})`;
      return `  select ${toPlainTextSql(source.accountId, sql)} as plain_name from ${source.from} where ${isPushed}`;
    });
  const accountCounts = `select plain_name, count(*) as events from (\n${parts.join("\n  union all\n")}\n) group by plain_name`;
  return `select ${sql.toValidText("plain_name")} as account_id, events from (${accountCounts})`;
}

function toSchemaNameSql({ schemaName }: Source, pushedSchemas: readonly PushedSchema[], sql: Dialect): string {
  const names = pushedSchemas.map(({ schema }) => schema.name);
  return toComparedTextSql(schemaName, names, sql);
}

function toSchemaListSql(pushedSchemas: readonly PushedSchema[], sql: Dialect): string {
  return pushedSchemas.map(({ schema }) => sql.quoteText(schema.name)).join(", ");
}

/**
 * Selects plain rows grouped by account and day: the number of rows, the number that each meter counts, the first and
 * last instant, and the sums. All other rows form one group with account "" and day -1, of which only the row count is
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
  const sums = meters.map(({ units }, place) => `${toUnitSumSql(units, place, sql)} as s${place}`);
  return [
    `select case when plain then coalesce(account_id, '') else '' end as cell_account,`,
    `  case when plain then coalesce(day, -1) else -1 end as cell_day,`,
    `  count(*) as events, count(*) filter (where ${anyMatch}) as metered,`,
    `  ${["min(at_ms) as first_at", "max(at_ms) as last_at", ...sums].join(",\n  ")}`,
    `from (`,
    indent(selectClassifiedRows(source, pushedSchema, { plain, sql })),
    `)`,
    `group by cell_account, cell_day`,
  ].join("\n");
}

function toUnitSumSql(units: NumberTerm, place: number, sql: Dialect): string {
  const divisor = summingDivisor(units);
  const dividedUnits = divisor === 1n ? `u${place}` : sql.divideInteger(`u${place}`, sql.operandLiteral(divisor));
  return sql.sumWhere(dividedUnits, `m${place}`);
}

/** Selects the groups of all sources and schemas by day, with their indexes `source` and `schema`. */
export function selectOrderedGroups(
  sources: readonly MeteredSource[],
  plain: PlainRowConditions,
  sql: Dialect,
): string {
  const meterCountMax = Math.max(
    ...sources.flatMap(({ pushedSchemas }) => pushedSchemas.map(({ meters }) => meters.length)),
  );
  const parts = sources.flatMap(({ source, pushedSchemas }, index) =>
    pushedSchemas.map((schema, place) => {
      const sums = Array.from({ length: meterCountMax }, (_, meter) =>
        meter < schema.meters.length ? sql.toText(`s${meter}`) : "null",
      );
      const values = [index, place, "cell_account", "cell_day", "events", "metered", "first_at", "last_at", ...sums];
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
        : `\nwhere coalesce(${toSchemaNameSql(source, pushedSchemas, sql)} not in (${toSchemaListSql(pushedSchemas, sql)}), true)`;
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

const DAY_MILLIS = 86_400_000n;
/** The core's safe integers. Sums within them keep every bill within its digits (S1.4). */
const SAFE_INTEGER_MAX = BigInt(Number.MAX_SAFE_INTEGER);
/** The maximum decimal places of a narrow quantity in the core. */
const NARROW_SCALE = 15;

/** The conditions for plain rows that don't follow from the row itself. */
export interface PlainRowConditions {
  /** Selects the hashes of repeated ids; undefined if there are none, or ids are not checked. */
  readonly repeatedIdsSql: string | undefined;
  /** A condition on `account_id` that is true for known, ACTIVE accounts; undefined if all are. */
  readonly accountCondition: string | undefined;
}

/** The scale at which a meter's units are summed. */
export function summingScale({ range }: NumberTerm): number {
  return Math.min(range.scale, NARROW_SCALE);
}

/** The divisor of units before they are summed. */
export function summingDivisor({ range }: NumberTerm): bigint {
  return 10n ** BigInt(Math.max(range.scale - NARROW_SCALE, 0));
}

/** The hash of an id. Collisions only cost time: all rows with the same hash go to the core. */
export function toIdHashSql(source: Source, sql: Dialect): string {
  return sql.hash(toPartTextSql(source.id, sql));
}

/**
 * Selects the rows of a schema with the columns `plain`, `account_id`, `at_ms`, `day`, and for each meter its match
 * `m0` and units `u0`.
 */
export function selectClassifiedRows(
  source: Source,
  pushedSchema: PushedSchema,
  {
    plain,
    sql,
    extraColumns = "",
    sourceCondition,
  }: {
    readonly plain: PlainRowConditions;
    readonly sql: Dialect;
    readonly extraColumns?: string;
    /** A condition on the source's columns; other rows are left out. */
    readonly sourceCondition?: string | undefined;
  },
): string {
  const { fields, meters, schema } = pushedSchema;
  const stages = [
    selectSourceColumns(source, pushedSchema, {
      hasHash: plain.repeatedIdsSql !== undefined,
      extraColumns,
      sourceCondition,
      sql,
    }),
  ];
  for (const { kind, slot, term } of fields) {
    const column =
      kind === "number"
        ? `${toNumberSql(term, sql)} as ${attributeColumn(slot)}`
        : `${toTextSql(term, sql)} as ${dimensionColumn(slot)}`;
    stages.push(`select *, ${column} from (\n${indent(stages.pop() ?? "")}\n)`);
  }
  const meterColumns = meters.flatMap(({ matches, units }, index) => [
    `${toTruthSql(matches, sql)} as m${index}, -- meter ${toOneLine(meters[index]?.meter.id)}: whether it counts the row`,
    `${toNumberSql(units, sql)} as u${index}, --   the quantity, in units of 10^-${units.range.scale}`,
  ]);
  const conditions = [
    ...createUnitConditions(pushedSchema, sql),
    ...createPartConditions(source, pushedSchema, sql),
    ...(plain.accountCondition === undefined ? [] : [plain.accountCondition]),
    ...(plain.repeatedIdsSql === undefined ? [] : [sql.isNotIn("id_hash", plain.repeatedIdsSql)]),
  ];
  return [
    `select *,`,
    `  coalesce(${conditions.join("\n    and ")}, false) as plain`,
    `from (`,
    `  select *,`,
    ...meterColumns.map((line) => `    ${line}`),
    `    ${sql.divideInteger("at_ms", sql.operandLiteral(DAY_MILLIS))} as day`,
    `  from ( -- fields of events of ${toOneLine(schema.name)}; a number is NULL if it is not in plain form`,
    indent(stages[0] ?? "", "    "),
    `  )`,
    `)`,
  ].join("\n");
}

function selectSourceColumns(
  source: Source,
  pushedSchema: PushedSchema,
  {
    hasHash,
    extraColumns,
    sourceCondition,
    sql,
  }: {
    readonly hasHash: boolean;
    readonly extraColumns: string;
    readonly sourceCondition: string | undefined;
    readonly sql: Dialect;
  },
): string {
  const { schema, attributes, dimensions } = pushedSchema;
  const columns = [
    // Checked outside the column's expression: checking inside it would copy the text, a sixth of the total time.
    `${toPlainTextSql(source.id, sql)} as id`,
    ...(hasHash ? [`${toIdHashSql(source, sql)} as id_hash`] : []),
    `${toPlainTextSql(source.accountId, sql)} as account_id`,
    `${toPlainInstantSql(source.timestamp, sql)} as at_ms`,
    ...attributes.map(
      ({ name, range }, slot) =>
        `${toPlainNumberSql(findPart(source.attributes, name), range, sql)} as ${attributeColumn(slot)}`,
    ),
    ...dimensions.map(
      (name, slot) => `${toPlainTextSql(findPart(source.dimensions, name), sql)} as ${dimensionColumn(slot)}`,
    ),
    ...selectUndeclaredParts(source, pushedSchema, sql),
    ...(extraColumns === "" ? [] : [extraColumns]),
  ];
  return `select\n  ${columns.join(",\n  ")}\nfrom ${source.from}\nwhere ${toComparedTextSql(source.schemaName, [schema.name], sql)} = ${sql.quoteText(schema.name)}${sourceCondition === undefined ? "" : ` and ${sourceCondition}`}`;
}

/** Parts that the schema doesn't declare are invisible to rules, but an invalid one fails the event. */
function selectUndeclaredParts(
  source: Source,
  { attributes, dimensions, bounds }: PushedSchema,
  sql: Dialect,
): readonly string[] {
  const numbers = findUndeclaredParts(
    source.attributes,
    attributes.map(({ name }) => name),
  ).map((part, index) => {
    const range = computePartRange(part, bounds);
    return `${range === undefined ? "NULL" : toPlainNumberSql(part, range, sql)} as x${index}`;
  });
  const texts = findUndeclaredParts(source.dimensions, dimensions).map(
    (part, index) => `${toPlainTextSql(part, sql)} as y${index}`,
  );
  return [...numbers, ...texts];
}

function findUndeclaredParts(
  parts: ReadonlyMap<string, SourcePart>,
  declaredNames: readonly string[],
): readonly SourcePart[] {
  return [...parts].filter(([name]) => !declaredNames.includes(name)).map(([, part]) => part);
}

/** Conditions that all parts are present and plain. */
function createPartConditions(
  source: Source,
  { attributes, dimensions }: PushedSchema,
  sql: Dialect,
): readonly string[] {
  const attributeNames = attributes.map(({ name }) => name);
  const numbers = [
    ...attributeNames.map((_, slot) => attributeColumn(slot)),
    ...findUndeclaredParts(source.attributes, attributeNames).map((_, index) => `x${index}`),
  ];
  const texts = [
    ...dimensions.map((_, slot) => dimensionColumn(slot)),
    ...findUndeclaredParts(source.dimensions, dimensions).map((_, index) => `y${index}`),
  ];
  return [
    ...["id", "account_id"].map((name) => plainTextCondition(name, [1, EVENT_ID_LENGTH_MAX], sql)),
    ...["at_ms", ...numbers].map((name) => `${name} is not null`),
    ...texts.map((name) => plainTextCondition(name, [0, DIMENSION_LENGTH_MAX], sql)),
  ];
}

/** Conditions that each meter's units are so narrow that the core can always bill the sum, and that the sum fits. */
function createUnitConditions({ meters }: PushedSchema, sql: Dialect): readonly string[] {
  return meters.flatMap(({ units }, index) => {
    const { scale } = units.range;
    const [u, m] = [`u${index}`, `m${index}`];
    const divisor = summingDivisor(units);
    const maximum = SAFE_INTEGER_MAX * divisor;
    if (largestMagnitude(units.range) <= maximum && divisor === 1n) return [];
    const isNarrow = `abs(${u}) <= ${sql.operandLiteral(maximum)}${divisor > 1n ? ` and ${u} % ${sql.operandLiteral(divisor)} = 0` : ""}`;
    // A whole number beyond the safe integers is still narrow at this scale if it fits 64 bits.
    const power = sql.operandLiteral(10n ** BigInt(scale));
    const isWhole =
      largestMagnitude(units.range) < INT64_END && divisor === 1n
        ? ` or ${u} % ${power} = 0 and ${sql.divideInteger(`abs(${u})`, power)} <= ${sql.operandLiteral(SAFE_INTEGER_MAX)}`
        : "";
    return [`(not ${m} or ${isNarrow}${isWhole})`];
  });
}

function findPart(parts: ReadonlyMap<string, SourcePart>, name: string): SourcePart {
  // A schema is pushed down only if the source has all declared parts.
  return parts.get(name) ?? { value: "" };
}
