/**
 * How a new account begins, and what of names and states is checked for one (S16.3, S16.6).
 *
 * @module
 */
import type { RequestOutput } from "../../book/requests/requests.ts";
import type { Instant } from "../../calendar/instant.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { addAliases, checkAccountId, type NamesHeld } from "../../ledger/commands/accounts.ts";
import type { Changes } from "../../ledger/decision.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import { quoted, refused, taken } from "../../ledger/refusals.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { openWorkspace } from "../../ledger/workspace.ts";
import { withoutAbsent } from "../document-body.ts";

/**
 * Makes an account with its aliases. That its customer exists is checked by the caller, who makes its settings, too.
 *
 * @throws {RatebookError} ERR_TAKEN for its id or an alias
 */
export async function accountIn(
  { book }: Catalog,
  view: LedgerView,
  { aliases, invoiceCurrency, settings: _settings, ...asked }: RequestOutput<"accountCreate">,
  now: Instant,
): Promise<{ readonly record: AccountRecord; readonly changes: Changes & Required<Pick<Changes, "documents">> }> {
  const held = await namesHeld(view, [asked.id, ...(aliases ?? [])]);
  checkAccountId(asked.id, { aliases: held.aliases.filter(({ id }) => id === asked.id), accounts: held.accounts });
  if (aliases?.includes(asked.id) === true) {
    throw taken("alias", asked.id, `the alias ${quoted(asked.id)} is the id of an account`);
  }
  const none = { entries: [], credits: [], invoices: [], usage: [], overage: [], events: [] };
  const record = recordOf(asked, invoiceCurrency ?? book.organization.baseCurrency, now);
  const workspace = openWorkspace([{ record, ...none }]);
  const work = workspace.account(asked.id);
  work.putRecord({ ...work.record });
  const { documents } = addAliases(work, aliases ?? [], held, now);
  return { record: work.record, changes: { ...workspace.changes(), documents } };
}

/** The accounts and aliases that hold given names. */
export async function namesHeld(view: LedgerView, names: readonly string[]): Promise<NamesHeld> {
  return { aliases: await view.documentsOf("alias", names), accounts: await view.accounts(names) };
}

/** Refuses to change what is archived. @throws {RatebookError} ERR_REFUSED */
export function checkActive(what: string, { id, status }: { readonly id: string; readonly status: string }): void {
  if (status !== "ACTIVE") throw refused("S16.3", `the ${what} ${quoted(id)} is archived`);
}

function recordOf(
  asked: Omit<RequestOutput<"accountCreate">, "aliases" | "invoiceCurrency" | "settings">,
  invoiceCurrency: string,
  now: Instant,
): AccountRecord {
  return withoutAbsent({
    ...asked,
    status: "ACTIVE",
    invoiceCurrency,
    aliases: [],
    associations: [],
    licenseUpdates: [],
    caughtUpTo: now,
    nextDueAt: NO_END,
    drafts: { until: NO_END, places: [] },
    createdAt: now,
    updatedAt: now,
  }) as unknown as AccountRecord;
}
