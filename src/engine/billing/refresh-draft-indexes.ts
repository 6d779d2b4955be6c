/**
 * Keeps the draft index of accounts up to date: where their drafts and due credits stand in the lists of all accounts.
 *
 * A decision or a bill run leaves an index that holds until the cycle after the present one has ended. Where neither came by in time,
 * the first read stores a new index, so that it and those after it compute the accounts of their page alone.
 *
 * @module
 */
import { draftIndexKnownUntil, refreshDraftIndex } from "../../ledger/account/draft-index.ts";
import { openWorkspace } from "../../ledger/workspace.ts";
import { createYielder, inTurns } from "../../store/yielder.ts";
import { accountsWithStaleDrafts, inChunks } from "../all-accounts.ts";
import type { EngineContext } from "../context.ts";

/** Accounts of one transaction: others wait for their locks. */
const CHUNK = 16;

/**
 * Stores a new draft index of all accounts whose index is not complete as of now. That of an account whose charges cannot be worked
 * out, or with a decision that is dated after the clock, stays incomplete: its reads compute it whole.
 *
 * @param attempted notes the accounts: those that are in it are left out
 * @param accountId the only account that is asked for; default all
 * @returns whether there were any
 */
export async function refreshDraftIndexes(
  context: EngineContext,
  attempted: Set<string>,
  accountId?: string,
): Promise<boolean> {
  const { read } = context.store;
  const accounts = accountId === undefined ? accountsWithStaleDrafts(read, context.clock()) : [accountId];
  let isAny = false;
  for await (const ids of inChunks(accounts, CHUNK)) {
    const fresh = ids.filter((id) => !attempted.has(id));
    if (fresh.length === 0) continue;
    for (const id of fresh) attempted.add(id);
    await refreshSome(context, fresh);
    isAny = true;
  }
  return isAny;
}

async function refreshSome(
  { store, configuration, clock }: EngineContext,
  accountIds: readonly string[],
): Promise<void> {
  await store.transact({ configuration: "shared", accountIds, eventIds: [] }, async (view) => {
    const yieldToOthers = createYielder();
    const { catalog } = await configuration(view);
    const now = clock();
    const stale = (await view.accounts(accountIds)).filter(({ drafts }) => draftIndexKnownUntil(drafts) <= now);
    const workspace = openWorkspace(stale.map((record) => ({ record, ...NOTHING_ELSE })));
    for (const { id } of stale) {
      await inTurns(refreshDraftIndex(catalog, workspace.account(id), now), yieldToOthers);
    }
    return { result: undefined, changes: workspace.changes() };
  });
}

/** The index is worked out from the record alone. */
const NOTHING_ELSE = { entries: [], credits: [], invoices: [], usage: [], overage: [], events: [] };
