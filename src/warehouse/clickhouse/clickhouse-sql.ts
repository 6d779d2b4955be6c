/**
 * The SQL of ClickHouse.
 *
 * Tried on ClickHouse 26.7, and the reason for each shape that is asked for first: no arithmetic is checked for overflow; a
 * literal beyond 64 bits is a double; a text that is read as a decimal is cut to the scale without a word
 * (`toDecimal64OrNull('1.1234567899999', 3)` is 1.123); 30 February is 1 March; sums of 64 bits wrap around; of no row a sum is
 * 0; a name in a statement means what the statement names so before it means a column, so that columns are written with
 * their table. Nothing depends on a setting of the server, or on the zone of the session: all times are read as UTC.
 *
 * @module
 */
import { INT64_END, type NumberRange } from "../pushdown/number-range.ts";
import type { SourceColumn, SourceTime } from "../source.ts";
import type { Dialect } from "../sql/dialect.ts";
import { decimalPattern, PLAIN_END_SECONDS, toNumericTimeSql, toDoubleSql } from "../sql/event-parts.ts";

/** The alias of the table that a statement reads. */
const ROW = "e";

const integerLiteral: Dialect["integerLiteral"] = (value, isWide) =>
  isWide ? `toInt128('${value}')` : `toInt64(${value})`;
const parseInteger: Dialect["parseInteger"] = (text) => `toInt64OrNull(${text})`;
const divideInteger: Dialect["divideInteger"] = (a, b) => `intDiv(${a}, ${b})`;
const quoteName: Dialect["quoteName"] = (name) => `"${escapeNewlines(name.replaceAll(/["\\]/g, String.raw`\$&`))}"`;
/** A text in quotes, whatever its characters. */
export const quoteText: Dialect["quoteText"] = (text) =>
  `'${escapeNewlines(text.replaceAll(/['\\]/g, String.raw`\$&`).replaceAll("\0", String.raw`\0`))}'`;

/** Lines of a statement are moved to the right as it is laid out, which would change what is in quotes. */
function escapeNewlines(text: string): string {
  return text.replaceAll("\n", String.raw`\n`);
}

/** A column of the table that is read. */
function quoteColumn({ column }: SourceColumn): string {
  return `${ROW}.${quoteName(column)}`;
}

/** The SQL of ClickHouse. */
export const clickHouseSql: Dialect = {
  quoteName,
  quoteText,
  table: (name) => `${name.split(".").map(quoteName).join(".")} as ${ROW}`,
  selectPairs,
  integerLiteral,
  operandLiteral: (value) => integerLiteral(value, value >= INT64_END),
  widen: (number) => `toInt128(${number})`,
  divideInteger,
  sumWhere: (number, condition) => `sum(case when ${condition} then toInt128(${number}) end)`,
  parseInteger,
  nullInteger: "cast(null as Nullable(Int64))",
  byteLength: (text) => `length(${text})`,
  contains: (whole, part) => `(position(${whole}, ${part}) > 0)`,
  matchesPattern: (text, form) => `match(${text}, ${quoteText(`^(?:${form})$`)})`,
  extractGroup: (text, pattern) => `extract(${text}, ${quoteText(pattern)})`,
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
  const values = rows.map(([a, b]) => `,\n  (${quoteText(a)}, ${quoteText(b)})`);
  const columns = `${one} String, ${other} String`;
  return rows.length === 0
    ? `select * from null(${quoteText(columns)})`
    : `select * from values(${quoteText(columns)}${values.join("")}\n)`;
}

function isTextColumn({ type }: SourceColumn): boolean {
  return type.type === "text" && type.isString === true;
}

function toValidText(text: string): string {
  return `toValidUTF8(${text})`;
}

/**
 * The texts of columns. Bytes that are no UTF-8 are replaced here, once: every reader sees the same text.
 */
function columnText(source: SourceColumn): string {
  const name = quoteColumn(source);
  const { type } = source.type;
  if (type === "text") return toValidText(isTextColumn(source) ? name : `toString(${name})`);
  return type === "timestamp" ? `concat(toString(toTimeZone(${name}, 'UTC')), 'Z')` : `toString(${name})`;
}

