/** Price tables with their rates in one currency, and the row that prices a group's usage on a day (S18.2, S18.3). */
import { formatGroup, type UsageGroup } from "../book/resources/event-schema.ts";
import type { Amounts } from "../book/resources/fields.ts";
import type { RatePlanInput, RateValueInput, UsageRateCard } from "../book/resources/rate-card.ts";
import {
  amountIn,
  listTiers,
  type RateAllowance,
  type RateRow,
  type RateTable,
  whenKey,
} from "../book/resources/rate-table.ts";
import { type Day, dayOf, parseDate } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { type Decimal, divideExactly, multiply, ONE, ZERO } from "../numbers/decimal.ts";
import { type Bounds, joinSlabRates, type RatedSlabs } from "./rated-slabs.ts";

/** A card's price table, with what an override adds to it (S18.7). */
export type TablePricing = Pick<UsageRateCard, "rows" | "multiply"> & { readonly rateTable: RateTable };

/** One price of a row, from a day until the next one begins. */
export interface RatedPrice {
  /** `-Infinity` for a row without a date. */
  readonly from: Day;
  /** The row as written, and its index in its list. */
  readonly written: RateRow;
  readonly index: number;
}

/** Rows with the same `when`. */
export interface RatedRow {
  /** Its position in the order of the table: from 0, below 0 in an override. */
  readonly order: number;
  /** In the order of the meter's dimensions. */
  readonly when: Readonly<Record<string, string>>;
  /** Whether it is one of an override. */
  readonly isOverride: boolean;
  /** Whether each group counts by itself (S18.3). */
  readonly countsByGroup: boolean;
  /** By their days, ascending. */
  readonly prices: readonly RatedPrice[];
}

/** A table with its rates in one currency. */
export interface RatedTable {
  readonly currency: string;
  /** The dimensions of groups, in their order. */
  readonly groupBy: readonly string[];
  /** The limits of the card (S7.4), if any. */
  readonly bounds?: Bounds;
  readonly allowance: RateAllowance | undefined;
  /** Whether the sum of all rows chooses volume tiers (S18.3). */
  readonly chosenByAllRows: boolean;
  /** In the order of the table, those of an override first. */
  readonly rows: readonly RatedRow[];
  /** The rows that are charged at a quantity of 0 (S7.5). */
  readonly rowsChargedAtZero: readonly RatedRow[];
  /** The rows that hold for a group, whenever they are in force, in the order in which they are asked. `key` is its text. */
  readonly findRows: FindRows;
  /** The slabs of a row's price. @throws {RatebookError} ERR_RATES_INVALID if it has no rate in the currency */
  readonly slabsOf: (row: RatedRow, price: RatedPrice) => RatedSlabs;
}

type FindRows = (group: UsageGroup, key: string) => readonly RatedRow[];

/** Finds a card's price table in a currency. */
export type FindTable = (card: UsageRateCard & TablePricing, currency: string) => RatedTable;

/**
 * Creates a function that reads each card, and each list of rows, once: every account with an override has a card of its
 * own, with the rows of the plan.
 *
 * @param groupsByMeter the dimensions of the groups of each meter that has some
 */
export function createTableFinder(groupsByMeter: ReadonlyMap<string, readonly string[]>): FindTable {
  const tables = new WeakMap<UsageRateCard, Map<string, RatedTable>>();
  const rowLists = new WeakMap<readonly RateRow[], RowList>();
  const readOnce: typeof readRows = (rows, ...of) => {
    const list = rowLists.get(rows) ?? readRows(rows, ...of);
    rowLists.set(rows, list);
    return list;
  };
  return (card, currency) => {
    const byCurrency = tables.get(card) ?? new Map<string, RatedTable>();
    tables.set(card, byCurrency);
    let table = byCurrency.get(currency);
    if (table === undefined) {
      table = joinTableRates(card, groupsByMeter.get(card.usageMeterId) ?? [], currency, readOnce);
      byCurrency.set(currency, table);
    }
    return table;
  };
}

/** Whether a price table prices a card's usage (S18). */
export function hasTable(card: UsageRateCard): card is UsageRateCard & TablePricing {
  return Boolean(card.rateTable);
}

/**
 * Rates a table in a currency. The slabs of a row are read when they are first used: of thousands of rows, most
 * accounts use a few.
 *
 * @param groupBy the dimensions of the meter's groups, in their order
 */
export function joinTableRates(
  { rateTable, rows: overrideRows, multiply: factor }: TablePricing,
  groupBy: readonly string[],
  currency: string,
  read = readRows,
): RatedTable {
  const own = overrideRows ? read(overrideRows, groupBy, true) : undefined;
  const list = read(rateTable.rows, groupBy, false);
  const terms = { per: rateTable.per ?? ONE, currency, factor: factor ?? ONE };
  const slabs = new Map<RatedPrice, RatedSlabs>();
  const [minimumRate, maximumRate] = [rateTable.minimum, rateTable.maximum].map((each) => {
    const limit = amountIn(each, currency);
    return limit && multiply(limit, factor ?? ONE);
  });
  return {
    currency,
    groupBy,
    ...((minimumRate || maximumRate) && {
      bounds: { ...(minimumRate && { minimumRate }), ...(maximumRate && { maximumRate }) },
    }),
    allowance: rateTable.allowance ?? undefined,
    chosenByAllRows: rateTable.volumeOver === "ALL_ROWS",
    rows: own ? [...own.rows, ...list.rows] : list.rows,
    rowsChargedAtZero: own ? [...own.rowsChargedAtZero, ...list.rowsChargedAtZero] : list.rowsChargedAtZero,
    findRows: own ? (...of) => [...own.findRows(...of), ...list.findRows(...of)] : list.findRows,
    slabsOf(row, price) {
      const joined =
        slabs.get(price) ?? joinRowRates(price.written, row.isOverride ? { ...terms, factor: ONE } : terms);
      slabs.set(price, joined);
      return joined;
    },
  };
}

