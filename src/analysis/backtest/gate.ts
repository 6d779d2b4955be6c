/** Gates for price changes: conditions under which a backtest fails, such as `account.increase > 20%`. */
import { RatebookError } from "../../errors.ts";
import { Decimal, parseDecimal, multiply, formatDecimal, ZERO } from "../../numbers/decimal.ts";
import type { Backtest } from "./backtest.ts";

/** A forbidden change: an increase or decrease of an account or a currency's total that exceeds a limit. */
export interface GateRule {
  readonly of: "account" | "total";
  readonly change: "increase" | "decrease";
  /** Whether a change of exactly the limit is forbidden too. */
  readonly inclusive: boolean;
  /** Percent of the amount before, or major units of each currency. */
  readonly limit: Decimal;
  readonly percent: boolean;
}

/** The parts of a rule in order: the allowed texts, and the expected value that the error names. */
const PARTS = [
  [/^(account|total)/, '"account" or "total"'],
  [/^\./, '"."'],
  [/^(increase|decrease)/, '"increase" or "decrease"'],
  [/^(>=?)/, '">" or ">="'],
  [/^(\d{1,20}(?:\.\d{1,20})?)(?!\.?\d)/, "an amount of at most 20 digits before and after the point"],
  [/^(%?)/, '"%"'],
  [/^$/, 'the end, or "%" before it'],
] as const satisfies readonly (readonly [RegExp, string])[];

/**
 * Reads a rule such as `account.increase > 20%` or `total.decrease > 0`.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID with the position and what was expected there
 */
export function parseGate(text: string): GateRule {
  const matches: string[] = [];
  let at = 0;
  for (const [part, expectation] of PARTS) {
    at += /^\s*/.exec(text.slice(at))?.[0].length ?? 0;
    const match = part.exec(text.slice(at));
    if (match === null) throw invalidGateError(text, at, expectation);
    at += match[0].length;
    if (match[1] !== undefined) matches.push(match[1]);
  }
  const [of, change, operator, limit, percent] = matches;
  return {
    of: of === "total" ? "total" : "account",
    change: change === "decrease" ? "decrease" : "increase",
    inclusive: operator === ">=",
    limit: parseDecimal(limit),
    percent: percent === "%",
  };
}

function invalidGateError(text: string, at: number, expectation: string): RatebookError<"ERR_OPTION_INVALID"> {
  const rest = text.slice(at, at + 20);
  const place = rest === "" ? "at its end" : `at character ${at + 1}, ${JSON.stringify(rest)}`;
  const message = `${JSON.stringify(text.slice(0, 60))}: expected ${expectation} ${place}; for example "account.increase > 20%" or "total.decrease > 0"`;
  return new RatebookError("ERR_OPTION_INVALID", message, { option: "failIf" });
}

/** Describes each forbidden change in a sentence. An increase from 0 exceeds any percentage. */
export function findBreaches({ plans }: Backtest, rule: GateRule): readonly string[] {
  return plans.flatMap(({ planId, version, accounts, totals }) => {
    const changes =
      rule.of === "account"
        ? accounts.map((each) => ({ ...each, name: each.accountId }))
        : totals.map((each) => ({ ...each, name: "the total" }));
    return changes
      .filter((each) => isForbidden(rule, each))
      .map(({ name, before, after, currency }) => {
        const limit = `${formatDecimal(rule.limit)}${rule.percent ? "%" : ""}`;
        return `${planId}@${version}: ${rule.change} of ${name} ${rule.inclusive ? "of at least" : "above"} ${limit}: ${formatDecimal(before)} → ${formatDecimal(after)} ${currency}`;
      });
  });
}

function isForbidden(
  { change, limit, percent, inclusive }: GateRule,
  { before, difference }: { readonly before: Decimal; readonly difference: Decimal },
): boolean {
  const amount = change === "increase" ? difference : difference.negated();
  if (amount.lte(ZERO)) return inclusive && limit.isZero() && amount.isZero();
  const [left, right] = percent ? [multiply(amount, new Decimal(100)), multiply(limit, before.abs())] : [amount, limit];
  return inclusive ? left.gte(right) : left.gt(right);
}
