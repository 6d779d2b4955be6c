/**
 * The interface that the adapter needs of a driver: a pool of `pg` and a PGlite both have its shape.
 *
 * @module
 */
import { createHash } from "node:crypto";

import { hasCode, type RatebookError } from "../../errors.ts";
import { sleep } from "../sleep.ts";
import { translateFailure, LostRace } from "./failures.ts";

/** A statement with a name is prepared once for each connection; without one it may be several, without values. */
export interface SqlStatement {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
  /** For how many milliseconds `pg` waits for the answer: a server that is frozen breaks no connection. */
  readonly query_timeout?: number;
}

/** The result of a statement. */
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
   * @param opening statements without values that come first, in one round trip with the beginning
   * @throws a {@link StoreFailure} when the database fails, else what `work` throws
   */
  transaction<Result>(opening: readonly string[], work: InTransaction<Result>): Promise<Result>;
}

/** A transaction that is open. */
export interface OpenTransaction {
  readonly run: Run;
  /** The first row of the last of the opening statements. */
  readonly opened: Row;
  /** Has a statement without values done last, in one round trip with the commit. */
  readonly atCommit: (statement: string) => void;
}

/** The work of a transaction. */
export type InTransaction<Result> = (transaction: OpenTransaction) => Promise<Result>;

/** For how long a statement is waited for: then its connection is thrown away, and the database counts as away. */
export const ANSWER_MS = 10_000;

/**
 * The connections of a client.
 *
 * @param answerMs for how long a statement is waited for, where the client can be told
 */
export function toConnections(client: PostgresClient, answerMs: number): Connections {
  return "transaction" in client ? overSingleConnection(client) : overPool(client, answerMs);
}

function overSingleConnection(client: SingleConnection): Connections {
  const runOn =
    (connection: Pick<SingleConnection, "query">): Run =>
    (text, values = []) =>
      translateErrors(async () => (await connection.query(text, [...values])).rows as readonly Row[]);
  return {
    run: runOn(client),
    transaction: (opening, work) =>
      translateErrors(() =>
        client.transaction(async (connection) => {
          let last: SqlResult | undefined;
          for (const statement of [...PLANNING, ...opening]) last = await connection.query(statement);
          const closing: string[] = [];
          const atCommit = (statement: string): void => void closing.push(statement);
          const result = await work({ run: runOn(connection), opened: firstRow(last), atCommit });
          for (const statement of closing) await connection.query(statement);
          return result;
        }),
      ),
  };
}

function overPool(pool: ConnectionPool, query_timeout: number): Connections {
  const names = new Map<string, string>();
  const statementName = (text: string): string => {
    let name = names.get(text);
    if (name === undefined)
      names.set(text, (name = `ratebook ${createHash("sha256").update(text).digest("base64url")}`));
    return name;
  };
  const runOn =
    (connection: PooledConnection): Run =>
    (text, values = []) =>
      translateErrors(async () => {
        const statement = { name: statementName(text), text, values: [...values], query_timeout };
        return (await connection.query(statement)).rows as readonly Row[];
      });
  const withConnection: WithConnection = async (work) => {
    const connection = await translateErrors(() => pool.connect());
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
    run: (text, values) => withConnection((run) => run(text, values)),
    transaction: (opening, work) => pooledTransaction({ withConnection, query_timeout }, opening, work),
  };
}

type WithConnection = <Result>(work: (run: Run, connection: PooledConnection) => Promise<Result>) => Promise<Result>;

