/**
 * The SQL dialect of ClickHouse, and the conditions that select the rows of a request.
 *
 * The shapes of expressions follow from tests on ClickHouse 26.7: arithmetic is not checked for overflow; a literal
 * beyond 64 bits is a double; parsing a decimal truncates silently (`toDecimal64OrNull('1.1234567899999', 3)` is
 * 1.123); 30 February is read as 1 March; 64-bit sums wrap around; the sum of no rows is 0; an alias takes precedence
 * over a column, so columns are qualified with their table. Nothing depends on server settings or the session's zone:
 * all times are read as UTC.
 */

import type { EventSchema } from "../../book/resources/event-schema.ts";
import { DAY_MS, dayOf, formatDate, type Instant, instantOfDay, addDays } from "../../calendar/instant.ts";
import { INT64_END, type NumberRange } from "../pushdown/term.ts";
import type { Source, SourceColumn, SourceTime } from "../source.ts";
import {
  type Dialect,
  toOneLine,
  decimalPattern,
  PLAIN_END_SECONDS,
  toComparedTextSql,
  toDoubleSql,
  toNumericTimeSql,
  toPartTextSql,
  toPlainTextSql,
} from "../sql/expressions.ts";
import type { EventTable } from "../sql/standalone.ts";

const ROW = "e";

const integerLiteral: Dialect["integerLiteral"] = (value, isWide) =>
  isWide ? `toInt128('${value}')` : `toInt64(${value})`;
const parseInteger: Dialect["parseInteger"] = (text) => `toInt64OrNull(${text})`;
const sumWhere: Dialect["sumWhere"] = (number, condition) => `sum(case when ${condition} then toInt128(${number}) end)`;
const divideInteger: Dialect["divideInteger"] = (a, b) => `intDiv(${a}, ${b})`;
const quoteClickhouseName: Dialect["quoteName"] = (name) =>
  `"${escapeNewlines(name.replaceAll(/["\\]/g, String.raw`\$&`))}"`;
export const quoteClickhouseText: Dialect["quoteText"] = (text) =>
  `'${escapeNewlines(text.replaceAll(/['\\]/g, String.raw`\$&`).replaceAll("\0", String.raw`\0`))}'`;

/** Escapes line ends, because indenting a statement must not change quoted text. */
function escapeNewlines(text: string): string {
  return text.replaceAll("\n", String.raw`\n`);
}

function quoteColumn({ column }: SourceColumn): string {
  return `${ROW}.${quoteClickhouseName(column)}`;
}

export const clickHouseSql: Dialect = {
  quoteName: quoteClickhouseName,
  quoteText: quoteClickhouseText,
  table: (name) => `${name.split(".").map(quoteClickhouseName).join(".")} as ${ROW}`,
  selectPairs,
  integerLiteral,
  operandLiteral: (value) => integerLiteral(value, value >= INT64_END),
  widen: (number) => `toInt128(${number})`,
  divideInteger,
  sumWhere,
  sumWideWhere: sumWhere,
  listWhere: (value, condition, isDistinct) =>
    `arrayMap(each -> toString(each), ${isDistinct ? "groupUniqArray" : "groupArray"}(case when ${condition} then ${value} end))`,
  parseInteger,
  nullInteger: "cast(null as Nullable(Int64))",
  byteLength: (text) => `length(${text})`,
  contains: (whole, part) => `(position(${whole}, ${part}) > 0)`,
  matchesPattern: (text, form) => `match(${text}, ${quoteClickhouseText(`^(?:${form})$`)})`,
  extractGroup: (text, pattern) => `extract(${text}, ${quoteClickhouseText(pattern)})`,
  toDayNumber,
  toText: (number) => `toString(${number})`,
  toDate: (day) => `toString(toDate32(toInt32(${day})))`,
  toList: (texts) => `[${texts.join(", ")}]`,
  hash: (text) => `xxh3(${text})`,
  isNotIn: (value, rows) => `${value} global not in (${rows})`,
  columnText,
  plainText: (source) => (isTextColumn(source) ? quoteColumn(source) : columnText(source)),
  isValidText: (text) => `isValidUTF8(${text})`,
  toValidText,
  concatenate: (texts) => `concat('', ${texts.map((text) => `coalesce(toString(${text}), '')`).join(", ")})`,
  rowNumber: undefined,
  plainNumber,
  plainInstant,
};

function selectPairs([one, other]: readonly [string, string], rows: readonly (readonly [string, string])[]): string {
  const values = rows.map(([a, b]) => `,\n  (${quoteClickhouseText(a)}, ${quoteClickhouseText(b)})`);
  const columns = `${one} String, ${other} String`;
  return rows.length === 0
    ? `select * from null(${quoteClickhouseText(columns)})`
    : `select * from values(${quoteClickhouseText(columns)}${values.join("")}\n)`;
}

function isTextColumn({ type }: SourceColumn): boolean {
  return type.type === "text" && type.isString === true;
}

function toValidText(text: string): string {
  return `toValidUTF8(${text})`;
}

