/** The law of events in ClickHouse: its sums equal what the core would have counted (S17.2, S17.3). */
import type { ClickHouseClient } from "@clickhouse/client";
import { describe, test } from "vitest";

import { chDbOfTests } from "./chdb.ts";
import { clickHouseTables, tableTypes } from "./clickhouse-tables.ts";
import { COMMON_FAULTS, expectCaught, type Planted } from "./faults.ts";
import { checkLaw } from "./law.ts";

const chDb = chDbOfTests();

test("S17.2, S17.3 random books and tables: ClickHouse and the core give the same as the core alone", async () => {
  await checkLaw(clickHouseTables(chDb.server.url), { types: tableTypes, numRuns: 150 });
});

describe("the law catches", () => {
  const texts = { x: "Nullable(String)", y: "Nullable(String)", time: "Nullable(String)" };

  test.each<Planted>([
    ...COMMON_FAULTS,
    [
      "days of a local time zone",
      /intDiv\(at_ms, toInt64\(86400000\)\)/g,
      "toInt64(toInt32(toDate32(fromUnixTimestamp64Milli(at_ms))))",
    ],
    [
      "an offset that is dropped",
      /translate\((\S+), '012345678', '999999999'\)/g,
      "concat(left($1, 19), 'Z') <> '' or ''",
    ],
    ["a sum that is beyond 64 bits", /then toInt128\((.*?)\) end\)/g, "then $1 end)"],
  ])("%s", async (fault, pattern, instead) => {
    const faulty = (client: ClickHouseClient): Pick<ClickHouseClient, "query"> => ({
      query: async (request) => client.query({ ...request, query: request.query.replace(pattern, instead) }),
    });
    await expectCaught(fault, texts, clickHouseTables(chDb.server.url), clickHouseTables(chDb.server.url, faulty));
  });
});
