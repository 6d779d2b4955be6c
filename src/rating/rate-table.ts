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
import type { Day } from "../calendar/instant.ts";
import type { Share } from "../calendar/proration.ts";
import { add, type Decimal, maximum, minimum, multiply, subtract, sum, ZERO } from "../numbers/decimal.ts";
import { multiplyByShare, roundFraction, toFraction } from "../numbers/fraction.ts";
import type { RatedPrice, RatedRow, RatedTable } from "./rated-table.ts";
import { findSlab, priceReachedSlabs, priceSlab, type PricedSlab } from "./slab-charge.ts";

/** The days of a part of a cycle, `[from, until)`, and its share of the natural cycle. */
export interface TablePeriod {
  readonly from: Day;
  readonly until: Day;
  readonly share: Share;
}

/** What one tier of a row costs in a stretch of days with one price. */
export interface TableLine extends PricedSlab {
  readonly row: RatedRow;
  readonly price: RatedPrice;
  /** With usage that counts together, in the order of their texts. */
  readonly groups: readonly UsageGroup[];
  readonly from: Day;
  /** Exclusive. */
  readonly until: Day;
  /** The running quantity, less allowance, before the first day. */
  readonly before: Decimal;
}

/** Usage of a row, or of a group that counts by itself, that would cost less than 0, or is less than 0 (S7.5). */
export interface BelowZero {
  readonly row: RatedRow;
  readonly groups: readonly UsageGroup[];
  readonly quantity: Decimal;
}

/** The exact price of usage. */
export interface PricedTable {
  /** In the order of rows, groups, days and tiers; they add up to `total`. */
  readonly lines: readonly TableLine[];
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
  /** One of its groups. */
  readonly first: UsageGroup;
  /** By the text of each. */
  readonly groups: Map<string, UsageGroup>;
  /** In order of time, for each price of the row. */
  readonly changes: Decimal[];
  /** The quantity less allowance, 0 or more, at the end of each price of the row. */
  levels: readonly Decimal[];
}

/** The usage of a row. */
interface RowUsage {
  readonly row: RatedRow;
  readonly counters: Map<string, Counter>;
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
  const counters = rows.flatMap((each) => [...each.counters.values()].sort((a, b) => compareGroups(a.first, b.first)));
  const all = table.chosenByAllRows ? sum(counters.map(({ levels }) => levels.at(-1) ?? ZERO)) : undefined;
  const lines: TableLine[] = [];
  const belowZero: BelowZero[] = [];
  for (const counter of counters) {
    const { row } = counter;
    const groups = [...counter.groups.values()].sort(compareGroups);
    const counterLines = priceCounter(counter, all, period).map((line) => ({ ...line, row, groups }));
    const quantity = sum(counter.changes);
    const isBelowZero = sum(counterLines.map(({ amount }) => amount)).isNegative();
    if (!isBelowZero) lines.push(...counterLines);
    if (isBelowZero || quantity.isNegative()) belowZero.push({ row, groups, quantity });
  }
  return { lines, total: sum(lines.map(({ amount }) => amount)), free, belowZero, unpriced };
}

