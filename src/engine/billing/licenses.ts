/** The licenses of accounts (S10.1). */
import { readRequest } from "../../book/reading/read-request.ts";
import type { LicenseUpdateRequest } from "../../book/resources/requests.ts";
import * as licenseCommands from "../../ledger/commands/licenses.ts";
import type { AccountRecord, LicenseUpdateRecord } from "../../ledger/records.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import { quantityAt } from "../../rating/license-timeline.ts";
import { accountsWithinBound } from "../all-accounts.ts";
import { type EngineContext, ACCOUNT_REQUEST, listMethod, method, type Methods, textFields } from "../methods.ts";
import { decideOnAccount } from "../operation.ts";
import { collectPage, type Page, pageKey, type PageOptions } from "../pages.ts";

/** A license update with its account. */
export type LicenseUpdateSnapshot = LicenseUpdateRecord & {
  readonly accountId: string;
  /** In effect right after the update, without updates that were made later. */
  readonly quantityAfter: Decimal;
};

export const licenseMethods = {
  update: method(ACCOUNT_REQUEST, updateLicense),
  /** Newest first. */
  list: listMethod(textFields("accountId", "licenseId"), listLicenseUpdates),
};

/** Licenses of accounts (S10.1). */
export interface Licenses extends Methods<typeof licenseMethods> {}

async function updateLicense(
  context: EngineContext,
  accountId: string,
  input: LicenseUpdateRequest,
): Promise<licenseCommands.LicenseUpdateResult> {
  const request = readRequest("licenseUpdate", input);
  return decideOnAccount(context, accountId, (catalog, account, now) =>
    licenseCommands.updateLicense(catalog, account, request, now, context.ids),
  );
}

/**
 * @throws {RatebookError} ERR_INPUT_INVALID without an account, if there are more than {@link SCANNED_ACCOUNTS_MAX}:
 * updates are stored with their accounts
 */
async function listLicenseUpdates(
  { store }: EngineContext,
  { accountId, licenseId }: { readonly accountId?: string | undefined; readonly licenseId?: string | undefined },
  options: PageOptions,
): Promise<Page<LicenseUpdateSnapshot>> {
  const collector = collectPage<LicenseUpdateRecord & { readonly account: AccountRecord }>(options, pageKey);
  const records =
    accountId === undefined
      ? accountsWithinBound(store.read, "accountId", "license updates", "the id of an account")
      : await store.read.accounts([accountId]);
  for await (const account of records) {
    for (const update of account.licenseUpdates) {
      if (licenseId === undefined || update.licenseId === licenseId) collector.offer({ ...update, account });
    }
  }
  const { items, ...more } = collector.page();
  const updates = items.map(({ account, ...update }) => ({
    ...update,
    accountId: account.id,
    quantityAfter: quantityAfter(account, update),
  }));
  return { items: updates, ...more };
}

/** The quantity that was returned when the update was made: updates made later do not change it. */
function quantityAfter(
  { licenseUpdates }: AccountRecord,
  { id, licenseId, effectiveFrom }: LicenseUpdateRecord,
): Decimal {
  const updatesUntilThen = licenseUpdates.slice(0, licenseUpdates.findIndex((each) => each.id === id) + 1);
  return quantityAt(
    updatesUntilThen.filter((each) => each.licenseId === licenseId),
    effectiveFrom,
  );
}
