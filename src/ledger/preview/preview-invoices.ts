/**
 * The invoices of one account in a scenario.
 *
 * @module
 */
import { RatebookError, hasCode } from "../../errors.ts";
import type { AccountView, BillingCatalog } from "../../invoicing/account-view.ts";
import { type DrawOptions as InvoiceOptions, drawInvoices, drawTotals } from "../../invoicing/draw-invoices.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import { withBillErrors, describeMissingBill, type SkippedAccount } from "../account/bill-failure.ts";
import { dueCreditId } from "../account/due-ids.ts";
import type { PreviewAccount } from "./preview-account.ts";
import type { PreviewRange } from "./preview-range.ts";
import type { ScenarioResult } from "./preview-scenario.ts";

/** How invoices are drawn. */
interface DrawOptions extends PreviewRange {
  readonly explain: boolean;
  /** Whether the caller requested specific accounts: then one whose bill fails is an error. */
  readonly areRequested: boolean;
  /** See the option of `drawInvoices`. */
  readonly belowZeroOnce?: boolean | undefined;
}

/** The invoices of an account, or why it has none. */
export type DrawnAccount =
  | { readonly invoices: readonly Invoice[]; readonly skipped?: undefined }
  | { readonly invoices?: undefined; readonly skipped: SkippedAccount };

/**
 * Draws the invoices of an account. A failed bill does not affect other accounts.
 *
 * @returns undefined if the scenario has no such account
 * @throws {RatebookError} ERR_ARITHMETIC, which names the account
 */
export function drawAccount(
  scenario: ScenarioResult,
  accountId: string,
  { areRequested, ...options }: DrawOptions,
): DrawnAccount | undefined {
  try {
    const invoices = drawInScenario(scenario, accountId, drawInvoices, options);
    return invoices && { invoices };
  } catch (error) {
    if (areRequested || !hasCode(error, "ERR_ARITHMETIC")) throw error;
    return { skipped: { accountId, message: error.message } };
  }
}

/**
 * The totals of an account's invoices, faster than drawing them. An invoice below zero that pays for another counts
 * once.
 *
 * @returns undefined if the scenario has no such account
 * @throws {RatebookError} ERR_ARITHMETIC, which names the account
 */
export function accountTotals(
  scenario: ScenarioResult,
  accountId: string,
  range: PreviewRange,
): readonly Decimal[] | undefined {
  return drawInScenario(scenario, accountId, drawTotals, { ...range, belowZeroOnce: true });
}

/**
 * Draws the bill of an account; undefined if the scenario lacks it.
 *
 * @throws {RatebookError} ERR_ARITHMETIC, which names the account
 */
function drawInScenario<Drawn>(
  scenario: ScenarioResult,
  accountId: string,
  draw: (view: AccountView, catalog: BillingCatalog, options: InvoiceOptions) => Drawn,
  options: InvoiceOptions,
): Drawn | undefined {
  const account = scenario.accounts.of(accountId);
  if (account === undefined) return undefined;
  account.settle();
  const { billFault } = account.current;
  // A trial bill failed and later events were not counted: no invoice may be drawn without them (S13.5).
  if (billFault !== undefined) throw new RatebookError("ERR_ARITHMETIC", describeMissingBill(accountId, billFault), {});
  const view = createAccountView(scenario, account);
  const creditId = (cause: Parameters<typeof dueCreditId>[1]): string => dueCreditId(accountId, cause);
  return withBillErrors(accountId, () => draw(view, scenario.catalog.billing, { ...options, creditId }));
}

/** An account as input for invoicing, with the usage of the scenario. */
function createAccountView({ usage }: ScenarioResult, { current }: PreviewAccount): AccountView {
  const metered: AccountView["usage"] = (meterId, from, until) => usage.between(current.id, meterId, from, until);
  return { ...current.view(), usage: metered };
}
