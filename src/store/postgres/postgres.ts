/**
 * A store in PostgreSQL, through a pool of `pg` or a PGlite. Transactions are READ COMMITTED and lock before they read:
 * an advisory lock on the configuration, then the rows of the accounts by ascending id. Locked data does not change
 * during a decision. Event ids are not locked: each is reserved with a unique key, so that of two writers that accept
 * one id at once, the database rejects the later one, which repeats its work and then sees the id as taken. Ids are
 * first assumed to be free, because nearly all are.
 */
import { hasCode, RatebookError } from "../../errors.ts";
import type { Decision } from "../../ledger/decision.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { createLocks, type Locks } from "../locks.ts";
import type { Scope, Store } from "../store.ts";
import { type AccountCache, type AccountLocks, lockAccounts, sortLockKeys, lockStatement } from "./accounts.ts";
import { batchReads, createCombinedSending, sendOneByOne } from "./batches.ts";
import { type ItemCache, type ReadCounts, createItemCache } from "./cells.ts";
import {
  ANSWER_MS,
  type Connections,
  LostRaceError,
  type OpenTransaction,
  type PostgresClient,
  retryLostRaces,
  toConnections,
} from "./client.ts";
import { isSmall, writeChanges } from "./commit.ts";
import { type IdCheckPolicy, createIdCheckPolicy, createReservedIds, mayAssumeFree } from "./event-view.ts";
import { migrate, createTableNames } from "./migrations.ts";
import { advisoryKey } from "./query.ts";
import { createView } from "./view.ts";

/** Options of a PostgreSQL store. */
export interface PostgresStoreOptions {
  /** The schema of the tables, created if missing. Default `ratebook`. */
  readonly schema?: string;
  /** Called once when the store is closed, for example to end a pool that only the store uses. */
  readonly onClose?: () => Promise<void>;
}

/**
 * Opens a store in a PostgreSQL database, after migrating it to the current version.
 *
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE if the database cannot be reached; ERR_REFUSED if a newer ratebook has
 * changed it
 */
export async function postgresStore(
  client: PostgresClient,
  { schema = "ratebook", onClose }: PostgresStoreOptions = {},
): Promise<Store> {
  // No short timeout: a migration may rewrite all rows of a large database.
  await retryLostRaces(() => migrate(toConnections(client, MIGRATION_MS), schema));
  const connections = toConnections(client, ANSWER_MS);
  const table = createTableNames(schema);
  const state = {
    cache: new Map(),
    items: createItemCache(),
    locks: createLocks(),
    idCheckPolicy: createIdCheckPolicy(),
    unansweredAt: -Infinity,
  };
  const context: StoreContext = { connections, schema, table, ...state };
  let closing: Promise<void> | undefined;
  return {
    name: "postgres",
    read: createView(connections.run, table),
    consistentView: () => createView(batchReads(connections.run), table),
    transact(scope, work) {
      if (closing === undefined) return transact(context, scope, work);
      return Promise.reject(new RatebookError("ERR_STORE_UNAVAILABLE", "the store is closed", {}));
    },
    close: () => (closing ??= onClose?.() ?? Promise.resolve()),
  };
}

/** One day. */
const MIGRATION_MS = 86_400_000;

/** The connections and caches of a store. */
interface StoreContext {
  readonly connections: Connections;
  readonly schema: string;
  readonly table: (name: string) => string;
  readonly cache: AccountCache;
  readonly items: ItemCache;
  /**
   * Queues the transactions of this process before they reach the database: a transaction that waits there for the rows
   * of a thousand accounts rechecks each of them afterwards, which would dominate.
   */
  readonly locks: Locks;
  readonly idCheckPolicy: IdCheckPolicy;
  /** When a transaction last failed because the database did not answer. */
  unansweredAt: number;
}

type Work<Result> = (view: LedgerView) => Promise<Decision<Result>>;

/** One attempt of a transaction. */
interface Attempt<Result> {
  readonly scope: Scope;
  /** The keys of the accounts in lock order. */
  readonly keys: readonly string[];
  readonly work: Work<Result>;
  /** Whether it assumes event ids to be free. */
  readonly assumesFree: boolean;
}

/** Repeats the work until its commit loses no race. */
async function transact<Result>(context: StoreContext, scope: Scope, work: Work<Result>): Promise<Result> {
  const { schema, table } = context;
  const openingStatements = [configurationLock(schema, scope)];
  const keys = sortLockKeys(scope.accountIds);
  if (keys.length > 0) openingStatements.push(lockStatement(table, keys));
  const requestedAt = performance.now();
  const release = await context.locks.take(scope);
  const began = performance.now();
  try {
    // A transaction that queued behind one without an answer would only wait as long again.
    if (context.unansweredAt > requestedAt) throw new RatebookError("ERR_STORE_UNAVAILABLE", NO_ANSWER, {});
    return await retryLostRaces(async (attempt) => {
      const assumesFree = mayAssumeFree(context.idCheckPolicy, attempt);
      return context.connections.transaction(openingStatements, (transaction) =>
        decideAndCommit(transaction, context, { scope, keys, work, assumesFree }),
      );
    });
  } catch (error) {
    const ended = performance.now();
    if (hasCode(error, "ERR_STORE_UNAVAILABLE") && ended - began >= ANSWER_MS) context.unansweredAt = ended;
    throw error;
  } finally {
    release();
  }
}

const NO_ANSWER = "the database cannot be reached: it does not respond";

async function decideAndCommit<Result>(
  { run, openingRow, atCommit }: OpenTransaction,
  { table, schema, cache, items }: StoreContext,
  { scope, keys, work, assumesFree }: Attempt<Result>,
): Promise<Result> {
  const locking = { run, table, schema, cache };
  const locked: AccountLocks =
    keys.length === 0 ? { accounts: new Map() } : await lockAccounts(locking, keys, openingRow);
  const { accounts, revision, block, itemStamp } = locked;
  let sending = sendOneByOne(run);
  // Event ids are also queried between statements of the commit, after those already sent.
  const reservedIds = createReservedIds((text, values) => sending.run(text, values), table, assumesFree);
  const readCounts: ReadCounts = new Map();
  const base = createView(batchReads(run), table, readCounts);
  const lockedIds = new Set(scope.accountIds);
  const view: LedgerView = {
    ...base,
    configurationRevision: async () => revision ?? base.configurationRevision(),
    async accounts(ids) {
      const records = new Set<AccountRecord>();
      for (const id of ids) {
        const account = accounts.get(id);
        if (account !== undefined) records.add(account);
        else if (!lockedIds.has(id)) return base.accounts(ids);
      }
      return [...records];
    },
    acceptedIds: reservedIds.acceptedIds,
  };
  const decision = await work(view).catch(async (error: unknown) => {
    // A wrong assumption may be the cause: then it is a lost race. If unverifiable, rethrow the original error.
    const failure: unknown = await reservedIds.checkAssumptions().catch((reason: unknown) => reason);
    throw failure instanceof LostRaceError ? failure : error;
  });
  const { changes } = decision;
  if (isSmall(changes)) sending = createCombinedSending(run);
  const itemContext = { table, schema, items, itemStamp, readCounts };
  await writeChanges({ ...reservedIds, ...sending, ...itemContext, atCommit, accounts, block }, changes);
  return decision.result;
}

function configurationLock(schema: string, { configuration }: Scope): string {
  const lock = configuration === "shared" ? "pg_advisory_xact_lock_shared" : "pg_advisory_xact_lock";
  return `select ${lock}(${advisoryKey(schema, "configuration")})::text`;
}
