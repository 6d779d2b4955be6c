/**
 * The initial state of an account, and checks of its names and status (S16.3, S16.6).
 *
 * @module
 */
import type { RequestOutput } from "../../book/resources/requests.ts";
import type { Instant } from "../../calendar/instant.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import { partsOfRecord } from "../../ledger/account-parts.ts";
import { createWorkspace } from "../../ledger/account-state.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { addAliases, checkAccountId, type TakenNames } from "../../ledger/commands/accounts.ts";
import type { Changes } from "../../ledger/decision.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import { quoteText, refusedError, alreadyTakenError } from "../../ledger/refusals.ts";
import type { LedgerView } from "../../ledger/view.ts";
import { withoutAbsent } from "../document-body.ts";

/**
 * Creates an account with its aliases. The caller checks its customer and creates its settings.
 *
 * @throws {RatebookError} ERR_TAKEN for its id or an alias
 */
export async function prepareAccount(
  catalog: Catalog,
  view: LedgerView,
  { aliases, invoiceCurrency, settings: _settings, ...request }: RequestOutput<"accountCreate">,
  now: Instant,
): Promise<{ readonly record: AccountRecord; readonly changes: Changes & Required<Pick<Changes, "documents">> }> {
  const takenNames = await findTakenNames(view, [request.id, ...(aliases ?? [])]);
  checkAccountId(request.id, {
    aliases: takenNames.aliases.filter(({ id }) => id === request.id),
    accounts: takenNames.accounts,
  });
  if (aliases?.includes(request.id) === true) {
    throw alreadyTakenError("alias", request.id, `the alias ${quoteText(request.id)} is the id of an account`);
  }
  const record = createRecord(request, invoiceCurrency ?? catalog.book.organization.baseCurrency, now);
  const workspace = createWorkspace(catalog, [partsOfRecord(record)]);
  const work = workspace.account(request.id);
  work.putRecord({ ...work.record });
  const { documents } = addAliases(work, aliases ?? [], takenNames, now);
  return { record: work.record, changes: { ...workspace.changes(), documents } };
}

/** The accounts and aliases that have these names. */
export async function findTakenNames(view: LedgerView, names: readonly string[]): Promise<TakenNames> {
  return { aliases: await view.documentsOf("alias", names), accounts: await view.accounts(names) };
}

/** Checks that a resource is not archived. @throws {RatebookError} ERR_REFUSED */
export function checkActive(noun: string, { id, status }: { readonly id: string; readonly status: string }): void {
  if (status !== "ACTIVE") throw refusedError("S16.3", `the ${noun} ${quoteText(id)} is archived`);
}

function createRecord(
  request: Omit<RequestOutput<"accountCreate">, "aliases" | "invoiceCurrency" | "settings">,
  invoiceCurrency: string,
  now: Instant,
): AccountRecord {
  return withoutAbsent({
    ...request,
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
