/**
 * Usage or overage of a memory store: exact sums by account, item and day.
 *
 * @module
 */
import type { Day } from "../../calendar/instant.ts";
import type { CellChange } from "../../ledger/records.ts";
import { add, type Decimal, ZERO } from "../../numbers/decimal.ts";

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

/** No cells. */
export function createCellTable(): CellTable {
  const accounts = new Map<string, Map<string, Map<Day, Decimal>>>();

  const daysOf = ({ accountId, itemId }: CellChange): Map<Day, Decimal> => {
    let items = accounts.get(accountId);
    if (items === undefined) accounts.set(accountId, (items = new Map()));
    let days = items.get(itemId);
    if (days === undefined) items.set(itemId, (days = new Map()));
    return days;
  };

  return {
    add(changes) {
      const before: [Map<Day, Decimal>, Day, Decimal | undefined][] = [];
      const takeBack = (): void => {
        for (const [days, day, quantity] of before.toReversed()) set(days, day, quantity);
      };
      try {
        for (const change of changes) {
          const days = daysOf(change);
          const quantity = days.get(change.day);
          const total = quantity === undefined ? change.quantity : add(quantity, change.quantity);
          before.push([days, change.day, quantity]);
          set(days, change.day, total);
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
            cells.push({ accountId, itemId, day, quantity: days.get(day) ?? ZERO });
          }
        }
      }
      return cells;
    },
    *all() {
      for (const [accountId, items] of accounts) {
        for (const [itemId, days] of items) {
          for (const [day, quantity] of days) yield { accountId, itemId, day, quantity };
        }
      }
    },
  };
}

/** A cell of 0 is no cell. */
function set(days: Map<Day, Decimal>, day: Day, quantity: Decimal | undefined): void {
  if (quantity === undefined || quantity.isZero()) days.delete(day);
  else days.set(day, quantity);
}

/** The days with a cell in `[from, until)`: asked one by one where the range is the shorter of the two. */
function daysBetween(days: ReadonlyMap<Day, Decimal>, from: Day, until: Day): readonly Day[] {
  if (until - from > days.size) return [...days.keys()].filter((day) => day >= from && day < until);
  const found: Day[] = [];
  for (let day = from; day < until; day++) if (days.has(day)) found.push(day);
  return found;
}
