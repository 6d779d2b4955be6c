/**
 * The tally of usage: exact quantities by account, meter and UTC day (S5.3). Cycles begin on UTC days, so every cycle
 * is a sum of days, whatever plans come and go.
 *
 * @module
 */
import type { Day } from "../calendar/instant.ts";
import type { Decimal } from "../numbers/decimal.ts";
import type { Exact } from "../numbers/exact.ts";
import { decimalOfExact } from "../numbers/exact.ts";
import type { AddAll } from "./cells.ts";
import { createCells } from "./cells.ts";

/** The usage of one account, one meter and one UTC day. */
export interface UsageCell {
  readonly accountId: string;
  readonly meterId: string;
  readonly day: Day;
  readonly quantity: Decimal;
}

/** A readable tally. */
export interface Usage {
  readonly accountIds: readonly string[];
  readonly meterIds: readonly string[];
  /**
   * The sum over the days `[from, until)`; 0 without usage, and for an unknown account or meter.
   *
   * @throws {RatebookError} ERR_ARITHMETIC if the sum needs more than 100 digits (S1.4)
   */
  between(accountId: string, meterId: string, from: Day, until: Day): Decimal;
  /** Whether anything was metered on the days `[from, until)`, even 0. */
  hasUsage(accountId: string, meterId: string, from: Day, until: Day): boolean;
  /** The first and the last day (inclusive) with usage of an account. */
  daysOf(accountId: string): { readonly first: Day; readonly last: Day } | undefined;
  /** Every cell with usage, by account, meter and day. */
  cells(): Iterable<UsageCell>;
  /** The cells of one account, by meter and day. */
  cellsOf(accountId: string): Iterable<UsageCell>;
  /** Every cell with usage, by account and meter index; days are unordered. */
  visit(cell: (account: number, meter: number, day: Day, quantity: Exact) => void): void;
}

/** A tally to which usage can be added. */
export interface UsageTally extends Usage {
  /**
   * Adds to one cell; adding 0 creates the cell.
   *
   * @param account the index in `accountIds`
   * @param meter the index in `meterIds`
   * @throws {RatebookError} ERR_ARITHMETIC if the cell would need more than 100 digits (S1.4); nothing is added then
   */
  readonly add: (account: number, meter: number, day: Day, quantity: Exact) => void;
  /**
   * Creates a function that adds all units of one event, or none if one does not fit.
   *
   * @param meters distinct indices in `meterIds`
   */
  readonly adder: (meters: readonly number[]) => AddAll;
  /** Adds another tally, whose accounts and meters must exist here. */
  merge(other: Usage): void;
}

/** Creates an empty tally. @param columnGroups the indices of meters in which one event may count */
export function createUsageTally(
  accountIds: readonly string[],
  meterIds: readonly string[],
  columnGroups?: readonly (readonly number[])[],
): UsageTally {
  const sums = createCells(accountIds.length, meterIds.length, columnGroups);
  const accounts = new Map(accountIds.map((id, index) => [id, index]));
  const meters = new Map(meterIds.map((id, index) => [id, index]));
  const daysIn = (accountId: string, meterId: string): Iterable<readonly [Day, Exact]> =>
    sums.days(accounts.get(accountId) ?? -1, meters.get(meterId) ?? -1);
  function* listCells(accountId: string): Iterable<UsageCell> {
    for (const meterId of meterIds) {
      const days = [...daysIn(accountId, meterId)].sort(([a], [b]) => a - b);
      for (const [day, quantity] of days) yield { accountId, meterId, day, quantity: decimalOfExact(quantity) };
    }
  }

  return {
    accountIds,
    meterIds,
    add: sums.add,
    adder: sums.adder,
    visit(cell) {
      for (const account of accountIds.keys()) {
        for (const meter of meterIds.keys()) {
          for (const [day, quantity] of sums.days(account, meter)) cell(account, meter, day, quantity);
        }
      }
    },
    *cells() {
      for (const accountId of accountIds) yield* listCells(accountId);
    },
    cellsOf: listCells,
    between(accountId, meterId, from, until) {
      return decimalOfExact(sums.between(accounts.get(accountId) ?? -1, meters.get(meterId) ?? -1, from, until));
    },
    hasUsage(accountId, meterId, from, until) {
      for (const [day] of daysIn(accountId, meterId)) if (day >= from && day < until) return true;
      return false;
    },
    daysOf: (accountId) => dayRange(meterIds.map((meterId) => daysIn(accountId, meterId))),
    merge(other) {
      const accountIndices = other.accountIds.map((id) => accounts.get(id) ?? -1);
      const meterIndices = other.meterIds.map((id) => meters.get(id) ?? -1);
      other.visit((account, meter, day, quantity) => {
        sums.add(accountIndices[account] ?? -1, meterIndices[meter] ?? -1, day, quantity);
      });
    },
  };
}

/** The first and the last of all days; undefined without any. */
function dayRange(lists: readonly Iterable<readonly [Day, Exact]>[]): { first: Day; last: Day } | undefined {
  let [first, last] = [Infinity, -Infinity];
  for (const list of lists) {
    for (const [day] of list) {
      first = Math.min(first, day);
      last = Math.max(last, day);
    }
  }
  return first <= last ? { first, last } : undefined;
}
