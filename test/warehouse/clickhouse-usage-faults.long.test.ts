/** Faults that are planted where a question for usage is asked of a table of ClickHouse: each is caught by the law of its cells (S17.2, S17.3). */
import { afterEach, describe, expect, test, vi } from "vitest";

import { DAY_MS, formatDate } from "../../src/calendar/instant.ts";
import type { CellQuery } from "../../src/ledger/usage-source.ts";
import type { ClickHouse } from "../../src/warehouse/clickhouse/connect.ts";
import { chDbOfTests } from "./chdb.ts";
import { clickHouseTables } from "./clickhouse-tables.ts";
import { SUMMING_BOOK } from "./faults.ts";
import type { Types } from "./law.ts";
import type { Row } from "./rows.ts";
import { account, cellsByCore, cellsOf, FIRST } from "./usage-law.ts";

/** What a fault makes of the name under which an id is remembered. */
const remembered = vi.hoisted(() => ({ as: (id: string) => id }));
vi.mock(import("../../src/ledger/preview/accepted-id-set.ts"), async (original) => {
  const module = await original();
  return {
    ...module,
    rememberIds: (...given) => {
      const seen = module.rememberIds(...given);
      return {
        has: (id, at) => seen.has(remembered.as(id), at),
        admit: (id, at, until) => seen.admit(remembered.as(id), at, until),
      };
    },
  };
});

const chDb = chDbOfTests();
afterEach(() => {
  remembered.as = (id) => id;
});

/** A question about March, asked in its last minute; ids are held for 45 days, those of `b` for 100. */
const [FROM, UNTIL] = [FIRST + 60, FIRST + 91] as const;
const UP_TO = UNTIL * DAY_MS - 60_000;
const query: CellQuery = {
  book: { ...SUMMING_BOOK, accounts: [], customers: [] },
  schemas: ["use"],
  accounts: [account("a", "ü𝒳-9"), account("b")],
  from: FROM,
  until: UNTIL,
  upTo: UP_TO,
  idHeldUntil: (id, at) => at + (id === "b" ? 100 : 45) * DAY_MS,
};

const row = (id: string, time: string, more: Partial<Row> = {}): Row => ({
  schema: "use",
  account: "a",
  x: "1",
  y: "1",
  d: "eu",
  id,
  time,
  ...more,
});
const day = (number: number): string => `${formatDate((FIRST + number) * DAY_MS)}T12:00:00Z`;
const after = (at: number): string => new Date(at).toISOString();

/** A fault: rows that show it, how their table is typed, and what it changes. */
interface Fault {
  readonly rows: readonly Row[];
  readonly time?: string;
  readonly x?: string;
  /** What is in a statement, and what would stand there in its place. */
  readonly statement?: readonly [found: RegExp, instead: string];
  readonly query?: Partial<CellQuery>;
  readonly remembers?: (id: string) => string;
}

const INSTANTS = "DateTime64(3, 'UTC')";
const bound = String.raw`fromUnixTimestamp64Milli\(toInt64\((\d+)\), 'UTC'\)`;

