/**
 * A draft plan that a preview tries on accounts (book.md, `--plan`): which of them it fits.
 *
 * @module
 */
import type { Account } from "../../book/model/account.ts";
import type { PricePlan } from "../../book/model/price-plan.ts";
import { quoteText } from "../refusals.ts";
import { invalidOption } from "./preview-range.ts";

/** Accounts by whether a draft can be tried on them. */
export interface Draftable {
  readonly shown: readonly Account[];
  /** Accounts with which the draft cannot be associated. */
  readonly leftOut: readonly Account[];
}

/**
 * The accounts that a draft can be tried on (S7.7, S16.1). Of all accounts of a book, those whose currency the draft does not
 * support are left out; an account that is named must fit.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for a draft that fits none of the accounts, or not one that was named
 */
export function draftable(
  accounts: readonly Account[],
  plan: PricePlan | undefined,
  { areNamed }: { readonly areNamed: boolean },
): Draftable {
  if (plan === undefined) return { shown: accounts, leftOut: [] };
  const { pricingCycleConfig, supportedCurrencies } = plan.pricePlanDetails;
  if (!pricingCycleConfig) throw invalidOption("plan", "the plan has no pricingCycleConfig, so no account can use it");
  const fits = ({ invoiceCurrency }: Account): boolean => supportedCurrencies?.includes(invoiceCurrency) ?? false;
  const [shown, leftOut] = [accounts.filter(fits), accounts.filter((account) => !fits(account))];
  if (leftOut.length > 0 && (areNamed || shown.length === 0)) {
    throw invalidOption("plan", `the plan ${quoteText(plan.id)} ${unsupported(plan, leftOut)}`);
  }
  return { shown, leftOut };
}

/** The notices on accounts that a draft leaves out. */
export function noticesOnDraft(leftOut: readonly Account[], plan: PricePlan | undefined): string[] {
  if (plan === undefined || leftOut.length === 0) return [];
  const accounts = leftOut.length === 1 ? "1 account is" : `${leftOut.length} accounts are`;
  return [`${accounts} left out: the plan ${unsupported(plan, leftOut)}`];
}

/** So many accounts are named in a sentence. */
const NAMED_MAX = 5;

/** Which currencies a plan supports, and which accounts are in another. */
function unsupported({ pricePlanDetails }: PricePlan, accounts: readonly Account[]): string {
  const supported = (pricePlanDetails.supportedCurrencies ?? []).join(", ") || "no currency";
  const named = accounts.slice(0, NAMED_MAX).map(({ id, invoiceCurrency }) => `${id} (${invoiceCurrency})`);
  const more = accounts.length > NAMED_MAX ? ` and ${accounts.length - NAMED_MAX} more` : "";
  return `supports ${supported}, not the invoice currency of ${named.join(", ")}${more}`;
}
