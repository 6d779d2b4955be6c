/**
 * Prices a cycle's usage by groups and days with a table (S18): each row's running quantity, less allowance, at the price
 * in force on each day. Between two changes of its price only the ends count, so the work grows with the groups and days
 * that occur.
 */
import {
  compareGroups,
  formatGroup,
  type GroupUsage,
  NO_GROUP,
  type UsageGroup,
} from "../book/resources/event-schema.ts";
import type { Share } from "../calendar/cycle.ts";
import type { Day } from "../calendar/instant.ts";
import { add, type Decimal, maximum, minimum, multiply, subtract, sum, ZERO } from "../numbers/decimal.ts";
import { multiplyByShare, roundFraction, toFraction } from "../numbers/fraction.ts";
import type { RatedSlabs } from "./rated-slabs.ts";
import type { RatedPrice, RatedRow, RatedTable } from "./rated-table.ts";
import { findSlab, priceReachedSlabs, priceSlab, sumSlabs, type PricedSlab } from "./slab-charge.ts";

/** The days of a part of a cycle, `[from, until)`, and its share of the natural cycle. */
export interface TablePeriod {
  readonly from: Day;
  readonly until: Day;
  readonly share: Share;
}

/** What a row costs on a stretch of days with one price. */
export interface PricedStretch {
  readonly row: RatedRow;
  readonly price: RatedPrice;
  /** With usage that counts together, in the order of their texts. */
  readonly groups: readonly UsageGroup[];
  readonly from: Day;
  /** Exclusive. */
  readonly until: Day;
  /** The running quantity, less allowance, before the first day. */
  readonly before: Decimal;
  /** At least one. */
  readonly slabs: readonly PricedSlab[];
}

/** Usage of a row, or of a group that counts by itself, that would cost less than 0, or is less than 0 (S7.5). */
export interface BelowZero {
  readonly row: RatedRow;
  readonly groups: readonly UsageGroup[];
  readonly quantity: Decimal;
  /** The units that are neither charged nor free. */
  readonly uncharged: Decimal;
}

/** The exact price of usage. */
export interface PricedTable {
  /** In the order of rows, groups and days; they add up to `total`. */
  readonly stretches: readonly PricedStretch[];
  readonly total: Decimal;
  /** The units that the allowance made free, by row. */
  readonly free: ReadonlyMap<RatedRow, Decimal>;
  readonly belowZero: readonly BelowZero[];
  /** Usage without a row, in the order of the groups' texts; sums of 0 are omitted. */
  readonly unpriced: readonly { readonly group: UsageGroup; readonly quantity: Decimal }[];
}

/** Usage that counts together: of a row, or of one of its groups (S18.3). */
interface Counter {
  readonly row: RatedRow;
  /** Without repetition. */
  readonly groups: UsageGroup[];
  /** In order of time, for each price of the row. */
  readonly changes: Decimal[];
  /** The quantity less allowance, 0 or more, at the end of each price of the row. */
  levels: readonly Decimal[];
}

/** The usage of a row. */
interface RowUsage {
  readonly row: RatedRow;
  /** One, unless groups count by themselves. */
  readonly counters: Counter[];
  /** With the counter of each; only if the allowance is taken by days. */
  readonly entries: { readonly counter: Counter; readonly entry: GroupUsage; readonly price: number }[];
}

/**
 * Prices usage.
 *
 * @param usage of the meter's groups on days of the period, in any order
 * @throws {RatebookError} ERR_RATES_INVALID if a row has no rate in the currency; ERR_ARITHMETIC beyond 100 digits
 */
export function priceUsageByTable(table: RatedTable, usage: readonly GroupUsage[], period: TablePeriod): PricedTable {
  const { rows, unpriced } = assignRows(table, usage);
  const free = takeAllowance(table, rows, period.share);
  const counters = rows.flatMap((each) => each.counters.sort((a, b) => compareGroups(firstGroup(a), firstGroup(b))));
  const all = table.chosenByAllRows ? sum(counters.map(({ levels }) => levels.at(-1) ?? ZERO)) : undefined;
  const stretches: PricedStretch[] = [];
  const belowZero: BelowZero[] = [];
  let total = ZERO;
  for (const counter of counters) {
    const priced = priceCounter(table, counter, all, period);
    const amount = sum(priced.map(({ slabs }) => sumSlabs(slabs)));
    const quantity = sum(counter.changes);
    if (!amount.isNegative()) {
      total = add(total, amount);
      stretches.push(...priced);
    }
    if (!amount.isNegative() && !quantity.isNegative()) continue;
    const uncharged = quantity.isNegative() ? quantity : (counter.levels.at(-1) ?? ZERO);
    belowZero.push({ row: counter.row, groups: listGroups(counter), quantity, uncharged });
  }
  return { stretches, total, free, belowZero, unpriced };
}

