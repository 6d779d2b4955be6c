/**
 * Usage or overage of a memory store: exact sums by account, item and day.
 *
 * @module
 */
import type { Day } from "../../calendar/instant.ts";
import { dayIn, type EventBatch, type EventForm, formIn, quantityIn, sizeOf } from "../../ledger/events/event-batch.ts";
import type { CellChange } from "../../ledger/records.ts";
import { addExact, decimalOfExact, type Exact, exactOfDecimal, isZeroExact, negateExact } from "../../numbers/exact.ts";
import { createNumbering, type Numbering } from "./numbering.ts";

/** The cells of all accounts. */
export interface CellTable {
  /**
   * Adds all changes or, where one of the sums cannot be kept, none.
   *
   * @returns what takes them back
   * @throws {RatebookError} ERR_ARITHMETIC when a sum needs more than 100 digits (S1.4)
   */
  add(changes: readonly CellChange[]): () => void;
  /**
   * As `add`, what the meters of a batch's events measured.
   *
   * @param accounts the number of each event's account
   */
  addBatch(batch: EventBatch, accounts: Int32Array): () => void;
  /** The cells of the accounts on the days `[from, until)` that are not 0. */
  between(accountIds: readonly string[], from: Day, until: Day): readonly CellChange[];
  all(): Iterable<CellChange>;
}

/** Cells of the first table. */
const CELLS_FIRST = 1024;
/** Slots for each cell: at most half of them are taken. */
const SLOTS_PER_CELL = 2;
const GROWTH = 2;
/** What a cell has among the keys: its account, item and day, and the account's cell before it plus one, or 0. */
const KEYS = 4;

/**
 * All cells in columns, in the order in which they came. A table of slots leads to them, in which the items of one day of an
 * account stand side by side, as an event counts them.
 */
interface Cells {
  count: number;
  keys: Int32Array;
  /** NaN where the sum is no safe integer: those are apart. */
  sums: Float64Array;
  readonly others: Map<number, Exact>;
  /** The place of a cell plus one; 0 where the slot is free. */
  slots: Int32Array;
  readonly accounts: (AccountCells | undefined)[];
}

interface AccountCells {
  /** Its last cell plus one. */
  last: number;
  count: number;
  /** In the order in which they came. */
  readonly items: number[];
}

/**
 * No cells.
 *
 * @param accounts the numbers of the accounts, those of other tables too
 */
export function createCellTable(accounts: Numbering = createNumbering()): CellTable {
  const items = createNumbering();
  const cells: Cells = {
    count: 0,
    keys: new Int32Array(KEYS * CELLS_FIRST),
    sums: new Float64Array(CELLS_FIRST),
    others: new Map(),
    slots: new Int32Array(SLOTS_PER_CELL * CELLS_FIRST),
    accounts: [],
  };
  const shown = (cell: number): CellChange => ({
    accountId: accounts.textOf(cells.keys[KEYS * cell] ?? -1),
    itemId: items.textOf(cells.keys[KEYS * cell + 1] ?? -1),
    day: cells.keys[KEYS * cell + 2] ?? 0,
    quantity: decimalOfExact(sumOf(cells, cell)),
  });

  return {
    add: (changes) => addChanges(changes, cells, accounts, items),
    addBatch: (batch, places) => addBatch(batch, cells, places, items),
    between(accountIds, from, until) {
      const found: CellChange[] = [];
      for (const accountId of new Set(accountIds)) {
        for (const cell of cellsBetween(cells, accounts.find(accountId), from, until)) {
          if (!isZeroExact(sumOf(cells, cell))) found.push(shown(cell));
        }
      }
      return found;
    },
    *all() {
      for (let cell = 0; cell < cells.count; cell++) if (!isZeroExact(sumOf(cells, cell))) yield shown(cell);
    },
  };
}

function addChanges(changes: readonly CellChange[], cells: Cells, accounts: Numbering, items: Numbering): () => void {
  let added = 0;
  const addOne = (index: number, isBack: boolean): void => {
    const change = changes[index];
    if (change === undefined) return;
    const exact = exactOfDecimal(change.quantity);
    const cell = cellOf(cells, accounts.of(change.accountId), change.day, items.of(change.itemId));
    addTo(cells, cell, isBack ? negateExact(exact) : exact);
  };
  // Sums are exact: what was added is taken away again, and what comes out is what was there.
  const takeBack = (): void => {
    while (added > 0) addOne(--added, true);
  };
  try {
    for (; added < changes.length; added++) addOne(added, false);
  } catch (error) {
    takeBack();
    throw error;
  }
  return takeBack;
}

