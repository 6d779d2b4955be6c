import currencyCodes from "currency-codes";
import { describe, expect, test } from "vitest";

import { isCurrency, minorUnitDigits } from "../../src/numbers/currency.ts";

describe("currencies", () => {
  test.each([
    ["USD", 2],
    ["EUR", 2],
    ["JPY", 0],
    ["KWD", 3],
    ["HUF", 2],
    ["ISK", 0],
    ["BHD", 3],
    ["CLF", 4],
    ["UGX", 0],
  ])("S1.5 the minor unit of %s has %i digits", (currency, digits) => {
    expect(minorUnitDigits(currency)).toBe(digits);
    expect(isCurrency(currency)).toBe(true);
  });

  // XXX is the ISO 4217 code for no currency, and XAU for gold.
  test.each(["", "usd", "US", "XXX", "XAU", "ABC", "__proto__", "USDX", "toString"])(
    "S1.5 rejects the unknown code %j",
    (code) => {
      expect(isCurrency(code)).toBe(false);
      expect(() => minorUnitDigits(code)).toThrow(
        expect.objectContaining({
          code: "ERR_CURRENCY_UNKNOWN",
          message: `${JSON.stringify(code)} is not a currency code of ISO 4217`,
        }),
      );
    },
  );

  test("S1.5 the table has the same currencies and digits as another table of ISO 4217", () => {
    const letters = Array.from({ length: 26 }, (_, index) => String.fromCodePoint(65 + index));
    const codes = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => `${a}${b}${c}`)));
    // Metals, units of account without a minor unit, a code for tests, and one for no currency.
    const notMoney = "XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX".split(" ");
    const theirs = currencyCodes
      .codes()
      .filter((code) => !notMoney.includes(code))
      .map((code) => [code, currencyCodes.code(code)?.digits]);
    const ours = codes.filter((code) => isCurrency(code)).map((code) => [code, minorUnitDigits(code)]);
    expect(ours).toHaveLength(166);
    expect(new Map(ours as [string, number][])).toEqual(new Map(theirs as [string, number][]));
  });
});
