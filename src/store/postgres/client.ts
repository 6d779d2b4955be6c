/**
 * What the adapter asks of a driver: a pool of `pg`, or a PGlite, by their shape alone.
 *
 * @module
 */
import { createHash } from "node:crypto";

import { failureOf } from "./failures.ts";

/** A statement with a name is prepared once for each connection; without one it may be several, without values. */
export interface SqlStatement {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
}

/** What a statement gives. */
export interface SqlResult {
  readonly rows: readonly unknown[];
}

/** One connection of a pool, while it is held. */
export interface PooledConnection {
  query(statement: SqlStatement): Promise<SqlResult>;
  /** A connection that breaks says so by an event, besides failing what is asked of it. */
  on?(event: "error", listener: () => void): unknown;
  off?(event: "error", listener: () => void): unknown;
  /** Gives it back; with an error it is thrown away. */
  release(error?: Error | boolean): void;
}

/** A pool of connections, such as `new Pool()` of `pg`. The pool stays its owner's: closing a store does not end it. */
export interface ConnectionPool {
  connect(): Promise<PooledConnection>;
}

/** One connection that queues what it is asked, such as a PGlite. */
export interface SingleConnection {
  query(text: string, values?: unknown[]): Promise<SqlResult>;
  transaction<Result>(
    work: (connection: { query(text: string, values?: unknown[]): Promise<SqlResult> }) => Promise<Result>,
  ): Promise<Result>;
}

/** A client that `postgresStore` takes. */
export type PostgresClient = ConnectionPool | SingleConnection;

/** A row whose columns are all asked for as text. */
export type Row = Readonly<Record<string, string | null>>;
/** Runs one statement. */
export type Run = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** How a client is used. */
export interface Connections {
  /** Runs one statement of its own. */
  readonly run: Run;
  /**
   * Runs statements as one transaction (READ COMMITTED); it is rolled back when `work` rejects.
   *
   * @param opening statements without values that come first
   * @throws a {@link StoreFailure} when the database fails, else what `work` throws
   */
  transaction<Result>(opening: readonly string[], work: (run: Run) => Promise<Result>): Promise<Result>;
}

/** The connections of a client. */
export function connectionsOf(client: PostgresClient): Connections {
  return "transaction" in client ? single(client) : pooled(client);
}

function single(client: SingleConnection): Connections {
  const runOn =
    (connection: Pick<SingleConnection, "query">): Run =>
    (text, values = []) =>
      translated(async () => (await connection.query(text, [...values])).rows as readonly Row[]);
  return {
    run: runOn(client),
    transaction: (opening, work) =>
      translated(() =>
        client.transaction(async (connection) => {
          for (const statement of [INDEXED, ...opening]) await connection.query(statement);
          return work(runOn(connection));
        }),
      ),
  };
}

function pooled(pool: ConnectionPool): Connections {
  const names = new Map<string, string>();
  const nameOf = (text: string): string => {
    let name = names.get(text);
    if (name === undefined)
      names.set(text, (name = `ratebook ${createHash("sha256").update(text).digest("base64url")}`));
    return name;
  };
  const runOn =
    (connection: PooledConnection): Run =>
    (text, values = []) =>
      translated(async () => {
        const statement = { name: nameOf(text), text, values: [...values] };
        return (await connection.query(statement)).rows as readonly Row[];
      });
  const held = async <Result>(work: (run: Run, connection: PooledConnection) => Promise<Result>): Promise<Result> => {
    const connection = await translated(() => pool.connect());
    // What is asked next fails with the reason; without a listener the event alone would end the process.
    connection.on?.("error", ignore);
    try {
      const result = await work(runOn(connection), connection);
      connection.off?.("error", ignore);
      connection.release();
      return result;
    } catch (error) {
      // A connection that may be broken, or inside a transaction, is not used again.
      connection.release(true);
      throw error;
    }
  };
  return {
    run: (text, values) => held((run) => run(text, values)),
    transaction: (opening, work) =>
      held(async (run, connection) => {
        const text = ["begin isolation level read committed", INDEXED, ...opening].join("; ");
        await translated(() => connection.query({ text }));
        const outcome = await attempt(run, work);
        if ("value" in outcome) await run("commit");
        return outcome;
      }).then((outcome) => {
        if ("error" in outcome) throw outcome.error;
        return outcome.value;
      }),
  };
}

/**
 * What a transaction looks for always has an index. The planner, which knows little of a table that has just been filled,
 * might read all of it instead.
 */
const INDEXED = "set local enable_seqscan = off";

function ignore(): void {}

/** What work gave or threw, the transaction being rolled back then, so that its connection can be used again. */
async function attempt<Result>(
  run: Run,
  work: (run: Run) => Promise<Result>,
): Promise<{ readonly value: Result } | { readonly error: unknown }> {
  try {
    return { value: await work(run) };
  } catch (error) {
    await run("rollback");
    return { error };
  }
}

async function translated<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw failureOf(error);
  }
}
