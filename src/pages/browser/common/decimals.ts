/**
 * Comparisons of decimal texts.
 *
 * @module
 */

/** Negative if `a` is less than `b`, positive if it is greater. Texts are canonical: no exponent, no extra zeros. */
export function compareDecimals(a: string, b: string): number {
  const isNegative = a.startsWith("-");
  if (isNegative !== b.startsWith("-")) return isNegative ? -1 : 1;
  if (isNegative) return compareDecimals(b.slice(1), a.slice(1));
  const [wholeA = "", restA = ""] = a.split(".");
  const [wholeB = "", restB = ""] = b.split(".");
  if (wholeA.length !== wholeB.length) return wholeA.length - wholeB.length;
  const [left, right] = [`${wholeA}.${restA}`, `${wholeB}.${restB}`];
  return left === right ? 0 : left < right ? -1 : 1;
}

/** Removes the sign. */
export function removeSign(value: string): string {
  return value.replace(/^-/, "");
}
