/**
 * Where drafts are: which account has one of an id, and where in lists they stand, without computing them (S13.4).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { isBehind, openCycles } from "../../ledger/account/catch-up.ts";
import { invoiceIdOf, isShortId, standardKeyOf } from "../../ledger/account/due-ids.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import type { PageKey } from "../../ledger/view.ts";
import { accountsIn, accountsNamedIn } from "../account-lists.ts";
import type { EngineContext } from "../context.ts";

/**
 * The places of the drafts that an account may have, the account not being behind: one STANDARD invoice for each open
 * cycle. Invoices in advance and AD_HOC ones are final at their date.
 */
export function draftPlaces(catalog: Catalog, record: AccountRecord, now: Instant): readonly PageKey[] {
  return openCycles(catalog, record, now).map((cycle) => ({
    createdAt: cycle.start,
    id: invoiceIdOf(record.id, standardKeyOf(cycle)),
  }));
}

/** An account that may have an invoice that is asked for. */
export interface MayInvoice {
  readonly accountId: string;
  /** The id names the account, or a draft of one of its open cycles; else it is only behind. */
  readonly isMeant: boolean;
}

/**
 * The accounts that may have an invoice of an id that is not stored: those that a former id may name, or else the one
 * with an open cycle whose draft has the id, and those that are behind. Looks at every account in turn.
 */
export async function* accountsThatMayInvoice(context: EngineContext, id: string): AsyncGenerator<MayInvoice> {
  const { read } = context.store;
  for (const accountId of await accountsNamedIn(read, id)) yield { accountId, isMeant: true };
  if (!isShortId("inv", id)) return;
  for await (const record of accountsIn(read)) {
    const { catalog } = await context.configuration(read);
    const now = context.clock();
    const isMeant = draftPlaces(catalog, record, now).some((place) => place.id === id);
    if (isMeant || isBehind(record, now)) yield { accountId: record.id, isMeant };
  }
}
