/**
 * The instant of any row, to sort rows by arrival (S17.2). Slow, so it is computed only for rows that are not plain.
 *
 * @module
 */
import { INSTANT_END, INSTANT_MIN } from "../../calendar/instant.ts";
import type { SourceTime } from "../source.ts";
import type { Dialect } from "./dialect.ts";
import { toPartTextSql } from "./event-parts.ts";
import { indent } from "./layout.ts";

/** The RE2 pattern of all date-times that the core reads (S2.2). */
const ANY_TIME =
  "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.,][0-9]+)?)?( ?(Z|UTC|[+-][0-9]{2}(:?[0-5][0-9])?))?";

/** The columns `time_text`, `time_ms` and `zone_minutes`, from which the instant is computed. */
export function toTimePartsSql({ part, form, zoneMinutes }: SourceTime, sql: Dialect): readonly string[] {
  const text = toPartTextSql(part, sql);
  return [
    `${text} as time_text`,
    `${form === undefined ? sql.nullInteger : parseNumericTime(text, form, sql)} as time_ms`,
    `${zoneMinutes === undefined ? sql.nullInteger : sql.integerLiteral(BigInt(zoneMinutes), false)} as zone_minutes`,
  ];
}

/** Seconds or milliseconds without an exponent, truncated to milliseconds (S2.2). */
function parseNumericTime(
  text: string,
  form: "seconds" | "milliseconds",
  { parseInteger: int, extractGroup, ...sql }: Dialect,
): string {
  const isSeconds = form === "seconds";
  const isOfForm = sql.matchesPattern(text, `[0-9]{1,${isSeconds ? 11 : 14}}([.][0-9]+)?`);
  const whole = int(extractGroup(text, "^([0-9]+)"));
  const millis = int(`left(rpad(${extractGroup(text, "[.]([0-9]+)$")}, 3, '0'), 3)`);
  // Tiny doubles have an exponent in their text.
  const isTiny = `when ${sql.matchesPattern(text, "[0-9.]+e-[0-9]+")} then 0`;
  return `case when ${isOfForm} then ${isSeconds ? `${whole} * 1000 + ${millis}` : whole} ${isTiny} end`;
}

/** Minutes east of UTC from the text or else the map; NULL without either. */
function toOffsetSql({ parseInteger: int, byteLength }: Dialect): string {
  return [
    "case when left(zone, 1) in ('+', '-')",
    "then (case left(zone, 1) when '-' then -1 else 1 end)",
    `* (${int("substr(zone, 2, 2)")} * 60 + case when ${byteLength("zone")} > 3 then ${int("right(zone, 2)")} else 0 end)`,
    "when zone <> '' then 0 else zone_minutes end",
  ].join(" ");
}

/** Local milliseconds since 1970. */
function toLocalTimeSql({ parseInteger: int, extractGroup, toDayNumber }: Dialect): string {
  const minutes = [
    `${toDayNumber("left(time_text, 10)")} * 1440`,
    `${int("substr(time_text, 12, 2)")} * 60 + ${int("substr(time_text, 15, 2)")} - offset_minutes`,
  ].join(" + ");
  const seconds = `case when substr(time_text, 17, 1) = ':' then ${int("substr(time_text, 18, 2)")} else 0 end`;
  const millis = int(`left(rpad(${extractGroup("time_text", ":[0-9]{2}[.,]([0-9]+)")}, 3, '0'), 3)`);
  return `(${minutes}) * 60000 + (${seconds}) * 1000 + ${millis}`;
}

/**
 * Adds the column `at_ms`, the instant in milliseconds since 1970; NULL if the core can't read it.
 *
 * @param rows with the columns of {@link toTimePartsSql}
 */
export function addInstants(rows: string, sql: Dialect): string {
  const zone = sql.extractGroup("time_text", " ?(Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)$");
  return [
    `select *, case when time_at >= ${INSTANT_MIN} and time_at < ${INSTANT_END} then time_at end as at_ms`,
    `from (`,
    `  select *, coalesce(time_ms, case when ${sql.matchesPattern("time_text", ANY_TIME)} and abs(offset_minutes) <= 840`,
    `    then ${toLocalTimeSql(sql)} end) as time_at`,
    `  from (`,
    `    select *, ${toOffsetSql(sql)} as offset_minutes`,
    `    from (select *, ${zone} as zone from (`,
    indent(rows, "      "),
    `    ))`,
    `  )`,
    `)`,
  ].join("\n");
}
