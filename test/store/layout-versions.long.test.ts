/** A server is killed while a database of an earlier layout version is migrated. */
import type { QueryConfig } from "pg";
import { expect, test } from "vitest";

import type { ConnectionPool } from "../../src/store/postgres/client.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { parseRecord } from "../../src/store/record-json.ts";
import { keptDatabase, readState } from "./version-3-database.ts";

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
  [3, "as its invoices are replaced", /^drop table .*"invoice"/],
  [3, "as usage is made ready", /^insert into .*"usage_cells"/],
  [3, "as overage becomes a view", /^create view .*"overage"/],
  [3, "as it is committed", /^commit$/],
  [4, "as its invoices are replaced", /^drop table .*"invoice"/],
  [5, "as its invoices are replaced", /^drop table .*"invoice"/],
])(
  "a database of version %i whose server is killed %s is unchanged, and the next server migrates it",
  async (version, _, pattern) => {
    await database.bringTo(version);
    await expect(postgresStore(before(pattern, database.kill), { schema: "kept" })).rejects.toMatchObject({
      code: "ERR_STORE_UNAVAILABLE",
    });
    await database.restart();
    expect(await database.version()).toBe(version);
    const store = await postgresStore(database.pool, { schema: "kept" });
    expect(await readState(store)).toEqual(parseRecord(JSON.stringify(database.contents.state)));
  },
);
