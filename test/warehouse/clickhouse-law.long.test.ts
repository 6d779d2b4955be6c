/** The law of events in ClickHouse: its sums equal what the core would have counted (S17.2, S17.3). */
import type { ClickHouseClient } from "@clickhouse/client";
import { afterAll, beforeAll, describe, test } from "vitest";

import { type ChDbServer, startChDb } from "../clickhouse/chdb-server.ts";
import { clickHouseTables, tableTypes } from "./clickhouse-tables.ts";
import { expectCaught, type Planted } from "./faults.ts";
import { checkLaw } from "./law.ts";

let server: ChDbServer;
beforeAll(async () => {
  server = await startChDb();
});
afterAll(async () => server.close());

test("S17.2, S17.3 random books and tables: ClickHouse and the core give the same as the core alone", async () => {
  await checkLaw(clickHouseTables(server.url), { types: tableTypes, numRuns: 150 });
});

describe("the law catches", () => {
  const texts = { x: "Nullable(String)", y: "Nullable(String)", time: "Nullable(String)" };

  test.each<Planted>([
    ["an unchecked scale", /\{1,6\}/g, "{1,20}"],
    [
      "any of an id's events instead of the first",
      /order by at_ms asc nulls first, order_id/g,
      "order by at_ms desc, order_id",
    ],
    ["ids that repeat in another file", /having count\(\*\) > 1/g, "having count(*) > 2"],
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
    ["rows of an unknown account, which are not decided", /where not plain/g, "where not plain and id is null"],
    ["a sum that is beyond 64 bits", /then toInt128\((.*?)\) end\)/g, "then $1 end)"],
  ])("%s", async (fault, pattern, instead) => {
    const faulty = (client: ClickHouseClient): Pick<ClickHouseClient, "query"> => ({
      query: async (request) => client.query({ ...request, query: request.query.replace(pattern, instead) }),
    });
    await expectCaught(fault, texts, clickHouseTables(server.url), clickHouseTables(server.url, faulty));
  });
});
