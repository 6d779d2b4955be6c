/** Times as texts: a text that DuckDB reads as a plain time is read as the same instant by the core (S2.2, S17.3). */
import { afterAll, beforeAll, expect, test } from "vitest";

import { tryParseInstant } from "../../src/calendar/instant.ts";
import { duckDbSql, quoteDuckdbText } from "../../src/warehouse/duckdb/duckdb-sql.ts";
import { type DuckDb, openDuckDb } from "../../src/warehouse/duckdb/parquet-files.ts";

/**
 * Characters that may be in a wrong place by mistake: digits, blanks of every kind, separators, letters, non-ASCII
 * characters.
 */
const SLIPS = "0123456789 \t\n\v\f\r-+:./\\,TtZz_e\u00A0\u0663".split("");

let db: DuckDb;
beforeAll(async () => {
  db = await openDuckDb();
});
afterAll(async () => db.close());

/** Every text with one or two characters replaced. */
async function slippedFrom(text: string): Promise<void> {
  const slips = SLIPS.map((slip) => `(${quoteDuckdbText(slip)})`).join(", ");
  const replaceCharacter = (of: string, place: string): string =>
    `left(${of}, ${place} - 1) || slip || substr(${of}, ${place} + 1)`;
  const places = (name: string): string => `range(1, ${text.length + 1}) as places (${name})`;
  await db.execute(`create or replace table slips as select * from (values ${slips}) as given (slip)`);
  await db.execute(
    `create or replace table times as with one as (select ${replaceCharacter(quoteDuckdbText(text), "p")} as t, p from ${places("p")}, slips) ` +
      `select t from one union select ${replaceCharacter("t", "q")} from one, ${places("q")}, slips where q > p`,
  );
}

/** Each text that is accepted as a plain time, with its milliseconds since 1970. */
async function plainTimes(zoneMinutes: number | undefined): Promise<readonly (readonly [string, number])[]> {
  const part = { column: "t", type: { type: "text" } } as const;
  const rows = await db.execute(
    `select t, plain_at from (select t, ${duckDbSql.plainInstant({ part, zoneMinutes })} as plain_at from times) where plain_at is not null`,
  );
  return rows.map(([text, at]) => [String(text), Number(at)]);
}

test.each([
  "2024-03-05T07:08:09.123Z",
  "2024-03-05T24:00:00.000Z",
  "2024-02-29T23:59:59Z",
  "1970-01-01T00:00:00Z",
  "2024-03-05 07:08:09.1234567Z",
  "2024-03-05T07:08:09.5",
])("S2.2, S17.3 %s with one or two wrong characters is read as by the core, or not at all", async (text) => {
  await slippedFrom(text);
  for (const zoneMinutes of [undefined, 90]) {
    const plain = await plainTimes(zoneMinutes);
    const inUtc = (text: string): string => (text.endsWith("Z") || zoneMinutes === undefined ? text : `${text}+01:30`);
    expect(plain.filter(([text, at]) => tryParseInstant(inUtc(text)) !== at)).toEqual([]);
    // Some replacements are valid times, such as another digit.
    if (text.endsWith("Z") || zoneMinutes !== undefined) expect(plain.length).toBeGreaterThan(100);
  }
});
