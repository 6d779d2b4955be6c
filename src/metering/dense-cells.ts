/**
 * Exact sums that are small and dense. Columns to which one event adds are adjacent, day by day, so that it accesses
 * one location in memory instead of one per column.
 */
import type { Day } from "../calendar/instant.ts";
import { invariant } from "../errors.ts";
import { type Exact, multiplyByPowerOfTen, Scaled } from "../numbers/exact.ts";

/** Sums by row, column and day that are small and close enough. */
export interface DenseCells {
  readonly rows: number;
  /** By row, the index of its fields in the table; -1 until the row has cells. */
  readonly bases: Int32Array;
  /** By row, the fields of each lane: {@link START} and so on, then the scale of each of its columns. */
  table: Int32Array;
  tableUsed: number;
  /** Mantissas; NaN for a missing cell. */
  sums: Float64Array;
  sumsUsed: number;
  /** By column: the index of its lane in the fields of a row, and its index in the lane; the same for every row. */
  readonly lanes: readonly number[];
  readonly places: readonly number[];
  /** The fields of a row without days. */
  readonly emptyRow: Int32Array;
}

/** The fields of a lane: the index of its sums, its first day, its capacity in days, its number of columns. */
const START = 0;
const FIRST = 1;
const DAYS = 2;
const WIDTH = 3;
const SCALES = 4;
/** Maximum number of columns per lane: eight sums fill a cache line, and an unused column costs little. */
const LANE_COLUMNS_MAX = 8;
/** Maximum number of sums per lane: more than eleven years of one column. Days further apart are stored as wide cells. */
const LANE_SUMS_MAX = 4096;

const SAFE_MAX = Number.MAX_SAFE_INTEGER;
/** Exact powers of ten by which a safe mantissa may be scaled. */
const POWERS: readonly number[] = Array.from({ length: 16 }, (_, power) => Number(`1e${power}`));

/** @param columnGroups columns that are usually added to together; every other one has its own lane */
export function createDenseCells(
  rows: number,
  columns: number,
  columnGroups: readonly (readonly number[])[] = [],
): DenseCells {
  return {
    rows,
    bases: new Int32Array(rows).fill(-1),
    table: new Int32Array(0),
    tableUsed: 0,
    sums: new Float64Array(1024).fill(Number.NaN),
    sumsUsed: 0,
    ...computeLayout(columns, columnGroups),
  };
}

function computeLayout(
  columns: number,
  columnGroups: readonly (readonly number[])[],
): Pick<DenseCells, "lanes" | "places" | "emptyRow"> {
  const lanes = Array.from({ length: columns }, () => -1);
  const places = Array.from({ length: columns }, () => 0);
  const emptyRow: number[] = [];
  // A column in no list gets its own lane.
  for (const list of [...columnGroups, ...Array.from(lanes, (_, column) => [column])]) {
    const newColumns = list.filter((column) => lanes[column] === -1);
    for (let from = 0; from < newColumns.length; from += LANE_COLUMNS_MAX) {
      const lane = newColumns.slice(from, from + LANE_COLUMNS_MAX);
      for (const [place, column] of lane.entries()) {
        lanes[column] = emptyRow.length;
        places[column] = place;
      }
      emptyRow.push(0, 0, 0, lane.length, ...lane.map(() => 0));
    }
  }
  return { lanes, places, emptyRow: Int32Array.from(emptyRow) };
}

/** The index of a row's fields in the table, created if missing. */
export function ensureRow(dense: DenseCells, row: number): number {
  const base = dense.bases[row] ?? -1;
  return base >= 0 ? base : createRow(dense, row);
}

function createRow(dense: DenseCells, row: number): number {
  invariant(row >= 0 && row < dense.rows, "S5.3: usage belongs to a known account and meter");
  const base = dense.tableUsed;
  const length = base + dense.emptyRow.length;
  if (length > dense.table.length) {
    const table = new Int32Array(Math.max(1024, 2 * dense.table.length, length));
    table.set(dense.table);
    dense.table = table;
  }
  dense.table.set(dense.emptyRow, base);
  dense.tableUsed = length;
  dense.bases[row] = base;
  return base;
}

/**
 * The index of a day's sums in a lane, reserved if necessary; -1 if the day is too far from the lane's others.
 *
 * @param lane the index of the row's lane in the table
 */
export function ensureDay(dense: DenseCells, lane: number, day: Day): number {
  const { table } = dense;
  let offset = day - (table[lane + FIRST] ?? 0);
  if (offset < 0 || offset >= (table[lane + DAYS] ?? 0)) offset = reserveDay(dense, lane, day);
  return offset < 0 ? -1 : (table[lane + START] ?? 0) + offset * (table[lane + WIDTH] ?? 0);
}

/** Reserves space for a day in a lane, and returns its offset; -1 if it is too far from the lane's other days. */
function reserveDay(dense: DenseCells, lane: number, day: Day): number {
  const { table } = dense;
  const width = table[lane + WIDTH] ?? 0;
  const days = table[lane + DAYS] ?? 0;
  const first = days === 0 ? day : (table[lane + FIRST] ?? 0);
  const neededDays = Math.max(first + days, day + 1) - Math.min(first, day);
  let capacity = 4;
  while (capacity < neededDays) capacity *= 2;
  if (capacity * width > LANE_SUMS_MAX) return -1;
  // Spare space is added on the side on which the lane grows.
  const newFirst = day < first ? first + days - capacity : first;
  const start = dense.sumsUsed;
  const end = start + capacity * width;
  if (end > dense.sums.length) {
    const sums = new Float64Array(Math.max(2 * dense.sums.length, end)).fill(Number.NaN, start);
    sums.set(dense.sums);
    dense.sums = sums;
  }
  const old = table[lane + START] ?? 0;
  dense.sums.copyWithin(start + (first - newFirst) * width, old, old + days * width);
  dense.sumsUsed = end;
  table[lane + START] = start;
  table[lane + FIRST] = newFirst;
  table[lane + DAYS] = capacity;
  return day - newFirst;
}

