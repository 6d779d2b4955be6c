/**
 * Exact sums by account, group, meter and UTC day, for the meters of one event schema with the same `groupBy`, or without
 * one. The meters are columns, so that the group of an event is looked up once for all of them.
 */
import type { UsageGroup } from "../book/resources/event-schema.ts";
import type { Day } from "../calendar/instant.ts";
import { type Exact, isZeroExact } from "../numbers/exact.ts";
import { DayCells } from "./day-cells.ts";

/** Where the texts of a group are: in the slots of an event, or in a list of their own. */
export interface GroupTexts {
  readonly texts: readonly string[];
  /** The index of each dimension's text, in the order of `groupBy`. */
  readonly slots: readonly number[];
}

/** The days `[from, until)`. */
export type DayRange = readonly [from: Day, until: Day];
/** Takes the usage of a group on a day; the group is undefined for meters without groups. */
export type VisitCell = (day: Day, quantity: Exact, group: UsageGroup | undefined) => void;

/**
 * Adds the units of an event to the cells of its group. Undefined units are skipped; others have at most 40 digits before
 * and after the point (S1.6), so that every sum stays exact.
 */
export type AddUnits = (account: number, day: Day, units: readonly (Exact | undefined)[]) => void;

/** Numbers of groups by the text of the last dimension; for the other dimensions, maps of them. */
interface NumbersByText extends Map<string, NumbersByText | number> {}

/** The groups of an account on a day. */
interface AccountDay {
  readonly cells: DayCells;
  /** The last of their rows among the cells. */
  lastRow: number;
  /** The end of the rows reserved for them, exclusive. */
  rowEnd: number;
  /** The number of their rows. */
  rowCount: number;
  /** By column, the number of groups with usage other than 0; undefined until it is needed. */
  counts: number[] | undefined;
}

interface AccountGroups {
  readonly days: Map<Day, AccountDay>;
  /** The largest number of groups on a day so far. */
  largestCount: number;
}

interface RecentDay {
  readonly day: Day;
  readonly cells: DayCells;
}

/** A power of two, above the number of days of a month. */
const RECENT_DAYS = 64;

/** The number of the only group of meters without groups. */
const ONLY_GROUP = 0;

/** The sums of meters with the same groups. */
export class GroupedCells {
  readonly #columns: number;
  readonly #hasGroups: boolean;
  readonly #days = new Map<Day, DayCells>();
  /** The last days, by their last bits: most events have the day of one before. */
  readonly #recent: (RecentDay | undefined)[] = Array.from({ length: RECENT_DAYS }, () => undefined);
  /** Empty without groups: then a day has one row for each account. */
  readonly #accounts: (AccountGroups | undefined)[] = [];
  /** The groups of all accounts: their texts are looked up in one place, which is twice as fast as in one per account. */
  readonly #numbers: NumbersByText = new Map();
  readonly #groups: UsageGroup[] = [];
  /** Whether an account has been so full on a day that its groups are counted. */
  #isCounting = false;
  /** Maximum number of groups of a meter with usage other than 0, in one account on a day (S18.1). */
  readonly groupsMax: number;
  /** The largest number of groups of an account on a day so far. */
  largestCount = 0;

  /** @param columns the number of meters @param groupsMax undefined for meters without groups */
  constructor(columns: number, groupsMax = Infinity) {
    this.groupsMax = groupsMax;
    this.#hasGroups = groupsMax < Infinity;
    this.#columns = columns;
  }

  /**
   * Adds to one cell; adding 0 creates the cell.
   *
   * @throws {RatebookError} ERR_ARITHMETIC if the cell would need more than 100 digits (S1.4); nothing is added then
   */
  add(account: number, column: number, day: Day, quantity: Exact, group: UsageGroup): void {
    const cells = this.#ensureDay(day);
    const row = this.#ensureRow(cells, account, day, toGroupTexts(group));
    this.#addAndCount(account, day, row, () => cells.add(row, column, quantity));
  }

