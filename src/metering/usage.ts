/**
 * The tally of usage: exact quantities by account, meter and UTC day (S5.3). Cycles begin on UTC days, so every cycle is
 * a sum of days, whatever plans come and go.
 */
import { compareGroups, type GroupUsage, NO_GROUP, type UsageGroup } from "../book/resources/event-schema.ts";
import type { Day } from "../calendar/instant.ts";
import type { Decimal } from "../numbers/decimal.ts";
import { addExact, type Exact, decimalOfExact, isZeroExact } from "../numbers/exact.ts";
import { type AddAll, type Cells, createCells } from "./cells.ts";
import type { DayRange, GroupTexts } from "./grouped-cells.ts";
import { GroupedUsage, type GroupUsageTally, type MeterGrouping } from "./grouped-usage.ts";

/** The usage of one account, meter, group and UTC day. */
export interface UsageCell {
  readonly accountId: string;
  readonly meterId: string;
  /** Absent for a meter without groups. */
  readonly group?: UsageGroup;
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
  /**
   * The sums other than 0 of a meter's groups, in any order; empty for a meter without groups.
   *
   * @throws {RatebookError} ERR_ARITHMETIC as {@link between}
   */
  groupsBetween(accountId: string, meterId: string, from: Day, until: Day): readonly GroupUsage[];
  /** Whether anything was metered on the days `[from, until)`, even 0. */
  hasUsage(accountId: string, meterId: string, from: Day, until: Day): boolean;
  /** The first and the last day (inclusive) with usage of an account. */
  daysOf(accountId: string): { readonly first: Day; readonly last: Day } | undefined;
  /** Every cell with usage, by account, meter, day and group. */
  cells(): Iterable<UsageCell>;
  /** The cells of one account, by meter, day and group. */
  cellsOf(accountId: string): Iterable<UsageCell>;
  /** Every cell with usage, by account and meter index; days and groups are unordered. */
  visit(cell: (account: number, meter: number, day: Day, quantity: Exact, group?: UsageGroup) => void): void;
}

/** A tally to which usage can be added. */
export interface UsageTally extends Usage {
  /**
   * Adds to one cell; adding 0 creates the cell.
   *
   * @param account the index in `accountIds`
   * @param meter the index in `meterIds`
   * @param group that of the usage; only for a meter with groups
   * @throws {RatebookError} ERR_ARITHMETIC if the cell would need more than 100 digits (S1.4); nothing is added then
   */
  readonly add: (account: number, meter: number, day: Day, quantity: Exact, group?: UsageGroup) => void;
  /**
   * Creates a function that adds all units of one event.
   *
   * @param meters distinct indices in `meterIds`
   * @param groups where the group of each meter's units is; undefined for a meter without groups
   */
  readonly adder: (meters: readonly number[], groups?: readonly (GroupTexts | undefined)[]) => AddAll;
  /** The usage of the meters that have groups, by indices. */
  readonly groups: GroupUsageTally;
  /** Adds another tally, whose accounts and meters must exist here. */
  merge(other: Usage): void;
}

const ALL_DAYS: DayRange = [-Infinity, Infinity];

/** A cell of a meter; only that of a meter with groups has a group. */
type GroupDay = readonly [Day, Exact, UsageGroup?];

/**
 * Creates an empty tally.
 *
 * @param columnGroups the indices of meters in which one event may count
 * @param groupings the meters that have groups
 */
export function createUsageTally(
  accountIds: readonly string[],
  meterIds: readonly string[],
  columnGroups?: readonly (readonly number[])[],
  groupings: readonly MeterGrouping[] = [],
): UsageTally {
  return new CellTally(accountIds, meterIds, columnGroups, groupings);
}

class CellTally implements UsageTally {
  readonly accountIds: readonly string[];
  readonly meterIds: readonly string[];
  readonly groups: GroupedUsage;
  /** By account and meter, for meters without groups. */
  readonly #sums: Cells;
  readonly #accounts: ReadonlyMap<string, number>;
  readonly #meters: ReadonlyMap<string, number>;

  constructor(
    accountIds: readonly string[],
    meterIds: readonly string[],
    columnGroups: readonly (readonly number[])[] | undefined,
    groupings: readonly MeterGrouping[],
  ) {
    this.accountIds = accountIds;
    this.meterIds = meterIds;
    this.groups = new GroupedUsage(groupings);
    this.#sums = createCells(accountIds.length, meterIds.length, columnGroups);
    this.#accounts = new Map(accountIds.map((id, index) => [id, index]));
    this.#meters = new Map(meterIds.map((id, index) => [id, index]));
  }

