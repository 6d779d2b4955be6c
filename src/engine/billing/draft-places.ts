/**
 * Which account has an invoice of an id that is not stored, found without computing drafts (S13.4).
 *
 * @module
 */
import { isShortId } from "../../ledger/account/due-ids.ts";
import { accountsNamedIn, accountsUncharted } from "../account-lists.ts";
import type { EngineContext } from "../context.ts";

/** An account that may have an invoice that is asked for. */
export interface MayInvoice {
  readonly accountId: string;
  /** Whether the id names the account or the place of one of its drafts; false where these places are not known. */
  readonly isMeant: boolean;
}

/**
 * The accounts that may have an invoice of an id that is not stored: those that a former id may name, or else the one that
 * has the place of a draft of that id, and those whose places of drafts are not known.
 */
export async function* accountsThatMayInvoice(context: EngineContext, id: string): AsyncGenerator<MayInvoice> {
  const { read } = context.store;
  for (const accountId of await accountsNamedIn(read, id)) yield { accountId, isMeant: true };
  if (!isShortId("inv", id)) return;
  for (const { accountId } of await read.draftList({ id }, { limit: 1 })) yield { accountId, isMeant: true };
  for await (const accountId of accountsUncharted(read, context.clock())) yield { accountId, isMeant: false };
}
