/** A ClickHouse server for the tests of a file, and a client. */
import type { ClickHouseClient } from "@clickhouse/client";
import { afterAll, afterEach, beforeAll } from "vitest";

import { type ChDbServer, startChDb } from "../clickhouse/chdb-server.ts";
import { createZonedClient } from "./clickhouse-tables.ts";

/** Available while the tests run. */
export interface ChDbOfTests {
  readonly server: ChDbServer;
  readonly client: ClickHouseClient;
}

/**
 * Starts a server before the tests of the calling file, and stops it afterwards; its faults are reset before each test.
 */
export function chDbOfTests(): ChDbOfTests {
  let server: ChDbServer;
  let client: ClickHouseClient;
  beforeAll(async () => {
    server = await startChDb();
    client = createZonedClient(server.url);
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
