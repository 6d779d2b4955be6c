/** A server is killed while a database of an earlier layout version is migrated. */
import { expect, test } from "vitest";

import type { ConnectionPool } from "../../src/store/postgres/client.ts";
import { postgresStore } from "../../src/store/postgres/postgres.ts";
import { parseRecord } from "../../src/store/record-json.ts";
import { keptDatabase, readState } from "./layout-database.ts";
import { poolThat } from "./test-databases.ts";

const database = keptDatabase();

/** A pool whose connections do something before a statement. */
const before = (pattern: RegExp, act: () => Promise<void>): ConnectionPool =>
  poolThat(database.pool, async (connection, statement) => {
    if (pattern.test(statement.text)) await act();
    return connection.query(statement);
  });

// All migrations are one transaction: a later start does the last one in the same way.
test.each([
  ["as usage is renamed", /^alter table .*"usage" rename/],
  ["as overage becomes a view", /^create or replace view .*"overage"/],
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
