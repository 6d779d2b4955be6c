/** Locks and reads accounts. */
import type { AccountRecord } from "../../ledger/records.ts";
import { compareIds } from "../../numbers/ids.ts";
import { itemStamp } from "./cells.ts";
import { LostRaceError, type Row, type Run } from "./client.ts";
import { advisoryKey, formatListQuery, formatTextArray, idKeys, quoteLiteral } from "./query.ts";
import { ACCOUNT } from "./tables.ts";

/** Number of locks for accounts that do not exist yet: a database has a limited number of locks. */
const NEW_ACCOUNT_LOCKS = 64;
/** Maximum number of cached accounts; the least recently read are evicted. */
const ACCOUNTS_MAX = 20_000;

/**
 * The account cache of a store, by key: the last value read with its digest. Digests are read under the accounts'
 * locks, so a cached account is used only if it is current.
 */
export type AccountCache = Map<string, { readonly digest: string; readonly account: AccountRecord }>;

/** The context for locking accounts. */
interface AccountLocking {
  readonly run: Run;
  readonly table: (name: string) => string;
  /** The schema that the advisory locks belong to. */
  readonly schema: string;
  readonly cache: AccountCache;
}

/** The rows read while locking accounts. */
export interface AccountLocks {
  /** The existing accounts by id. */
  readonly accounts: ReadonlyMap<string, AccountRecord>;
  /** The revision of the configuration, which does not change while its lock is held. */
  readonly revision?: number;
  /** This transaction's block of event numbers. */
  readonly block?: number;
  /** The stamp of the list of meters and features, if there are any. */
  readonly itemStamp?: string | undefined;
}

/**
 * The statement that locks accounts, for {@link lockAccounts}. It has no parameters, so that it can be sent with the
 * start of its transaction.
 *
 * @param keys from {@link sortLockKeys}
 */
export function lockStatement(table: (name: string) => string, keys: readonly string[]): string {
  return `with locked as materialized
      (select id, digest from ${table("ledger")} where id = any(${formatListQuery(keys)}) order by id for no key update)
    select string_agg(digest, ' ') as digests, case when count(*) < ${keys.length} then json_agg(id)::text end as ids,
      (select revision::text from ${table("configuration")}) as revision,
      nextval(${quoteLiteral(table("event_number"))})::text as block, ${itemStamp(table)} as stamp
    from locked`;
}

/**
 * Returns the locked accounts, and locks those that do not exist.
 *
 * @param keys of the accounts, as for {@link lockStatement}
 * @param row the result of that statement
 * @throws a {@link LostRaceError} if another writer created one of them at the same time
 */
export async function lockAccounts(
  locking: AccountLocking,
  keys: readonly string[],
  { digests, ids, revision, block, stamp }: Row,
): Promise<AccountLocks> {
  const existingKeys = typeof ids === "string" ? (JSON.parse(ids) as readonly string[]) : digests === null ? [] : keys;
  if (existingKeys.length < keys.length) await lockNewAccounts(locking, withoutKeys(keys, existingKeys));
  const accounts = await readLockedAccounts(locking, existingKeys, digests?.split(" ") ?? []);
  return { accounts, revision: Number(revision), block: Number(block), itemStamp: stamp ?? undefined };
}

/**
 * The keys of accounts in the order in which rows are locked and digests returned: by code points. For plain keys, the
 * usual case, code units have the same order and compare faster.
 */
export function sortLockKeys(accountIds: readonly string[]): readonly string[] {
  const keys = idKeys(accountIds);
  return PLAIN.test(keys.join("")) ? keys.toSorted() : keys.toSorted(compareIds);
}

const PLAIN = /^[ -~]*$/;

/** Locked accounts by id: cached ones if their digests match, else read. */
async function readLockedAccounts(
  { run, table, cache }: AccountLocking,
  keys: readonly string[],
  digests: readonly string[],
): Promise<ReadonlyMap<string, AccountRecord>> {
  const accounts = new Map<string, AccountRecord>();
  const uncachedDigests = new Map<string, string>();
  for (const [place, key] of keys.entries()) {
    const [digest, cacheEntry] = [digests[place] ?? "", cache.get(key)];
    if (cacheEntry !== undefined && cacheEntry.digest === digest)
      accounts.set(cacheEntry.account.id, cacheEntry.account);
    else uncachedDigests.set(key, digest);
  }
  if (uncachedDigests.size === 0) return accounts;
  const text = `select id, ${ACCOUNT.selected} from ${table("account")} join ${table("ledger")} using (id)
    where id = any($1::text::text[])`;
  for (const row of await run(text, [formatTextArray([...uncachedDigests.keys()])])) {
    const [key, account] = [row["id"] ?? "", ACCOUNT.read(row)];
    accounts.set(account.id, account);
    cache.delete(key);
    cache.set(key, { digest: uncachedDigests.get(key) ?? "", account });
  }
  evictOldest(cache);
  return accounts;
}

function evictOldest(cache: AccountCache): void {
  for (const key of cache.keys()) {
    if (cache.size <= ACCOUNTS_MAX) break;
    cache.delete(key);
  }
}

function withoutKeys(keys: readonly string[], excluded: readonly string[]): readonly string[] {
  const excludedKeys = new Set(excluded);
  return keys.filter((key) => !excludedKeys.has(key));
}

/**
 * Locks accounts that do not exist, with advisory locks, which every transaction takes after the locks of rows.
 *
 * @throws a {@link LostRaceError} if another transaction has created one of them meanwhile
 */
async function lockNewAccounts({ run, table, schema }: AccountLocking, keys: readonly string[]): Promise<void> {
  const numbers = new Set(keys.map((key) => chooseLockNumber(key)));
  const locks = [...numbers].sort((a, b) => a - b).map((number) => advisoryKey(schema, `account ${number}`));
  for (const lock of locks) await run("select pg_advisory_xact_lock($1::text::bigint)::text", [lock]);
  const createdRows = await run(`select id from ${table("ledger")} where id = any($1::text::text[]) limit 1`, [
    formatTextArray(keys),
  ]);
  if (createdRows.length > 0) throw new LostRaceError("another writer created the account at the same time");
}

function chooseLockNumber(key: string): number {
  let hash = 0;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x9e3779b1) >>> 0;
  return (hash ^ (hash >>> 15)) % NEW_ACCOUNT_LOCKS;
}