  /**
   * Creates a function that adds the units of the event with these texts.
   *
   * @param columns without repetition
   * @param places the index of the units of each column among those of the event
   */
  adder(columns: readonly number[], places: readonly number[], texts = NO_TEXTS): AddUnits {
    const addAll = (cells: DayCells, row: number, units: readonly (Exact | undefined)[]): void => {
      for (let index = 0; index < places.length; index++) {
        const quantity = units[places[index] ?? -1];
        if (quantity !== undefined) cells.add(row, columns[index] ?? -1, quantity);
      }
    };
    return (account, day, units) => {
      if (!hasQuantity(units, places)) return;
      const cells = this.#ensureDay(day);
      const row = this.#ensureRow(cells, account, day, texts);
      if (this.#isCounting) this.#addAndCount(account, day, row, () => addAll(cells, row, units));
      else addAll(cells, row, units);
    };
  }

  /** The largest number of groups that an account has had on a day. */
  count(account: number): number {
    return this.#accounts[account]?.largestCount ?? 0;
  }

  /** Visits the existing cells of an account on the days `[from, until)`, unordered. */
  visit(account: number, column: number, range: DayRange, visit: VisitCell): void {
    if (this.#hasGroups) {
      visitDays(this.#accounts[account]?.days ?? NO_DAYS, range, (day, { cells, lastRow }) => {
        for (let row = lastRow; row >= 0; row = cells.previousRow(row)) this.#visitCell(cells, day, row, column, visit);
      });
      return;
    }
    visitDays(this.#days, range, (day, cells) => {
      this.#visitCell(cells, day, cells.findRow(account, ONLY_GROUP), column, visit);
    });
  }

  #visitCell(cells: DayCells, day: Day, row: number, column: number, visit: VisitCell): void {
    const quantity = row < 0 ? undefined : cells.get(row, column);
    if (quantity !== undefined) visit(day, quantity, this.#groups[cells.groupOf(row)]);
  }

  /** Whether usage other than 0 of a group on a day leaves the account with at most {@link groupsMax} groups. */
  hasRoom(account: number, column: number, day: Day, texts: GroupTexts): boolean {
    const accountDay = this.#accounts[account]?.days.get(day);
    if (accountDay === undefined || accountDay.rowCount < this.groupsMax) return true;
    const row = accountDay.cells.findRow(account, findNumber(this.#numbers, texts) ?? -1);
    return isUsed(accountDay.cells, row, column) || this.#count(accountDay, column) < this.groupsMax;
  }

  /** Whether a number of groups, all of them new or not, may get usage on a day. */
  hasRoomFor(account: number, column: number, day: Day, groups: number): boolean {
    const accountDay = this.#accounts[account]?.days.get(day);
    if (accountDay === undefined || accountDay.rowCount + groups <= this.groupsMax) return groups <= this.groupsMax;
    return this.#count(accountDay, column) + groups <= this.groupsMax;
  }

  #count(accountDay: AccountDay, column: number): number {
    this.#isCounting = true;
    accountDay.counts ??= Array.from({ length: this.#columns }, (_, each) => countUsed(accountDay, each));
    return accountDay.counts[column] ?? 0;
  }

  #ensureDay(day: Day): DayCells {
    const recent = this.#recent[day & (RECENT_DAYS - 1)];
    if (recent?.day === day) return recent.cells;
    const cells = this.#days.get(day) ?? new DayCells(this.#columns);
    this.#days.set(day, cells);
    this.#recent[day & (RECENT_DAYS - 1)] = { day, cells };
    return cells;
  }

  #ensureRow(cells: DayCells, account: number, day: Day, texts: GroupTexts): number {
    const number = this.#hasGroups ? (findNumber(this.#numbers, texts) ?? this.#addGroup(texts)) : ONLY_GROUP;
    const existing = cells.findRow(account, number);
    if (existing >= 0) return existing;
    if (this.#hasGroups) return this.#addRow(cells, account, day, number);
    const row = cells.reserveRows(1);
    cells.setRow(row, account, ONLY_GROUP, -1);
    return row;
  }

  #addRow(cells: DayCells, account: number, day: Day, number: number): number {
    const owner = (this.#accounts[account] ??= { days: new Map(), largestCount: 0 });
    const accountDay = owner.days.get(day) ?? { cells, lastRow: -1, rowEnd: 0, rowCount: 0, counts: undefined };
    if (accountDay.rowCount === 0) owner.days.set(day, accountDay);
    const { lastRow, rowCount } = accountDay;
    if (lastRow + 1 === accountDay.rowEnd) {
      // Each reservation doubles the rows, so that few lists of them have to be read.
      accountDay.lastRow = cells.reserveRows(Math.max(rowCount, 1)) - 1;
      accountDay.rowEnd = accountDay.lastRow + 1 + Math.max(rowCount, 1);
    }
    accountDay.lastRow += 1;
    accountDay.rowCount += 1;
    cells.setRow(accountDay.lastRow, account, number, lastRow);
    owner.largestCount = Math.max(owner.largestCount, accountDay.rowCount);
    this.largestCount = Math.max(this.largestCount, owner.largestCount);
    return accountDay.lastRow;
  }

  #addGroup(texts: GroupTexts): number {
    const group = readGroup(texts);
    const number = this.#groups.push(group) - 1;
    insertNumber(this.#numbers, group, number);
    return number;
  }

  /** Adds to cells of one row, and updates the counts of groups. */
  #addAndCount(account: number, day: Day, row: number, add: () => void): void {
    const { cells, counts } = this.#accounts[account]?.days.get(day) ?? {};
    if (cells === undefined || counts === undefined) {
      add();
      return;
    }
    const before = counts.map((_, column) => isUsed(cells, row, column));
    add();
    for (const [column, count] of counts.entries())
      counts[column] = count + Number(isUsed(cells, row, column)) - Number(before[column]);
  }
}

