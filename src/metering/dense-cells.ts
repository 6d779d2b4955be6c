/**
 * The dense part of the cells: sums that are safe integers at a scale, of days close to each other, in one shared array.
 *
 * Columns that one event adds to lie side by side, day by day, so that it touches one place in memory, not one for each.
 *
 * @module
 */
import type { Day } from "../calendar/instant.ts";
import { invariant } from "../errors.ts";
import type { Exact } from "../numbers/exact.ts";
import { Scaled } from "../numbers/exact.ts";

/** Sums by row, column and day, where they are small and close enough. */
export interface DenseCells {
  /** By row, the index at which its fields begin in the table; -1 until the row has cells. */
  readonly bases: Int32Array;
  /** By row, the fields of each lane: {@link START} and so on, then the scale of each of its columns. */
  table: Int32Array;
  tableUsed: number;
  /** Mantissas; NaN where there is no cell. */
  sums: Float64Array;
  sumsUsed: number;
  /** By column: where its lane begins in the fields of a row, and its place in the lane; the same in every row. */
  readonly lanes: readonly number[];
  readonly places: readonly number[];
  /** The fields of a row that has no days yet. */
  readonly emptyRow: Int32Array;
}

/** Where the days of a lane begin in the sums, its first day, how many days it has room for, how many columns it has. */
const START = 0;
const FIRST = 1;
const DAYS = 2;
const WIDTH = 3;
const SCALES = 4;
/** Columns that share a lane: eight sums are a line of a processor's cache, and a column that is not used costs little. */
const LANE_COLUMNS_MAX = 8;
/** Sums that a lane spans: more than eleven years of one column. Days further away are kept aside. */
const LANE_SUMS_MAX = 4096;

const SAFE_MAX = Number.MAX_SAFE_INTEGER;
/** Exactly representable powers of ten that a safe mantissa may be raised by. */
const POWERS: readonly number[] = Array.from({ length: 16 }, (_, power) => Number(`1e${power}`));

/**
 * No cells yet.
 *
 * @param together columns that are mostly added to at once; every other one is alone
 */
export function createDenseCells(
  rows: number,
  columns: number,
  together: readonly (readonly number[])[] = [],
): DenseCells {
  return {
    bases: new Int32Array(rows).fill(-1),
    table: new Int32Array(0),
    tableUsed: 0,
    sums: new Float64Array(1024).fill(Number.NaN),
    sumsUsed: 0,
    ...computeLayout(columns, together),
  };
}

function computeLayout(
  columns: number,
  together: readonly (readonly number[])[],
): Pick<DenseCells, "lanes" | "places" | "emptyRow"> {
  const lanes = Array.from({ length: columns }, () => -1);
  const places = Array.from({ length: columns }, () => 0);
  const emptyRow: number[] = [];
  // A column of no list is in a lane of its own.
  for (const list of [...together, ...Array.from(lanes, (_, column) => [column])]) {
    const own = list.filter((column) => lanes[column] === -1);
    for (let from = 0; from < own.length; from += LANE_COLUMNS_MAX) {
      const lane = own.slice(from, from + LANE_COLUMNS_MAX);
      for (const [place, column] of lane.entries()) {
        lanes[column] = emptyRow.length;
        places[column] = place;
      }
      emptyRow.push(0, 0, 0, lane.length, ...lane.map(() => 0));
    }
  }
  return { lanes, places, emptyRow: Int32Array.from(emptyRow) };
}

/** Where the fields of a row begin in the table; they are made when it has none. */
export function ensureRow(dense: DenseCells, row: number): number {
  const base = dense.bases[row] ?? -1;
  return base >= 0 ? base : makeRow(dense, row);
}

function makeRow(dense: DenseCells, row: number): number {
  invariant(row >= 0 && row < dense.bases.length, "S5.3: usage belongs to a known account and meter");
  const base = dense.tableUsed;
  const needed = base + dense.emptyRow.length;
  if (needed > dense.table.length) {
    const table = new Int32Array(Math.max(1024, 2 * dense.table.length, needed));
    table.set(dense.table);
    dense.table = table;
  }
  dense.table.set(dense.emptyRow, base);
  dense.tableUsed = needed;
  dense.bases[row] = base;
  return base;
}

/**
 * Where the sums of a lane's day begin, for which room is made; -1 when the day lies too far from the lane's others.
 *
 * @param lane where the lane of the row begins in the table
 */
