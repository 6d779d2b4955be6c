/**
 * `ratebook/verify`: an independent second implementation that recalculates invoices from their explanations and
 * reports differences.
 *
 * @module
 */
export { type Count, type Verification, verify, type VerifyInput } from "./verify/verify.ts";
export {
  type Difference,
  type Fraction,
  toFraction,
  type JsonObject,
  parseJson,
  formatFraction,
} from "./verify/figures.ts";
export { createMetering, type Metering } from "./verify/metering.ts";
export type { UsageCells } from "./verify/usage-cells.ts";