function addBatch(batch: EventBatch, cells: Cells, places: Int32Array, items: Numbering): () => void {
  let form: EventForm | undefined;
  let own: readonly number[] = [];
  /** The items of an event; most events have the form of the one before. */
  const itemsOf = (index: number): readonly number[] => {
    const next = formIn(batch, index);
    if (next !== form) own = next.meterIds.map((id) => items.of(id));
    form = next;
    return own;
  };
  const addOne = (index: number, meter: number, isBack: boolean): void => {
    const cell = cellOf(cells, places[index] ?? -1, dayIn(batch, index), itemsOf(index)[meter] ?? -1);
    const quantity = quantityIn(batch, index, formIn(batch, index), meter);
    addTo(cells, cell, isBack ? negateExact(quantity) : quantity);
  };
  /** The event and the meter that come next; all before them are added. */
  let index = 0;
  let meter = 0;
  const takeBack = (): void => {
    for (;;) {
      while (--meter >= 0) addOne(index, meter, true);
      if (--index < 0) return;
      meter = itemsOf(index).length;
    }
  };
  try {
    for (; index < sizeOf(batch); index++) {
      const { length } = itemsOf(index);
      for (meter = 0; meter < length; meter++) addOne(index, meter, false);
    }
  } catch (error) {
    takeBack();
    throw error;
  }
  meter = 0;
  return takeBack;
}

function sumOf({ sums, others }: Cells, cell: number): Exact {
  const sum = sums[cell] ?? 0;
  return Number.isNaN(sum) ? (others.get(cell) ?? 0) : sum;
}

/** Adds to a cell; one of 0 is shown to nobody. */
function addTo(cells: Cells, cell: number, quantity: Exact): void {
  const { sums, others } = cells;
  const total = typeof quantity === "number" ? (sums[cell] ?? 0) + quantity : Number.NaN;
  // NaN where one of the two is no safe integer.
  if (Number.isSafeInteger(total)) {
    sums[cell] = total;
    return;
  }
  const sum = addExact(sumOf(cells, cell), quantity);
  if (typeof sum === "number") {
    others.delete(cell);
    sums[cell] = sum;
  } else {
    others.set(cell, sum);
    sums[cell] = Number.NaN;
  }
}

/** The cell of an account, day and item, which is made where there was none. */
function cellOf(cells: Cells, account: number, day: Day, item: number): number {
  const slot = slotOf(cells, account, day, item);
  const known = (cells.slots[slot] ?? 0) - 1;
  return known >= 0 ? known : addCell(cells, slot, [account, item, day]);
}

/** The slot of a cell, or the free one where it would be. */
function slotOf({ slots, keys }: Cells, account: number, day: Day, item: number): number {
  const mask = slots.length - 1;
  for (let slot = (hashOf(account, day) + item) & mask; ; slot = (slot + 1) & mask) {
    const key = KEYS * ((slots[slot] ?? 0) - 1);
    if (key < 0 || (keys[key] === account && keys[key + 2] === day && keys[key + 1] === item)) return slot;
  }
}

function hashOf(account: number, day: Day): number {
  const hash = Math.imul(account + 1, 0x9e3779b1) ^ Math.imul(day, 0x85ebca6b);
  return hash ^ (hash >>> 15);
}

function addCell(cells: Cells, slot: number, [account, item, day]: readonly [number, number, Day]): number {
  const cell = cells.count++;
  let own = cells.accounts[account];
  if (own === undefined) cells.accounts[account] = own = { last: 0, count: 0, items: [] };
  cells.keys.set([account, item, day, own.last], KEYS * cell);
  cells.slots[slot] = cell + 1;
  own.last = cell + 1;
  own.count += 1;
  if (!own.items.includes(item)) own.items.push(item);
  if (cells.count === cells.sums.length) grow(cells);
  return cell;
}

function grow(cells: Cells): void {
  const { keys, sums } = cells;
  cells.keys = new Int32Array(GROWTH * keys.length);
  cells.keys.set(keys);
  cells.sums = new Float64Array(GROWTH * sums.length);
  cells.sums.set(sums);
  cells.slots = new Int32Array(SLOTS_PER_CELL * cells.sums.length);
  for (let cell = 0; cell < cells.count; cell++) {
    const [account = -1, item = -1, day = 0] = keys.subarray(KEYS * cell);
    cells.slots[slotOf(cells, account, day, item)] = cell + 1;
  }
}

/** An account's cells on days in `[from, until)`: asked for one by one where these are the fewer ones. */
function* cellsBetween(cells: Cells, account: number, from: Day, until: Day): Iterable<number> {
  const own = cells.accounts[account];
  if (own === undefined) return;
  if ((until - from) * own.items.length <= own.count) {
    for (const item of own.items) {
      for (let day = from; day < until; day++) {
        const cell = (cells.slots[slotOf(cells, account, day, item)] ?? 0) - 1;
        if (cell >= 0) yield cell;
      }
    }
    return;
  }
  for (let cell = own.last - 1; cell >= 0; cell = (cells.keys[KEYS * cell + 3] ?? 0) - 1) {
    const day = cells.keys[KEYS * cell + 2] ?? 0;
    if (day >= from && day < until) yield cell;
  }
}
