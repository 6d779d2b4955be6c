/**
 * Reads for decisions about feature credit entries (S11.5, S11.8): the events whose overage may move.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { add, subtract } from "../../numbers/decimal.ts";
import type { AccountState } from "../account-state.ts";
import { matchesId } from "../account/due-ids.ts";
import { findOpenRanges } from "../account/open-cycles.ts";
import type { Catalog } from "../catalog.ts";
import { type LedgerReads, type OverageCover, readMovableOverage } from "../reads.ts";
import type { EntryChange } from "./entries.ts";

/** Reads what `grantEntry` needs for an entry with these bounds. */
export async function readForGrant(
  catalog: Catalog,
  view: LedgerReads,
  work: AccountState,
  cover: OverageCover,
  now: Instant,
): Promise<void> {
  const open = findOpenRanges(catalog, work.record, work.invoices(), now);
  await readMovableOverage(catalog, view, work, now, { covers: [cover], open });
}

/**
 * Reads what `patchEntry` needs.
 *
 * @returns the timestamp of the latest accepted, not reverted event that spent the entry, including events deleted since
 */
export async function readForEntry(
  catalog: Catalog,
  view: LedgerReads,
  work: AccountState,
  target: { readonly entryId: string } & EntryChange,
  now: Instant,
): Promise<Instant | undefined> {
  const { id: accountId } = work.record;
  const entry = work.entries().find(({ id }) => matchesId(accountId, id, target.entryId));
  if (entry === undefined) return undefined;
  const granted = target.granted ?? entry.granted;
  const cover = {
    ...entry,
    effectiveUntil: target.effectiveUntil ?? entry.effectiveUntil,
    quantity: add(entry.balance, subtract(granted, entry.granted)),
  };
  await readForGrant(catalog, view, work, cover, now);
  const [lastSpent, spentAtBefore] = [await view.lastSpent(entry.id, accountId), entry.spentAtBefore];
  return lastSpent === undefined || spentAtBefore === undefined
    ? (lastSpent ?? spentAtBefore)
    : Math.max(lastSpent, spentAtBefore);
}
