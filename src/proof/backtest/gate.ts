/**
 * Rules that a backtest must not break: a gate for a change of prices.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { Decimal, decimalOf, multiply, textOf, ZERO } from "../../numbers/decimal.ts";
import type { Backtest } from "./backtest.ts";

/** What must not be: an increase or a decrease of an account, or of a currency's total, above a limit. */
export interface GateRule {
  readonly of: "account" | "total";
  readonly change: "increase" | "decrease";
  /** Whether the limit itself breaks the rule. */
  readonly inclusive: boolean;
  /** Percent of what was paid before, or major units of each currency. */
  readonly limit: Decimal;
  readonly percent: boolean;
}

/**
 * Reads a rule such as `account.increase > 20%` or `total.decrease > 0`.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID with what was expected
 */
export function parseGate(text: string): GateRule {
  const match = /^\s*(account|total)\.(increase|decrease)\s*(>=?)\s*(\d{1,20}(?:\.\d{1,20})?)\s*(%?)\s*$/.exec(text);
  if (match === null) {
    const shown = JSON.stringify(text.slice(0, 60));
    throw new RatebookError(
      "ERR_OPTION_INVALID",
      `expected a rule such as "account.increase > 20%" or "total.decrease > 0", got ${shown}`,
      { option: "failIf" },
    );
  }
  const [, of, change, operator, limit, percent] = match;
  return {
    of: of === "total" ? "total" : "account",
    change: change === "decrease" ? "decrease" : "increase",
    inclusive: operator === ">=",
    limit: decimalOf(limit),
    percent: percent === "%",
  };
}

/** Where a backtest breaks a rule, a sentence each. What was 0 before and is more has increased by any share. */
export function breachesOf({ plans }: Backtest, rule: GateRule): readonly string[] {
  return plans.flatMap(({ planId, version, accounts, totals }) => {
    const changed =
      rule.of === "account"
        ? accounts.map((each) => ({ ...each, name: each.accountId }))
        : totals.map((each) => ({ ...each, name: "the total" }));
    return changed
      .filter((each) => isBroken(rule, each))
      .map(({ name, before, after, currency }) => {
        const limit = `${textOf(rule.limit)}${rule.percent ? "%" : ""}`;
        return `${planId}@${version}: ${rule.change} of ${name} ${rule.inclusive ? "of at least" : "above"} ${limit}: ${textOf(before)} → ${textOf(after)} ${currency}`;
      });
  });
}

function isBroken(
  { change, limit, percent, inclusive }: GateRule,
  { before, difference }: { readonly before: Decimal; readonly difference: Decimal },
): boolean {
  const amount = change === "increase" ? difference : difference.negated();
  if (amount.lte(ZERO)) return inclusive && limit.isZero() && amount.isZero();
  const [left, right] = percent ? [multiply(amount, new Decimal(100)), multiply(limit, before.abs())] : [amount, limit];
  return inclusive ? left.gte(right) : left.gt(right);
}