/**
 * The sum of a cell after adding a quantity, as a safe integer at the scale of its column in the row; the scale is
 * increased for the quantity if all cells stay safe. NaN if it does not fit.
 *
 * @param lane the index of the row's lane in the table
 * @param place the column's index in the lane
 * @param cell its index in the sums
 */
export function computeTotal(dense: DenseCells, lane: number, place: number, cell: number, quantity: Exact): number {
  const scale = dense.table[lane + SCALES + place] ?? 0;
  let mantissa: number;
  if (typeof quantity === "number" && scale === 0) mantissa = quantity;
  else if (typeof quantity === "object" && quantity.scale === scale && typeof quantity.mantissa === "number") {
    mantissa = quantity.mantissa;
  } else mantissa = mantissaAtColumnScale(dense, lane, place, quantity);
  // Read after the scale may have been increased.
  const before = dense.sums[cell] ?? 0;
  const total = Number.isNaN(before) ? mantissa : before + mantissa;
  return total <= SAFE_MAX && total >= -SAFE_MAX ? total : Number.NaN;
}

/** The quantity's mantissa at the scale of the column, which is increased if necessary and possible; else NaN. */
function mantissaAtColumnScale(dense: DenseCells, lane: number, place: number, quantity: Exact): number {
  const scale = dense.table[lane + SCALES + place] ?? 0;
  if (typeof quantity === "number") return multiplyByPowerOfTen(quantity, scale);
  const { mantissa } = quantity;
  if (typeof mantissa !== "number") return Number.NaN;
  if (quantity.scale <= scale) return multiplyByPowerOfTen(mantissa, scale - quantity.scale);
  return raiseScale(dense, lane, place, quantity.scale) ? mantissa : Number.NaN;
}

/** Converts the cells of a column in a row to a larger scale, if they all stay safe. */
function raiseScale({ table, sums }: DenseCells, lane: number, place: number, scale: number): boolean {
  const power = POWERS[scale - (table[lane + SCALES + place] ?? 0)];
  if (power === undefined || scale >= POWERS.length) return false;
  const [start, width] = [table[lane + START] ?? 0, table[lane + WIDTH] ?? 0];
  const cells = Array.from({ length: table[lane + DAYS] ?? 0 }, (_, offset) => start + offset * width + place);
  if (cells.some((cell) => Math.abs(sums[cell] ?? 0) * power > SAFE_MAX)) return false;
  for (const cell of cells) sums[cell] = (sums[cell] ?? 0) * power;
  table[lane + SCALES + place] = scale;
  return true;
}

/** The first day for which a row and column have space, and the number of days from there; 0 if none. */
export function dayCapacity(
  dense: DenseCells,
  row: number,
  column: number,
): { readonly first: Day; readonly days: number } {
  const base = dense.bases[row] ?? -1;
  const lane = base + (dense.lanes[column] ?? -1);
  if (base < 0 || lane < base) return { first: 0, days: 0 };
  return { first: dense.table[lane + FIRST] ?? 0, days: dense.table[lane + DAYS] ?? 0 };
}

/** The dense cell of a day, if it exists. */
export function denseCell(dense: DenseCells, row: number, column: number, day: Day): Exact | undefined {
  const { first, days } = dayCapacity(dense, row, column);
  const offset = day - first;
  if (offset < 0 || offset >= days) return undefined;
  const { table, sums } = dense;
  const lane = (dense.bases[row] ?? 0) + (dense.lanes[column] ?? 0);
  const place = dense.places[column] ?? 0;
  const mantissa = sums[(table[lane + START] ?? 0) + offset * (table[lane + WIDTH] ?? 0) + place] ?? Number.NaN;
  return Number.isNaN(mantissa) ? undefined : toExact(mantissa, table[lane + SCALES + place] ?? 0);
}

/** The sum of the dense cells on the days `[from, until)`; undefined if it exceeds a safe integer at their scale. */
export function denseSum(
  dense: DenseCells,
  row: number,
  column: number,
  [from, until]: readonly [Day, Day],
): Exact | undefined {
  const { first, days } = dayCapacity(dense, row, column);
  if (days === 0) return 0;
  const { table, sums } = dense;
  const lane = (dense.bases[row] ?? 0) + (dense.lanes[column] ?? 0);
  const [start, width] = [table[lane + START] ?? 0, table[lane + WIDTH] ?? 0];
  const place = dense.places[column] ?? 0;
  let total = 0;
  const end = Math.min(until - first, days);
  for (let offset = Math.max(from - first, 0); offset < end; offset++) {
    const mantissa = sums[start + offset * width + place] ?? 0;
    if (!Number.isNaN(mantissa)) total += mantissa;
    if (Math.abs(total) > SAFE_MAX) return undefined;
  }
  return toExact(total, table[lane + SCALES + place] ?? 0);
}

function toExact(mantissa: number, scale: number): Exact {
  // Adding 0 turns minus zero, which is not an Exact, into 0.
  return scale === 0 || mantissa === 0 ? mantissa + 0 : new Scaled(mantissa, scale);
}