const NO_TEXTS: GroupTexts = { texts: [], slots: [] };
const NO_DAYS: ReadonlyMap<Day, AccountDay> = new Map();

/** Visits the days in a range, unordered. */
function visitDays<Value>(
  days: ReadonlyMap<Day, Value>,
  [from, until]: DayRange,
  visit: (day: Day, value: Value) => void,
): void {
  if (until - from >= days.size) {
    for (const [day, value] of days) if (day >= from && day < until) visit(day, value);
    return;
  }
  for (let day = from; day < until; day++) {
    const value = days.get(day);
    if (value !== undefined) visit(day, value);
  }
}

/** The number of groups of an account with usage other than 0. */
function countUsed({ cells, lastRow }: AccountDay, column: number): number {
  let count = 0;
  for (let row = lastRow; row >= 0; row = cells.previousRow(row)) if (isUsed(cells, row, column)) count += 1;
  return count;
}

/** Whether a row has usage other than 0. */
function isUsed(cells: DayCells, row: number, column: number): boolean {
  return row >= 0 && !isZeroExact(cells.get(row, column) ?? 0);
}

function hasQuantity(units: readonly (Exact | undefined)[], places: readonly number[]): boolean {
  for (let index = 0; index < places.length; index++) if (units[places[index] ?? -1] !== undefined) return true;
  return false;
}

/** The group whose texts are in the slots. */
export function readGroup({ texts, slots }: GroupTexts): UsageGroup {
  return slots.map((slot) => texts[slot] ?? "");
}

/** The texts of a group in their own list. */
export function toGroupTexts(group: UsageGroup): GroupTexts {
  return { texts: group, slots: [...group.keys()] };
}

function findNumber(numbers: NumbersByText, { texts, slots }: GroupTexts): number | undefined {
  let found: NumbersByText | number | undefined = numbers;
  for (let index = 0; index < slots.length && typeof found === "object"; index++)
    found = found.get(texts[slots[index] ?? -1] ?? "");
  return typeof found === "number" ? found : undefined;
}

function insertNumber(numbers: NumbersByText, group: UsageGroup, number: number): void {
  let inner = numbers;
  for (const text of group.slice(0, -1)) {
    const found = inner.get(text);
    const next: NumbersByText = typeof found === "object" ? found : new Map();
    if (next !== found) inner.set(text, next);
    inner = next;
  }
  inner.set(group.at(-1) ?? "", number);
}
