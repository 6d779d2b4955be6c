/**
 * The SQL dialect of DuckDB.
 *
 * The shapes of expressions follow from tests on DuckDB 1.5: casting a text to a decimal rounds to the scale and
 * accepts spaces, underscores, exponents and hexadecimal; casting a text to a timestamp silently ignores its offset,
 * and `24:00` is the next day; epoch_ms truncates towards 1970, epoch_us doesn't; literals that fit 32 bits are
 * computed in 32 bits, so they are cast unless a column is the other operand.
 */
import type { NumberRange } from "../pushdown/term.ts";
import type { SourceColumn, SourceTime } from "../source.ts";
import { type Dialect, decimalPattern, PLAIN_END_SECONDS, toNumericTimeSql, toDoubleSql } from "../sql/expressions.ts";

const integerLiteral: Dialect["integerLiteral"] = (value, isWide) => `${value}::${isWide ? "HUGEINT" : "BIGINT"}`;
const parseInteger: Dialect["parseInteger"] = (text) => `try_cast(${text} as BIGINT)`;
export const quoteDuckdbName: Dialect["quoteName"] = (name) => `"${name.replaceAll('"', '""')}"`;
/** Quotes a text. A NUL ends a statement and indentation moves its lines, so both are escaped. */
export const quoteDuckdbText: Dialect["quoteText"] = (text) =>
  text
    .split(/([\0\n])/)
    .map((part, place) => (place % 2 === 1 ? `chr(${part.charCodeAt(0)})` : `'${part.replaceAll("'", "''")}'`))
    .join(" || ");

export const duckDbSql: Dialect = {
  quoteName: quoteDuckdbName,
  quoteText: quoteDuckdbText,
  table: (name) => name.split(".").map(quoteDuckdbName).join("."),
  selectPairs,
  integerLiteral,
  operandLiteral: String,
  widen: (number) => `${number}::HUGEINT`,
  divideInteger: (a, b) => `(${a} // ${b})`,
  sumWhere: (number, condition) => `sum(try_cast(${number} as BIGINT)) filter (where ${condition})`,
  sumWideWhere: (number, condition) => `sum(${number}) filter (where ${condition})`,
  listWhere: (value, condition, isDistinct) =>
    `coalesce(list(${isDistinct ? "distinct " : ""}${value}) filter (where ${condition})::VARCHAR[], [])`,
  parseInteger,
  nullInteger: "null::BIGINT",
  byteLength: (text) => `strlen(${text})`,
  contains: (whole, part) => `contains(${whole}, ${part})`,
  matchesPattern: (text, form) => `regexp_full_match(${text}, '${form}')`,
  extractGroup: (text, pattern) => `regexp_extract(${text}, '${pattern}', 1)`,
  toDayNumber: (date) => `(try_cast(${date} as DATE) - DATE '1970-01-01')`,
  toText: (number) => `cast(${number} as VARCHAR)`,
  toDate: (day) => `cast(DATE '1970-01-01' + cast(${day} as INTEGER) as VARCHAR)`,
  toList: (texts) => `[${texts.join(", ")}]::VARCHAR[]`,
  hash: (text) => `hash(${text})`,
  isNotIn: (value, rows) => `${value} not in (${rows})`,
  columnText,
  plainText: columnText,
  isValidText: undefined,
  toValidText: (text) => text,
  concatenate: (texts) => `concat(${texts.join(", ")})`,
  rowNumber: "file_row_number",
  plainNumber,
  plainInstant,
};

function selectPairs([one, other]: readonly [string, string], rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return `select null::VARCHAR as ${one}, null::VARCHAR as ${other} where false`;
  const values = rows.map(([a, b]) => `  (${quoteDuckdbText(a)}, ${quoteDuckdbText(b)})`);
  return `select * from (values\n${values.join(",\n")}\n) as given (${one}, ${other})`;
}

function columnText({ column, type }: SourceColumn): string {
  const name = quoteDuckdbName(column);
  if (type.type === "text") return name;
  if (type.type !== "timestamp" || !type.isZoned) return `cast(${name} as VARCHAR)`;
  return `cast(make_timestamp(epoch_us(${name})) as VARCHAR) || 'Z'`;
}