/** Finds the row of each group's usage on each day (S18.2), and adds it up. @returns rows in the order of the table */
function assignRows(
  table: RatedTable,
  usage: readonly GroupUsage[],
): { readonly rows: readonly RowUsage[]; readonly unpriced: PricedTable["unpriced"] } {
  const byRow = new Map<RatedRow, RowUsage>();
  const unpriced = new Map<string, { readonly group: UsageGroup; quantity: Decimal }>();
  const addRow = (row: RatedRow): RowUsage => {
    const added: RowUsage = { row, counters: new Map(), entries: [] };
    byRow.set(row, added);
    return added;
  };
  const takesByDays = (row: RatedRow): boolean => row.countsByGroup && table.allowance !== undefined;
  const found = new Map<UsageGroup, { readonly key: string; readonly candidates: readonly RatedRow[] }>();
  const findCandidates = (group: UsageGroup): { readonly key: string; readonly candidates: readonly RatedRow[] } => {
    const result = { key: formatGroup(group), candidates: table.findRows(group) };
    found.set(group, result);
    return result;
  };
  for (const entry of usage) {
    const { group } = entry;
    const { key, candidates } = found.get(group) ?? findCandidates(group);
    const row = candidates.find(({ prices }) => (prices[0]?.from ?? Infinity) <= entry.day);
    if (row === undefined) {
      const others = unpriced.get(key);
      if (others === undefined) unpriced.set(key, { group, quantity: entry.quantity });
      else others.quantity = add(others.quantity, entry.quantity);
      continue;
    }
    const rowUsage = byRow.get(row) ?? addRow(row);
    const counterKey = row.countsByGroup ? key : "";
    const counter = rowUsage.counters.get(counterKey) ?? addCounter(rowUsage, counterKey, group);
    counter.groups.set(key, group);
    const price = findPrice(row, entry.day);
    counter.changes[price] = add(counter.changes[price] ?? ZERO, entry.quantity);
    if (takesByDays(row)) rowUsage.entries.push({ counter, entry, price });
  }
  for (const row of table.rowsChargedAtZero) if (!byRow.has(row)) addCounter(addRow(row), "", NO_GROUP);
  return {
    rows: [...byRow.values()].sort((a, b) => a.row.order - b.row.order),
    unpriced: [...unpriced.values()]
      .filter(({ quantity }) => !quantity.isZero())
      .sort((a, b) => compareGroups(a.group, b.group)),
  };
}

function addCounter({ row, counters }: RowUsage, key: string, first: UsageGroup): Counter {
  const counter: Counter = { row, first, groups: new Map(), changes: row.prices.map(() => ZERO), levels: [] };
  counters.set(key, counter);
  return counter;
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
  for (const counter of counters.values()) {
    let running = ZERO;
    counter.levels = counter.changes.map((change) => {
      running = add(running, change);
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
  for (const counter of counters.values())
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

/** The lines of one counter. @param all the quantity of all rows, if that chooses volume tiers */
function priceCounter(
  { row, levels }: Counter,
  all: Decimal | undefined,
  period: TablePeriod,
): readonly Omit<TableLine, "row" | "groups">[] {
  const quantity = levels.at(-1) ?? ZERO;
  const inForce = row.prices.filter(({ from }, index) => from < period.until && !isReplaced(row, index, period));
  const [only, ...others] = inForce;
  if (only !== undefined && others.length === 0)
    return priceOnce(only, quantity, all).map((slab) => ({
      ...slab,
      price: only,
      before: ZERO,
      ...stretch(row, only, period),
    }));
  return row.prices.flatMap((price, index) => {
    const [before, after] = [levels[index - 1] ?? ZERO, levels[index] ?? ZERO];
    const slabs = priceDifference(price, [before, after], all ?? quantity);
    return slabs.map((slab) => ({ ...slab, price, before, ...stretch(row, price, period) }));
  });
}

/** Whether a later price takes all days of a period. */
function isReplaced({ prices }: RatedRow, index: number, { from }: TablePeriod): boolean {
  const next = prices[index + 1];
  return next !== undefined && next.from <= from;
}

/** The days of a period on which a price is in force. */
function stretch({ prices }: RatedRow, price: RatedPrice, { from, until }: TablePeriod): { from: Day; until: Day } {
  const next = prices[prices.indexOf(price) + 1];
  return { from: Math.max(from, price.from), until: Math.min(until, next?.from ?? until) };
}

/** The slabs of a price that does not change. */
function priceOnce({ slabs }: RatedPrice, quantity: Decimal, all: Decimal | undefined): readonly PricedSlab[] {
  const isChosenByAll = slabs.pricingModel === "VOLUME" && all !== undefined && quantity.gt(ZERO);
  return isChosenByAll ? [priceSlab(findSlab(slabs.slabs, all), quantity)] : priceReachedSlabs(slabs, quantity);
}

/** What the units from one running quantity to another cost, by slabs with a rate for each unit (S18.4). */
function priceDifference(
  { slabs: { pricingModel, slabs } }: RatedPrice,
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
