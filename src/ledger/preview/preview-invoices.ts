/**
 * The invoices of one account in a scenario.
 *
 * @module
 */
import { RatebookError, hasCode } from "../../errors.ts";
import type { AccountView, BillingCatalog } from "../../invoicing/account-view.ts";
import { type InvoicingOptions, computeInvoices, computeTotals } from "../../invoicing/compute-invoices.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import { withBillErrors, describeMissingBill, type SkippedAccount } from "../account/bill-failure.ts";
import { dueCreditId } from "../account/due-ids.ts";
import type { PreviewAccount } from "./preview-account.ts";
import type { PreviewRange } from "./preview-range.ts";
import type { ScenarioResult } from "./preview-scenario.ts";

/** How the invoices of an account are computed. */
interface AccountInvoiceOptions extends PreviewRange {
  readonly explain: boolean;
  /** Whether the caller requested specific accounts: then one whose bill fails is an error. */
  readonly areRequested: boolean;
  /** See the option of `computeInvoices`. */
  readonly countsNegativeInvoicesOnce?: boolean | undefined;
}

/** The invoices of an account, or why it has none. */
export type AccountInvoices =
  | { readonly invoices: readonly Invoice[]; readonly skipped?: undefined }
  | { readonly invoices?: undefined; readonly skipped: SkippedAccount };

/**
 * Computes the invoices of an account. A failed bill does not affect other accounts.
 *
 * @returns undefined if the scenario has no such account
 * @throws {RatebookError} ERR_ARITHMETIC, which names the account
 */
export function computeAccountInvoices(
  scenario: ScenarioResult,
  accountId: string,
  { areRequested, ...options }: AccountInvoiceOptions,
): AccountInvoices | undefined {
  try {
    const invoices = computeInScenario(scenario, accountId, computeInvoices, options);
    return invoices && { invoices };
  } catch (error) {
    if (areRequested || !hasCode(error, "ERR_ARITHMETIC")) throw error;
    return { skipped: { accountId, message: error.message } };
  }
}

/**
 * Computes the totals of an account's invoices, which is faster than their lines. An invoice below zero that pays for another counts
 * once.
 *
 * @returns undefined if the scenario has no such account
 * @throws {RatebookError} ERR_ARITHMETIC, which names the account
 */
export function computeAccountTotals(
  scenario: ScenarioResult,
  accountId: string,
  range: PreviewRange,
): readonly Decimal[] | undefined {
  return computeInScenario(scenario, accountId, computeTotals, { ...range, countsNegativeInvoicesOnce: true });
}

/**
 * Computes the bill of an account; undefined if the scenario lacks it.
 *
 * @throws {RatebookError} ERR_ARITHMETIC, which names the account
 */
function computeInScenario<Result>(
  scenario: ScenarioResult,
  accountId: string,
  compute: (view: AccountView, catalog: BillingCatalog, options: InvoicingOptions) => Result,
  options: InvoicingOptions,
): Result | undefined {
  const account = scenario.accounts.of(accountId);
  if (account === undefined) return undefined;
  account.processRemainingWork();
  const { billFault } = account.current;
  // A trial bill failed and later events were not counted: no invoice may be computed without them (S13.5).
  if (billFault !== undefined) throw new RatebookError("ERR_ARITHMETIC", describeMissingBill(accountId, billFault), {});
  const view = createAccountView(scenario, account);
  const creditId = (cause: Parameters<typeof dueCreditId>[1]): string => dueCreditId(accountId, cause);
  return withBillErrors(accountId, () => compute(view, scenario.catalog.billing, { ...options, creditId }));
}

/** An account as input for invoicing, with the usage of the scenario. */
function createAccountView({ usage }: ScenarioResult, { current }: PreviewAccount): AccountView {
  const metered: AccountView["usage"] = (meterId, from, until) => usage.between(current.id, meterId, from, until);
  return { ...current.view(), usage: metered };
}
