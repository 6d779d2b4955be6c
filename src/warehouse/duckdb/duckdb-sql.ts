/**
 * The SQL of DuckDB.
 *
 * Tried on DuckDB 1.5, and the reason for each shape that is asked for first: a text that is cast to a decimal is rounded
 * to its scale, and blanks, underscores, exponents and hexadecimal are taken; a text that is cast to a timestamp has its
 * offset dropped without a word, and `24:00` is the next day; epoch_ms cuts towards 1970, epoch_us does not; a literal that
 * fits 32 bits is computed in 32, so that it is cast wherever no column stands beside it.
 *
 * @module
 */
import type { NumberRange } from "../pushing/number-range.ts";
import type { SourceColumn, SourceTime } from "../source.ts";
import type { Dialect } from "../statements/dialect.ts";
import { formOf, PLAIN_END_SECONDS, sqlOfCountedTime, sqlOfDouble } from "../statements/parts.ts";

const integer: Dialect["integer"] = (value, isWide) => `${value}::${isWide ? "HUGEINT" : "BIGINT"}`;
const integerIn: Dialect["integerIn"] = (text) => `try_cast(${text} as BIGINT)`;
/** A name in quotes. */
export const quotedName: Dialect["quotedName"] = (name) => `"${name.replaceAll('"', '""')}"`;
/** A text in quotes; a statement ends at a NUL, and its lines are moved to the right as it is laid out. */
export const quotedText: Dialect["quotedText"] = (text) =>
  text
    .split(/([\0\n])/)
    .map((part, place) => (place % 2 === 1 ? `chr(${part.charCodeAt(0)})` : `'${part.replaceAll("'", "''")}'`))
    .join(" || ");

/** The SQL of DuckDB. */
export const duckDbSql: Dialect = {
  quotedName,
  quotedText,
  table: (name) => name.split(".").map(quotedName).join("."),
  pairs,
  integer,
  operand: String,
  widened: (number) => `${number}::HUGEINT`,
  quotient: (a, b) => `(${a} // ${b})`,
  sumOf: (number, condition) => `sum(try_cast(${number} as BIGINT)) filter (where ${condition})`,
  integerIn,
  noInteger: "null::BIGINT",
  bytes: (text) => `strlen(${text})`,
  contains: (whole, part) => `contains(${whole}, ${part})`,
  isOfForm: (text, form) => `regexp_full_match(${text}, '${form}')`,
  found: (text, pattern) => `regexp_extract(${text}, '${pattern}', 1)`,
  dayOf: (date) => `(try_cast(${date} as DATE) - DATE '1970-01-01')`,
  textOf: (number) => `cast(${number} as VARCHAR)`,
  dateOf: (day) => `cast(DATE '1970-01-01' + cast(${day} as INTEGER) as VARCHAR)`,
  listOf: (texts) => `[${texts.join(", ")}]::VARCHAR[]`,
  hash: (text) => `hash(${text})`,
  isNotIn: (value, rows) => `${value} not in (${rows})`,
  columnText,
  plainText: columnText,
  isWhole: undefined,
  whole: (text) => text,
  joined: (texts) => `concat(${texts.join(", ")})`,
  row: "file_row_number",
  plainNumber,
  plainInstant,
};

function pairs([one, other]: readonly [string, string], rows: readonly (readonly [string, string])[]): string {
  if (rows.length === 0) return `select null::VARCHAR as ${one}, null::VARCHAR as ${other} where false`;
  const values = rows.map(([a, b]) => `  (${quotedText(a)}, ${quotedText(b)})`);
  return `select * from (values\n${values.join(",\n")}\n) as given (${one}, ${other})`;
}

function columnText({ column, type }: SourceColumn): string {
  const name = quotedName(column);
  if (type.type === "text") return name;
  if (type.type !== "timestamp" || !type.isZoned) return `cast(${name} as VARCHAR)`;
  return `cast(make_timestamp(epoch_us(${name})) as VARCHAR) || 'Z'`;
}

function plainNumber({ column, type }: SourceColumn, range: NumberRange): string {
  const { scale, least, most } = range;
  const name = quotedName(column);
  switch (type.type) {
    case "integer":
      return `case when ${name} between ${least} and ${most} then ${name}::BIGINT end`;
    case "double":
      return sqlOfDouble(name, range, { power: `1e${scale}::DOUBLE`, whole: integerIn });
    case "decimal":
      return `case when ${name} between ${decimalText(least, scale)} and ${decimalText(most, scale)} then ${mantissa(name, scale)} end`;
    default: {
      const value = scale === 0 ? integerIn(name) : mantissa(name, scale);
      return `case when regexp_full_match(${name}, '${formOf(range)}') then ${value} end`;
    }
  }
}

/** `value × 10^scale` of a decimal or a text of at most 18 digits: the whole part and the fraction, each exact. */
function mantissa(name: string, scale: number): string {
  // The fraction alone is multiplied: a product keeps 18 digits, or 38.
  const decimal = `try_cast(${name} as DECIMAL(${scale > 9 ? 38 : 18}, ${scale}))`;
  if (scale === 0) return integerIn(decimal);
  const power = 10n ** BigInt(scale);
  return `trunc(${decimal})::BIGINT * ${power} + ((${decimal} - trunc(${decimal})) * ${power})::BIGINT`;
}

function decimalText(value: bigint, scale: number): string {
  const [sign, digits] = value < 0n ? ["-", String(-value)] : ["", String(value)];
  if (scale === 0) return sign + digits;
  const padded = digits.padStart(scale + 1, "0");
  return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}

/** `2024-01-02T03:04:05.678`, with at most nine digits after the point: what is below a microsecond is cut, as tried. */
const PLAIN_TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?";

/**
 * The most usual shapes of a plain time. What the cast takes in them beside plain times was searched for: an hour of a blank
 * and a digit, 24 as an hour, and a second of one digit and a point.
 */
const USUAL_TIMES = ["????-??-??T??:??:??.???Z", "????-??-??T??:??:?[0-9]Z"];

function plainInstant({
  part: { column, type },
  form,
  zoneMinutes,
}: SourceTime & { readonly part: SourceColumn }): string {
  const name = quotedName(column);
  if (form !== undefined) return sqlOfCountedTime(name, form, `${name}::BIGINT`);
  if (type.type === "timestamp") {
    const shift = type.isZoned ? 0 : (zoneMinutes ?? 0) * 60_000_000;
    const micros = `(epoch_us(${name}) - ${shift})`;
    return `case when ${micros} >= 0 and ${micros} < ${PLAIN_END_SECONDS}000000 then ${micros} // 1000 end`;
  }
  const shape = `${PLAIN_TIME}Z${zoneMinutes === undefined ? "" : "?"}`;
  // The usual shapes are told by their separators, which is half as much work as the pattern; the cast reads the digits.
  const isShaped = `case ${USUAL_TIMES.map((usual) => `when ${name} glob '${usual}' then substr(${name}, 12, 2) between '00' and '23'`).join(" ")} else regexp_full_match(${name}, '${shape}') end`;
  const micros = `epoch_us(try_cast(${name} as TIMESTAMP))`;
  // Of UTC, the years of a text are in the order of their digits.
  if (zoneMinutes === undefined || zoneMinutes === 0)
    return `case when ${isShaped} and ${name} >= '1970' then ${micros} // 1000 end`;
  // Without a zone of its own a text is a time of the zone that is given for it.
  const shifted = `(${micros} - case when right(${name}, 1) = 'Z' then 0 else ${zoneMinutes * 60_000_000} end)`;
  return `case when ${isShaped} and ${shifted} >= 0 then ${shifted} // 1000 end`;
}