/** Where the usage of a group counts. */
interface GroupPlace {
  readonly key: string;
  /** The rows that hold for it. */
  readonly candidates: readonly RatedRow[];
  /** The rows of its usage, with the counter of each. */
  readonly counted: { readonly rowUsage: RowUsage; readonly counter: Counter }[];
}

/** Finds the row of each group's usage on each day (S18.2), and adds it up. @returns rows in the order of the table */
function assignRows(
  table: RatedTable,
  usage: readonly GroupUsage[],
): { readonly rows: readonly RowUsage[]; readonly unpriced: PricedTable["unpriced"] } {
  const byRow = new Map<RatedRow, RowUsage>();
  const unpriced = new Map<string, { readonly group: UsageGroup; quantity: Decimal }>();
  const addRow = (row: RatedRow): RowUsage => {
    const added: RowUsage = { row, counters: [], entries: [] };
    byRow.set(row, added);
    return added;
  };
  const takesByDays = (row: RatedRow): boolean => row.countsByGroup && table.allowance !== undefined;
  // The same group may be several lists.
  const placesByKey = new Map<string, GroupPlace>();
  const places = new Map<UsageGroup, GroupPlace>();
  const findPlace = (group: UsageGroup): GroupPlace => {
    const key = formatGroup(group);
    const place = placesByKey.get(key) ?? { key, candidates: table.findRows(group, key), counted: [] };
    placesByKey.set(key, place);
    places.set(group, place);
    return place;
  };
  for (const entry of usage) {
    const { group, day, quantity } = entry;
    const place = places.get(group) ?? findPlace(group);
    const { key } = place;
    const row = place.candidates.find(({ prices }) => (prices[0]?.from ?? Infinity) <= day);
    if (row === undefined) {
      const others = unpriced.get(key);
      if (others === undefined) unpriced.set(key, { group, quantity });
      else others.quantity = add(others.quantity, quantity);
      continue;
    }
    let counted = place.counted.find((each) => each.counter.row === row);
    if (counted === undefined) {
      const rowUsage = byRow.get(row) ?? addRow(row);
      const counter = (row.countsByGroup ? undefined : rowUsage.counters[0]) ?? addCounter(rowUsage);
      counter.groups.push(group);
      place.counted.push((counted = { rowUsage, counter }));
    }
    const { counter, rowUsage } = counted;
    const price = findPrice(row, day);
    counter.changes[price] = add(counter.changes[price] ?? ZERO, quantity);
    if (takesByDays(row)) rowUsage.entries.push({ counter, entry, price });
  }
  for (const row of table.rowsChargedAtZero) if (!byRow.has(row)) addCounter(addRow(row));
  return {
    rows: [...byRow.values()].sort((a, b) => a.row.order - b.row.order),
    unpriced: [...unpriced.values()]
      .filter(({ quantity }) => !quantity.isZero())
      .sort((a, b) => compareGroups(a.group, b.group)),
  };
}

function addCounter({ row, counters }: RowUsage): Counter {
  const counter: Counter = { row, groups: [], changes: row.prices.map(() => ZERO), levels: [] };
  counters.push(counter);
  return counter;
}

function firstGroup({ groups }: Counter): UsageGroup {
  return groups[0] ?? NO_GROUP;
}

/** The index of the price in force on a day. */
function findPrice({ prices }: RatedRow, day: Day): number {
  let index = prices.length - 1;
  while (index > 0 && (prices[index]?.from ?? 0) > day) index--;
  return index;
}

/** Takes the allowance off every counter (S18.5). @returns the free units of each row */
function takeAllowance(
  { allowance }: RatedTable,
  rows: readonly RowUsage[],
  { days, of }: Share,
): ReadonlyMap<RatedRow, Decimal> {
  const free = new Map<RatedRow, Decimal>();
  const granted =
    allowance === undefined
      ? ZERO
      : roundFraction(multiplyByShare(toFraction(allowance.quantity), days, of), ALLOWANCE_DIGITS, "HALF_UP");
  let left = granted;
  for (const rowUsage of rows) {
    const rest = allowance?.over === "EACH_ROW" ? granted : left;
    const taken = rowUsage.entries.length > 0 ? takeByDays(rowUsage, rest) : takeTogether(rowUsage, rest);
    if (!taken.isZero()) free.set(rowUsage.row, taken);
    left = subtract(left, taken);
  }
  return free;
}

/** A part of an allowance is rounded to so many digits (S18.5). */
const ALLOWANCE_DIGITS = 20;

