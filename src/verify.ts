/**
 * `ratebook/verify`: a second program, which computes invoices again from what they say and tells what differs.
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
export { type UsageCells, createMetering, type Metering } from "./verify/metering.ts";
