/**
 * Exact sums by row, column and UTC day, in memory bounded by cells.
 *
 * A cell is a safe integer at its block's scale, all of them in one shared array; what does not fit there is kept beside
 * it as an exact decimal of any size, to be added to it.
 *
 * @module
 */
import type { Day } from "../calendar/instant.ts";
import { hasCode, invariant } from "../errors.ts";
import type { Exact } from "../numbers/exact.ts";
import { addExact, Scaled } from "../numbers/exact.ts";

/** Sums that grow. */
export interface Cells {
  /**
   * Adds to one cell; 0 makes the cell.
   *
   * @throws {RatebookError} ERR_ARITHMETIC when the cell would need more than 100 digits (S1.4); nothing is added then
   */
  readonly add: (row: number, column: number, day: Day, quantity: Exact) => void;
  /** Whether {@link add} would take this quantity; adds nothing. */
  readonly fits: (row: number, column: number, day: Day, quantity: Exact) => boolean;
  /** The cells that were made, in no particular order; none of a row or column that does not exist. */
  days(row: number, column: number): Iterable<readonly [Day, Exact]>;
}

const SAFE_MAX = Number.MAX_SAFE_INTEGER;
/** Exactly representable powers of ten that a safe mantissa may be raised by. */
const POWERS: readonly number[] = Array.from({ length: 16 }, (_, power) => Number(`1e${power}`));
/** Days that a block spans in the dense array, about eleven years; days further away are kept aside. */
const DENSE_DAYS_MAX = 4096;

/** The dense part: blocks of days, one for each column of a row that has cells. */
interface DenseBlocks {
  /** The block of a row's first column; -1 until the row has cells. */
  readonly bases: Int32Array;
  /** {@link START} and so on of each block, side by side: one event touches all columns of a row. */
  blocks: Int32Array;
  blocksUsed: number;
  /** Mantissas; NaN where there is no cell. */
  cells: Float64Array;
  cellsUsed: number;
}

/** Where a block's days begin in the cells, its first day, how many days it has room for, the scale of its mantissas. */
const START = 0;
const FIRST = 1;
const LENGTH = 2;
const SCALE = 3;
const BLOCK_FIELDS = 4;

/** No cells yet. */
export function createCells(rows: number, columns: number): Cells {
  const dense = emptyBlocks(rows);
  /** By block, then day: what the dense cell cannot hold. */
  const wide = new Map<number, Map<Day, Exact>>();
  return {
    add(row, column, day, quantity) {
      let base = dense.bases[row] ?? -1;
      if (base < 0) base = openRow(dense, row, columns);
      const block = (base + column) * BLOCK_FIELDS;
      let offset = day - (dense.blocks[block + FIRST] ?? 0);
      if (offset < 0 || offset >= (dense.blocks[block + LENGTH] ?? 0)) offset = reserve(dense, block, day);
      if (offset >= 0 && addDense(dense, block, offset, quantity)) return;
      addWide(dense, wide, block, day, quantity);
    },
    fits(row, column, day, quantity) {
      const small = typeof quantity === "number" || (typeof quantity.mantissa === "number" && quantity.scale <= 50);
      if (small && wide.size === 0) return true;
      const base = dense.bases[row] ?? -1;
      const block = base < 0 ? -1 : (base + column) * BLOCK_FIELDS;
      try {
        addExact(addExact(wide.get(block)?.get(day) ?? 0, quantity), denseAt(dense, block, day) ?? 0);
        return true;
      } catch (error) {
        if (hasCode(error, "ERR_ARITHMETIC")) return false;
        throw error;
      }
    },
    days(row, column) {
      const base = dense.bases[row] ?? -1;
      return base < 0 || column < 0 ? [] : cellsOf(dense, wide, (base + column) * BLOCK_FIELDS);
    },
  };
}

function emptyBlocks(rows: number): DenseBlocks {
  return {
    bases: new Int32Array(rows).fill(-1),
    blocks: new Int32Array(0),
    blocksUsed: 0,
    cells: new Float64Array(1024).fill(Number.NaN),
    cellsUsed: 0,
  };
}

/** Makes a row's blocks, one for each column, and gives the first of them. */
function openRow(dense: DenseBlocks, row: number, columns: number): number {
  invariant(row >= 0 && row < dense.bases.length, "S5.3: usage belongs to a known account and meter");
  const base = dense.blocksUsed;
  const needed = (base + columns) * BLOCK_FIELDS;
  if (needed > dense.blocks.length) {
    const blocks = new Int32Array(Math.max(256, 2 * dense.blocks.length, needed));
    blocks.set(dense.blocks);
    dense.blocks = blocks;
  }
  dense.blocksUsed += columns;
  dense.bases[row] = base;
  return base;
}