function plainNumber({ column, type }: SourceColumn, range: NumberRange): string {
  const { scale, min, max } = range;
  const name = quoteDuckdbName(column);
  switch (type.type) {
    case "integer":
      return `case when ${name} between ${min} and ${max} then ${name}::BIGINT end`;
    case "double":
      return toDoubleSql(name, range, { power: `1e${scale}::DOUBLE`, toInteger: parseInteger });
    case "decimal":
      return `case when ${name} between ${formatDecimalLiteral(min, scale)} and ${formatDecimalLiteral(max, scale)} then ${toMantissaSql(name, scale)} end`;
    default: {
      const value = scale === 0 ? parseInteger(name) : toMantissaSql(name, scale);
      return `case when regexp_full_match(${name}, '${decimalPattern(range)}') then ${value} end`;
    }
  }
}

/**
 * `value × 10^scale` of a decimal or a text of up to 18 digits, computed exactly from the whole part and the fraction.
 */
function toMantissaSql(name: string, scale: number): string {
  // Only the fraction is multiplied, because a product has at most 18 or 38 digits.
  const decimal = `try_cast(${name} as DECIMAL(${scale > 9 ? 38 : 18}, ${scale}))`;
  if (scale === 0) return parseInteger(decimal);
  const power = 10n ** BigInt(scale);
  return `trunc(${decimal})::BIGINT * ${power} + ((${decimal} - trunc(${decimal})) * ${power})::BIGINT`;
}

function formatDecimalLiteral(value: bigint, scale: number): string {
  const [sign, digits] = value < 0n ? ["-", String(-value)] : ["", String(value)];
  if (scale === 0) return sign + digits;
  const paddedDigits = digits.padStart(scale + 1, "0");
  return `${sign}${paddedDigits.slice(0, -scale)}.${paddedDigits.slice(-scale)}`;
}

/** `2024-01-02T03:04:05.678`, with up to nine decimal places; digits below a microsecond are truncated. */
const PLAIN_TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?";

/**
 * The most common shapes of plain times. The cast in them accepts only three other forms: a space and a digit as the
 * hour, 24 as the hour, and one digit and a point as the second.
 */
const USUAL_TIMES = ["????-??-??T??:??:??.???Z", "????-??-??T??:??:?[0-9]Z"];

function plainInstant({
  part: { column, type },
  form,
  zoneMinutes,
}: SourceTime & { readonly part: SourceColumn }): string {
  const name = quoteDuckdbName(column);
  if (form !== undefined) return toNumericTimeSql(name, form, `${name}::BIGINT`);
  if (type.type === "timestamp") {
    const shift = type.isZoned ? 0 : (zoneMinutes ?? 0) * 60_000_000;
    const micros = `(epoch_us(${name}) - ${shift})`;
    return `case when ${micros} >= 0 and ${micros} < ${PLAIN_END_SECONDS}000000 then ${micros} // 1000 end`;
  }
  const shape = `${PLAIN_TIME}Z${zoneMinutes === undefined ? "" : "?"}`;
  // The shapes are recognized by their separators, twice as fast as with the pattern; the cast reads the digits.
  const isShaped = `case ${USUAL_TIMES.map((usual) => `when ${name} glob '${usual}' then substr(${name}, 12, 2) between '00' and '23'`).join(" ")} else regexp_full_match(${name}, '${shape}') end`;
  const micros = `epoch_us(try_cast(${name} as TIMESTAMP))`;
  // In UTC, the years of texts sort like their digits.
  if (zoneMinutes === undefined || zoneMinutes === 0)
    return `case when ${isShaped} and ${name} >= '1970' then ${micros} // 1000 end`;
  // A text without a zone is in the given zone.
  const utcMicros = `(${micros} - case when right(${name}, 1) = 'Z' then 0 else ${zoneMinutes * 60_000_000} end)`;
  return `case when ${isShaped} and ${utcMicros} >= 0 then ${utcMicros} // 1000 end`;
}
