/**
 * The parts of an event as DuckDB reads them from columns: NULL wherever a part is not what a plain event has.
 *
 * Tried on DuckDB 1.5, and the reason for each shape that is asked for first: a text that is cast to a decimal is rounded
 * to its scale, and blanks, underscores, exponents and hexadecimal are taken; a text that is cast to a timestamp has its
 * offset dropped without a word, and `24:00` is the next day; epoch_ms cuts towards 1970, epoch_us does not.
 *
 * @module
 */
import { INSTANT_END, INSTANT_MIN } from "../../calendar/instant.ts";
import type { NumberRange } from "../pushing/number-range.ts";
import type { SourceColumn, SourcePart, SourceTime } from "../source.ts";
import { indented, quotedName, quotedText } from "./sql-names.ts";

/** The number of a row in its file, from 0, as DuckDB's reader of Parquet gives it. */
export const ROW_COLUMN = "file_row_number";

/** The text of a part, as an event has it; NULL and nothing are the same where it is put together. */
export function sqlOfPartText(part: SourcePart): string {
  if ("value" in part) return quotedText(part.value);
  if ("isTemplate" in part) {
    const texts = part.template.map((each) =>
      each === "row" ? `(${ROW_COLUMN} + 1)` : "value" in each ? quotedText(each.value) : sqlOfColumnText(each),
    );
    return `concat(${texts.join(", ")})`;
  }
  return sqlOfColumnText(part);
}

/** The text of a column's values. */
export function sqlOfColumnText({ column, type }: SourceColumn): string {
  const name = quotedName(column);
  if (type.type === "text") return name;
  if (type.type !== "timestamp" || !type.isZoned) return `cast(${name} as VARCHAR)`;
  return `cast(make_timestamp(epoch_us(${name})) as VARCHAR) || 'Z'`;
}

/** A text of a plain event: not absent, and of at most so many bytes, which are no fewer than its characters. */
export function sqlOfPlainText(part: SourcePart, [least, most]: readonly [number, number]): string {
  const text = sqlOfPartText(part);
  return `case when strlen(${text}) between ${least} and ${most} then ${text} end`;
}

/** The whole number that an attribute is at the scale of its range. */
export function sqlOfPlainNumber(part: SourcePart, range: NumberRange): string {
  const { scale, least, most } = range;
  if ("value" in part || "isTemplate" in part) return `${least}::BIGINT`;
  const name = quotedName(part.column);
  const digits = String(most).length;
  switch (part.type.type) {
    case "integer":
      return `case when ${name} between ${least} and ${most} then ${name}::BIGINT end`;
    case "double": {
      const power = `1e${scale}::DOUBLE`;
      // What divides back to the double is the decimal that its shortest text says.
      const isExact = `abs(${name}) <= ${10n ** BigInt(digits - scale)} and round(${name} * ${power}) / ${power} = ${name}`;
      const whole = `try_cast(round(${name} * ${power}) as BIGINT)`;
      return `case when ${isExact} and ${whole} between ${least} and ${most} then ${whole} end`;
    }
    case "decimal":
      return `case when ${name} between ${decimalText(least, scale)} and ${decimalText(most, scale)} then ${mantissa(name, scale)} end`;
    default: {
      const shape = `-?[0-9]{1,${digits - scale}}${scale > 0 ? `([.][0-9]{1,${scale}})?` : ""}`;
      const value = scale === 0 ? `try_cast(${name} as BIGINT)` : mantissa(name, scale);
      return `case when regexp_full_match(${name}, '${shape}') then ${value} end`;
    }
  }
}

/** `value × 10^scale` of a decimal or a text of at most 18 digits: the whole part and the fraction, each exact. */
function mantissa(name: string, scale: number): string {
  // The fraction alone is multiplied: a product keeps 18 digits, or 38.
  const decimal = `try_cast(${name} as DECIMAL(${scale > 9 ? 38 : 18}, ${scale}))`;
  if (scale === 0) return `try_cast(${decimal} as BIGINT)`;
  const power = 10n ** BigInt(scale);
  return `trunc(${decimal})::BIGINT * ${power} + ((${decimal} - trunc(${decimal})) * ${power})::BIGINT`;
}

function decimalText(value: bigint, scale: number): string {
  const [sign, digits] = value < 0n ? ["-", String(-value)] : ["", String(value)];
  if (scale === 0) return sign + digits;
  const padded = digits.padStart(scale + 1, "0");
  return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}

/** The years in which a plain event is: from 1970, exclusive of 2200. */
const PLAIN_END_SECONDS = 7_258_118_400;
/** `2024-01-02T03:04:05.678`, with at most nine digits after the point: what is below a microsecond is cut, as tried. */
const PLAIN_TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?";

