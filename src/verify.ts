/**
 * `ratebook/verify`: a second program, which computes invoices again from what they say and tells what differs.
 *
 * @module
 */
export { type Cells, type Metering, type Verification, verify, type VerifyInput } from "./verify/cells.ts";
export { createMetering } from "./verify/metering.ts";
export {
  type Count,
  type Difference,
  type Fraction,
  fraction,
  type Json,
  parseJson,
  textOf,
  type Usage,
} from "./verify/figures.ts";
