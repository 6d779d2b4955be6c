/**
 * Operators on a Decimal compare text (`new Decimal(9) < new Decimal(10)` is false) and no checker sees it.
 * In tests they throw instead.
 */
import { Decimal } from "../../src/numbers/decimal.ts";

Object.defineProperty(Decimal.prototype, Symbol.toPrimitive, {
  value(hint: string): string {
    if (hint === "string") return (this as Decimal).toFixed();
    throw new TypeError("an operator was used on a Decimal: use its methods");
  },
});
