/**
 * Reads for decisions about feature credit entries (S11.5, S11.8).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { add, subtract } from "../../numbers/decimal.ts";
import { matchesId } from "../account/due-ids.ts";
import { findOpenStretches } from "../account/open-cycles.ts";
import type { Catalog } from "../catalog.ts";
import { type AccountReads, type LedgerReads, type OverageCover, readAccounts, withMovableOverage } from "../reads.ts";
import type { AccountRecord } from "../records.ts";
import type { AccountParts } from "../workspace.ts";
import type { EntryChange } from "./entries.ts";

/** The state that a change of an entry depends on. */
export interface EntryRead {
  readonly account: AccountParts;
  /** The timestamp of the latest accepted, not reverted event that spent the entry, including events deleted since. */
  readonly lastSpent: Instant | undefined;
}

/** Reads what `grantEntry` needs for an entry with these bounds. */
export async function readForGrant(
  catalog: Catalog,
  reads: AccountReads,
  record: AccountRecord,
  cover: OverageCover,
  now: Instant,
): Promise<AccountParts | undefined> {
  const [account] = await readAccounts(catalog, reads, [record], now);
  return account && withOverage(catalog, reads.view, account, cover, now);
}

/** Reads what `patchEntry` and `voidEntry` need; `change` is empty for the latter. */
export async function readForEntry(
  catalog: Catalog,
  reads: AccountReads,
  record: AccountRecord,
  target: { readonly entryId: string } & EntryChange,
  now: Instant,
): Promise<EntryRead | undefined> {
  const [account] = await readAccounts(catalog, reads, [record], now);
  if (account === undefined) return undefined;
  const entry = account.entries.find(({ id }) => matchesId(record.id, id, target.entryId));
  if (entry === undefined) return { account, lastSpent: undefined };
  const granted = target.granted ?? entry.granted;
  const cover = {
    ...entry,
    effectiveUntil: target.effectiveUntil ?? entry.effectiveUntil,
    quantity: add(entry.balance, subtract(granted, entry.granted)),
  };
  return {
    account: await withOverage(catalog, reads.view, account, cover, now),
    lastSpent: laterInstant(await reads.view.lastSpent(entry.id, record.id), entry.spentAtBefore),
  };
}

function laterInstant(one: Instant | undefined, other: Instant | undefined): Instant | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

async function withOverage(
  catalog: Catalog,
  view: LedgerReads,
  account: AccountParts,
  cover: OverageCover,
  now: Instant,
): Promise<AccountParts> {
  const open = findOpenStretches(catalog, account.record, account.invoices, now);
  return withMovableOverage(catalog, view, account, now, { covers: [cover], open });
}
