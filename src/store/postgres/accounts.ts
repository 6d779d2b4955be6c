/**
 * Accounts under their locks.
 *
 * @module
 */
import { createHash } from "node:crypto";

import { compareIds } from "../../ledger/compare-ids.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import { serializeRecord } from "../record-json.ts";
import type { Row, Run } from "./client.ts";
import { itemStamp } from "./counter-columns.ts";
import { LostRace } from "./failures.ts";
import { ACCOUNT_COLUMNS, readAccount } from "./record-rows.ts";
import { advisoryKey, idKeys, formatListQuery, quoteLiteral, formatTextArray } from "./values.ts";

/** Accounts that are not there yet are locked by one of so many locks: a database has not many. */
const NEW_ACCOUNT_LOCKS = 64;
/** Most accounts that are remembered; the least recently read are forgotten. */
const ACCOUNTS_MAX = 20_000;

/**
 * The accounts that a store remembers, by key: as they were last read, with the digest of that. Digests are read under the
 * accounts' locks, so that what is remembered is used only while it is what the database has.
 */
export type KnownAccounts = Map<string, { readonly digest: string; readonly account: AccountRecord }>;

/** Where accounts are locked. */
export interface AccountLocking {
  readonly run: Run;
  readonly table: (name: string) => string;
  /** The schema that the advisory locks are of. */
  readonly schema: string;
  readonly known: KnownAccounts;
}

/** The rows that were read as accounts were locked. */
export interface AccountLocks {
  /** By id; those that exist. */
  readonly accounts: ReadonlyMap<string, AccountRecord>;
  /** The revision of the configuration, which does not change while its lock is held. */
  readonly revision: number | undefined;
  /** The next of the blocks of numbers for events, which is this transaction's. */
  readonly block: number | undefined;
  /** The stamp of the list of meters and features, where there are any. */
  readonly itemStamp: string | undefined;
}

/** Of a transaction that locks no account. */
export const NOTHING_LOCKED: AccountLocks = {
  accounts: new Map(),
  revision: undefined,
  block: undefined,
  itemStamp: undefined,
};

/** Names the content of an account. */
export function digestAccount(account: AccountRecord): string {
  return createHash("sha256").update(serializeRecord(account)).digest("base64url").slice(0, 22);
}

/**
 * The statement that locks accounts, for {@link lockAccounts}. It has no values, so that it can come with the beginning of
 * its transaction.
 *
 * @param keys as {@link lockKeys} gives them
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
 * The accounts that were locked, and locks on those that are not there.
 *
 * @param keys of the accounts, as {@link lockStatement} had them
 * @param row what that gave
 * @throws a {@link LostRace} when another writer made one of them at the same time
 */
export async function lockAccounts(
  locking: AccountLocking,
  keys: readonly string[],
  { digests, ids, revision, block, stamp }: Row,
): Promise<AccountLocks> {
  const there = typeof ids === "string" ? (JSON.parse(ids) as readonly string[]) : digests === null ? [] : keys;
  if (there.length < keys.length) await lockNewAccounts(locking, exceptKeys(keys, there));
  const accounts = await readLockedAccounts(locking, there, digests?.split(" ") ?? []);
  return { accounts, revision: Number(revision), block: Number(block), itemStamp: stamp ?? undefined };
}

/**
 * The keys of accounts in the order in which their rows are locked, and in which their digests come: by their code points.
 * Mostly all are plain, and the order of their code units, quick to tell, is the same.
 */
export function lockKeys(accountIds: readonly string[]): readonly string[] {
  const keys = idKeys(accountIds);
  return PLAIN.test(keys.join("")) ? keys.toSorted() : keys.toSorted(compareIds);
}

const PLAIN = /^[ -~]*$/;

/** Accounts that are locked, by id: as they are remembered, where their digests are the same, or read. */
async function readLockedAccounts(
  { run, table, known }: AccountLocking,
  keys: readonly string[],
  digests: readonly string[],
): Promise<ReadonlyMap<string, AccountRecord>> {
  const accounts = new Map<string, AccountRecord>();
  const unknown = new Map<string, string>();
  for (const [place, key] of keys.entries()) {
    const [digest, remembered] = [digests[place] ?? "", known.get(key)];
    if (remembered !== undefined && remembered.digest === digest)
      accounts.set(remembered.account.id, remembered.account);
    else unknown.set(key, digest);
  }
  if (unknown.size === 0) return accounts;
  const text = `select id, ${ACCOUNT_COLUMNS} from ${table("account")} join ${table("ledger")} using (id)
    where id = any($1::text::text[])`;
  for (const row of await run(text, [formatTextArray([...unknown.keys()])])) {
    const [key, account] = [row["id"] ?? "", readAccount(row)];
    accounts.set(account.id, account);
    known.delete(key);
    known.set(key, { digest: unknown.get(key) ?? "", account });
  }
  forgetOldest(known);
  return accounts;
}

function forgetOldest(known: KnownAccounts): void {
  for (const key of known.keys()) {
    if (known.size <= ACCOUNTS_MAX) break;
    known.delete(key);
  }
}

function exceptKeys(keys: readonly string[], some: readonly string[]): readonly string[] {
  const known = new Set(some);
  return keys.filter((key) => !known.has(key));
}

/** Whoever makes one of them meanwhile has locked its row, and rows are locked before these locks, not after. */
async function lockNewAccounts({ run, table, schema }: AccountLocking, keys: readonly string[]): Promise<void> {
  const numbers = new Set(keys.map((key) => lockNumber(key)));
  const locks = [...numbers].sort((a, b) => a - b).map((number) => advisoryKey(schema, `account ${number}`));
  for (const lock of locks) await run("select pg_advisory_xact_lock($1::text::bigint)::text", [lock]);
  const made = await run(`select id from ${table("ledger")} where id = any($1::text::text[]) limit 1`, [
    formatTextArray(keys),
  ]);
  if (made.length > 0) throw new LostRace("an account was made at the same time");
}

function lockNumber(key: string): number {
  let hash = 0;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x9e3779b1) >>> 0;
  return (hash ^ (hash >>> 15)) % NEW_ACCOUNT_LOCKS;
}
