/**
 * Finds the accounts to which a preview can apply a draft plan (book.md, `--plan`).
 *
 * @module
 */
import type { Account } from "../../book/resources/account.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { quoteText } from "../refusals.ts";
import { invalidOptionError } from "./preview-range.ts";

/** Accounts by whether a draft can be applied to them. */
export interface DraftAccounts {
  readonly supported: readonly Account[];
  /** Accounts that the draft cannot be associated with. */
  readonly leftOut: readonly Account[];
}

/**
 * The accounts to which a draft can be applied (S7.7, S16.1). If all accounts of a book are shown, those in a currency
 * that the draft does not support are left out; a requested account must have a supported one.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID if the draft supports none of the accounts, or not a requested one
 */
export function selectDraftAccounts(
  accounts: readonly Account[],
  plan: PricePlan | undefined,
  { areRequested }: { readonly areRequested: boolean },
): DraftAccounts {
  if (plan === undefined) return { supported: accounts, leftOut: [] };
  const { pricingCycleConfig, supportedCurrencies } = plan.pricePlanDetails;
  if (!pricingCycleConfig)
    throw invalidOptionError("plan", "the plan has no pricingCycleConfig, so no account can use it");
  const fits = ({ invoiceCurrency }: Account): boolean => supportedCurrencies?.includes(invoiceCurrency) ?? false;
  const [supported, leftOut] = [accounts.filter(fits), accounts.filter((account) => !fits(account))];
  if (leftOut.length > 0 && (areRequested || supported.length === 0)) {
    throw invalidOptionError("plan", `the plan ${quoteText(plan.id)} ${describeUnsupported(plan, leftOut)}`);
  }
  return { supported, leftOut };
}

/** The notices on accounts left out. */
export function describeLeftOut(leftOut: readonly Account[], plan: PricePlan | undefined): string[] {
  if (plan === undefined || leftOut.length === 0) return [];
  const accounts = leftOut.length === 1 ? "1 account is" : `${leftOut.length} accounts are`;
  return [`${accounts} left out: the plan ${describeUnsupported(plan, leftOut)}`];
}

/** Maximum number of accounts named in a sentence. */
const NAMED_MAX = 5;

/** The currencies that a plan supports, and the accounts in other ones. */
function describeUnsupported({ pricePlanDetails }: PricePlan, accounts: readonly Account[]): string {
  const supported = (pricePlanDetails.supportedCurrencies ?? []).join(", ") || "no currency";
  const named = accounts.slice(0, NAMED_MAX).map(({ id, invoiceCurrency }) => `${id} (${invoiceCurrency})`);
  const more = accounts.length > NAMED_MAX ? ` and ${accounts.length - NAMED_MAX} more` : "";
  return `supports ${supported}, not the invoice currency of ${named.join(", ")}${more}`;
}
