/** Usage by account, meter, day and group (S17.1, S18.1). */
import { add, asObject, asText, type Fraction, type JsonObject, ZERO } from "./figures.ts";

/** Quantities by the JSON of `[account, meter]`, then by day and, for a meter with groups, the {@link dayKey} of the group. */
export type UsageCells = Map<string, Map<string, Fraction>>;

/** Adds to a cell. Rows of the same cell are summed (S17.1). @param day a {@link dayKey} @returns the sum */
export function addToCell(
  cells: UsageCells,
  accountId: string,
  meterId: string,
  day: string,
  quantity: Fraction,
): Fraction {
  const key = JSON.stringify([accountId, meterId]);
  const days = cells.get(key) ?? new Map<string, Fraction>();
  const sum = add(days.get(day) ?? ZERO, quantity);
  cells.set(key, days.set(day, sum));
  return sum;
}

/** A day, followed by the texts of a group with their dimensions. Keys of one day have the same order as their days. */
export function dayKey(date: string, group: JsonObject | undefined): string {
  const texts = Object.entries(group ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return group === undefined ? date : `${date} ${JSON.stringify(texts)}`;
}

/** The group of a {@link dayKey}, empty if there is none. */
export function parseDayGroup(day: string): JsonObject {
  return Object.fromEntries(JSON.parse(day.slice(10) || "[]") as readonly (readonly [string, string])[]);
}

/** The name under which the group of a meter's usage by value has the value (S19.2). */
export const KEY_NAME = "$key";
/** Whether a {@link dayKey} has a value. */
export function hasKey(day: string): boolean {
  return day.includes(`[${JSON.stringify(KEY_NAME)},`);
}

/** The maximum number of groups of a meter with usage other than 0 in an account on a day (S18.1). */
const GROUPS_MAX = 1000;
/** The same of values, in all groups (S19.2). */
const VALUES_MAX = 100_000;
const GROUP_TEXT_MAX = 512;

/** What a meter counts of an event. */
export interface MeteredUnits {
  readonly meterId: string;
  readonly quantity: Fraction;
  readonly group: JsonObject | undefined;
}

/** The texts of an event's group, by dimension (S18.1). @throws {Error} if one is empty or too long */
export function readGroup(facts: JsonObject, groupBy: readonly string[] | undefined): JsonObject | undefined {
  const texts = groupBy?.map((dimension): [string, string] => {
    const text = asText(asObject(facts["dimension"])[dimension]);
    if (text.length === 0 || text.length > GROUP_TEXT_MAX) throw new Error(`${dimension} has no text of a group`);
    return [dimension, text];
  });
  return texts && Object.fromEntries(texts);
}

/** The groups with usage other than 0, by account, meter and day (S18.1). */
export function createUsedGroups(): {
  /** Whether units may be added without too many groups. */
  readonly haveRoom: (accountId: string, date: string, units: MeteredUnits) => boolean;
  /** @param sum the sum of the group after units were added */
  readonly update: (accountId: string, date: string, units: MeteredUnits, sum: Fraction) => void;
} {
  const used = new Map<string, Set<string>>();
  const groupsOf = (accountId: string, date: string, { meterId }: MeteredUnits): Set<string> => {
    const key = JSON.stringify([accountId, meterId, date]);
    const groups = used.get(key) ?? new Set<string>();
    used.set(key, groups);
    return groups;
  };
  return {
    haveRoom(accountId, date, units) {
      if (units.group === undefined || units.quantity.numerator === 0n) return true;
      const groups = groupsOf(accountId, date, units);
      const maximum = Object.hasOwn(units.group, KEY_NAME) ? VALUES_MAX : GROUPS_MAX;
      return groups.size < maximum || groups.has(dayKey(date, units.group));
    },
    update(accountId, date, units, sum) {
      if (units.group === undefined) return;
      const groups = groupsOf(accountId, date, units);
      if (sum.numerator === 0n) groups.delete(dayKey(date, units.group));
      else groups.add(dayKey(date, units.group));
    },
  };
}
