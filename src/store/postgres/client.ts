/** The driver interface of the adapter, which both a pool of `pg` and a PGlite have, and the errors of drivers. */
import { createHash } from "node:crypto";

import { RatebookError, hasCode } from "../../errors.ts";
import { idCollisionError } from "../../ledger/refusals.ts";
import { DIGITS_MAX } from "../../numbers/decimal.ts";
import { sleep } from "../yielder.ts";
import { EXACT_SUM_CONSTRAINT } from "./query.ts";

/**
 * A statement with a name is prepared once per connection; one without a name may contain several statements, without
 * parameters.
 */
interface SqlStatement {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
  /** Timeout in milliseconds, enforced by `pg`: a frozen server breaks no connection. */
  readonly query_timeout?: number;
}

/** The result of a statement. */
interface SqlResult {
  readonly rows: readonly unknown[];
}

/** One connection of a pool while it is in use. */
export interface PooledConnection {
  query(statement: SqlStatement): Promise<SqlResult>;
  /** A broken connection emits this event in addition to rejecting queries. */
  on?(event: "error", listener: () => void): unknown;
  off?(event: "error", listener: () => void): unknown;
  /** Returns it to the pool; with an error it is closed. */
  release(error?: Error | boolean): void;
}

/** A pool of connections, such as `new Pool()` of `pg`. The caller owns it: closing a store does not end it. */
export interface ConnectionPool {
  connect(): Promise<PooledConnection>;
}

/** One connection with its own queue, such as a PGlite. */
export interface SingleConnection {
  query(text: string, values?: unknown[]): Promise<SqlResult>;
  transaction<Result>(
    work: (connection: { query(text: string, values?: unknown[]): Promise<SqlResult> }) => Promise<Result>,
  ): Promise<Result>;
}

/** A client for `postgresStore`. */
export type PostgresClient = ConnectionPool | SingleConnection;

/** A row with all columns as text. */
export type Row = Readonly<Record<string, string | null>>;
/** Runs one statement. */
export type Run = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** Runs statements and transactions on a client. */
export interface Connections {
  /** Runs a single statement. */
  readonly run: Run;
  /**
   * Runs statements as one transaction (READ COMMITTED), rolled back if `work` rejects.
   *
   * @param openingStatements statements without parameters, sent in one round trip with the start
   * @throws a {@link StoreFailure} if the database fails, else what `work` throws
   */
  transaction<Result>(openingStatements: readonly string[], work: InTransaction<Result>): Promise<Result>;
}

/** A transaction in progress. */
export interface OpenTransaction {
  readonly run: Run;
  /** The first row of the last of the opening statements. */
  readonly openingRow: Row;
  /** Adds a statement without parameters, sent in one round trip with the commit. */
  readonly atCommit: (statement: string) => void;
}

/** The work of a transaction. */
type InTransaction<Result> = (transaction: OpenTransaction) => Promise<Result>;

/** Timeout for a statement: after it the connection is closed and the database counts as unavailable. */
export const ANSWER_MS = 10_000;

/** Wraps a client. @param answerMs timeout for a statement, if the client supports one */
export function toConnections(client: PostgresClient, answerMs: number): Connections {
  return "transaction" in client ? createSingleConnections(client) : createPooledConnections(client, answerMs);
}

function createSingleConnections(client: SingleConnection): Connections {
  const runOn =
    (connection: Pick<SingleConnection, "query">): Run =>
    (text, values = []) =>
      translateErrors(async () => (await connection.query(text, [...values])).rows as readonly Row[]);
  return {
    run: runOn(client),
    transaction: (openingStatements, work) =>
      translateErrors(() =>
        client.transaction(async (connection) => {
          let last: SqlResult | undefined;
          for (const statement of [...PLANNING, ...openingStatements]) last = await connection.query(statement);
          const closingStatements: string[] = [];
          const atCommit = (statement: string): void => void closingStatements.push(statement);
          const result = await work({ run: runOn(connection), openingRow: firstRow(last), atCommit });
          for (const statement of closingStatements) await connection.query(statement);
          return result;
        }),
      ),
  };
}

