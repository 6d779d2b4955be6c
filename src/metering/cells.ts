/**
 * Exact sums by row, column and UTC day. Memory is bounded by the number of cells: a dense cell is a safe integer; the
 * part of a sum that does not fit is a wide cell, an exact decimal of any size.
 */
import type { Day } from "../calendar/instant.ts";
import { type Exact, addExact } from "../numbers/exact.ts";
import {
  createDenseCells,
  dayCapacity,
  denseCell,
  type DenseCells,
  denseSum,
  ensureDay,
  ensureRow,
  computeTotal,
} from "./dense-cells.ts";

/** Cells to which quantities can be added. */
export interface Cells {
  /**
   * Adds to one cell; adding 0 creates the cell.
   *
   * @throws {RatebookError} ERR_ARITHMETIC if the cell would need more than 100 digits (S1.4); nothing is added then
   */
  readonly add: (row: number, column: number, day: Day, quantity: Exact) => void;
  /** Creates a function that adds to several columns at once. @param columns without repetition */
  readonly adder: (columns: readonly number[]) => AddAll;
  /** The existing cells, unordered; empty for an unknown row or column. */
  days(row: number, column: number): Iterable<readonly [Day, Exact]>;
  /**
   * The sum of the cells on the days `[from, until)`.
   *
   * @throws {RatebookError} ERR_ARITHMETIC if it needs more than 100 digits (S1.4)
   */
  between(row: number, column: number, from: Day, until: Day): Exact;
}

/**
 * Adds to several cells of one row and day.
 *
 * @param quantities by the index of their column in the adder's list; undefined skips its cell. At most 40 digits
 * before and after the point (S1.6), so that every sum stays exact
 */
export type AddAll = (row: number, day: Day, quantities: readonly (Exact | undefined)[]) => void;

/** The parts of sums that dense cells cannot store, by row, column and day. */
interface WideCells {
  readonly columns: number;
  /** By row × columns + column. */
  readonly byCell: Map<number, Map<Day, Exact>>;
}

/** @param columnGroups columns that are usually added to together */
export function createCells(rows: number, columns: number, columnGroups?: readonly (readonly number[])[]): Cells {
  const dense = createDenseCells(rows, columns, columnGroups);
  const wide: WideCells = { columns, byCell: new Map() };
  const addQuantity: Cells["add"] = (row, column, day, quantity) => {
    // With a wide cell, even a small quantity may be too much.
    if (wide.byCell.size > 0 && wide.byCell.get(row * columns + column)?.has(day) === true) {
      addWide(dense, wide, { row, column, day }, quantity);
      return;
    }
    const lane = ensureRow(dense, row) + (dense.lanes[column] ?? 0);
    const first = ensureDay(dense, lane, day);
    const place = dense.places[column] ?? 0;
    const total = first < 0 ? Number.NaN : computeTotal(dense, lane, place, first + place, quantity);
    if (Number.isNaN(total)) addWide(dense, wide, { row, column, day }, quantity);
    else dense.sums[first + place] = total;
  };
  const adder: Cells["adder"] = (adderColumns) => {
    const addDense = createDenseAdder(dense, adderColumns);
    return (row, day, quantities) => {
      if (wide.byCell.size === 0 && addDense(row, day, quantities)) return;
      for (const [index, quantity] of quantities.entries()) {
        if (quantity !== undefined) addQuantity(row, adderColumns[index] ?? -1, day, quantity);
      }
    };
  };
  return {
    add: addQuantity,
    adder,
    days: (row, column) => (row < 0 || column < 0 ? [] : iterateCells(dense, wide, row, column)),
    between(row, column, from, until) {
      if (row < 0 || column < 0) return 0;
      const hasWideCell = wide.byCell.has(row * columns + column);
      const sum = hasWideCell ? undefined : denseSum(dense, row, column, [from, until]);
      if (sum !== undefined) return sum;
      let total: Exact = 0;
      for (const [day, quantity] of iterateCells(dense, wide, row, column)) {
        if (day >= from && day < until) total = addExact(total, quantity);
      }
      return total;
    },
  };
}

/** Adds to dense cells only, or to none; the cells of one lane are located once. */
function createDenseAdder(
  dense: DenseCells,
  columns: readonly number[],
): (row: number, day: Day, quantities: readonly (Exact | undefined)[]) => boolean {
  const lanes = columns.map((column) => dense.lanes[column] ?? 0);
  const places = columns.map((column) => dense.places[column] ?? 0);
  /** The changed cells, and their previous values. */
  const cells = new Int32Array(columns.length);
  const before = new Float64Array(columns.length);
  const undo = (from: number, quantities: readonly (Exact | undefined)[]): void => {
    for (let index = from - 1; index >= 0; index--) {
      if (quantities[index] !== undefined) dense.sums[cells[index] ?? 0] = before[index] ?? 0;
    }
  };
  return (row, day, quantities) => {
    const base = ensureRow(dense, row);
    let currentLane = -1;
    let first = -1;
    for (let index = 0; index < lanes.length; index++) {
      const quantity = quantities[index];
      if (quantity === undefined) continue;
      const lane = base + (lanes[index] ?? 0);
      if (lane !== currentLane) {
        currentLane = lane;
        first = ensureDay(dense, lane, day);
      }
      const place = places[index] ?? 0;
      const cell = first + place;
      const total = first < 0 ? Number.NaN : computeTotal(dense, lane, place, cell, quantity);
      if (Number.isNaN(total)) {
        undo(index, quantities);
        return false;
      }
      cells[index] = cell;
      before[index] = dense.sums[cell] ?? 0;
      dense.sums[cell] = total;
    }
    return true;
  };
}

interface CellKey {
  readonly row: number;
  readonly column: number;
  readonly day: Day;
}

function addWide(dense: DenseCells, wide: WideCells, { row, column, day }: CellKey, quantity: Exact): void {
  const cell = row * wide.columns + column;
  const days = wide.byCell.get(cell) ?? new Map<Day, Exact>();
  const total = addExact(days.get(day) ?? 0, quantity);
  // The complete cell must be an exact decimal too (S1.4): this throws before anything changes.
  addExact(total, denseCell(dense, row, column, day) ?? 0);
  days.set(day, total);
  wide.byCell.set(cell, days);
}

/** The days of a row and column with usage, dense days first. */
function* iterateCells(
  dense: DenseCells,
  wide: WideCells,
  row: number,
  column: number,
): Generator<readonly [Day, Exact], void, undefined> {
  const wideByDay = wide.byCell.get(row * wide.columns + column);
  const { first, days } = dayCapacity(dense, row, column);
  for (let day = first; day < first + days; day++) {
    const quantity = denseCell(dense, row, column, day);
    const widePart = wideByDay?.get(day);
    if (quantity !== undefined) yield [day, widePart === undefined ? quantity : addExact(quantity, widePart)];
    else if (widePart !== undefined) yield [day, widePart];
  }
  for (const [day, quantity] of wideByDay ?? []) if (day < first || day >= first + days) yield [day, quantity];
}