/** The text of a column. Invalid UTF-8 is replaced here, so that every reader sees the same text. */
function columnText(source: SourceColumn): string {
  const name = quoteColumn(source);
  const { type } = source.type;
  if (type === "text") return toValidText(isTextColumn(source) ? name : `toString(${name})`);
  return type === "timestamp" ? `concat(toString(toTimeZone(${name}, 'UTC')), 'Z')` : `toString(${name})`;
}

/** The day number of a date in the years 0 to 9999, computed because ClickHouse's calendar starts in 1900. */
function toDayNumber(date: string): string {
  const [y, m, d] = [`substr(${date}, 1, 4)`, `substr(${date}, 6, 2)`, `substr(${date}, 9, 2)`].map(parseInteger);
  const isLeap = `(${y} % 4 = 0 and (${y} % 100 <> 0 or ${y} % 400 = 0))`;
  const length = `case when ${m} = 2 then 28 + ${isLeap} when ${m} in (4, 6, 9, 11) then 30 else 31 end`;
  // Years start in March here, so that a leap day is the last day; adding 400 years avoids negative numbers.
  const year = `(${y} + 400 - (${m} <= 2))`;
  const ofYear = `(intDiv(153 * ((${m} + 9) % 12) + 2, 5) + ${d} - 1)`;
  const days = `${year} * 365 + intDiv(${year}, 4) - intDiv(${year}, 100) + intDiv(${year}, 400) + ${ofYear} - 865565`;
  return `(case when ${m} between 1 and 12 and ${d} between 1 and (${length}) then ${days} end)`;
}

function plainNumber(source: SourceColumn, range: NumberRange): string {
  const { scale, min, max } = range;
  const name = quoteColumn(source);
  const { type } = source;
  switch (type.type) {
    case "integer":
      return `case when ${name} between ${min} and ${max} then toInt64(${name}) end`;
    case "double":
      return toDoubleSql(name, range, {
        power: `toFloat64(1e${scale})`,
        toInteger: (double) => `accurateCastOrNull(${double}, 'Int64')`,
      });
    case "decimal": {
      // A decimal of up to 64 bits is stored as a whole number at its scale.
      const isNarrow = type.precision > 9 && type.precision <= 18;
      const narrow = isNarrow ? name : `accurateCastOrNull(${name}, 'Decimal64(${scale})')`;
      const mantissa = `reinterpret(${narrow}, 'Int64')`;
      if (isNarrow && String(max).length === type.precision) return mantissa;
      return `case when ${mantissa} between ${min} and ${max} then ${mantissa} end`;
    }
    default: {
      const value =
        scale === 0 ? `toInt64OrZero(${name})` : `reinterpret(toDecimal64OrZero(${name}, ${scale}), 'Int64')`;
      return `case when match(${name}, '^${decimalPattern(range)}$') then ${value} end`;
    }
  }
}

/** The shape of a plain time with each digit as 9: up to nine decimal places, and a space or T in between. */
const TIME_SHAPES = ["T", " "].flatMap((between) =>
  ["", ...Array.from({ length: 9 }, (_, digits) => `.${"9".repeat(digits + 1)}`)].map(
    (fraction) => `9999-99-99${between}99:99:99${fraction}`,
  ),
);

function plainInstant(time: SourceTime & { readonly part: SourceColumn }): string {
  const { part, form, zoneMinutes } = time;
  const name = quoteColumn(part);
  if (form !== undefined) return toNumericTimeSql(name, form, `toInt64(${name})`);
  if (part.type.type === "timestamp") {
    const bounds = ["1970", "2200"].map((year) => `toDateTime64('${year}-01-01 00:00:00', 0, 'UTC')`);
    const millis = `toUnixTimestamp64Milli(toDateTime64(${name}, 3, 'UTC'))`;
    return `case when ${name} >= ${bounds[0]} and ${name} < ${bounds[1]} then ${millis} end`;
  }
  const day = `toDate32OrZero(substr(${name}, 1, 10))`;
  const shapes = TIME_SHAPES.flatMap((shape) => (zoneMinutes === undefined ? [`${shape}Z`] : [`${shape}Z`, shape]));
  const conditions = [
    `translate(${name}, '012345678', '999999999') in (${shapes.map(quoteClickhouseText).join(", ")})`,
    // A date that doesn't exist is read as another one.
    `toString(${day}) = substr(${name}, 1, 10)`,
    `substr(${name}, 12, 2) < '24' and substr(${name}, 15, 1) < '6' and substr(${name}, 18, 1) < '6'`,
  ];
  const digits = (from: number, length: number): string =>
    `toInt64(toUInt16OrZero(substr(${name}, ${from}, ${length})))`;
  // With two decimal places, the third is 0.
  const fraction = `toInt64(toUInt16OrZero(rpad(substr(replaceOne(${name}, 'Z', ''), 21, 3), 3, '0')))`;
  const local =
    zoneMinutes === undefined ? "" : ` - case when endsWith(${name}, 'Z') then 0 else ${zoneMinutes * 60_000} end`;
  const millis = `(toInt64(toInt32(${day})) * ${DAY_MS} + ${digits(12, 2)} * 3600000 + ${digits(15, 2)} * 60000 + ${digits(18, 2)} * 1000 + ${fraction}${local})`;
  return `case when ${[...conditions, `${millis} >= 0 and ${millis} < ${PLAIN_END_SECONDS * 1000}`].join(" and ")} then ${millis} end`;
}

