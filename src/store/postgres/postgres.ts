/**
 * A store in PostgreSQL, through a pool of `pg` or a PGlite.
 *
 * Transactions are READ COMMITTED and take their locks before they read: an advisory lock on the configuration, then the
 * rows of the accounts by ascending id. What is locked does not change while it is decided on. Event ids are not locked:
 * each is held under a unique key, so that of two writers that accept one id at once, the later one is refused by the
 * database and does its work again, now seeing the id as taken.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import type { Decision } from "../../ledger/decision.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import type { LedgerView } from "../../ledger/view.ts";
import type { Scope, Store } from "../store.ts";
import { type Connections, connectionsOf, type PostgresClient, type Run } from "./client.ts";
import { writeChanges } from "./commit.ts";
import { holdersOf } from "./event-view.ts";
import { againAfterLostRaces, LostRace } from "./failures.ts";
import { migrate, tablesIn } from "./migrations.ts";
import { ACCOUNT_COLUMNS, accountOf } from "./record-rows.ts";
import { advisoryKey, keysOf, textList } from "./values.ts";
import { viewOver } from "./view.ts";

/** How a store uses its database. */
export interface PostgresStoreOptions {
  /** The schema that holds the tables; it is made where it is not there. `ratebook` without it. */
  readonly schema?: string;
  /** Called once when the store is closed: to end the pool, where the store is its only user. */
  readonly onClose?: () => Promise<void>;
}

/** Accounts that are not there yet are locked by one of so many locks: a database has not many. */
const NEW_ACCOUNT_LOCKS = 64;

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
  let closing: Promise<void> | undefined;
  return {
    name: "postgres",
    read: viewOver(connections.run, table),
    transact(scope, work) {
      if (closing === undefined) return transact(connections, schema, scope, work);
      return Promise.reject(new RatebookError("ERR_STORE_UNAVAILABLE", "the store is closed", {}));
    },
    close: () => (closing ??= onClose?.() ?? Promise.resolve()),
  };
}

type Work<Result> = (view: LedgerView) => Promise<Decision<Result>>;

/** Does the work until its commit loses no race. */
function transact<Result>(connections: Connections, schema: string, scope: Scope, work: Work<Result>): Promise<Result> {
  const opening = [configurationLock(schema, scope)];
  return againAfterLostRaces(() =>
    connections.transaction(opening, (run) => decideAndCommit(run, schema, scope, work)),
  );
}

async function decideAndCommit<Result>(run: Run, schema: string, scope: Scope, work: Work<Result>): Promise<Result> {
  const table = tablesIn(schema);
  const accounts = await lockAccounts(run, schema, scope.accountIds);
  const holds = new Map<string, number>();
  const held = new Map<string, Awaited<ReturnType<typeof holdersOf>>[number]>();
  const learn = async (eventIds: readonly string[]): Promise<void> => {
    const unknown = [...new Set(eventIds)].filter((id) => !holds.has(id));
    if (unknown.length === 0) return;
    for (const id of unknown) holds.set(id, -1);
    for (const holder of await holdersOf(run, table, unknown)) {
      holds.set(holder.held.eventId, holder.holds);
      held.set(holder.held.eventId, holder);
    }
  };
  const base = viewOver(run, table);
  const locked = new Set(scope.accountIds);
  const view: LedgerView = {
    ...base,
    async accounts(ids) {
      const isLocked = ids.every((id) => locked.has(id));
      return isLocked ? [...new Set(ids)].flatMap((id) => accounts.get(id) ?? []) : base.accounts(ids);
    },
    // What is learnt here is what the commit relies on: an id that is taken later is a lost race.
    async heldIds(eventIds) {
      await learn(eventIds);
      return [...new Set(eventIds)].flatMap((id) => held.get(id)?.held ?? []);
    },
  };
  const { result, changes } = await work(view);
  const holdsOf = async (eventIds: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    await learn(eventIds);
    return holds;
  };
  await writeChanges({ run, table, accounts, holdsOf }, changes);
  return result;
}

function configurationLock(schema: string, { configuration }: Scope): string {
  const lock = configuration === "shared" ? "pg_advisory_xact_lock_shared" : "pg_advisory_xact_lock";
  return `select ${lock}(${advisoryKey(schema, "configuration")})::text`;
}

/** Locks accounts, those that are not there too, and reads them. */
async function lockAccounts(
  run: Run,
  schema: string,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, AccountRecord>> {
  if (accountIds.length === 0) return new Map();
  const text = `select id, ${ACCOUNT_COLUMNS} from ${tablesIn(schema)("account")}
    where id = any($1::text::text[]) order by id for no key update`;
  const rows = await run(text, [textList(keysOf(accountIds))]);
  const there = new Set(rows.map(({ id }) => id));
  const missing = keysOf(accountIds).filter((key) => !there.has(key));
  if (missing.length > 0) {
    await lockNewAccounts(run, schema, missing);
    // Whoever made one of them meanwhile has locked its row, and rows are locked before these locks, not after.
    const made = await run(text, [textList(missing)]);
    if (made.length > 0) throw new LostRace("an account was made at the same time");
  }
  return new Map(rows.map((row) => accountOf(row)).map((account) => [account.id, account]));
}

async function lockNewAccounts(run: Run, schema: string, keys: readonly string[]): Promise<void> {
  const numbers = new Set(keys.map((key) => lockNumber(key)));
  const locks = [...numbers].sort((a, b) => a - b).map((number) => advisoryKey(schema, `account ${number}`));
  for (const lock of locks) await run("select pg_advisory_xact_lock($1::text::bigint)::text", [lock]);
}

function lockNumber(key: string): number {
  let hash = 0;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x9e3779b1) >>> 0;
  return (hash ^ (hash >>> 15)) % NEW_ACCOUNT_LOCKS;
}
