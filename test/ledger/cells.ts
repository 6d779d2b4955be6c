/** The additions of decisions to cells, as a store reads them. */
import type { LedgerCell, UsageDelta } from "../../src/ledger/records.ts";
import { decimalOfExact } from "../../src/numbers/exact.ts";

/** Each addition as a separate cell: readers add up cells. */
export function toCells(deltas: readonly UsageDelta[] = []): readonly LedgerCell[] {
  return deltas.map((delta) => ({ ...delta, quantity: decimalOfExact(delta.quantity) }));
}
