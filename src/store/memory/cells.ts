/** Usage or overage of a memory store: exact sums by account, meter or feature, and UTC day. */
import type { Day } from "../../calendar/instant.ts";
import type { LedgerCell, UsageDelta } from "../../ledger/records.ts";
import { addExact, decimalOfExact, type Exact, isZeroExact, negateExact } from "../../numbers/exact.ts";

/** The cells of all accounts. */
export interface CellTable {
  /**
   * Adds all deltas, or none if a sum fails.
   *
   * @returns a function that removes them again
   * @throws {RatebookError} ERR_ARITHMETIC if a sum needs more than 100 digits (S1.4)
   */
  add(deltas: readonly UsageDelta[]): () => void;
  /** The nonzero cells of the accounts on the days `[from, until)`. */
  between(accountIds: readonly string[], from: Day, until: Day): readonly LedgerCell[];
  all(): Iterable<LedgerCell>;
}

/** Sums by meter or feature, then day. */
type AccountCells = Map<string, Map<Day, Exact>>;

export function createCellTable(): CellTable {
  const accounts = new Map<string, AccountCells>();
  return {
    add: (deltas) => addAll(accounts, deltas),
    between(accountIds, from, until) {
      const cells: LedgerCell[] = [];
      for (const accountId of new Set(accountIds)) {
        for (const cell of iterateCells(accounts, accountId))
          if (cell.day >= from && cell.day < until) cells.push(cell);
      }
      return cells;
    },
    *all() {
      for (const accountId of accounts.keys()) yield* iterateCells(accounts, accountId);
    },
  };
}

function addAll(accounts: Map<string, AccountCells>, deltas: readonly UsageDelta[]): () => void {
  let added = 0;
  // Sums are exact, so subtracting what was added restores the previous state.
  const takeBack = (): void => {
    while (added > 0) {
      const delta = deltas[--added];
      if (delta !== undefined) addOne(accounts, delta, negateExact(delta.quantity));
    }
  };
  try {
    for (const delta of deltas) {
      addOne(accounts, delta, delta.quantity);
      added++;
    }
  } catch (error) {
    takeBack();
    throw error;
  }
  return takeBack;
}

function addOne(
  accounts: Map<string, AccountCells>,
  { accountId, meterOrFeatureId, day }: UsageDelta,
  quantity: Exact,
): void {
  let cells = accounts.get(accountId);
  if (cells === undefined) accounts.set(accountId, (cells = new Map()));
  let days = cells.get(meterOrFeatureId);
  if (days === undefined) cells.set(meterOrFeatureId, (days = new Map()));
  const before = days.get(day);
  days.set(day, before === undefined ? quantity : addExact(before, quantity));
}

function* iterateCells(accounts: ReadonlyMap<string, AccountCells>, accountId: string): Iterable<LedgerCell> {
  for (const [meterOrFeatureId, days] of accounts.get(accountId) ?? []) {
    for (const [day, quantity] of days) {
      if (!isZeroExact(quantity)) yield { accountId, meterOrFeatureId, day, quantity: decimalOfExact(quantity) };
    }
  }
}