/** The rows of a request. */
interface RequestedRows {
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
  const column = quoteColumn(part);
  if (form !== undefined) {
    const millisPerUnit = form === "seconds" ? 1000 : 1;
    // Numbers with fractions are never plain, so all rows in the first and last second of the range are read.
    const [first, last] = [part.type.type === "integer" ? Math.ceil : Math.floor, Math.ceil];
    return createBounds(column, (at) => String((at === start ? first : last)(at / millisPerUnit)));
  }
  if (part.type.type === "timestamp")
    return createBounds(column, (at) => `fromUnixTimestamp64Milli(toInt64(${at}), 'UTC')`);
  // The string itself, so that an index can be used.
  const text = toPlainTextSql(part, clickHouseSql);
  // The date in a text is local, and no offset is more than a day.
  const dates = [
    ...(start < DAY_MS ? [] : [`${text} >= '${formatDate(addDays(start, -1))}'`]),
    ...(end === PLAIN_UNTIL ? [] : [`${text} < '${formatDate(instantOfDay(dayOf(end) + 2))}'`]),
  ];
  if (part.type.type !== "text") return dates;
  const exact = createBounds(clickHouseSql.plainInstant({ ...time, part }), String).map(
    (bound) => `coalesce(${bound}, true)`,
  );
  return [...dates, ...exact];
}

/** The storage of attributes: text, or decimals with 18 digits of which 6 are decimal places. */
type DecimalStorage = "text" | "decimal";

const [PRECISION, SCALE] = [18, 6] as const;

/** The table as statements read it. */
export function toEventTable(name: string, decimals: DecimalStorage): EventTable {
  return {
    name,
    text: { type: "text", isString: true },
    timestamp: { type: "timestamp", isZoned: true },
    attribute:
      decimals === "text" ? { type: "text", isString: true } : { type: "decimal", precision: PRECISION, scale: SCALE },
  };
}

/**
 * Creates the table. Rows are ordered by schema, account and day, so that a statement reads only the rows it needs. In
 * a cluster, rows are distributed by account.
 */
export function writeTableStatements(
  name: string,
  schemas: readonly Pick<EventSchema, "name" | "attributes" | "dimensions">[],
  decimals: DecimalStorage,
): string {
  const { quoteName, quoteText } = clickHouseSql;
  const tableSql = name.split(".").map(quoteName).join(".");
  const last = name.split(".").at(-1) ?? name;
  const distributedTable = `${name
    .split(".")
    .slice(0, -1)
    .map((part) => `${quoteName(part)}.`)
    .join("")}${quoteName(`${last}_all`)}`;
  const numberType = decimals === "text" ? "Nullable(String)" : `Nullable(Decimal(${PRECISION}, ${SCALE}))`;
  const columns = new Map([
    ["schemaName", "LowCardinality(String)"],
    ["accountId", "String"],
    ["timestamp", "DateTime64(3, 'UTC')"],
    ["id", "String"],
  ]);
  const comments = new Map<string, string>();
  const addColumn = (field: string, type: string, comment: string): void => {
    if (columns.has(field)) return;
    columns.set(field, type);
    comments.set(field, comment);
  };
  for (const schema of schemas) {
    for (const { name: field } of schema.attributes)
      addColumn(field, numberType, `attribute of ${toOneLine(schema.name)}`);
    for (const { name: field } of schema.dimensions)
      addColumn(field, "LowCardinality(Nullable(String))", `dimension of ${toOneLine(schema.name)}`);
  }
  const lines = [...columns].map(([column, type], index) => {
    const comment = comments.get(column);
    const comma = index === columns.size - 1 ? "" : ",";
    return `  ${quoteName(column)} ${type}${comma}${comment === undefined ? "" : ` -- ${comment}`}`;
  });
  return [
    `-- A table of events: one column for each field of an event. A column is NULL if the event's schema does not declare it.`,
    decimals === "text"
      ? `-- Attributes are strings with their original text. With --decimals decimal, queries are faster, but long values are truncated.`
      : `-- Attributes are decimals. Inserts truncate values with more than ${SCALE} digits after the point.`,
    `create table ${tableSql} (`,
    ...lines,
    `) engine = MergeTree`,
    `partition by toYYYYMM("timestamp")`,
    `order by ("schemaName", "accountId", toDate("timestamp"), "id");`,
    "",
    `-- On a cluster, create the table on every server and add this table over all of them. Replace events_cluster with the name of the cluster.`,
    `create table ${distributedTable} as ${tableSql}`,
    `engine = Distributed('events_cluster', currentDatabase(), ${quoteText(last)}, cityHash64("accountId"));`,
    "",
  ].join("\n");
}
