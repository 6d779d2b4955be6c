/**
 * Operators on a Decimal compare text (`new Decimal(9) < new Decimal(10)` is false) and no checker detects it. In tests
 * they throw instead, except for those that decimal.js itself uses inside some of its methods. The quick tests share
 * one process, in which this file is loaded before every test file, so an already guarded prototype is skipped.
 */
import { Decimal } from "../../src/numbers/decimal.ts";

if (!Object.hasOwn(Decimal.prototype, Symbol.toPrimitive)) guard();

function guard(): void {
  let inside = 0;

  Object.defineProperty(Decimal.prototype, Symbol.toPrimitive, {
    value(this: Decimal, hint: string): string | number {
      if (inside > 0) return Number(this.toString());
      if (hint === "string") return this.toFixed();
      throw new TypeError("an operator was used on a Decimal: use its methods");
    },
  });

  const prototype = Decimal.prototype as unknown as Record<
    string,
    (this: Decimal, ...args: readonly unknown[]) => unknown
  >;
  for (const name of ["toNumber", "pow", "toPower"]) {
    const method = prototype[name];
    if (method === undefined) continue;
    Object.defineProperty(Decimal.prototype, name, {
      value(this: Decimal, ...args: readonly unknown[]): unknown {
        inside++;
        try {
          return method.call(this, ...args);
        } finally {
          inside--;
        }
      },
    });
  }
}