  add(account: number, meter: number, day: Day, quantity: Exact, group: UsageGroup = NO_GROUP): void {
    if (this.groups.has(meter)) this.groups.add(account, meter, day, quantity, group);
    else this.#sums.add(account, meter, day, quantity);
  }

  adder(meters: readonly number[], groups: readonly (GroupTexts | undefined)[] = []): AddAll {
    const addGroups = this.groups.adders(meters, groups);
    if (addGroups.length === 0) return this.#sums.adder(meters);
    const [addOnly] = addGroups;
    const hasGroups = meters.every((meter) => this.groups.has(meter));
    if (addOnly !== undefined && addGroups.length === 1 && hasGroups) return addOnly;
    const places = [...meters.keys()].filter((place) => !this.groups.has(meters[place] ?? -1));
    const addSums = this.#sums.adder(places.map((place) => meters[place] ?? -1));
    return (account, day, quantities) => {
      for (const addGroup of addGroups) addGroup(account, day, quantities);
      if (places.length === 0) return;
      addSums(
        account,
        day,
        places.map((place) => quantities[place]),
      );
    };
  }

  visit(cell: Parameters<Usage["visit"]>[0]): void {
    for (const account of this.accountIds.keys()) {
      for (const meter of this.meterIds.keys())
        for (const [day, quantity, group] of this.#days(account, meter)) cell(account, meter, day, quantity, group);
    }
  }

  *cells(): Iterable<UsageCell> {
    for (const accountId of this.accountIds) yield* this.cellsOf(accountId);
  }

  *cellsOf(accountId: string): Iterable<UsageCell> {
    const account = this.#accountIndex(accountId);
    for (const [meter, meterId] of this.meterIds.entries()) {
      const days = [...this.#days(account, meter)].sort(compareDays);
      for (const [day, exact, group] of days)
        yield { accountId, meterId, ...(group && { group }), day, quantity: decimalOfExact(exact) };
    }
  }

  between(accountId: string, meterId: string, from: Day, until: Day): Decimal {
    const [account, meter] = [this.#accountIndex(accountId), this.#meterIndex(meterId)];
    if (!this.groups.has(meter)) return decimalOfExact(this.#sums.between(account, meter, from, until));
    let total: Exact = 0;
    this.groups.visit(account, meter, [from, until], (_, quantity) => (total = addExact(total, quantity)));
    return decimalOfExact(total);
  }

  groupsBetween(accountId: string, meterId: string, from: Day, until: Day): readonly GroupUsage[] {
    const used: GroupUsage[] = [];
    this.groups.visit(this.#accountIndex(accountId), this.#meterIndex(meterId), [from, until], (day, exact, group) => {
      if (!isZeroExact(exact)) used.push({ group, day, quantity: decimalOfExact(exact) });
    });
    return used;
  }

  hasUsage(accountId: string, meterId: string, from: Day, until: Day): boolean {
    for (const [day] of this.#days(this.#accountIndex(accountId), this.#meterIndex(meterId)))
      if (day >= from && day < until) return true;
    return false;
  }

  daysOf(accountId: string): ReturnType<Usage["daysOf"]> {
    const account = this.#accountIndex(accountId);
    return dayRange(this.meterIds.map((_, meter) => this.#days(account, meter)));
  }

  merge(other: Usage): void {
    const accounts = other.accountIds.map((id) => this.#accountIndex(id));
    const meters = other.meterIds.map((id) => this.#meterIndex(id));
    other.visit((account, meter, day, quantity, group) => {
      this.add(accounts[account] ?? -1, meters[meter] ?? -1, day, quantity, group);
    });
  }

  #days(account: number, meter: number): Iterable<GroupDay> {
    if (!this.groups.has(meter)) return this.#sums.days(account, meter);
    const days: GroupDay[] = [];
    this.groups.visit(account, meter, ALL_DAYS, (...day) => days.push(day));
    return days;
  }

  #accountIndex(accountId: string): number {
    return this.#accounts.get(accountId) ?? -1;
  }

  #meterIndex(meterId: string): number {
    return this.#meters.get(meterId) ?? -1;
  }
}

function compareDays([dayA, , a = NO_GROUP]: GroupDay, [dayB, , b = NO_GROUP]: GroupDay): number {
  return dayA - dayB || compareGroups(a, b);
}

/** The first and the last of all days; undefined without any. */
function dayRange(lists: readonly Iterable<GroupDay>[]): { first: Day; last: Day } | undefined {
  let [first, last] = [Infinity, -Infinity];
  for (const list of lists) {
    for (const [day] of list) {
      first = Math.min(first, day);
      last = Math.max(last, day);
    }
  }
  return first <= last ? { first, last } : undefined;
}