async function pooledTransaction<Result>(
  { withConnection, query_timeout }: { readonly withConnection: WithConnection; readonly query_timeout: number },
  opening: readonly string[],
  work: InTransaction<Result>,
): Promise<Result> {
  let decided: { readonly value: Result; readonly name: Row } | undefined;
  try {
    const outcome = await withConnection(async (run, connection) => {
      const text = [BEGIN, ...PLANNING, TRANSACTION_NAME, ...opening].join("; ");
      let name: Row = {};
      const closing: string[] = [];
      const atCommit = (statement: string): void => void closing.push(statement);
      const outcome = await attempt(run, async () => {
        const opened = toResults(await translateErrors(() => connection.query({ text, query_timeout })));
        name = firstRow(opened[1 + PLANNING.length]);
        return work({ run, opened: firstRow(opened.at(-1)), atCommit });
      });
      if ("error" in outcome) return outcome;
      decided = { value: outcome.value, name };
      if (closing.length === 0) await run("commit");
      else await translateErrors(() => connection.query({ text: [...closing, "commit"].join("; "), query_timeout }));
      return outcome;
    });
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  } catch (error) {
    // The connection broke before the commit was answered.
    if (decided === undefined || !hasCode(error, "ERR_STORE_UNAVAILABLE")) throw error;
    await resolveLostCommit(withConnection, decided.name, error);
    return decided.value;
  }
}

const BEGIN = "begin isolation level read committed";

/**
 * What a transaction looks for always has an index, and its statements are planned once. The planner, which knows little
 * of a table that has just been filled, might read all of it instead, and to plan for the values of a statement it would
 * take apart each list of a thousand of them. Nothing is compiled: while scans are off, versions before 18 add ten thousand
 * million to the cost of one that cannot be avoided, as of a table of one row, and compile what costs as much.
 */
const PLANNING = [
  "set local enable_seqscan = off",
  "set local plan_cache_mode = force_generic_plan",
  "set local jit = off",
];

/**
 * Since when a server gives numbers to transactions without a break. A process of it that crashes makes it recover, without
 * a new start: numbers whose transactions left no trace on the disk are given again. Its statistics begin anew then.
 */
const SINCE = "concat_ws(' ', pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time())";

/** The lasting name of a transaction: its number, and the time since which the server gives numbers. */
const TRANSACTION_NAME = `select pg_current_xact_id()::text as id, ${SINCE} as since`;

/** The results of several statements: drivers answer a list then. */
function toResults(answer: SqlResult | readonly SqlResult[]): readonly SqlResult[] {
  return Array.isArray(answer) ? (answer as readonly SqlResult[]) : [answer as SqlResult];
}

function firstRow(result: SqlResult | undefined): Row {
  return (result?.rows[0] ?? {}) as Row;
}

/**
 * Asks what became of a transaction whose commit was not answered: nothing to do when it is committed.
 *
 * @throws a {@link LostRace} when it is not committed; what the commit threw when nobody knows, since the server was
 * started again, has recovered from a crash, or does not answer
 */
async function resolveLostCommit(withConnection: WithConnection, name: Row, lostCommit: RatebookError): Promise<void> {
  const until = performance.now() + SETTLE_MS;
  for (let left = SETTLE_MS; left > 0; left = until - performance.now()) {
    const text = `select pg_xact_status($1::text::xid8) as status, ${SINCE} as since`;
    const answer = withConnection((run) => run(text, [name["id"]])).catch(() => []);
    // A server that is frozen answers nothing, and no new connection either.
    const [row] = await Promise.race([answer, sleep(left).then(() => [])]);
    if (row !== undefined && row["since"] !== name["since"]) throw lostCommit;
    if (row?.["status"] === "committed") return;
    if (row?.["status"] === "aborted") throw new LostRace(lostCommit.message, { cause: lostCommit });
    await sleep(SETTLE_POLL_MS);
  }
  throw lostCommit;
}

/** For how long the outcome of a commit is asked for, and how often. */
const SETTLE_MS = 4000;
const SETTLE_POLL_MS = 50;

function ignore(): void {}

/** What work gave or threw, the transaction being rolled back then, so that its connection can be used again. */
async function attempt<Result>(
  run: Run,
  work: () => Promise<Result>,
): Promise<{ readonly value: Result } | { readonly error: unknown }> {
  try {
    return { value: await work() };
  } catch (error) {
    // A connection that does not answer would not answer a rollback either.
    if (hasCode(error, "ERR_STORE_UNAVAILABLE")) throw error;
    await run("rollback");
    return { error };
  }
}

async function translateErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw translateFailure(error);
  }
}
