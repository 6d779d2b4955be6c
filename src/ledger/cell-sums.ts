/**
 * Adds up cells of usage or overage.
 *
 * @module
 */
import { add } from "../numbers/decimal.ts";
import type { BilledUsage, LedgerCell } from "./records.ts";

/** One cell per account, meter or feature, and day; zero sums are omitted. */
export function mergeCells(cells: readonly LedgerCell[]): readonly LedgerCell[] {
  const sums = new Map<string, LedgerCell>();
  for (const cell of cells) {
    const key = JSON.stringify([cell.accountId, cell.meterOrFeatureId, cell.day]);
    const before = sums.get(key);
    sums.set(key, before === undefined ? cell : { ...before, quantity: add(before.quantity, cell.quantity) });
  }
  return [...sums.values()].filter(({ quantity }) => !quantity.isZero());
}

/** The cells of stored usage as ledger cells. */
export function billedCells({ accountId, cells }: BilledUsage): readonly LedgerCell[] {
  return cells.map(({ meterId, day, quantity }) => ({ accountId, meterOrFeatureId: meterId, day, quantity }));
}
