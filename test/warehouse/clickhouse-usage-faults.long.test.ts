/** Faults planted in usage queries of a ClickHouse table: the law of its cells catches each of them (S17.2, S17.3). */
import { describe, expect, test } from "vitest";

import { DAY_MS, formatDate } from "../../src/calendar/instant.ts";
import type { CellQuery } from "../../src/ledger/external-usage.ts";
import type { ClickHouse } from "../../src/warehouse/clickhouse/table.ts";
import { chDbOfTests } from "./chdb.ts";
import { clickHouseTables } from "./clickhouse-tables.ts";
import { SUMMING_BOOK } from "./faults.ts";
import type { Types } from "./law.ts";
import type { Row } from "./rows.ts";
import { usageAccount, cellsByCore, collectCells, FIRST, useRow } from "./usage-law.ts";

const chDb = chDbOfTests();

/** A query about March, sent in its last minute; ids are remembered for 45 days, those of `b` for 100. */
const [FROM, UNTIL] = [FIRST + 60, FIRST + 91] as const;
const UP_TO = UNTIL * DAY_MS - 60_000;
const query: CellQuery = {
  book: { ...SUMMING_BOOK, accounts: [], customers: [] },
  schemas: ["use"],
  accounts: [usageAccount("a"), usageAccount("b")],
  from: FROM,
  until: UNTIL,
  upTo: UP_TO,
  idHeldUntil: (id, at) => at + (id === "b" ? 100 : 45) * DAY_MS,
};

const noonOf = (number: number): string => `${formatDate((FIRST + number) * DAY_MS)}T12:00:00Z`;
const after = (at: number): string => new Date(at).toISOString();

/** A fault: rows that show it, the column types of their table, and the change. */
interface Fault {
  readonly rows: readonly Row[];
  readonly time?: string;
  readonly x?: string;
  /** A part of a statement, and its replacement. */
  readonly statement?: readonly [found: RegExp, instead: string];
  readonly query?: Partial<CellQuery>;
}

const INSTANTS = "DateTime64(3, 'UTC')";
const boundPattern = String.raw`fromUnixTimestamp64Milli\(toInt64\((\d+)\), 'UTC'\)`;

/** Faults that no example of a usage query and no fault of the law of tables shows. */
const FAULTS: Readonly<Record<string, Fault>> = {
  "a double that is rounded to a plain number": {
    rows: [useRow("1", noonOf(70), { x: "0.1234567" })],
    x: "Float64",
    statement: [/round\((\S+) \* toFloat64\(1e6\)\) \/ toFloat64\(1e6\) = \S+ and/g, "$1 = $1 and"],
  },
  "a window of the session's zone": {
    rows: [useRow("1", after(FROM * DAY_MS))],
    time: INSTANTS,
    statement: [
      new RegExp(`e."time" >= ${boundPattern}`, "g"),
      "toDateTime64(e.\"time\", 3) >= parseDateTimeBestEffort(formatDateTime(fromUnixTimestamp64Milli(toInt64($1)), '%Y-%m-%d %H:%i:%S', 'UTC'))",
    ],
  },
  "`>` for `>=` where the days of instants begin": {
    rows: [useRow("1", after(FROM * DAY_MS))],
    time: INSTANTS,
    statement: [new RegExp(`>= (${boundPattern})`, "g"), "> $1"],
  },
  "`<=` for `<` where instants end": {
    rows: [useRow("1", after(UP_TO + 1))],
    time: INSTANTS,
    statement: [new RegExp(`< (${boundPattern})`, "g"), "<= $1"],
  },
  "`<` for `<=` at the instant of the query": {
    rows: [useRow("1", after(UP_TO))],
    time: INSTANTS,
    query: { upTo: UP_TO - 1 },
  },
  "`>` for `>=` where the days of texts begin": {
    rows: [useRow("1", after(FROM * DAY_MS))],
    statement: [/ end >= (\d+), true\)/g, " end > $1, true)"],
  },
  "`<=` for `<` where texts end": {
    rows: [useRow("1", after(UP_TO + 1))],
    statement: [/ end < (\d+), true\)/g, " end <= $1, true)"],
  },
  "texts that are not plain excluded from the window": {
    rows: [useRow("1", `${formatDate(FROM * DAY_MS)}T12:00:00+05:30`)],
    statement: [/, true\)/g, ", false)"],
  },
  "rows of the days before are not read": {
    rows: [useRow("1", noonOf(40)), useRow("1", noonOf(70)), useRow("1", noonOf(71))],
    statement: [/global in \(/g, "global not in ("],
  },
  "rows before those that reserve an id are not read": {
    rows: [-60, -10, 80].map((number) => useRow("1", noonOf(number), { account: "b" })),
    statement: [
      new RegExp(String.raw`select toString\(count\(\)\)(?=[^]*"time" < '${formatDate((FROM - 98) * DAY_MS)}')`, "g"),
      "select '0'",
    ],
  },
  "the ids of all accounts are remembered as long as those of the first": {
    rows: [useRow("1", noonOf(10), { account: "b" }), useRow("1", noonOf(70), { account: "b" })],
    query: { idHeldUntil: (_, at) => query.idHeldUntil("a", at) },
  },
};

describe("the law catches", () => {
  test.each(Object.entries(FAULTS))("%s", async (_, { rows, time = "String", x = "String", ...fault }) => {
    const types: Types = { x, y: "String", time };
    const [found = /$ /, instead = ""] = fault.statement ?? [];
    let isPlanted = fault.statement === undefined;
    const faulty: ClickHouse = {
      query: async (request) => {
        const changedQuery = request.query.replace(found, instead);
        isPlanted ||= changedQuery !== request.query;
        return chDb.client.query({ ...request, query: changedQuery });
      },
    };
    await clickHouseTables(chDb.server.url)([rows], types, async ({ read: [read = []] }) => {
      const expected = query.accounts.map((each) => cellsByCore(query, each, read));
      expect(await collectCells(chDb.client, query)).toEqual(expected);
      // A row too many or too few may be detected by the number of rows, before there are cells.
      const wrong = await collectCells(faulty, { ...query, ...fault.query }).catch(String);
      expect(wrong).not.toEqual(expected);
      if (typeof wrong === "string") expect(wrong).toContain("the usage changed while it was being read");
      expect(isPlanted).toBe(true);
    });
  });
});
