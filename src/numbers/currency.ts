/**
 * Currencies and their minor units (S1.5), from a table of ISO 4217 instead of `Intl`, which differs from ISO for some
 * currencies and depends on the runtime.
 */
import { RatebookError } from "../errors.ts";

/**
 * The currencies of ISO 4217 by the digits of their minor unit, without codes that are not money: metals, units of
 * account, test codes. A package with the table also has country names, which a browser would load.
 */
const CODES_BY_DIGITS: readonly (readonly [digits: number, codes: string])[] = [
  [0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"],
  [
    2,
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY " +
      "COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR " +
      "IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN " +
      "NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB " +
      "TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD YER ZAR ZMW ZWG",
  ],
  [3, "BHD IQD JOD KWD LYD OMR TND"],
  [4, "CLF UYW"],
];

/** The number of digits of each currency's minor unit, by code. */
const MINOR_UNITS: ReadonlyMap<string, number> = new Map(
  CODES_BY_DIGITS.flatMap(([digits, codes]) => codes.split(" ").map((code) => [code, digits] as const)),
);

/** Whether `code` is a currency of ISO 4217 with a minor unit; upper case only. */
export function isCurrency(code: string): boolean {
  return MINOR_UNITS.has(code);
}

/** The decimal places of a currency's amounts: USD 2, JPY 0, KWD 3, HUF 2 (S1.5). @throws {RatebookError} ERR_CURRENCY_UNKNOWN */
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
