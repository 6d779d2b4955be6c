/**
 * The tally of usage: exact quantities by account, meter, group and UTC day (S5.3). Cycles begin on UTC days, so every
 * cycle is a sum of days, whatever plans come and go.
 */
import {
  compareGroups,
  formatGroup,
  type GroupUsage,
  NO_GROUP,
  type UsageGroup,
} from "../book/resources/event-schema.ts";
import type { Day } from "../calendar/instant.ts";
import { invariant } from "../errors.ts";
import { add, type Decimal, ZERO } from "../numbers/decimal.ts";
import { addExact, type Exact, decimalOfExact, isZeroExact } from "../numbers/exact.ts";
import { groupBy } from "../numbers/ids.ts";
import { type AddUnits, type DayRange, GroupedCells, type GroupTexts, type VisitCell } from "./grouped-cells.ts";

/** The usage of one account, meter, group and UTC day. */
export interface UsageCell {
  readonly accountId: string;
  readonly meterId: string;
  /** Absent for a meter without groups. */
  readonly group?: UsageGroup;
  readonly day: Day;
  readonly quantity: Decimal;
}

/** The indices of meters to which one event adds in the same group, or without a group. */
export interface MeterGrouping {
  readonly meters: readonly number[];
  /**
   * Maximum number of groups of each with usage other than 0, in one account on a day (S18.1, S19.2); undefined for
   * meters without groups.
   */
  readonly groupsMax: number | undefined;
}

/** Where the usage of a meter is: its column among meters with the same groups. */
interface MeterColumn {
  readonly cells: GroupedCells;
  readonly column: number;
}

/** A cell of a meter; only that of a meter with groups has a group. */
type GroupDay = readonly [Day, Exact, UsageGroup | undefined];

/** The usage of accounts. Accounts and meters are named by their ids when usage is read, and by their indices before. */
export class UsageTally {
  readonly #accountIds: readonly string[];
  readonly #meterIds: readonly string[];
  readonly #accounts: ReadonlyMap<string, number>;
  readonly #meters: ReadonlyMap<string, number>;
  readonly #cells: readonly GroupedCells[];
  /** By meter index. */
  readonly #columns = new Map<number, MeterColumn>();