/** The rows of a table, or of an override. */
type RowList = Pick<RatedTable, "rows" | "rowsChargedAtZero" | "findRows">;

/** Rows with the same `when` stand where the first of them stands; those of an override before all others. */
function readRows(written: readonly RateRow[], groupBy: readonly string[], isOverride: boolean): RowList {
  const byWhen = new Map<string, { readonly when: Readonly<Record<string, string>>; readonly prices: RatedPrice[] }>();
  for (const [index, row] of written.entries()) {
    const when = sortByDimension(row.when ?? {}, groupBy);
    const key = whenKey(when);
    const price = { from: firstDay(row), written: row, index };
    const same = byWhen.get(key);
    if (same === undefined) byWhen.set(key, { when, prices: [price] });
    else same.prices.push(price);
  }
  const rows = [...byWhen.values()].map(({ when, prices }, index) => ({
    order: isOverride ? index - byWhen.size : index,
    when,
    isOverride,
    countsByGroup: prices[0]?.written.slabsOver === "GROUP",
    prices: prices.sort((a, b) => a.from - b.from),
  }));
  const rowsChargedAtZero = rows.filter(({ prices }) => prices.some((price) => isChargedAtZero(price.written)));
  return { rows, rowsChargedAtZero, findRows: createRowFinder(rows, groupBy) };
}

function sortByDimension(
  when: Readonly<Record<string, string>>,
  groupBy: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(groupBy.flatMap((each) => (Object.hasOwn(when, each) ? [[each, when[each] ?? ""]] : [])));
}

/** The first day of a row's price; `-Infinity` without a date. */
function firstDay({ from }: Pick<RateRow, "from">): Day {
  return from ? dayOf(parseDate(from)) : Number.NEGATIVE_INFINITY;
}

/** Finds rows by the texts that they name: a lookup for each set of dimensions that rows name, at most 16. */
function createRowFinder(rows: readonly RatedRow[], groupBy: readonly string[]): FindRows {
  const sets = new Map<string, { readonly positions: readonly number[]; readonly byTexts: Map<string, RatedRow> }>();
  for (const row of rows) {
    const positions = groupBy.flatMap((dimension, position) => (Object.hasOwn(row.when, dimension) ? [position] : []));
    const key = positions.join();
    const set = sets.get(key) ?? { positions, byTexts: new Map<string, RatedRow>() };
    // An object has names like numbers first, so its values may have another order.
    set.byTexts.set(formatGroup(positions.map((position) => row.when[groupBy[position] ?? ""] ?? "")), row);
    sets.set(key, set);
  }
  const bySpecificity = [...sets.values()].sort((a, b) => b.positions.length - a.positions.length);
  return (group, key) => {
    const found: RatedRow[] = [];
    for (const { positions, byTexts } of bySpecificity) {
      const isAll = positions.length === group.length;
      const row = byTexts.get(isAll ? key : formatGroup(positions.map((position) => group[position] ?? "")));
      if (row !== undefined) found.push(row);
    }
    return found;
  };
}

/** How the amounts of a row are read. */
interface PriceTerms {
  readonly per: Decimal;
  readonly factor: Decimal;
  readonly currency: string;
}

function isChargedAtZero(row: RateRow): boolean {
  return listTiers(row)[0]?.chargeAtZero === true;
}

/** The slabs of a row with its rates in a currency. @throws {RatebookError} ERR_RATES_INVALID */
function joinRowRates(row: RateRow, terms: PriceTerms): RatedSlabs {
  const { ratePlan, rateValue } = toSlabPricing(row, terms);
  return joinSlabRates(ratePlan, rateValue);
}

/** A row as slabs and rates. */
export function toSlabPricing(
  row: RateRow,
  { per, factor, currency }: PriceTerms,
): { readonly ratePlan: RatePlanInput; readonly rateValue: RateValueInput } {
  const tiers = listTiers(row);
  const read = (amounts: Amounts<Decimal> | null | undefined, units = ONE): Decimal | undefined => {
    const amount = amountIn(amounts, currency);
    const unitAmount = amount && divideExactly(amount, units);
    return unitAmount && multiply(unitAmount, factor);
  };
  const slabs = tiers.map((tier, index) => ({
    order: index + 1,
    startAfter: index === 0 ? ZERO : (tiers[index - 1]?.upTo ?? ZERO),
    endAt: tier.upTo ?? undefined,
    priceType: tier.package ? ("PACKAGE" as const) : tier.rate ? ("PER_UNIT" as const) : ("FLAT" as const),
    slabConfig: { packageSize: tier.package, chargeAtZero: tier.chargeAtZero },
  }));
  const slabRates = tiers.map((tier, index) => {
    const [rate, flat] = [read(tier.rate, tier.package ? ONE : per), read(tier.flat)];
    const main = rate ?? flat;
    if (main === undefined) throw new RatebookError("ERR_RATES_INVALID", `a row has no rate in ${currency}`, {});
    return {
      order: index + 1,
      rate: main,
      slabRateConfig: {
        flatRate: rate && flat,
        minimumRate: read(tier.minimum),
        maximumRate: read(tier.maximum),
      },
    };
  });
  return {
    ratePlan: { pricingModel: row.volumeTiers ? "VOLUME" : "TIERED", slabs },
    rateValue: { currency, slabRates },
  };
}
