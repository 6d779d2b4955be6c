/**
 * Exact sums by account, group, meter and UTC day, for the meters of one event schema with the same `groupBy`. The meters
 * are columns and each group of an account is a row, so that the group of an event is looked up once for all of them.
 */
import { NO_GROUP, type UsageGroup } from "../book/resources/event-schema.ts";
import type { Day } from "../calendar/instant.ts";
import { addExact, type Exact, isZeroExact } from "../numbers/exact.ts";
import { type Cells, createCells } from "./cells.ts";

/** Where the texts of a group are: in the slots of an event, or in a list of their own. */
export interface GroupTexts {
  readonly texts: readonly string[];
  /** The index of each dimension's text, in the order of `groupBy`. */
  readonly slots: readonly number[];
}

/** A group of an account, and its row. */
interface GroupRow {
  readonly group: UsageGroup;
  readonly row: number;
}

/** Adds the units of an event to the cells of its group. Undefined units are skipped. */
type AddUnits = (account: number, day: Day, units: readonly (Exact | undefined)[]) => void;

/** Numbers of groups by the text of the last dimension; for the other dimensions, maps of them. */
interface NumbersByText extends Map<string, NumbersByText | number> {}

interface AccountGroups {
  /** Rows by the number of their group: a sparse list, which takes less memory than a map. */
  readonly rows: (number | undefined)[];
  readonly groups: GroupRow[];
  /** By column, the number of groups with usage other than 0 on each day; undefined until it is needed. */
  counts: readonly Map<Day, number>[] | undefined;
}

/** The sums of meters with the same groups. */
export class GroupedCells {
  readonly #columns: readonly number[];
  readonly #cells: Cells;
  readonly #accounts: (AccountGroups | undefined)[] = [];
  /** The groups of all accounts: their texts are looked up in one place, which is twice as fast as in one per account. */
  readonly #numbers: NumbersByText = new Map();
  readonly #groups: UsageGroup[] = [];
  /** Maximum number of groups of a meter with usage other than 0, in one account on a day (S18.1). */
  readonly groupsMax: number;
  /** The largest number of groups that an account has had. */
  largestCount = 0;

  /** @param columns the number of meters */
  constructor(columns: number, groupsMax: number) {
    this.groupsMax = groupsMax;
    this.#columns = Array.from({ length: columns }, (_, column) => column);
    this.#cells = createCells(0, columns, [this.#columns]);
  }

  /**
   * Adds to one cell; adding 0 creates the cell.
   *
   * @throws {RatebookError} ERR_ARITHMETIC if the cell would need more than 100 digits (S1.4); nothing is added then
   */
  add(account: number, column: number, day: Day, quantity: Exact, group: UsageGroup): void {
    const owner = this.#ensureAccount(account);
    const row = this.#ensureRow(owner, toGroupTexts(group));
    this.#addAndCount(owner, row, day, () => this.#cells.add(row, column, day, quantity));
  }

  /**
   * Creates a function that adds the units of the event with these texts.
   *
   * @param columns without repetition
   * @param places the index of the units of each column among those of the event
   */
  adder(columns: readonly number[], places: readonly number[], texts: GroupTexts): AddUnits {
    const addAll = this.#cells.adder(columns);
    const selected: (Exact | undefined)[] = places.map(() => undefined);
    const takesAll = places.every((place, index) => place === index);
    return (account, day, units) => {
      const quantities = takesAll && units.length === places.length ? units : selectInto(selected, units, places);
      if (!hasQuantity(quantities)) return;
      const owner = this.#ensureAccount(account);
      const row = this.#ensureRow(owner, texts);
      if (owner.counts === undefined) addAll(row, day, quantities);
      else this.#addAndCount(owner, row, day, () => addAll(row, day, quantities));
    };
  }

  /** The groups that an account has had, unordered. */
  groups(account: number): readonly GroupRow[] {
    return this.#accounts[account]?.groups ?? [];
  }