  /** @param groupings every meter once; default all without groups */
  constructor(
    accountIds: readonly string[],
    meterIds: readonly string[],
    groupings: readonly MeterGrouping[] = [{ meters: [...meterIds.keys()], groupsMax: undefined }],
  ) {
    this.#accountIds = accountIds;
    this.#meterIds = meterIds;
    this.#accounts = new Map(accountIds.map((id, index) => [id, index]));
    this.#meters = new Map(meterIds.map((id, index) => [id, index]));
    this.#cells = groupings.map(({ meters, groupsMax }) => {
      const cells = new GroupedCells(meters.length, groupsMax);
      for (const [column, meter] of meters.entries()) this.#columns.set(meter, { cells, column });
      return cells;
    });
  }

  /**
   * Adds to one cell; adding 0 creates the cell.
   *
   * @param account the index of its id
   * @param meter the index of its id
   * @param group that of the usage; only for a meter with groups
   * @throws {RatebookError} ERR_ARITHMETIC if the cell would need more than 100 digits (S1.4); nothing is added then
   */
  add(account: number, meter: number, day: Day, quantity: Exact, group: UsageGroup = NO_GROUP): void {
    const place = this.#columns.get(meter);
    invariant(place !== undefined && account >= 0, "S5.3: usage belongs to a known account and meter");
    place.cells.add(account, place.column, day, quantity, group);
  }

  /**
   * Creates a function that adds all units of one event.
   *
   * @param meters the index of the meter of each unit
   * @param groups where the group of each unit is; undefined for a meter without groups
   */
  adder(meters: readonly number[], groups: readonly (GroupTexts | undefined)[] = []): AddUnits {
    const columns = meters.flatMap((meter, place) => {
      const column = this.#columns.get(meter);
      return column === undefined ? [] : [{ ...column, place }];
    });
    // Several places of a meter with keys have different groups.
    const byGroup = groupBy(columns, ({ cells, place }) => groups[place] ?? cells);
    const adders = [...byGroup.values()].flatMap((sameGroup) => {
      const [first] = sameGroup;
      if (first === undefined) return [];
      const [own, places] = [sameGroup.map(({ column }) => column), sameGroup.map(({ place }) => place)];
      return first.cells.adder(own, places, groups[first.place]);
    });
    const [only] = adders;
    if (only !== undefined && adders.length === 1) return only;
    return (account, day, units) => {
      for (const addUnits of adders) addUnits(account, day, units);
    };
  }

  /** Every cell with usage, by account, meter, day and group. */
  *cells(): Iterable<UsageCell> {
    for (const accountId of this.#accountIds) yield* this.cellsOf(accountId);
  }

  /** The cells of one account, by meter, day and group. */
  *cellsOf(accountId: string): Iterable<UsageCell> {
    const account = this.#accountIndex(accountId);
    for (const [meter, meterId] of this.#meterIds.entries()) {
      const days: GroupDay[] = [];
      this.visit(account, meter, [-Infinity, Infinity], (...day) => days.push(day));
      for (const [day, exact, group] of days.sort(compareDays))
        yield { accountId, meterId, ...(group && { group }), day, quantity: decimalOfExact(exact) };
    }
  }

  /**
   * The sum over the days `[from, until)`; 0 without usage, and for an unknown account or meter.
   *
   * @throws {RatebookError} ERR_ARITHMETIC if the sum needs more than 100 digits (S1.4)
   */
  between(accountId: string, meterId: string, from: Day, until: Day): Decimal {
    let total: Exact = 0;
    this.visit(this.#accountIndex(accountId), this.#meterIndex(meterId), [from, until], (_, quantity) => {
      total = addExact(total, quantity);
    });
    return decimalOfExact(total);
  }

  /** The sums other than 0 of a meter's groups, in any order; empty for a meter without groups. */
  groupsBetween(accountId: string, meterId: string, from: Day, until: Day): readonly GroupUsage[] {
    const used: GroupUsage[] = [];
    this.visit(this.#accountIndex(accountId), this.#meterIndex(meterId), [from, until], (day, exact, group) => {
      if (group !== undefined && !isZeroExact(exact)) used.push({ group, day, quantity: decimalOfExact(exact) });
    });
    return used;
  }

  /** Visits the existing cells of an account and meter on some days, unordered. */
  visit(account: number, meter: number, days: DayRange, visit: VisitCell): void {
    const place = this.#columns.get(meter);
    place?.cells.visit(account, place.column, days, visit);
  }

  /** The largest share of its maximum that the groups of any account and meter have reached; below 1, all have room. */
  get fullness(): number {
    let fullness = 0;
    for (const { largestCount, groupsMax } of this.#cells) fullness = Math.max(fullness, largestCount / groupsMax);
    return fullness;
  }

  /** Maximum number of groups of a meter with usage other than 0, in one account on a day (S18.1, S19.2). */
  groupsMax(meter: number): number {
    return this.#columns.get(meter)?.cells.groupsMax ?? 0;
  }

  /** The largest number of groups of a meter that an account has had on a day. */
  countGroups(account: number, meter: number): number {
    return this.#columns.get(meter)?.cells.count(account) ?? 0;
  }

  /** Whether a number of groups may get usage on a day, in any order, and leave an account with at most the maximum. */
  hasRoomFor(account: number, meter: number, day: Day, groups: number): boolean {
    const place = this.#columns.get(meter);
    return place === undefined || place.cells.hasRoomFor(account, place.column, day, groups);
  }

  /** Whether usage other than 0 of a group on a day leaves an account with at most the maximum (S18.1). */
  hasRoom(account: number, meter: number, day: Day, texts: GroupTexts): boolean {
    const place = this.#columns.get(meter);
    return place === undefined || place.cells.hasRoom(account, place.column, day, texts);
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

/** The sums other than 0 of a meter's groups, by day, then group. */
export function sumGroupUsage(usage: readonly GroupUsage[]): readonly GroupUsage[] {
  const sums = new Map<string, GroupUsage>();
  for (const { group, day, quantity } of usage) {
    const key = `${day} ${formatGroup(group)}`;
    sums.set(key, { group, day, quantity: add(sums.get(key)?.quantity ?? ZERO, quantity) });
  }
  const used = [...sums.values()].filter(({ quantity }) => !quantity.isZero());
  return used.sort((a, b) => a.day - b.day || compareGroups(a.group, b.group));
}
