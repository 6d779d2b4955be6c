/** A database as the first release stored it, or with the current layout, in the schema `kept` of a private server. */
import { readFile } from "node:fs/promises";

import type { Pool } from "pg";
import { beforeAll, beforeEach } from "vitest";

import type { Store } from "../../src/store/store.ts";
import { type PrivateDatabase, privateDatabase } from "./test-databases.ts";

/**
 * A database of layout version 3: the statements that created it, its rows as JSON, and the results of its reads. Two
 * accounts sent 54 events, some similar (which have forms) and some not; one was undone, four consumed feature credits
 * of which there were two, one cycle was invoiced.
 */
interface DatabaseContents {
  readonly statements: readonly string[];
  readonly eventNumber: number;
  readonly rows: Readonly<Record<string, readonly string[]>>;
  readonly state: unknown;
}

/** A database of the current version: the statements that created it, and the rows of version 3 after their migration. */
type CurrentContents = Pick<DatabaseContents, "statements" | "eventNumber" | "rows">;

/**
 * Data of releases before credits had kinds, for a database of version 3 and as a snapshot of a memory store.
 *
 * Account `less` has 2.00 of usage, a discount of 5.00 in advance (an invoice below zero), a credit of 1.00 created by
 * command, also with the purpose "invoice below zero", and two feature credit entries purchased with idempotency keys,
 * one of them changed since. Account `moved` changed from plan "refund", which grants 3.00 by a card of that name, to
 * plan "later".
 */
export interface WithoutCreditKinds {
  readonly rows: Readonly<Record<"account" | "event" | "entry" | "credit" | "invoice", readonly string[]>>;
  readonly snapshot: string;
}

/** Reads {@link WithoutCreditKinds}. */
export async function readWithoutCreditKinds(): Promise<WithoutCreditKinds> {
  return (await readFixture("without-credit-kinds")) as WithoutCreditKinds;
}

/** Available while the tests run; every test begins with the database of version 3. */
export interface LoadedDatabase extends Pick<PrivateDatabase, "pool" | "kill" | "restart"> {
  readonly contents: DatabaseContents;
  /** Replaces the database by one of the current version. */
  readonly replaceByCurrent: () => Promise<void>;
  readonly version: () => Promise<number>;
}

/** Starts a server before the tests of the calling file, and removes it with its files afterwards. */
export function keptDatabase(): LoadedDatabase {
  const database = privateDatabase();
  let contents: DatabaseContents;
  beforeAll(async () => {
    contents = (await readFixture("version-3")) as DatabaseContents;
  });
  beforeEach(() => makeKept(database.pool, contents));
  return {
    get pool() {
      return database.pool;
    },
    get contents() {
      return contents;
    },
    kill: database.kill,
    restart: database.restart,
    replaceByCurrent: async () => makeKept(database.pool, (await readFixture("version-9")) as CurrentContents),
    version: async () => {
      const text = "select max(version) as version from kept.migration";
      return Number((await database.pool.query<{ version: number }>(text)).rows[0]?.version);
    },
  };
}

async function readFixture(name: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(`${name}.json`, import.meta.url), "utf8")) as unknown;
}

/** Inserts rows that are JSON texts. */
export async function insertRows(pool: Pool, rows: Readonly<Record<string, readonly string[]>>): Promise<void> {
  for (const [table, bodies] of Object.entries(rows)) {
    for (const body of bodies) {
      await pool.query(`insert into kept.${table} select * from json_populate_record(null::kept.${table}, $1)`, [body]);
    }
  }
}

async function makeKept(pool: Pool, { statements, rows, eventNumber }: CurrentContents): Promise<void> {
  await pool.query("drop schema if exists kept cascade");
  for (const statement of statements) await pool.query(statement);
  await pool.query("delete from kept.configuration");
  await insertRows(pool, rows);
  await pool.query("select setval('kept.event_number', $1)", [eventNumber]);
}

/** Everything that a store has for the accounts of the database. */
export async function readState({ read }: Store): Promise<unknown> {
  const page = { limit: 1_000 };
  const days = [19_800, 20_000] as const;
  const sortCells = <Cell extends { accountId: string; meterOrFeatureId: string; day: number }>(
    cells: readonly Cell[],
  ): readonly Cell[] => {
    const key = ({ accountId, meterOrFeatureId, day }: Cell): string =>
      JSON.stringify([accountId, meterOrFeatureId, day]);
    return cells.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  };
  return {
    accounts: await read.accountList({}, page),
    events: await read.events({}, page),
    usage: sortCells(await read.usage(["a", "b"], ...days)),
    overage: sortCells(await read.overage(["a", "b"], ...days)),
    entries: await read.entries(["a", "b"]),
    credits: await read.credits(["a", "b"]),
    invoices: await read.invoices(["a", "b"], Number.NEGATIVE_INFINITY),
    overageEvents: (await read.eventsWithOverage("a", "tokens", ...days)).map(({ eventId }) => eventId),
  };
}