function createPooledConnections(pool: ConnectionPool, query_timeout: number): Connections {
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
    // The next query fails with the reason; without a listener the event would end the process.
    connection.on?.("error", ignore);
    try {
      const result = await work(runOn(connection), connection);
      connection.off?.("error", ignore);
      connection.release();
      return result;
    } catch (error) {
      // A connection that may be broken, or in a transaction, is not reused.
      connection.release(true);
      throw error;
    }
  };
  return {
    run: (text, values) => withConnection((run) => run(text, values)),
    transaction: (openingStatements, work) =>
      pooledTransaction({ withConnection, query_timeout }, openingStatements, work),
  };
}

type WithConnection = <Result>(work: (run: Run, connection: PooledConnection) => Promise<Result>) => Promise<Result>;

async function pooledTransaction<Result>(
  { withConnection, query_timeout }: { readonly withConnection: WithConnection; readonly query_timeout: number },
  openingStatements: readonly string[],
  work: InTransaction<Result>,
): Promise<Result> {
  let decision: { readonly value: Result; readonly name: Row } | undefined;
  try {
    const outcome = await withConnection(async (run, connection) => {
      const text = [BEGIN, ...PLANNING, TRANSACTION_NAME, ...openingStatements].join("; ");
      let name: Row = {};
      const closingStatements: string[] = [];
      const atCommit = (statement: string): void => void closingStatements.push(statement);
      const outcome = await attempt(run, async () => {
        const results = toResults(await translateErrors(() => connection.query({ text, query_timeout })));
        name = firstRow(results[1 + PLANNING.length]);
        return work({ run, openingRow: firstRow(results.at(-1)), atCommit });
      });
      if ("error" in outcome) return outcome;
      decision = { value: outcome.value, name };
      if (closingStatements.length === 0) await run("commit");
      else
        await translateErrors(() =>
          connection.query({ text: [...closingStatements, "commit"].join("; "), query_timeout }),
        );
      return outcome;
    });
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  } catch (error) {
    // The connection broke before the commit was answered.
    if (decision === undefined || !hasCode(error, "ERR_STORE_UNAVAILABLE")) throw error;
    await resolveLostCommit(withConnection, decision.name, error);
    return decision.value;
  }
}

const BEGIN = "begin isolation level read committed";

/**
 * Every query of a transaction has an index, and statements are planned once. Otherwise the planner, which knows little
 * about a table that has just been filled, might scan it, and to plan for specific values it would unpack every list of
 * a thousand of them. JIT is off: with scans disabled, versions before 18 add ten billion to the cost of an unavoidable
 * scan, such as of a one-row table, and JIT-compile whatever costs that much.
 */
const PLANNING = [
  "set local enable_seqscan = off",
  "set local plan_cache_mode = force_generic_plan",
  "set local jit = off",
];

/**
 * Since when a server numbers transactions without interruption. If one of its processes crashes, it recovers without a
 * restart and reuses numbers of transactions that left no trace on disk; its statistics are reset then.
 */
const SINCE = "concat_ws(' ', pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time())";

/** A unique name of a transaction: its number, and the time since which the server numbers them. */
const TRANSACTION_NAME = `select pg_current_xact_id()::text as id, ${SINCE} as since`;

/** The results of several statements, which drivers return as a list. */
function toResults(answer: SqlResult | readonly SqlResult[]): readonly SqlResult[] {
  return Array.isArray(answer) ? (answer as readonly SqlResult[]) : [answer as SqlResult];
}

function firstRow(result: SqlResult | undefined): Row {
  return (result?.rows[0] ?? {}) as Row;
}

/**
 * Checks the outcome of a transaction whose commit was not answered; returns if it is committed.
 *
 * @throws a {@link LostRaceError} if it is not committed; the error of the commit if the outcome is unknown, because the
 * server was restarted, has recovered from a crash, or does not answer
 */
async function resolveLostCommit(withConnection: WithConnection, name: Row, lostCommit: RatebookError): Promise<void> {
  const until = performance.now() + SETTLE_MS;
  for (let remainingMs = SETTLE_MS; remainingMs > 0; remainingMs = until - performance.now()) {
    const text = `select pg_xact_status($1::text::xid8) as status, ${SINCE} as since`;
    const answer = withConnection((run) => run(text, [name["id"]])).catch(() => []);
    // A frozen server answers neither this nor a new connection.
    const [row] = await Promise.race([answer, sleep(remainingMs).then(() => [])]);
    if (row !== undefined && row["since"] !== name["since"]) throw lostCommit;
    if (row?.["status"] === "committed") return;
    if (row?.["status"] === "aborted") throw new LostRaceError(lostCommit.message, { cause: lostCommit });
    await sleep(SETTLE_POLL_MS);
  }
  throw lostCommit;
}

