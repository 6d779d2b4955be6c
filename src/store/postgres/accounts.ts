/**
 * Accounts under their locks.
 *
 * @module
 */
import { createHash } from "node:crypto";

import { invariant } from "../../errors.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import type { Row, Run } from "./client.ts";
import { LostRace } from "./failures.ts";
import { itemStamp } from "./query.ts";
import { accountOf, COUNTER_COLUMNS, countedAccount } from "./record-rows.ts";
import { advisoryKey, keysOf, textList } from "./values.ts";

/** Accounts that are not there yet are locked by one of so many locks: a database has not many. */
const NEW_ACCOUNT_LOCKS = 64;
/** So many accounts are remembered; those that were read longest ago are forgotten. */
const ACCOUNTS_MAX = 20_000;

/**
 * What a store remembers of accounts, by key: the last body that was read, and its digest. The digest is read under the
 * account's lock, so that what is remembered is used only while it is what the database has.
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

/** What was read as accounts were locked. */
export interface LockedAccounts {
  /** By id; those that exist. */
  readonly accounts: ReadonlyMap<string, AccountRecord>;
  /** The configuration's, where any account exists: under its lock it stays what it is. */
  readonly revision?: number;
  /** The stamp of the list of items, where there are any and any account exists. */
  readonly items?: string;
}

/** Names the content of an account's body. */
export function digestOf(body: string): string {
  return createHash("sha256").update(body).digest("base64url").slice(0, 22);
}

/**
 * Locks accounts, those that are not there too, and reads them.
 *
 * @throws a {@link LostRace} when another writer made one of them at the same time
 */
export async function lockAccounts(locking: AccountLocking, accountIds: readonly string[]): Promise<LockedAccounts> {
  if (accountIds.length === 0) return { accounts: new Map() };
  const { run, table } = locking;
  const revision = `(select revision::text from ${table("configuration")}) as revision`;
  const text = `select id, digest, ${COUNTER_COLUMNS}, ${revision}, ${itemStamp(table)} as items from ${table("ledger")}
    where id = any($1::text::text[]) order by id for no key update`;
  const keys = keysOf(accountIds);
  const rows = await run(text, [textList(keys)]);
  if (rows.length < keys.length) {
    const there = new Set(rows.map(({ id }) => id));
    const missing = keys.filter((key) => !there.has(key));
    await lockNewAccounts(locking, missing);
    // Whoever made one of them meanwhile has locked its row, and rows are locked before these locks, not after.
    const made = await run(text, [textList(missing)]);
    if (made.length > 0) throw new LostRace("an account was made at the same time");
  }
  const bodies = await bodiesOf(locking, rows);
  const accounts = new Map(
    rows.map((row) => {
      const body = bodies.get(row["id"] ?? "");
      invariant(body !== undefined, "each row that is locked has an account");
      return [body.id, countedAccount(body, row)];
    }),
  );
  const [first] = rows;
  if (first === undefined) return { accounts };
  const { items } = first;
  return { accounts, revision: Number(first["revision"]), ...(typeof items === "string" ? { items } : {}) };
}

/** What else there is of accounts that are locked, by key: as it was remembered, or read. */
async function bodiesOf(
  { run, table, known }: AccountLocking,
  rows: readonly Row[],
): Promise<ReadonlyMap<string, AccountRecord>> {
  const bodies = new Map<string, AccountRecord>();
  const digests = new Map<string, string>();
  for (const { id, digest } of rows) {
    const remembered = known.get(id ?? "");
    if (remembered !== undefined && remembered.digest === digest) bodies.set(id ?? "", remembered.account);
    else digests.set(id ?? "", digest ?? "");
  }
  if (digests.size === 0) return bodies;
  const text = `select id, body from ${table("account")} where id = any($1::text::text[])`;
  for (const row of await run(text, [textList([...digests.keys()])])) {
    const [key, account] = [row["id"] ?? "", accountOf(row)];
    bodies.set(key, account);
    known.delete(key);
    known.set(key, { digest: digests.get(key) ?? "", account });
  }
  for (const key of known.keys()) {
    if (known.size <= ACCOUNTS_MAX) break;
    known.delete(key);
  }
  return bodies;
}

async function lockNewAccounts({ run, schema }: AccountLocking, keys: readonly string[]): Promise<void> {
  const numbers = new Set(keys.map((key) => lockNumber(key)));
  const locks = [...numbers].sort((a, b) => a - b).map((number) => advisoryKey(schema, `account ${number}`));
  for (const lock of locks) await run("select pg_advisory_xact_lock($1::text::bigint)::text", [lock]);
}

function lockNumber(key: string): number {
  let hash = 0;
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x9e3779b1) >>> 0;
  return (hash ^ (hash >>> 15)) % NEW_ACCOUNT_LOCKS;
}