/** The levels of a row whose groups count together, or that has no allowance. @returns the free units at the end */
function takeTogether({ counters }: RowUsage, allowance: Decimal): Decimal {
  let taken = ZERO;
  for (const counter of counters) {
    let running = ZERO;
    counter.levels = counter.changes.map((change) => {
      running = add(running, change);
      if (allowance.isZero()) return maximum(running, ZERO);
      taken = maximum(minimum(allowance, running), ZERO);
      return maximum(subtract(running, allowance), ZERO);
    });
  }
  return taken;
}

/**
 * The levels of groups that count by themselves: units take the allowance by days, then by the texts of their groups.
 * Units that are given back return it, those that were not free first.
 */
function takeByDays({ row, counters, entries }: RowUsage, allowance: Decimal): Decimal {
  const states = new Map<Counter, { running: Decimal; free: Decimal; levels: Decimal[] }>();
  for (const counter of counters)
    states.set(counter, { running: ZERO, free: ZERO, levels: row.prices.map(() => ZERO) });
  let left = allowance;
  entries.sort((a, b) => a.entry.day - b.entry.day || compareGroups(a.entry.group, b.entry.group));
  for (const { counter, entry, price } of entries) {
    const state = states.get(counter);
    if (state === undefined) continue;
    const running = add(state.running, entry.quantity);
    const [before, after] = [maximum(state.running, ZERO), maximum(running, ZERO)];
    const free = after.gt(before)
      ? add(state.free, minimum(left, subtract(after, before)))
      : minimum(state.free, after);
    left = subtract(left, subtract(free, state.free));
    Object.assign(state, { running, free });
    state.levels.fill(subtract(after, free), price);
  }
  for (const [counter, { levels }] of states) counter.levels = levels;
  return subtract(allowance, left);
}

/** The price of one counter. @param all the quantity of all rows, if that chooses volume tiers */
function priceCounter(
  { slabsOf }: RatedTable,
  counter: Counter,
  all: Decimal | undefined,
  period: TablePeriod,
): readonly PricedStretch[] {
  const { row, levels } = counter;
  const { prices } = row;
  const quantity = levels.at(-1) ?? ZERO;
  const inForce =
    prices.length === 1 ? prices : prices.filter((price, index) => isInForce(price, prices[index + 1], period));
  const [only, ...others] = inForce;
  const groups = listGroups(counter);
  const toStretch = (price: RatedPrice, before: Decimal, slabs: readonly PricedSlab[]): PricedStretch[] => {
    if (slabs.length === 0) return [];
    const from = Math.max(period.from, price.from);
    const until = Math.min(period.until, prices[prices.indexOf(price) + 1]?.from ?? Infinity);
    return [{ row, price, groups, from, until, before, slabs }];
  };
  if (only !== undefined && others.length === 0)
    return toStretch(only, ZERO, priceOnce(slabsOf(row, only), quantity, all));
  return prices.flatMap((price, index) => {
    const [before, after] = [levels[index - 1] ?? ZERO, levels[index] ?? ZERO];
    return toStretch(price, before, priceDifference(slabsOf(row, price), [before, after], all ?? quantity));
  });
}

/** Whether a price is in force on a day of a period. */
function isInForce({ from }: RatedPrice, next: RatedPrice | undefined, period: TablePeriod): boolean {
  return from < period.until && (next === undefined || next.from > period.from);
}

function listGroups({ groups }: Counter): readonly UsageGroup[] {
  return groups.length < 2 ? groups : groups.toSorted(compareGroups);
}

/** The slabs of a price that does not change. */
function priceOnce(slabs: RatedSlabs, quantity: Decimal, all: Decimal | undefined): readonly PricedSlab[] {
  const isChosenByAll = slabs.pricingModel === "VOLUME" && all !== undefined && quantity.gt(ZERO);
  return isChosenByAll ? [priceSlab(findSlab(slabs.slabs, all), quantity)] : priceReachedSlabs(slabs, quantity);
}

/** What the units from one running quantity to another cost, by slabs with a rate for each unit (S18.4). */
function priceDifference(
  { pricingModel, slabs }: RatedSlabs,
  [before, after]: readonly [Decimal, Decimal],
  choice: Decimal,
): readonly PricedSlab[] {
  if (before.eq(after)) return [];
  const chosen = pricingModel === "VOLUME" ? [findSlab(slabs, choice)] : slabs;
  return chosen.flatMap(({ order, startAfter, endAt, rate }) => {
    const unitsBelow = (quantity: Decimal): Decimal => {
      if (pricingModel === "VOLUME") return quantity;
      const end = endAt === undefined ? quantity : minimum(quantity, endAt);
      return maximum(subtract(end, startAfter), ZERO);
    };
    const quantity = subtract(unitsBelow(after), unitsBelow(before));
    return quantity.isZero() ? [] : [{ order, quantity, rate, amount: multiply(rate, quantity) }];
  });
}
