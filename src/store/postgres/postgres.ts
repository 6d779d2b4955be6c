/**
 * A store in PostgreSQL, through a pool of `pg` or a PGlite.
 *
 * Transactions are READ COMMITTED and take their locks before they read: an advisory lock on the configuration, then the
 * rows of the accounts by ascending id. What is locked does not change while it is decided on. Event ids are not locked:
 * each is held under a unique key, so that of two writers that accept one id at once, the later one is refused by the
 * database and does its work again, now seeing the id as taken. Ids are taken to be free at first, for nearly all are.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import type { Decision } from "../../ledger/decision.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { createLocks, type Locks } from "../locks.ts";
import type { Scope, Store } from "../store.ts";
import { type KnownAccounts, lockAccounts } from "./accounts.ts";
import { type Connections, connectionsOf, type PostgresClient, type Run } from "./client.ts";
import { writeChanges } from "./commit.ts";
import { againAfterLostRaces, LostRace } from "./failures.ts";
import { assuming, type Assuming, heldIdsOf, mayAssume } from "./held-ids.ts";
import { migrate, tablesIn } from "./migrations.ts";
import { sendingOver } from "./sending.ts";
import { advisoryKey } from "./values.ts";
import { viewOver } from "./view.ts";

/** How a store uses its database. */
export interface PostgresStoreOptions {
  /** The schema that holds the tables; it is made where it is not there. `ratebook` without it. */
  readonly schema?: string;
  /** Called once when the store is closed: to end the pool, where the store is its only user. */
  readonly onClose?: () => Promise<void>;
}

/**
 * Opens a store in a PostgreSQL database, brought to the current version first.
 *
 * @throws {RatebookError} ERR_STORE_UNAVAILABLE when the database cannot be reached; ERR_REFUSED when a newer ratebook
 * has changed it
 */
export async function postgresStore(
  client: PostgresClient,
  { schema = "ratebook", onClose }: PostgresStoreOptions = {},
): Promise<Store> {
  const connections = connectionsOf(client);
  await againAfterLostRaces(() => migrate(connections, schema));
  const table = tablesIn(schema);
  const own = {
    known: new Map(),
    locks: createLocks(),
    assuming: assuming(),
  };
  const place: Place = { connections, schema, table, ...own };
  let closing: Promise<void> | undefined;
  return {
    name: "postgres",
    read: viewOver(connections.run, table),
    transact(scope, work) {
      if (closing === undefined) return transact(place, scope, work);
      return Promise.reject(new RatebookError("ERR_STORE_UNAVAILABLE", "the store is closed", {}));
    },
    close: () => (closing ??= onClose?.() ?? Promise.resolve()),
  };
}

/** Where a store is, and what it remembers of it. */
interface Place {
  readonly connections: Connections;
  readonly schema: string;
  readonly table: (name: string) => string;
  readonly known: KnownAccounts;
  /**
   * Queues the transactions of this process before they ask the database: what waits there for the rows of a thousand
   * accounts checks each of them again once it has them, which takes longer than all else.
   */
  readonly locks: Locks;
  readonly assuming: Assuming;
}

type Work<Result> = (view: LedgerView) => Promise<Decision<Result>>;

/** Does the work until its commit loses no race. */
async function transact<Result>(place: Place, scope: Scope, work: Work<Result>): Promise<Result> {
  const opening = [configurationLock(place.schema, scope)];
  const release = await place.locks.take(scope);
  try {
    return await againAfterLostRaces(async (attempt) => {
      const assumes = mayAssume(place.assuming, attempt);
      return place.connections.transaction(opening, (run) => decideAndCommit(run, place, { scope, work, assumes }));
    });
  } finally {
    release();
  }
}

async function decideAndCommit<Result>(
  run: Run,
  { table, schema, known }: Place,
  { scope, work, assumes }: { readonly scope: Scope; readonly work: Work<Result>; readonly assumes: boolean },
): Promise<Result> {
  const { accounts, revision, block } = await lockAccounts({ run, table, schema, known }, scope.accountIds);
  // Event ids are looked for between statements of the commit, when those that were sent have ended.
  const sending = sendingOver(run);
  const held = heldIdsOf(sending.run, table, assumes);
  const base = viewOver(run, table);
  const locked = new Set(scope.accountIds);
  const view: LedgerView = {
    ...base,
    configurationRevision: async () => revision ?? base.configurationRevision(),
    async accounts(ids) {
      const isLocked = ids.every((id) => locked.has(id));
      return isLocked ? [...new Set(ids)].flatMap((id) => accounts.get(id) ?? []) : base.accounts(ids);
    },
    acceptedIds: held.acceptedIds,
  };
  const decision = await work(view).catch(async (error: unknown) => {
    // It may have failed for what was assumed, which is then a lost race; where nobody can tell, it failed as it did.
    const told: unknown = await held.prove().catch((reason: unknown) => reason);
    throw told instanceof LostRace ? told : error;
  });
  await writeChanges({ ...held, ...sending, table, accounts, block }, decision.changes);
  return decision.result;
}

function configurationLock(schema: string, { configuration }: Scope): string {
  const lock = configuration === "shared" ? "pg_advisory_xact_lock_shared" : "pg_advisory_xact_lock";
  return `select ${lock}(${advisoryKey(schema, "configuration")})::text`;
}
