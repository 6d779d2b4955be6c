/**
 * The tally of usage: exact quantities by account, meter and UTC day (S5.3), and their rows (S17.1). Cycles begin on UTC
 * days, so every cycle is a sum of days, whatever plans come and go. Memory is bounded by the number of cells: a dense cell is
 * a safe integer; the part of a sum that does not fit is a wide cell, an exact decimal of any size.
 */
import { didYouMean } from "../book/problems.ts";
import {
  type Day,
  dayOf,
  formatDate,
  formatInstant,
  type Instant,
  toInstant,
  parseDate,
  instantOfDay,
} from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { type Decimal, type DecimalInput, parseDecimal, formatDecimal } from "../numbers/decimal.ts";
import { type Exact, addExact, decimalOfExact } from "../numbers/exact.ts";
import { rejection } from "../problem-table.ts";
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

/** The usage of a meter by an account on a day. Rows of one account, meter and day add up (S17.1). */
export interface UsageRow {
  readonly accountId: string;
  readonly meterId: string;
  /** UTC day, `2026-01-31`. */
  readonly date: string;
  /** Exact; may be negative (S5.2). */
  readonly quantity: Decimal;
}

/** The input form of a {@link UsageRow}. */
export interface UsageRowInput {
  /** An account's id or one of its aliases. */
  readonly accountId: string;
  /** A usage meter's id. */
  readonly meterId: string;
  /** UTC day, `2026-01-31`; as an instant, its midnight. */
  readonly date: string | Instant | Date;
  /** At most 60 digits before the point and 40 after it. */
  readonly quantity: DecimalInput;
}

const FIELDS = ["accountId", "meterId", "date", "quantity"] as const satisfies readonly (keyof UsageRow)[];
const TEXT_MAX = 512;
/** The maximum digits of a day's sum of event units (S1.6), however many events there are. */
const INTEGER_DIGITS_MAX = 60;
const FRACTION_DIGITS_MAX = 40;

export const USAGE_FIELDS: readonly string[] = FIELDS;

/** Converts a cell to a row. */
export function toUsageRow({ accountId, meterId, day, quantity }: UsageCell): UsageRow {
  return { accountId, meterId, date: formatDate(instantOfDay(day)), quantity };
}

/**
 * Parses a row. Does not check that its account and meter exist.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for an invalid structure, field, day, or too many digits
 */
export function readUsageRow(value: unknown): UsageCell {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidRowError("$", "expected a row {accountId, meterId, date, quantity}");
  const unknown = Object.keys(value).find((key) => !USAGE_FIELDS.includes(key));
  if (unknown !== undefined)
    throw invalidRowError("$", `unknown field ${JSON.stringify(unknown.slice(0, 60))}${didYouMean(unknown, FIELDS)}`);
  const row = value as Readonly<Record<string, unknown>>;
  const day = requireDay(row["date"]);
  const [accountId, meterId] = [requireText(row, "accountId"), requireText(row, "meterId")];
  return { accountId, meterId, day, quantity: requireQuantity(row["quantity"]) };
}

function requireText(row: Readonly<Record<string, unknown>>, field: string): string {
  const value = row[field];
  if (typeof value === "string" && value !== "" && value.length <= TEXT_MAX) return value;
  throw invalidRowError(`$.${field}`, `${field}: expected a string of 1 to ${TEXT_MAX} characters`);
}

function requireDay(value: unknown): Day {
  const isInstant = typeof value === "number" || value instanceof Date;
  if (!isInstant && (typeof value !== "string" || value === ""))
    throw invalidRowError("$.date", "date: expected a date such as 2026-01-31");
  try {
    return dayOf(parseDate(isInstant ? formatInstant(toInstant(value)) : value));
  } catch (error) {
    throw invalidRowError("$.date", describeError(error));
  }
}

function requireQuantity(value: unknown): Decimal {
  if (value === undefined || value === null || value === "")
    throw invalidRowError("$.quantity", "quantity: expected a decimal");
  let quantity: Decimal;
  try {
    quantity = parseDecimal(value);
  } catch (error) {
    throw invalidRowError("$.quantity", describeError(error));
  }
  if (quantity.decimalPlaces() <= FRACTION_DIGITS_MAX && quantity.e < INTEGER_DIGITS_MAX) return quantity;
  const text = JSON.stringify(formatDecimal(quantity).slice(0, 60));
  const bounds = `more than ${INTEGER_DIGITS_MAX} digits before the point or ${FRACTION_DIGITS_MAX} after it`;
  throw invalidRowError("$.quantity", `the quantity ${text} has ${bounds}`);
}

function describeError(error: unknown): string {
  if (error instanceof RatebookError) return error.message;
  throw error;
}

function invalidRowError(path: string, message: string): RatebookError<"ERR_INPUT_INVALID"> {
  return new RatebookError("ERR_INPUT_INVALID", message, {
    problems: [rejection(path, "INVALID_USAGE", message)],
  });
}
