/** A server is killed while a database of an earlier layout version is migrated. */
import type { QueryConfig } from "pg";
import { expect, test } from "vitest";

import type { ConnectionPool } from "../../src/store/postgres/client.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { parseRecord } from "../../src/store/record-json.ts";
import { keptDatabase, readState } from "./layout-database.ts";

const database = keptDatabase();

/** A pool whose connections do something before a statement. */
function before(pattern: RegExp, act: () => Promise<void>): ConnectionPool {
  const { pool } = database;
  return {
    async connect() {
      const connection = await pool.connect();
      return {
        async query(statement: QueryConfig) {
          if (pattern.test(statement.text)) await act();
          return connection.query(statement);
        },
        on: (event, listener) => connection.on(event, listener),
        off: (event, listener) => connection.off(event, listener),
        release: (error) => connection.release(error),
      };
    },
  };
}

// All migrations are one transaction: a later start does the last one in the same way.
test.each([
  ["as usage is renamed", /^alter table .*"usage" rename/],
  ["as overage becomes a view", /^create view .*"overage"/],
  ["as its invoices are replaced", /^drop table .*"invoice"/],
  ["as it is committed", /^commit$/],
])(
  "a database of the first release whose server is killed %s is unchanged, and the next server migrates it",
  async (_, pattern) => {
    await expect(postgresStore(before(pattern, database.kill), { schema: "kept" })).rejects.toMatchObject({
      code: "ERR_STORE_UNAVAILABLE",
    });
    await database.restart();
    expect(await database.version()).toBe(3);
    const store = await postgresStore(database.pool, { schema: "kept" });
    expect(await readState(store)).toEqual(parseRecord(JSON.stringify(database.contents.state)));
  },
);
