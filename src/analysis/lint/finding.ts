/**
 * A finding of lint: a code, a place, a sentence, and an example that a person can check.
 *
 * @module
 */
import type { LintCode } from "../../book/model/lint-codes.ts";
import { type Path, formatPath } from "../../book/problems.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, formatDecimal } from "../../numbers/decimal.ts";

/** Something in a book that is legal and surely unwanted, or worth a look. */
export interface LintFinding {
  readonly code: LintCode;
  /** `note`: it is so by its nature, and may be meant. */
  readonly level: "warning" | "note";
  /** The JSON path in the book, such as `$.pricePlans[0].pricePlanDetails.usageRateCards[0]`. */
  readonly path: string;
  /** What it is about by names that stay when lists change, such as `pp.small@1/usage/um.calls`; silences name it. */
  readonly at: string;
  /** A sentence without its full stop. */
  readonly message: string;
  /** Figures that show it, to be checked by hand. */
  readonly example?: string;
  /** Whether it was found by trying many values, not proved for all. */
  readonly searched: boolean;
  /** Why the book wants it so; absent where nothing silences it. */
  readonly silenced?: string;
}

/** A place in a book, by path and by name. */
export interface LintPlace {
  readonly path: Path;
  readonly at: string;
}

/** A finding at a place. */
export function createFinding(
  code: LintCode,
  place: LintPlace,
  details: Pick<LintFinding, "message"> & Partial<Pick<LintFinding, "level" | "example" | "searched">>,
): LintFinding {
  const { path, at } = place;
  return { code, level: "warning", path: formatPath(path), at, searched: false, ...details };
}

/** An amount with at least the digits of its currency, such as `500.00 USD`. */
export function formatAmount(amount: Decimal, currency: string): string {
  const digits = minorUnitDigits(currency);
  return `${amount.decimalPlaces() <= digits ? amount.toFixed(digits) : formatDecimal(amount)} ${currency}`;
}
