/** A ClickHouse for the tests of a file, and a client of it. */
import type { ClickHouseClient } from "@clickhouse/client";
import { afterAll, afterEach, beforeAll } from "vitest";

import { type ChDbServer, startChDb } from "../clickhouse/chdb-server.ts";
import { clientOf } from "./clickhouse-tables.ts";

/** There while the tests run. */
export interface ChDbOfTests {
  readonly server: ChDbServer;
  readonly client: ClickHouseClient;
}

/** Starts a server before the tests of the file that calls it, and ends it after them; each test finds it answering in full. */
export function chDbOfTests(): ChDbOfTests {
  let server: ChDbServer;
  let client: ClickHouseClient;
  beforeAll(async () => {
    server = await startChDb();
    client = clientOf(server.url);
  });
  afterEach(() => {
    server.cutAfter = Infinity;
  });
  afterAll(async () => {
    await client.close();
    await server.close();
  });
  return {
    get server() {
      return server;
    },
    get client() {
      return client;
    },
  };
}