/** Makes room for a day in a block, and gives its offset there; -1 when it lies too far from the block's other days. */
function reserve(dense: DenseBlocks, block: number, day: Day): number {
  const { blocks } = dense;
  const length = blocks[block + LENGTH] ?? 0;
  const first = length === 0 ? day : (blocks[block + FIRST] ?? 0);
  const needed = Math.max(first + length, day + 1) - Math.min(first, day);
  if (needed > DENSE_DAYS_MAX) return -1;
  let capacity = 4;
  while (capacity < needed) capacity *= 2;
  // The room that is left over goes to the side on which the block grows.
  const newFirst = day < first ? first + length - capacity : first;
  const start = dense.cellsUsed;
  if (start + capacity > dense.cells.length) {
    const cells = new Float64Array(Math.max(2 * dense.cells.length, start + capacity)).fill(Number.NaN, start);
    cells.set(dense.cells);
    dense.cells = cells;
  }
  const old = blocks[block + START] ?? 0;
  dense.cells.copyWithin(start + first - newFirst, old, old + length);
  dense.cellsUsed += capacity;
  blocks[block + START] = start;
  blocks[block + FIRST] = newFirst;
  blocks[block + LENGTH] = capacity;
  return day - newFirst;
}

/** Adds to a dense cell where the sum is a safe integer at the block's scale; else leaves it and says false. */
function addDense(dense: DenseBlocks, block: number, offset: number, quantity: Exact): boolean {
  const { cells } = dense;
  const cell = (dense.blocks[block + START] ?? 0) + offset;
  const mantissa = mantissaAt(dense, block, quantity);
  const before = cells[cell] ?? 0;
  const total = Number.isNaN(before) ? mantissa : before + mantissa;
  if (!(total <= SAFE_MAX && total >= -SAFE_MAX)) return false;
  cells[cell] = total;
  return true;
}

/** The quantity's mantissa at the scale of the block, which is raised for it where all its cells stay safe; else NaN. */
function mantissaAt(dense: DenseBlocks, block: number, quantity: Exact): number {
  const scale = dense.blocks[block + SCALE] ?? 0;
  if (typeof quantity === "number") return scale === 0 ? quantity : safe(quantity * (POWERS[scale] ?? Number.NaN));
  const { mantissa } = quantity;
  if (typeof mantissa !== "number") return Number.NaN;
  if (quantity.scale === scale) return mantissa;
  if (quantity.scale < scale) return safe(mantissa * (POWERS[scale - quantity.scale] ?? Number.NaN));
  return raiseBlock(dense, block, quantity.scale) ? mantissa : Number.NaN;
}

function raiseBlock(dense: DenseBlocks, block: number, scale: number): boolean {
  const power = POWERS[scale - (dense.blocks[block + SCALE] ?? 0)];
  if (power === undefined || scale >= POWERS.length) return false;
  const start = dense.blocks[block + START] ?? 0;
  const cells = dense.cells.subarray(start, start + (dense.blocks[block + LENGTH] ?? 0));
  const raised = cells.map((mantissa) => mantissa * power);
  if (raised.some((mantissa) => Math.abs(mantissa) > SAFE_MAX)) return false;
  cells.set(raised);
  dense.blocks[block + SCALE] = scale;
  return true;
}

function safe(mantissa: number): number {
  return mantissa <= SAFE_MAX && mantissa >= -SAFE_MAX ? mantissa : Number.NaN;
}

function addWide(
  dense: DenseBlocks,
  wide: Map<number, Map<Day, Exact>>,
  block: number,
  day: Day,
  quantity: Exact,
): void {
  const days = wide.get(block) ?? new Map<Day, Exact>();
  const total = addExact(days.get(day) ?? 0, quantity);
  // The cell as a whole must be an exact decimal too (S1.4): throws before anything is changed.
  addExact(total, denseAt(dense, block, day) ?? 0);
  days.set(day, total);
  wide.set(block, days);
}

/** What the dense part holds for a day; undefined where that is nothing. */
function denseAt(dense: DenseBlocks, block: number, day: Day): Exact | undefined {
  const offset = day - (dense.blocks[block + FIRST] ?? 0);
  if (offset < 0 || offset >= (dense.blocks[block + LENGTH] ?? 0)) return undefined;
  const mantissa = dense.cells[(dense.blocks[block + START] ?? 0) + offset] ?? Number.NaN;
  return Number.isNaN(mantissa) ? undefined : exactOf(mantissa, dense.blocks[block + SCALE] ?? 0);
}

function exactOf(mantissa: number, scale: number): Exact {
  // Adding 0 turns minus zero, which is no Exact, into 0.
  return scale === 0 || mantissa === 0 ? mantissa + 0 : new Scaled(mantissa, scale);
}

/** The days of a block that have usage, dense days first. */
function* cellsOf(
  dense: DenseBlocks,
  wide: ReadonlyMap<number, ReadonlyMap<Day, Exact>>,
  block: number,
): Generator<readonly [Day, Exact]> {
  const aside = wide.get(block);
  const first = dense.blocks[block + FIRST] ?? 0;
  const last = first + (dense.blocks[block + LENGTH] ?? 0);
  for (let day = first; day < last; day++) {
    const quantity = denseAt(dense, block, day);
    const more = aside?.get(day);
    if (quantity !== undefined) yield [day, more === undefined ? quantity : addExact(quantity, more)];
    else if (more !== undefined) yield [day, more];
  }
  for (const [day, quantity] of aside ?? []) if (day < first || day >= last) yield [day, quantity];
}