/** The instant of a plain event, in milliseconds since 1970. */
export function sqlOfPlainInstant({ part, form, zoneMinutes }: SourceTime): string {
  if (!("column" in part)) return "NULL::BIGINT";
  const name = quotedName(part.column);
  if (form !== undefined) {
    const [each, most] = form === "seconds" ? [1000, PLAIN_END_SECONDS] : [1, PLAIN_END_SECONDS * 1000];
    return `case when ${name} >= 0 and ${name} < ${most} then ${name}::BIGINT * ${each} end`;
  }
  if (part.type.type === "timestamp") {
    const shift = part.type.isZoned ? 0 : (zoneMinutes ?? 0) * 60_000_000;
    const micros = `(epoch_us(${name}) - ${shift})`;
    return `case when ${micros} >= 0 and ${micros} < ${PLAIN_END_SECONDS}000000 then ${micros} // 1000 end`;
  }
  // Without a zone of its own a text is a time of the zone that is given for it.
  const local = zoneMinutes === undefined ? 0 : zoneMinutes * 60_000_000;
  const shift = local === 0 ? "" : ` - case when right(${name}, 1) = 'Z' then 0 else ${local} end`;
  const micros = `(epoch_us(try_cast(${name} as TIMESTAMP))${shift})`;
  const shape = `${PLAIN_TIME}Z${zoneMinutes === undefined ? "" : "?"}`;
  return `case when regexp_full_match(${name}, '${shape}') and ${micros} >= 0 then ${micros} // 1000 end`;
}

/** Every date-time that the core reads (S2.2), in RE2's terms. */
const ANY_TIME =
  "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.,][0-9]+)?)?( ?(Z|UTC|[+-][0-9]{2}(:?[0-5][0-9])?))?";

/** What the instant of any event is computed from: the columns `time_text`, `time_ms` and `zone_minutes`. */
export function sqlOfTimeParts({ part, form, zoneMinutes }: SourceTime): readonly string[] {
  const [each, most] = form === "seconds" ? [1000, 99_999_999_999] : [1, 99_999_999_999_999];
  const name = "column" in part && form !== undefined ? `try_cast(${quotedName(part.column)} as BIGINT)` : undefined;
  return [
    `${sqlOfPartText(part)} as time_text`,
    `${name === undefined ? "null::BIGINT" : `case when ${name} between 0 and ${most} then ${name} * ${each} end`} as time_ms`,
    `${zoneMinutes ?? "null"}::BIGINT as zone_minutes`,
  ];
}

const int = (of: string): string => `try_cast(${of} as BIGINT)`;
const SIGN = "case left(zone, 1) when '-' then -1 else 1 end";
/** Minutes east of UTC, as the text or else the map says; NULL without either. */
const OFFSET = [
  "case when left(zone, 1) in ('+', '-')",
  `then (${SIGN}) * (${int("substr(zone, 2, 2)")} * 60 + case when strlen(zone) > 3 then ${int("right(zone, 2)")} else 0 end)`,
  "when zone <> '' then 0 else zone_minutes end",
].join(" ");
const MINUTES = [
  "(try_cast(left(time_text, 10) as DATE) - DATE '1970-01-01') * 1440",
  `${int("substr(time_text, 12, 2)")} * 60 + ${int("substr(time_text, 15, 2)")}`,
].join(" + ");
const SECONDS = `case when substr(time_text, 17, 1) = ':' then ${int("substr(time_text, 18, 2)")} else 0 end`;
const MILLIS = int("left(rpad(regexp_extract(time_text, ':[0-9]{2}[.,]([0-9]+)', 1), 3, '0'), 3)");

/**
 * Rows with their instant, in milliseconds since 1970, by which they are put into order (S17.2): the column `at_ms`, NULL where
 * the core reads none. Slow, and only asked of rows that are not plain.
 *
 * @param rows what has the columns of {@link sqlOfTimeParts}
 */
export function withInstants(rows: string): string {
  return [
    `select *, case when time_at >= ${INSTANT_MIN} and time_at < ${INSTANT_END} then time_at end as at_ms`,
    `from (`,
    `  select *, coalesce(time_ms, case when regexp_full_match(time_text, '${ANY_TIME}') and abs(offset_minutes) <= 840`,
    `    then (${MINUTES} - offset_minutes) * 60000 + (${SECONDS}) * 1000 + ${MILLIS} end) as time_at`,
    `  from (`,
    `    select *, ${OFFSET} as offset_minutes`,
    `    from (select *, regexp_extract(time_text, ' ?(Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)$', 1) as zone from (`,
    indented(rows, "      "),
    `    ))`,
    `  )`,
    `)`,
  ].join("\n");
}
