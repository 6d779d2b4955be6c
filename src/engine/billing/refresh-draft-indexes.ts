import { partsOfRecord } from "../../ledger/account-parts.ts";
import { createWorkspace } from "../../ledger/account-state.ts";
/**
 * Keeps the draft indexes of accounts up to date. A decision or bill run stores an index that is valid until the end of
 * the next cycle. If neither happened in time, the first read stores a new index, so that this and later reads compute
 * only the accounts of their page.
 *
 * @module
 */
import { draftIndexKnownUntil, refreshDraftIndex } from "../../ledger/account/invoices.ts";
import { createYielder, runWithPauses } from "../../store/yielder.ts";
import { accountsWithStaleDrafts, splitIntoChunks } from "../all-accounts.ts";
import type { EngineContext } from "../context.ts";

/** Accounts per transaction, which locks them. */
const CHUNK = 16;

/**
 * Stores a new draft index for all accounts whose index is not complete. It stays incomplete if the account's charges
 * cannot be computed, or if it has a decision dated after the clock: reads then compute the account in full.
 *
 * @param attempted collects the accounts; those in it are skipped
 * @param accountId the only account; default all
 * @returns whether there were any
 */
export async function refreshDraftIndexes(
  context: EngineContext,
  attempted: Set<string>,
  accountId?: string,
): Promise<boolean> {
  const { read } = context.store;
  const accounts = accountId === undefined ? accountsWithStaleDrafts(read, context.clock()) : [accountId];
  let hasAny = false;
  for await (const ids of splitIntoChunks(accounts, CHUNK)) {
    const newIds = ids.filter((id) => !attempted.has(id));
    if (newIds.length === 0) continue;
    for (const id of newIds) attempted.add(id);
    await refreshSome(context, newIds);
    hasAny = true;
  }
  return hasAny;
}

async function refreshSome(
  { store, configuration, clock }: EngineContext,
  accountIds: readonly string[],
): Promise<void> {
  await store.transact({ configuration: "shared", accountIds, eventIds: [] }, async (view) => {
    const yieldToOthers = createYielder();
    const { catalog } = await configuration(view);
    const now = clock();
    const staleRecords = (await view.accounts(accountIds)).filter(({ drafts }) => draftIndexKnownUntil(drafts) <= now);
    // The index depends only on the record.
    const workspace = createWorkspace(catalog, staleRecords.map(partsOfRecord));
    for (const { id } of staleRecords) {
      await runWithPauses(refreshDraftIndex(catalog, workspace.account(id), now), yieldToOthers);
    }
    return { result: undefined, changes: workspace.changes() };
  });
}