/** The day of a date of any year from 0 to 9999: the calendar of ClickHouse begins in 1900, so it is counted. */
function toDayNumber(date: string): string {
  const [y, m, d] = [`substr(${date}, 1, 4)`, `substr(${date}, 6, 2)`, `substr(${date}, 9, 2)`].map(parseInteger);
  const isLeap = `(${y} % 4 = 0 and (${y} % 100 <> 0 or ${y} % 400 = 0))`;
  const length = `case when ${m} = 2 then 28 + ${isLeap} when ${m} in (4, 6, 9, 11) then 30 else 31 end`;
  // Years begin in March here, so that the day of a leap year is their last; 400 years before the year 0 none is below 0.
  const year = `(${y} + 400 - (${m} <= 2))`;
  const ofYear = `(intDiv(153 * ((${m} + 9) % 12) + 2, 5) + ${d} - 1)`;
  const days = `${year} * 365 + intDiv(${year}, 4) - intDiv(${year}, 100) + intDiv(${year}, 400) + ${ofYear} - 865565`;
  return `(case when ${m} between 1 and 12 and ${d} between 1 and (${length}) then ${days} end)`;
}

function plainNumber(source: SourceColumn, range: NumberRange): string {
  const { scale, least, most } = range;
  const name = quoteColumn(source);
  const { type } = source;
  switch (type.type) {
    case "integer":
      return `case when ${name} between ${least} and ${most} then toInt64(${name}) end`;
    case "double":
      return toDoubleSql(name, range, {
        power: `toFloat64(1e${scale})`,
        toInteger: (double) => `accurateCastOrNull(${double}, 'Int64')`,
      });
    case "decimal": {
      // A decimal of 64 bits is kept as the whole number that it is at its scale.
      const isNarrow = type.precision > 9 && type.precision <= 18;
      const narrow = isNarrow ? name : `accurateCastOrNull(${name}, 'Decimal64(${scale})')`;
      const mantissa = `reinterpret(${narrow}, 'Int64')`;
      if (isNarrow && String(most).length === type.precision) return mantissa;
      return `case when ${mantissa} between ${least} and ${most} then ${mantissa} end`;
    }
    default: {
      const value =
        scale === 0 ? `toInt64OrZero(${name})` : `reinterpret(toDecimal64OrZero(${name}, ${scale}), 'Int64')`;
      return `case when match(${name}, '^${decimalPattern(range)}$') then ${value} end`;
    }
  }
}

const DAY_MS = 86_400_000;
/** What a plain time looks like with each digit as a 9: with at most nine digits after the point, and a blank or a T. */
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
    `translate(${name}, '012345678', '999999999') in (${shapes.map(quoteText).join(", ")})`,
    // A day that the calendar does not have is read as another one.
    `toString(${day}) = substr(${name}, 1, 10)`,
    `substr(${name}, 12, 2) < '24' and substr(${name}, 15, 1) < '6' and substr(${name}, 18, 1) < '6'`,
  ];
  const digits = (from: number, length: number): string =>
    `toInt64(toUInt16OrZero(substr(${name}, ${from}, ${length})))`;
  // Of two digits after the point the third is 0.
  const fraction = `toInt64(toUInt16OrZero(rpad(substr(replaceOne(${name}, 'Z', ''), 21, 3), 3, '0')))`;
  const local =
    zoneMinutes === undefined ? "" : ` - case when endsWith(${name}, 'Z') then 0 else ${zoneMinutes * 60_000} end`;
  const millis = `(toInt64(toInt32(${day})) * ${DAY_MS} + ${digits(12, 2)} * 3600000 + ${digits(15, 2)} * 60000 + ${digits(18, 2)} * 1000 + ${fraction}${local})`;
  return `case when ${[...conditions, `${millis} >= 0 and ${millis} < ${PLAIN_END_SECONDS * 1000}`].join(" and ")} then ${millis} end`;
}
