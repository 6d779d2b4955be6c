/** A database as the first release stored it, or with the current layout, in the schema `kept` of a private server. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Pool } from "pg";
import { afterAll, beforeAll, beforeEach } from "vitest";

import { openPrivateServer, type PrivateServer } from "../../src/store/embedded/private-server.ts";
import { findProcess } from "../../src/store/embedded/processes.ts";
import type { Store } from "../../src/store/store.ts";
import { sleep } from "../../src/store/yielder.ts";
import { childrenOf } from "../support/database-processes.ts";
import { copyEmptyDatabase } from "../support/new-database.ts";

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
export interface LoadedDatabase {
  readonly pool: Pool;
  readonly contents: DatabaseContents;
  /** Replaces the database by one of the current version. */
  readonly replaceByCurrent: () => Promise<void>;
  readonly version: () => Promise<number>;
  /** Kills the server like a power failure; the pool then has no connections. */
  readonly kill: () => Promise<void>;
  /** Starts the killed server, with a new pool. */
  readonly restart: () => Promise<void>;
}

/** Starts a server before the tests of the calling file, and removes it with its files afterwards. */
export function keptDatabase(): LoadedDatabase {
  let contents: DatabaseContents;
  let current: CurrentContents;
  let directory: string;
  let server: PrivateServer;
  let pool: Pool;
  const startServer = async (): Promise<void> => {
    server = await openPrivateServer(directory);
    pool = new Pool(server.connection).on("error", () => {});
  };
  const stop = async (): Promise<void> => {
    await pool.end();
    await server.close();
  };
  beforeAll(async () => {
    contents = (await readFixture("version-3")) as DatabaseContents;
    current = (await readFixture("version-9")) as CurrentContents;
    directory = await mkdtemp(join(tmpdir(), "ratebook-test-"));
    await copyEmptyDatabase(directory);
    await startServer();
  });
  beforeEach(() => makeKept(pool, contents));
  afterAll(async () => {
    await stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    get pool() {
      return pool;
    },
    get contents() {
      return contents;
    },
    replaceByCurrent: () => makeKept(pool, current),
    version: async () => {
      const { rows } = await pool.query<{ version: number }>("select max(version) as version from kept.migration");
      return Number(rows[0]?.version);
    },
    kill: async () => {
      const processes = [server.pid, ...childrenOf(server.pid)];
      process.kill(server.pid, "SIGKILL");
      while (processes.some((pid) => findProcess(pid)?.name === "postgres")) await sleep(10);
    },
    restart: async () => {
      await stop();
      await startServer();
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
