/**
 * Exact sums of one day, by account, group and column. The sums of a group of an account are adjacent, those of an account
 * mostly, and those of a day are near each other, so that events in order of time find them in the processor's cache.
 */
import { type Exact, addExact, multiplyByPowerOfTen, Scaled } from "../numbers/exact.ts";

/** Rows of the first arrays. */
const ROWS_FIRST = 16;
/** The fields of a row: its account, its group and the row of the account before it, -1 if it is the first. */
const ACCOUNT = 0;
const GROUP = 1;
const PREVIOUS = 2;
const FIELDS = 3;
const SAFE_MAX = Number.MAX_SAFE_INTEGER;
/** Sums of more decimal places are kept as wide cells. */
const SCALE_MAX = 15;

/** The sums of a day. A row is a group of an account. */
export class DayCells {
  readonly #columns: number;
  #rowCount = 0;
  /** Open addressing, at most half full: a row plus one, 0 in a free slot. */
  #slots = new Int32Array(2 * ROWS_FIRST);
  /** The fields of each row. */
  #fields = new Int32Array(FIELDS * ROWS_FIRST);
  /** Mantissas by row and column; NaN for a missing or wide cell. */
  #sums: Float64Array;
  #scales: Uint8Array;
  /** Sums that are no safe integers at a small scale, by their index. */
  readonly #wide = new Map<number, Exact>();

  constructor(columns: number) {
    this.#columns = columns;
    this.#sums = new Float64Array(columns * ROWS_FIRST).fill(Number.NaN);
    this.#scales = new Uint8Array(columns * ROWS_FIRST);
  }

  /** The row of a group of an account; -1 if it has none. */
  findRow(account: number, group: number): number {
    return (this.#slots[this.#findSlot(account, group)] ?? 0) - 1;
  }

  /** Reserves adjacent rows. @returns the first */
  reserveRows(count: number): number {
    const first = this.#rowCount;
    this.#rowCount += count;
    while (2 * this.#rowCount > this.#slots.length) this.#grow();
    return first;
  }

  /** Makes a reserved row that of a group of an account. @param previous another row of the account; -1 for none */
  setRow(row: number, account: number, group: number, previous: number): void {
    const start = row * FIELDS;
    this.#slots[this.#findSlot(account, group)] = row + 1;
    this.#fields[start + ACCOUNT] = account;
    this.#fields[start + GROUP] = group;
    this.#fields[start + PREVIOUS] = previous;
  }

  /** The group of a row. */
  groupOf(row: number): number {
    return this.#fields[row * FIELDS + GROUP] ?? -1;
  }

  /** The row of the account before a row; -1 if it is the first. */
  previousRow(row: number): number {
    return this.#fields[row * FIELDS + PREVIOUS] ?? -1;
  }

  /** The sum of a cell, if it exists. */
  get(row: number, column: number): Exact | undefined {
    const index = row * this.#columns + column;
    const mantissa = this.#sums[index] ?? Number.NaN;
    if (Number.isNaN(mantissa)) return this.#wide.get(index);
    const scale = this.#scales[index] ?? 0;
    return scale === 0 || mantissa === 0 ? mantissa : new Scaled(mantissa, scale);
  }

  /**
   * Adds to a cell; adding 0 creates it.
   *
   * @throws {RatebookError} ERR_ARITHMETIC if the cell would need more than 100 digits (S1.4); nothing is added then
   */
  add(row: number, column: number, quantity: Exact): void {
    const index = row * this.#columns + column;
    const isInteger = typeof quantity === "number";
    const mantissa = isInteger ? quantity : quantity.mantissa;
    const total = typeof mantissa === "number" ? (this.#sums[index] ?? 0) + mantissa : Number.NaN;
    if (this.#scales[index] === (isInteger ? 0 : quantity.scale) && isSafe(total)) this.#sums[index] = total;
    else this.#addScaled(row, column, quantity);
  }

  #addScaled(row: number, column: number, quantity: Exact): void {
    const index = row * this.#columns + column;
    const before = this.#sums[index] ?? Number.NaN;
    const isMissing = Number.isNaN(before) && !this.#wide.has(index);
    const { mantissa, scale } = typeof quantity === "number" ? { mantissa: quantity, scale: 0 } : quantity;
    const scaleBefore = this.#scales[index] ?? 0;
    const commonScale = Math.max(scale, scaleBefore);
    const total =
      (isMissing ? 0 : multiplyByPowerOfTen(before, commonScale - scaleBefore)) +
      multiplyByPowerOfTen(mantissa, commonScale - scale);
    const isDense = isSafe(total) && commonScale <= SCALE_MAX;
    if (!isDense) this.#wide.set(index, addExact(this.get(row, column) ?? 0, quantity));
    this.#sums[index] = isDense ? total : Number.NaN;
    this.#scales[index] = isDense ? commonScale : 0;
  }

  /** The slot of a group of an account, or the free one where it would go. */
  #findSlot(account: number, group: number): number {
    const mask = this.#slots.length - 1;
    let hash = Math.imul(account, 0x9e3779b1) ^ Math.imul(group, 0x85ebca6b);
    hash ^= hash >>> 15;
    for (; ; hash++) {
      const row = (this.#slots[hash & mask] ?? 0) - 1;
      const start = row * FIELDS;
      if (row < 0 || (this.#fields[start + ACCOUNT] === account && this.#fields[start + GROUP] === group))
        return hash & mask;
    }
  }

  #grow(): void {
    const [slots, fields, sums, scales] = [this.#slots, this.#fields, this.#sums, this.#scales];
    this.#slots = new Int32Array(2 * slots.length);
    this.#fields = new Int32Array(2 * fields.length);
    this.#sums = new Float64Array(2 * sums.length).fill(Number.NaN, sums.length);
    this.#scales = new Uint8Array(2 * scales.length);
    this.#fields.set(fields);
    this.#sums.set(sums);
    this.#scales.set(scales);
    for (const slot of slots) {
      const start = (slot - 1) * FIELDS;
      if (slot > 0) this.#slots[this.#findSlot(fields[start + ACCOUNT] ?? 0, fields[start + GROUP] ?? 0)] = slot;
    }
  }
}

function isSafe(mantissa: number): boolean {
  return mantissa <= SAFE_MAX && mantissa >= -SAFE_MAX;
}