/** How long, and how often, the outcome of a commit is checked. */
const SETTLE_MS = 4000;
const SETTLE_POLL_MS = 50;

function ignore(): void {}

/** The result or error of the work; on error the transaction is rolled back, so that its connection can be reused. */
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

/** Another writer came first: everything was rolled back, and the work must be repeated. */
export class LostRaceError extends Error {
  override readonly name: string = "LostRaceError";
}

/** Maximum number of attempts after lost races. */
const ATTEMPTS_MAX = 20;

/**
 * Repeats work until it loses no race, with a short pause after each lost one.
 *
 * @param work called with the number of the attempt, from 1
 * @throws {RatebookError} ERR_STORE_CONFLICT after too many attempts
 */
export async function retryLostRaces<Result>(work: (attempt: number) => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (error) {
      if (!(error instanceof LostRaceError)) throw error;
      if (attempt === ATTEMPTS_MAX) {
        const message = `other writers committed first ${ATTEMPTS_MAX} times; nothing was written`;
        throw new RatebookError("ERR_STORE_CONFLICT", message, {}, { cause: error });
      }
      await sleep(Math.random() * 2 * attempt);
    }
  }
}

/** Serialization failure, deadlock, and a unique key that another writer has just taken. */
const LOST_RACES = new Set(["40001", "40P01", "23505"]);
/** The primary key of events. A violation means that a generated id was repeated, so that retrying would not help. */
const EVENT_KEY_CONSTRAINT = "event_pkey";
/**
 * Failed or terminated connections; a server that is starting or stopping, is read-only, or has no more connections,
 * memory or disk space; and timeouts.
 */
const UNAVAILABLE =
  /^(?:08...|25006|25P0[34]|53...|55P03|57014|57P0[1-5]|58030|E(?:CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NOTFOUND|AI_AGAIN))$/;
/** Messages of `pg` without a code. */
const TERMINATED =
  /Connection terminated|not queryable|connection error|timeout exceeded when trying to connect|read timeout/i;
/** The socket file does not exist. Without `syscall`, the error comes from elsewhere. */
const NO_SOCKET = "ENOENT";

/** Translates an error of a driver; errors that do not come from the database are returned unchanged. */
function translateFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof RatebookError) return error;
  const { code = "", constraint, detail = "" } = error as Partial<Record<"code" | "constraint" | "detail", string>>;
  if (code === "23505" && constraint === EVENT_KEY_CONSTRAINT)
    return idCollisionError("event", parseKeyDetail(detail), "reference id");
  if (LOST_RACES.has(code)) return new LostRaceError(error.message, { cause: error });
  if (code === "23514" && constraint === EXACT_SUM_CONSTRAINT) {
    const message = `a sum of usage or overage needs more than ${DIGITS_MAX} significant digits`;
    return new RatebookError("ERR_ARITHMETIC", message, {}, { cause: error });
  }
  const isUnreachable =
    UNAVAILABLE.test(code) || TERMINATED.test(error.message) || (code === NO_SOCKET && "syscall" in error);
  if (!isUnreachable) return error;
  const message = `the database cannot be reached: ${describeUnreachable(error.message).slice(0, 200)}`;
  return new RatebookError("ERR_STORE_UNAVAILABLE", message, {}, { cause: error });
}

/** Why no connection was made, without the names of system calls. */
function describeUnreachable(message: string): string {
  return message
    .replace(/^connect ECONNREFUSED (\S+)$/, "$1 refused the connection")
    .replace(/^getaddrinfo (?:ENOTFOUND|EAI_AGAIN) (\S+)$/, "the host $1 is unknown");
}

/** @param detail the database's description of the key: `Key (reference_id)=(ev.1) already exists.` */
function parseKeyDetail(detail: string): string {
  return /=\((.*)\)/s.exec(detail)?.[1] ?? "";
}
