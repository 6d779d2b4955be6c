/**
 * The instant of any row, by which rows are put into the order of their arrival (S17.2): slow, and asked only of rows that are
 * not plain.
 *
 * @module
 */
import { INSTANT_END, INSTANT_MIN } from "../../calendar/instant.ts";
import type { SourceTime } from "../source.ts";
import type { Dialect } from "./dialect.ts";
import { sqlOfPartText } from "./parts.ts";
import { indented } from "./text.ts";

/** Every date-time that the core reads (S2.2), in RE2's terms. */
const ANY_TIME =
  "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.,][0-9]+)?)?( ?(Z|UTC|[+-][0-9]{2}(:?[0-5][0-9])?))?";

/** What the instant of any event is computed from: the columns `time_text`, `time_ms` and `zone_minutes`. */
export function sqlOfTimeParts({ part, form, zoneMinutes }: SourceTime, sql: Dialect): readonly string[] {
  const text = sqlOfPartText(part, sql);
  return [
    `${text} as time_text`,
    `${form === undefined ? sql.noInteger : countedTime(text, form, sql)} as time_ms`,
    `${zoneMinutes === undefined ? sql.noInteger : sql.integer(BigInt(zoneMinutes), false)} as zone_minutes`,
  ];
}

/** A number of seconds or milliseconds without an exponent: what is below a millisecond is cut (S2.2). */
function countedTime(
  text: string,
  form: "seconds" | "milliseconds",
  { integerIn: int, found, ...sql }: Dialect,
): string {
  const isSeconds = form === "seconds";
  const isOfForm = sql.isOfForm(text, `[0-9]{1,${isSeconds ? 11 : 14}}([.][0-9]+)?`);
  const whole = int(found(text, "^([0-9]+)"));
  const millis = int(`left(rpad(${found(text, "[.]([0-9]+)$")}, 3, '0'), 3)`);
  // The texts of doubles have an exponent where they are tiny.
  const isTiny = `when ${sql.isOfForm(text, "[0-9.]+e-[0-9]+")} then 0`;
  return `case when ${isOfForm} then ${isSeconds ? `${whole} * 1000 + ${millis}` : whole} ${isTiny} end`;
}

/** Minutes east of UTC, as the text or else the map says; NULL without either. */
function offsetIn({ integerIn: int, bytes }: Dialect): string {
  return [
    "case when left(zone, 1) in ('+', '-')",
    "then (case left(zone, 1) when '-' then -1 else 1 end)",
    `* (${int("substr(zone, 2, 2)")} * 60 + case when ${bytes("zone")} > 3 then ${int("right(zone, 2)")} else 0 end)`,
    "when zone <> '' then 0 else zone_minutes end",
  ].join(" ");
}

/** Milliseconds since 1970 of a time of some place. */
function localTime({ integerIn: int, found, dayOf }: Dialect): string {
  const minutes = [
    `${dayOf("left(time_text, 10)")} * 1440`,
    `${int("substr(time_text, 12, 2)")} * 60 + ${int("substr(time_text, 15, 2)")} - offset_minutes`,
  ].join(" + ");
  const seconds = `case when substr(time_text, 17, 1) = ':' then ${int("substr(time_text, 18, 2)")} else 0 end`;
  const millis = int(`left(rpad(${found("time_text", ":[0-9]{2}[.,]([0-9]+)")}, 3, '0'), 3)`);
  return `(${minutes}) * 60000 + (${seconds}) * 1000 + ${millis}`;
}

/**
 * Rows with their instant, in milliseconds since 1970: the column `at_ms`, NULL where the core reads none.
 *
 * @param rows what has the columns of {@link sqlOfTimeParts}
 */
export function withInstants(rows: string, sql: Dialect): string {
  const zone = sql.found("time_text", " ?(Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)$");
  return [
    `select *, case when time_at >= ${INSTANT_MIN} and time_at < ${INSTANT_END} then time_at end as at_ms`,
    `from (`,
    `  select *, coalesce(time_ms, case when ${sql.isOfForm("time_text", ANY_TIME)} and abs(offset_minutes) <= 840`,
    `    then ${localTime(sql)} end) as time_at`,
    `  from (`,
    `    select *, ${offsetIn(sql)} as offset_minutes`,
    `    from (select *, ${zone} as zone from (`,
    indented(rows, "      "),
    `    ))`,
    `  )`,
    `)`,
  ].join("\n");
}
