/**
 * A finding of lint: a code, a path, a sentence and an example that a person can check.
 *
 * @module
 */
import { type Path, formatPath } from "../../book/problems.ts";
import type { LintCode } from "../../book/resources/lint.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, formatDecimal } from "../../numbers/decimal.ts";

/** Something in a book that is valid but probably unintended. */
export interface LintFinding {
  readonly code: LintCode;
  /** `note`: inherent in the pricing model and possibly intended. */
  readonly level: "warning" | "note";
  /** The JSON path in the book, such as `$.pricePlans[0].pricePlanDetails.usageRateCards[0]`. */
  readonly path: string;
  /** The same place by ids, which stay the same when lists change, such as `pp.small@1/usage/um.calls`. Suppressions use it. */
  readonly at: string;
  /** One sentence, without a full stop. */
  readonly message: string;
  /** Figures that demonstrate it, to be checked by hand. */
  readonly example?: string;
  /** Whether it was found by trying values rather than proved. */
  readonly searched: boolean;
  /** The reason that the book gives for silencing it; absent if it is not silenced. */
  readonly silenced?: string;
}

/** A place in a book, as a path and by names. */
export interface LintPlace {
  readonly path: Path;
  readonly at: string;
}

export function createFinding(
  code: LintCode,
  place: LintPlace,
  details: Pick<LintFinding, "message"> & Partial<Pick<LintFinding, "level" | "example" | "searched">>,
): LintFinding {
  const { path, at } = place;
  return { code, level: "warning", path: formatPath(path), at, searched: false, ...details };
}

/** An amount with at least the digits of its currency, such as `500.00 USD`. */
export function formatAmountWithCurrency(amount: Decimal, currency: string): string {
  const digits = minorUnitDigits(currency);
  return `${amount.decimalPlaces() <= digits ? amount.toFixed(digits) : formatDecimal(amount)} ${currency}`;
}
