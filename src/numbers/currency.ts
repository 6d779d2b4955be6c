/**
 * Currencies and their minor units (S1.5), from a table of ISO 4217 and not from `Intl`, which disagrees with ISO for
 * some currencies and changes with the runtime.
 *
 * @module
 */
import currencyCodes from "currency-codes";

import { RatebookError } from "../errors.ts";

/** Codes of ISO 4217 that are not money: metals, units of account without a minor unit, tests, "no currency". */
const NOT_MONEY = new Set(["XAG", "XAU", "XBA", "XBB", "XBC", "XBD", "XDR", "XPD", "XPT", "XSU", "XTS", "XUA", "XXX"]);

/** The number of digits of each currency's minor unit, by code. */
const MINOR_UNITS: ReadonlyMap<string, number> = new Map(
  currencyCodes
    .codes()
    .filter((code) => !NOT_MONEY.has(code))
    .map((code) => [code, currencyCodes.code(code)?.digits ?? 0]),
);

/** Whether `code` is a currency of ISO 4217 with a minor unit; upper case only. */
export function isCurrency(code: string): boolean {
  return MINOR_UNITS.has(code);
}

/**
 * The digits after the point of a currency's amounts: USD 2, JPY 0, KWD 3, HUF 2 (S1.5).
 *
 * @throws {RatebookError} ERR_CURRENCY_UNKNOWN
 */
export function minorUnitDigits(currency: string): number {
  const digits = MINOR_UNITS.get(currency);
  if (digits === undefined) {
    throw new RatebookError(
      "ERR_CURRENCY_UNKNOWN",
      `${JSON.stringify(currency.slice(0, 60))} is not a currency code of ISO 4217`,
      {
        currency,
      },
    );
  }
  return digits;
}
