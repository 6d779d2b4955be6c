/** The usage of the meters that have groups, by account, meter, group and day. */
import {
  compareGroups,
  formatGroup,
  type GroupUsage,
  NO_GROUP,
  type UsageGroup,
} from "../book/resources/event-schema.ts";
import type { Day } from "../calendar/instant.ts";
import { groupBy } from "../numbers/compare-ids.ts";
import { add, ZERO } from "../numbers/decimal.ts";
import type { Exact } from "../numbers/exact.ts";
import type { AddAll } from "./cells.ts";
import { type DayRange, type VisitCell, GroupedCells, type GroupTexts, toGroupTexts } from "./grouped-cells.ts";

/** The indices of meters with the same groups. */
export interface MeterGrouping {
  readonly meters: readonly number[];
  /** Maximum number of groups of each with usage other than 0, in one account on a day (S18.1, S19.2). */
  readonly groupsMax: number;
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

/** Where the groups of a meter are: its column among meters with the same groups. */
interface GroupColumn {
  readonly cells: GroupedCells;
  readonly column: number;
}

/** What is known of the groups of an account and meter, by their indices. */
export interface GroupUsageTally {
  /** The largest share of its maximum that the groups of any account and meter have reached; below 1, all have room. */
  readonly fullness: number;
  /** Maximum number of groups of a meter with usage other than 0, in one account on a day (S18.1, S19.2). */
  maximum(meter: number): number;
  /** The largest number of groups that an account has had on a day. */
  count(account: number, meter: number): number;
  /** Visits the existing cells of an account's groups on some days, unordered. */
  visit(account: number, meter: number, days: DayRange, visit: VisitCell): void;
  /** Whether a number of groups may get usage on a day, in any order, and leave an account with at most the maximum. */
  hasRoomFor(account: number, meter: number, day: Day, groups: number): boolean;
  /** Whether usage other than 0 of a group on a day leaves an account with at most the maximum (S18.1). */
  hasRoom(account: number, meter: number, day: Day, group: GroupTexts): boolean;
}

/** Usage by group; other meters have none, and adding to them has no effect. */
export class GroupedUsage implements GroupUsageTally {
  readonly #columns = new Map<number, GroupColumn>();
  readonly #cells: GroupedCells[] = [];

  constructor(groupings: readonly MeterGrouping[]) {
    for (const { meters, groupsMax } of groupings) {
      const cells = new GroupedCells(meters.length, groupsMax);
      this.#cells.push(cells);
      for (const [column, meter] of meters.entries()) this.#columns.set(meter, { cells, column });
    }
  }

  get fullness(): number {
    let fullness = 0;
    for (const { largestCount, groupsMax } of this.#cells) fullness = Math.max(fullness, largestCount / groupsMax);
    return fullness;
  }

  maximum(meter: number): number {
    return this.#columns.get(meter)?.cells.groupsMax ?? 0;
  }

  has(meter: number): boolean {
    return this.#columns.has(meter);
  }

  /** @throws {RatebookError} ERR_ARITHMETIC if the cell would need more than 100 digits (S1.4); nothing is added then */
  add(account: number, meter: number, day: Day, quantity: Exact, group: UsageGroup): void {
    const place = this.#columns.get(meter);
    place?.cells.add(account, place.column, day, quantity, group);
  }

  /**
   * Creates functions that together add all units of one event, one for the meters with the same groups.
   *
   * @param groups where the group of each meter is
   */
  adders(meters: readonly number[], groups: readonly (GroupTexts | undefined)[]): readonly AddAll[] {
    const groupedMeters = meters.flatMap((meter, place) => {
      const column = this.#columns.get(meter);
      return column === undefined ? [] : [{ ...column, place, texts: groups[place] ?? toGroupTexts(NO_GROUP) }];
    });
    // Several places of a meter with keys have different groups.
    const byGroup = groupBy(groupedMeters, ({ cells, place }) => groups[place] ?? cells);
    return [...byGroup.values()].flatMap((sameGroup) => {
      const [first] = sameGroup;
      if (first === undefined) return [];
      const [columns, places] = [sameGroup.map(({ column }) => column), sameGroup.map(({ place }) => place)];
      return first.cells.adder(columns, places, first.texts);
    });
  }

  visit(account: number, meter: number, days: DayRange, visit: VisitCell): void {
    const place = this.#columns.get(meter);
    place?.cells.visit(account, place.column, days, visit);
  }

  count(account: number, meter: number): number {
    return this.#columns.get(meter)?.cells.count(account) ?? 0;
  }

  hasRoomFor(account: number, meter: number, day: Day, groups: number): boolean {
    const place = this.#columns.get(meter);
    return place === undefined || place.cells.hasRoomFor(account, place.column, day, groups);
  }

  hasRoom(account: number, meter: number, day: Day, texts: GroupTexts): boolean {
    const place = this.#columns.get(meter);
    return place === undefined || place.cells.hasRoom(account, place.column, day, texts);
  }
}