export function ensureDay(dense: DenseCells, lane: number, day: Day): number {
  const { table } = dense;
  let offset = day - (table[lane + FIRST] ?? 0);
  if (offset < 0 || offset >= (table[lane + DAYS] ?? 0)) offset = reserve(dense, lane, day);
  return offset < 0 ? -1 : (table[lane + START] ?? 0) + offset * (table[lane + WIDTH] ?? 0);
}

/** Makes room for a day in a lane, and gives its offset there; -1 when it lies too far from the lane's other days. */
function reserve(dense: DenseCells, lane: number, day: Day): number {
  const { table } = dense;
  const width = table[lane + WIDTH] ?? 0;
  const days = table[lane + DAYS] ?? 0;
  const first = days === 0 ? day : (table[lane + FIRST] ?? 0);
  const needed = Math.max(first + days, day + 1) - Math.min(first, day);
  let capacity = 4;
  while (capacity < needed) capacity *= 2;
  if (capacity * width > LANE_SUMS_MAX) return -1;
  // The room that is left over goes to the side on which the lane grows.
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
 * The new sum of a cell to which a quantity is added, as a safe integer at the scale of its column in the row; that scale is
 * raised for the quantity where all the cells stay safe. NaN where it does not fit.
 *
 * @param lane where the lane of the row begins in the table
 * @param place the column's place in the lane
 * @param cell its place in the sums
 */
export function newTotal(dense: DenseCells, lane: number, place: number, cell: number, quantity: Exact): number {
  const scale = dense.table[lane + SCALES + place] ?? 0;
  let mantissa: number;
  if (typeof quantity === "number" && scale === 0) mantissa = quantity;
  else if (typeof quantity === "object" && quantity.scale === scale && typeof quantity.mantissa === "number") {
    mantissa = quantity.mantissa;
  } else mantissa = mantissaAtColumnScale(dense, lane, place, quantity);
  // Read after that, which may raise it.
  const before = dense.sums[cell] ?? 0;
  const total = Number.isNaN(before) ? mantissa : before + mantissa;
  return total <= SAFE_MAX && total >= -SAFE_MAX ? total : Number.NaN;
}

/** The quantity's mantissa at the scale of the column, which is raised where it must and can be; else NaN. */
function mantissaAtColumnScale(dense: DenseCells, lane: number, place: number, quantity: Exact): number {
  const scale = dense.table[lane + SCALES + place] ?? 0;
  if (typeof quantity === "number") return safeOrNaN(quantity * (POWERS[scale] ?? Number.NaN));
  const { mantissa } = quantity;
  if (typeof mantissa !== "number") return Number.NaN;
  if (quantity.scale <= scale) return safeOrNaN(mantissa * (POWERS[scale - quantity.scale] ?? Number.NaN));
  return raise(dense, lane, place, quantity.scale) ? mantissa : Number.NaN;
}

/** Brings the cells of a column in a row to a higher scale, where they all stay safe. */
function raise({ table, sums }: DenseCells, lane: number, place: number, scale: number): boolean {
  const power = POWERS[scale - (table[lane + SCALES + place] ?? 0)];
  if (power === undefined || scale >= POWERS.length) return false;
  const [start, width] = [table[lane + START] ?? 0, table[lane + WIDTH] ?? 0];
  const cells = Array.from({ length: table[lane + DAYS] ?? 0 }, (_, offset) => start + offset * width + place);
  if (cells.some((cell) => Math.abs(sums[cell] ?? 0) * power > SAFE_MAX)) return false;
  for (const cell of cells) sums[cell] = (sums[cell] ?? 0) * power;
  table[lane + SCALES + place] = scale;
  return true;
}

function safeOrNaN(mantissa: number): number {
  return mantissa <= SAFE_MAX && mantissa >= -SAFE_MAX ? mantissa : Number.NaN;
}

/** The first day for which a row and column have room, and how many days follow it, that one included; 0 for none. */
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

/** The dense cell of a day; undefined where there is none. */
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

/** The sum of the dense cells on the days `[from, until)`; undefined where it is beyond a safe integer at their scale. */
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
  // Adding 0 turns minus zero, which is no Exact, into 0.
  return scale === 0 || mantissa === 0 ? mantissa + 0 : new Scaled(mantissa, scale);
}