const FAULTS: Readonly<Record<string, Fault>> = {
  "an unchecked scale": {
    rows: [row("1", day(70), { x: "0.1234567" })],
    statement: [/\{1,6\}/g, "{1,20}"],
  },
  "a double that is rounded to a plain number": {
    rows: [row("1", day(70), { x: "0.1234567" })],
    x: "Float64",
    statement: [/round\((\S+) \* toFloat64\(1e6\)\) \/ toFloat64\(1e6\) = \S+ and/g, "$1 = $1 and"],
  },
  "a sum that is beyond 64 bits": {
    rows: Array.from({ length: 12 }, (_, n) => row(String(n), day(70), { x: "999999999997" })),
    statement: [/then toInt128\((.*?)\) end\)/g, "then $1 end)"],
  },
  "days of the session's zone": {
    rows: [row("1", after(FROM * DAY_MS + 10 * DAY_MS))],
    statement: [/intDiv\(at_ms, toInt64\(86400000\)\)/g, "toInt64(toInt32(toDate32(fromUnixTimestamp64Milli(at_ms))))"],
  },
  "a window of the session's zone": {
    rows: [row("1", after(FROM * DAY_MS))],
    time: INSTANTS,
    statement: [
      new RegExp(`e."time" >= ${bound}`, "g"),
      "toDateTime64(e.\"time\", 3) >= parseDateTimeBestEffort(formatDateTime(fromUnixTimestamp64Milli(toInt64($1)), '%Y-%m-%d %H:%i:%S', 'UTC'))",
    ],
  },
  "`>` for `>=` where the days of instants begin": {
    rows: [row("1", after(FROM * DAY_MS))],
    time: INSTANTS,
    statement: [new RegExp(`>= (${bound})`, "g"), "> $1"],
  },
  "`<=` for `<` where instants end": {
    rows: [row("1", after(UP_TO + 1))],
    time: INSTANTS,
    statement: [new RegExp(`< (${bound})`, "g"), "<= $1"],
  },
  "`<` for `<=` at the instant of the question": {
    rows: [row("1", after(UP_TO))],
    time: INSTANTS,
    query: { upTo: UP_TO - 1 },
  },
  "`>` for `>=` where the days of texts begin": {
    rows: [row("1", after(FROM * DAY_MS))],
    statement: [/ end >= (\d+), true\)/g, " end > $1, true)"],
  },
  "`<=` for `<` where texts end": {
    rows: [row("1", after(UP_TO + 1))],
    statement: [/ end < (\d+), true\)/g, " end <= $1, true)"],
  },
  "texts by the date that they begin with": {
    rows: [row("1", `${formatDate((FROM - 1) * DAY_MS)}T23:30:00-01:00`)],
    statement: [/e\."time" >= '\d{4}-\d\d-\d\d'/g, `e."time" >= '${formatDate(FROM * DAY_MS)}'`],
  },
  "texts that are not plain left out of the window": {
    rows: [row("1", `${formatDate(FROM * DAY_MS)}T12:00:00+05:30`)],
    statement: [/, true\)/g, ", false)"],
  },
  "any of an id's rows in place of the first": {
    rows: [row("1", day(70), { x: "5" }), row("1", day(71), { x: "7" })],
    statement: [/order by at_ms asc nulls first, order_id/g, "order by at_ms desc, order_id"],
  },
  "an id that comes again is summed": {
    rows: [row("1", day(70)), row("1", day(71))],
    statement: [/having count\(\*\) > 1/g, "having count(*) > 2"],
  },
  "ids of the days before are not looked at": {
    rows: [row("1", day(40)), row("1", day(70))],
    statement: [/having count\(\*\) > 1/g, "having sum(is_asked) > 1"],
  },
  "rows of the days before are not read": {
    rows: [row("1", day(40)), row("1", day(70)), row("1", day(71))],
    statement: [/global in \(/g, "global not in ("],
  },
  "rows before those that hold an id are not looked for": {
    rows: [-60, -10, 80].map((number) => row("1", day(number), { account: "b" })),
    statement: [
      new RegExp(String.raw`select toString\(count\(\)\)(?=[^]*"time" < '${formatDate((FROM - 98) * DAY_MS)}')`, "g"),
      "select '0'",
    ],
  },
  "the time for which ids are held is ignored": {
    rows: [row("1", day(40)), row("1", day(70))],
    query: { idHeldUntil: (_, at) => at },
  },
  "ids are held for good": {
    rows: [row("1", day(10)), row("1", day(70))],
    query: { idHeldUntil: () => Infinity },
  },
  "the ids of all accounts are held as long as those of the first": {
    rows: [row("1", day(10), { account: "b" }), row("1", day(70), { account: "b" })],
    query: { idHeldUntil: (_, at) => query.idHeldUntil("a", at) },
  },
  "ids once per table and not per account": {
    rows: [row("1", day(70)), row("1", day(71), { account: "b" })],
    remembers: (id) => id.replace(/^\d+ /, ""),
  },
  "an alias that is not asked for": {
    rows: [row("1", day(70), { account: "ü𝒳-9" })],
    statement: [/\["ü𝒳-9"\]/g, '["b"]'],
  },
  "rows of another schema": {
    rows: [row("1", day(70)), row("2", day(70), { schema: "use-of-others" })],
    statement: [/e\."schema" (?:in \('use'\)|= 'use')/g, `startsWith(e."schema", 'use')`],
  },
  "rows that are not plain, which nobody decides": {
    rows: [row("1", day(70), { x: "1e3" }), row("2", day(70))],
    statement: [/where not plain/g, "where not plain and id is null"],
  },
};

describe("the law catches", () => {
  test.each(Object.entries(FAULTS))("%s", async (_, { rows, time = "String", x = "String", ...fault }) => {
    const types: Types = { x, y: "String", time };
    const [found = /$ /, instead = ""] = fault.statement ?? [];
    let isPlanted = fault.statement === undefined;
    const faulty: ClickHouse = {
      query: async (given) => {
        const changed = given.query.replace(found, instead);
        isPlanted ||= changed !== given.query;
        return chDb.client.query({ ...given, query: changed });
      },
    };
    await clickHouseTables(chDb.server.url)([rows], types, async ({ read: [read = []] }) => {
      const expected = query.accounts.map((asked) => cellsByCore(query, asked, read));
      expect(await cellsOf(chDb.client, query)).toEqual(expected);
      if (fault.remembers !== undefined) remembered.as = fault.remembers;
      // A row too many or too few may be told by their number, before there are cells.
      const wrong = await cellsOf(faulty, { ...query, ...fault.query }).catch(String);
      expect(wrong).not.toEqual(expected);
      if (typeof wrong === "string") expect(wrong).toContain("the usage changed while it was read");
      expect(isPlanted).toBe(true);
    });
  });
});
