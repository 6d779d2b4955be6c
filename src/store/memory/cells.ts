/**
 * Usage or overage of a memory store: exact sums by account, item and day.
 *
 * @module
 */
import type { Day } from "../../calendar/instant.ts";
import type { CellChange } from "../../ledger/records.ts";
import { add, type Decimal, decimalOfInteger, subtract, ZERO } from "../../numbers/decimal.ts";
import { smallWhole } from "../../numbers/exact.ts";

/** The cells of all accounts. */
export interface CellTable {
  /**
   * Adds all changes or, where one of the sums cannot be kept, none.
   *
   * @returns what takes them back
   * @throws {RatebookError} ERR_ARITHMETIC when a sum needs more than 100 digits (S1.4)
   */
  add(changes: readonly CellChange[]): () => void;
  /** The cells of the accounts on the days `[from, until)` that are not 0. */
  between(accountIds: readonly string[], from: Day, until: Day): readonly CellChange[];
  all(): Iterable<CellChange>;
}

/** A sum: a number where it is a safe integer, as most are, so that adding to it makes nothing. */
type Sum = number | Decimal;
type Days = Map<Day, Sum>;

/** No cells. */
export function createCellTable(): CellTable {
  const accounts = new Map<string, Map<string, Days>>();

  const itemsOf = (accountId: string): Map<string, Days> => {
    let items = accounts.get(accountId);
    if (items === undefined) accounts.set(accountId, (items = new Map()));
    return items;
  };

  return {
    add(changes) {
      let added = 0;
      // Sums are exact: what was added is taken away again, and what comes out is what was there.
      const takeBack = (): void => {
        while (added > 0) {
          const change = changes[--added];
          if (change === undefined) continue;
          const days = itemsOf(change.accountId).get(change.itemId);
          if (days !== undefined) addTo(days, change.day, negated(change.quantity));
        }
      };
      try {
        // The cells of an account come one after another.
        let accountId: string | undefined;
        let items: Map<string, Days> | undefined;
        for (const change of changes) {
          if (items === undefined || change.accountId !== accountId) items = itemsOf((accountId = change.accountId));
          let days = items.get(change.itemId);
          if (days === undefined) items.set(change.itemId, (days = new Map()));
          addTo(days, change.day, change.quantity);
          added += 1;
        }
      } catch (error) {
        takeBack();
        throw error;
      }
      return takeBack;
    },
    between(accountIds, from, until) {
      const cells: CellChange[] = [];
      for (const accountId of new Set(accountIds)) {
        for (const [itemId, days] of accounts.get(accountId) ?? []) {
          for (const day of daysBetween(days, from, until)) {
            cells.push({ accountId, itemId, day, quantity: decimalOfSum(days.get(day) ?? 0) });
          }
        }
      }
      return cells;
    },
    *all() {
      for (const [accountId, items] of accounts) {
        for (const [itemId, days] of items) {
          for (const [day, sum] of days) yield { accountId, itemId, day, quantity: decimalOfSum(sum) };
        }
      }
    },
  };
}

/** Adds to a cell; one of 0 is no cell. */
function addTo(days: Days, day: Day, quantity: Decimal): void {
  const before = days.get(day);
  const total = before === undefined || typeof before === "number" ? (before ?? 0) + smallWhole(quantity) : Number.NaN;
  // NaN where one of the two is a Decimal, and not safe where digits may be lost.
  let sum: Sum = total;
  if (!Number.isSafeInteger(total)) sum = before === undefined ? quantity : add(decimalOfSum(before), quantity);
  if (typeof sum === "number" ? sum === 0 : sum.isZero()) days.delete(day);
  else days.set(day, sum);
}

function decimalOfSum(sum: Sum): Decimal {
  return typeof sum === "number" ? decimalOfInteger(sum) : sum;
}

function negated(quantity: Decimal): Decimal {
  return subtract(ZERO, quantity);
}

/** The days with a cell in `[from, until)`: asked one by one where the range is the shorter of the two. */
function daysBetween(days: Days, from: Day, until: Day): readonly Day[] {
  if (until - from > days.size) return [...days.keys()].filter((day) => day >= from && day < until);
  const found: Day[] = [];
  for (let day = from; day < until; day++) if (days.has(day)) found.push(day);
  return found;
}
