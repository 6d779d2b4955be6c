/** What decisions add to cells, as a store reads it. */
import type { LedgerCell, UsageDelta } from "../../src/ledger/records.ts";
import { decimalOfExact } from "../../src/numbers/exact.ts";

/** Each addition as a cell of its own: cells add up wherever they are read. */
export function toCells(deltas: readonly UsageDelta[] = []): readonly LedgerCell[] {
  return deltas.map((delta) => ({ ...delta, quantity: decimalOfExact(delta.quantity) }));
}