  /** The existing cells of a group, unordered. */
  days(row: number, column: number): Iterable<readonly [Day, Exact]> {
    return this.#cells.days(row, column);
  }

  /** The sum of all groups of an account over the days `[from, until)`. */
  between(account: number, column: number, from: Day, until: Day): Exact {
    return this.groups(account).reduce<Exact>(
      (total, { row }) => addExact(total, this.#cells.between(row, column, from, until)),
      0,
    );
  }

  /** The sum of a group on a day; 0 without usage. */
  sumOn(row: number, column: number, day: Day): Exact {
    return this.#cells.between(row, column, day, day + 1);
  }

  /** Whether usage other than 0 of a group on a day leaves the account with at most {@link groupsMax} groups. */
  hasRoom(account: number, column: number, day: Day, texts: GroupTexts): boolean {
    const owner = this.#accounts[account];
    if (owner === undefined || owner.groups.length < this.groupsMax) return true;
    const row = owner.rows[findNumber(this.#numbers, texts) ?? -1];
    if (row !== undefined && this.#isUsed(row, column, day)) return true;
    return this.#count(owner, column, day) < this.groupsMax;
  }

  /** Whether a number of groups, all of them new or not, may get usage on a day. */
  hasRoomFor(account: number, column: number, day: Day, groups: number): boolean {
    const owner = this.#accounts[account];
    if (owner === undefined || owner.groups.length + groups <= this.groupsMax) return groups <= this.groupsMax;
    return this.#count(owner, column, day) + groups <= this.groupsMax;
  }

  #count(owner: AccountGroups, column: number, day: Day): number {
    owner.counts ??= this.#countAll(owner);
    return owner.counts[column]?.get(day) ?? 0;
  }

  #isUsed(row: number, column: number, day: Day): boolean {
    return !isZeroExact(this.sumOn(row, column, day));
  }

  #ensureAccount(account: number): AccountGroups {
    return (this.#accounts[account] ??= { rows: [], groups: [], counts: undefined });
  }

  #ensureRow({ rows, groups }: AccountGroups, texts: GroupTexts): number {
    const number = findNumber(this.#numbers, texts) ?? this.#addGroup(texts);
    const existing = rows[number];
    if (existing !== undefined) return existing;
    const row = this.#cells.addRow();
    rows[number] = row;
    groups.push({ group: this.#groups[number] ?? NO_GROUP, row });
    this.largestCount = Math.max(this.largestCount, groups.length);
    return row;
  }

  #addGroup(texts: GroupTexts): number {
    const group = readGroup(texts);
    const number = this.#groups.push(group) - 1;
    insertNumber(this.#numbers, group, number);
    return number;
  }

  /** Adds to cells of one row and day, and updates the counts of groups. */
  #addAndCount({ counts }: AccountGroups, row: number, day: Day, add: () => void): void {
    if (counts === undefined) {
      add();
      return;
    }
    const before = this.#columns.map((column) => this.#isUsed(row, column, day));
    add();
    for (const [column, count] of counts.entries()) {
      const change = Number(this.#isUsed(row, column, day)) - Number(before[column]);
      if (change !== 0) count.set(day, (count.get(day) ?? 0) + change);
    }
  }

  #countAll({ groups }: AccountGroups): readonly Map<Day, number>[] {
    return this.#columns.map((column) => {
      const count = new Map<Day, number>();
      for (const { row } of groups) {
        for (const [day, quantity] of this.days(row, column))
          if (!isZeroExact(quantity)) count.set(day, (count.get(day) ?? 0) + 1);
      }
      return count;
    });
  }
}

function selectInto(
  selected: (Exact | undefined)[],
  units: readonly (Exact | undefined)[],
  places: readonly number[],
): readonly (Exact | undefined)[] {
  for (let index = 0; index < places.length; index++) selected[index] = units[places[index] ?? -1];
  return selected;
}

function hasQuantity(quantities: readonly (Exact | undefined)[]): boolean {
  for (let index = 0; index < quantities.length; index++) if (quantities[index] !== undefined) return true;
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
