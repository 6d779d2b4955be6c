/**
 * Findings in price tables (S18): rows that price no usage, rates out of scale, dates out of order, and in the usage of
 * accounts, groups without a row and rows without usage.
 *
 * The texts of a dimension are known if it is computed and its rule has only constant results.
 */
import { findNearest } from "../../book/problems.ts";
import type { Book } from "../../book/resources/book.ts";
import {
  findCurrentSchemas,
  formatGroup,
  type UsageMeter,
  carriesOver,
  hasKeys,
  nameTexts,
} from "../../book/resources/event-schema.ts";
import { amountIn, listTiers, type RateRow } from "../../book/resources/rate-table.ts";
import { dayOf, parseDate } from "../../calendar/instant.ts";
import { buildTimeline } from "../../invoicing/timeline.ts";
import { toDecisions } from "../../ledger/account/account-plan.ts";
import { findPlanIn } from "../../ledger/catalog.ts";
import type { NamedGroup, UsageRow } from "../../metering/usage-rows.ts";
import {
  Decimal,
  divide,
  formatDecimal,
  isDecimalObject,
  maximum,
  multiply,
  ONE,
  ZERO,
  add,
} from "../../numbers/decimal.ts";
import { groupBy } from "../../numbers/ids.ts";
import {
  joinTableRates,
  type RatedPrice,
  type RatedRow,
  type RatedTable,
  createTableFinder,
  hasTable,
} from "../../rating/rated-table.ts";
import { describeUnits } from "../../rating/table-charge.ts";
import type { Rule } from "../../rules/rule.ts";
import { type CardSet, createFinding, formatAmountWithCurrency, type LintFinding, type LintPlace } from "./finding.ts";
import { findExclusion } from "./lint-meters.ts";

/** The rows of a price table, or those that an override adds. */
export interface LintedTable extends LintPlace {
  readonly written: readonly RateRow[];
  readonly table: RatedTable;
  readonly meter: UsageMeter;
  /** Units for which the rates are. */
  readonly per: Decimal;
  readonly currencies: readonly string[];
}

/** The price tables of a set of cards. */
export function listTables(
  { usageMeters, organization }: Book,
  { details, path, at }: CardSet,
): readonly LintedTable[] {
  const currencies = ("supportedCurrencies" in details && details.supportedCurrencies) || [organization.baseCurrency];
  return details.usageRateCards.flatMap(({ usageMeterId, rateTable, rows }, index) => {
    const meter = usageMeters.find(({ id }) => id === usageMeterId);
    const cardPath = [...path, "usageRateCards", index];
    return [
      { rateTable, path: [...cardPath, "rateTable", "rows"] },
      { rateTable: rows && { rows }, path: [...cardPath, "rows"] },
    ].flatMap((each): readonly LintedTable[] => {
      if (!each.rateTable || meter === undefined) return [];
      const table = joinTableRates({ rateTable: each.rateTable }, meter.groupBy ?? [], organization.baseCurrency);
      const { rows: written, per } = each.rateTable;
      return [{ path: each.path, at: `${at}/usage/${meter.id}`, written, table, meter, per: per ?? ONE, currencies }];
    });
  });
}

/** Findings in a price table. */
export function lintTable(book: Book, linted: LintedTable): readonly LintFinding[] {
  const known = findKnownTexts(book, linted.meter);
  return [
    ...linted.table.rows.flatMap((row) => {
      const excluded = findExcludedRow(linted, row, known);
      return [
        ...(excluded.length > 0 ? excluded : findHiddenRow(linted, row, known)),
        ...findUnorderedDates(linted, row),
      ];
    }),
    ...linted.currencies.flatMap((currency) => findOutliers(linted, currency)),
  ];
}

/** Where a price of a row stands, by default its first; `at` has the row's texts and the price's date. */
export function rowPlace(linted: LintPlace, { when, prices: [first] }: RatedRow, price = first): LintPlace {
  const from = price?.written.from;
  const at = [linted.at, "row", ...Object.values(when), ...(from ? [from] : [])].join("/");
  return { path: [...linted.path, price?.index ?? 0], at };
}

/** The texts that a row names, such as `model "nova", kind "input"`. */
export function describeWhen(when: Readonly<Record<string, string>>): string {
  return Object.entries(when)
    .map(([dimension, text]) => `${dimension} ${JSON.stringify(text)}`)
    .join(", ");
}

/** The dimensions that have only some texts. */
type KnownTexts = ReadonlyMap<string, readonly string[]>;

function findKnownTexts({ eventSchemas }: Book, { eventSchemaName, groupBy = [] }: UsageMeter): KnownTexts {
  const fields = findCurrentSchemas(eventSchemas).get(eventSchemaName)?.enrichments.fields ?? [];
  const known = new Map<string, readonly string[]>();
  for (const { name, type, enrichmentType, value } of fields) {
    if (type !== "DIMENSION" || !groupBy.includes(name)) continue;
    const texts = enrichmentType === "JSON_LOGIC_FROM_DEPENDENCY" ? undefined : listResults(value);
    if (texts !== undefined) known.set(name, texts);
  }
  return known;
}

/** The constant results of a rule; undefined if it has others. */
function listResults(rule: Rule): readonly string[] | undefined {
  const texts = new Set<string>();
  const queue: Rule[] = [rule];
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (typeof node === "string") texts.add(node);
    else if (typeof node === "number" || isDecimalObject(node)) texts.add(formatDecimal(new Decimal(node)));
    else {
      const [operator, branches] = Object.entries((node ?? {}) as Readonly<Record<string, Rule>>)[0] ?? [];
      if ((operator !== "if" && operator !== "?:") || !Array.isArray(branches)) return undefined;
      const results = (branches as readonly Rule[]).filter(
        (_, index) => index % 2 === 1 || index === branches.length - 1,
      );
      queue.push(...results.toReversed());
    }
  }
  return [...texts];
}

/** A row for texts that no usage of the meter can have. */
function findExcludedRow(linted: LintedTable, row: RatedRow, known: KnownTexts): readonly LintFinding[] {
  const place = rowPlace(linted, row);
  for (const [dimension, text] of Object.entries(row.when)) {
    const texts = known.get(dimension);
    if (texts === undefined || texts.includes(text)) continue;
    const message = `the row prices no usage: ${dimension} is never ${JSON.stringify(text)}; correct its when, or remove it`;
    const example = `the event schema computes ${dimension} as ${texts.map((each) => JSON.stringify(each)).join(" or ")}`;
    return [createFinding("ROW_NEVER_MATCHES", place, { message, example })];
  }
  const exclusion = findExclusion(linted.meter, row.when);
  if (exclusion === undefined || findExclusion(linted.meter, {}) !== undefined) return [];
  const message = `the row prices no usage: the meter ${linted.meter.id} measures no event with ${describeWhen(row.when)}`;
  const example = `no match with ${exclusion.last}; correct the row, or the matcher`;
  return [createFinding("ROW_NEVER_MATCHES", place, { message, example, searched: true })];
}

/** Stands for all texts that no row names. */
const OTHER_TEXT = "\0";

/** A row whose groups all have rows that name more dimensions, in force as early. */
function findHiddenRow(linted: LintedTable, row: RatedRow, known: KnownTexts): readonly LintFinding[] {
  const { findRows, groupBy } = linted.table;
  let groups: readonly (readonly string[])[] = [[]];
  for (const dimension of groupBy) {
    const own = row.when[dimension];
    const texts = own === undefined ? (known.get(dimension) ?? [OTHER_TEXT]) : [own];
    groups = groups.flatMap((group) => texts.map((text) => [...group, text]));
  }
  const others = groups.map((group) =>
    findRows(group, formatGroup(group)).find(({ prices }) => firstDay(prices) <= firstDay(row.prices)),
  );
  if (others.includes(row)) return [];
  const names = [...new Set(others)].flatMap((other) => other?.prices.slice(0, 1) ?? []).map(rowName);
  return [
    createFinding("ROW_HIDDEN", rowPlace(linted, row), {
      message: "the row prices no usage: rows that name more dimensions price all of it; remove it",
      example: `its groups are those of ${names.join(" and ")}`,
    }),
  ];
}

function firstDay([first]: readonly RatedPrice[]): number {
  return first?.from ?? Infinity;
}

function rowName({ index }: RatedPrice): string {
  return `rows[${index}]`;
}

/** Prices of a row of which a later one begins earlier. */
function findUnorderedDates(linted: LintedTable, row: RatedRow): readonly LintFinding[] {
  const written = row.prices.toSorted((a, b) => a.index - b.index);
  return written.flatMap((price, position) => {
    const above = written[position - 1];
    if (above === undefined || above.from < price.from) return [];
    const { from } = price.written;
    return createFinding("DATES_UNORDERED", rowPlace(linted, row, price), {
      level: "note",
      message: "the row begins before a row above it with the same when; check the dates, and write them in order",
      example: `${rowName(above)} begins on ${above.written.from ?? ""}, ${rowName(price)} ${from ? `on ${from}` : "has no date"}`,
    });
  });
}

/** A rate this many times as high as another is probably for another number of units. */
const SCALE = new Decimal(1000);

/** Rates out of scale with the former price, else with the median of the rows with the same first text, or of all rows. */
function findOutliers(linted: LintedTable, currency: string): readonly LintFinding[] {
  const { table, per } = linted;
  const rateOf = ({ written }: RatedPrice): Decimal =>
    listTiers(written).reduce((highest, { rate, package: size }) => {
      const amount = amountIn(rate, currency) ?? ZERO;
      return maximum(highest, size ? divide(multiply(amount, per), size) : amount);
    }, ZERO);
  const sorted = table.rows
    .flatMap(({ when, prices }) => prices.slice(0, 1).map((price) => ({ price, text: Object.values(when)[0] })))
    .filter(({ price }) => rateOf(price).gt(ZERO))
    .sort((a, b) => rateOf(a.price).cmp(rateOf(b.price)));
  const byText = groupBy(sorted, ({ text }) => text);
  const describe = (price: RatedPrice): string =>
    `${rowName(price)} costs ${formatAmountWithCurrency(rateOf(price), currency)}`;
  return table.rows.flatMap((row) =>
    row.prices.flatMap((price, position) => {
      const rate = rateOf(price);
      // Of two rows, none is usual.
      const alike = byText.get(Object.values(row.when)[0]) ?? [];
      const medians = [alike.length > 2 ? alike : [], sorted].map((list) => list[list.length >> 1]?.price);
      const neighbors = position > 0 ? [row.prices[position - 1]] : medians;
      const other = neighbors.find((each) => each !== undefined && areOutOfScale(rate, rateOf(each)));
      if (other === undefined) return [];
      const ratio = rate.gt(rateOf(other)) ? "at least 1,000 times" : "at most a thousandth of";
      return createFinding("RATE_OUT_OF_SCALE", rowPlace(linted, row, price), {
        message: `the rate is ${ratio} that of ${position > 0 ? "the row's former price" : "similar rows"}; check for how many units it is`,
        example: `${describe(price)} and ${describe(other)} for ${formatDecimal(per)} ${per.eq(ONE) ? "unit" : "units"}`,
      });
    }),
  );
}

function areOutOfScale(a: Decimal, b: Decimal): boolean {
  const [low, high] = a.lt(b) ? [a, b] : [b, a];
  return low.gt(ZERO) && high.gte(multiply(low, SCALE));
}

/** The usage of a group that no row prices. */
interface UnpricedGroup {
  readonly group: NamedGroup;
  quantity: Decimal;
  first: string;
  last: string;
}

/** The usage that a list of rows may price. */
interface TableUse {
  first: string;
  last: string;
  /** The first prices of the rows that price usage. */
  readonly usedRows: Set<RateRow | undefined>;
  readonly unpriced: Map<string, UnpricedGroup>;
}

/** Findings in usage, for each table that has some. */
export function lintUsage(
  book: Book,
  tables: readonly LintedTable[],
  usage: Iterable<UsageRow>,
): readonly LintFinding[] {
  const uses = collectUses(book, usage);
  return tables.flatMap((table) => {
    const use = uses.get(table.written);
    return use === undefined ? [] : [...findUnusedRows(table, use), ...findUnpricedGroups(table, use)];
  });
}

/** The use of each list of rows. Usage that neither an override nor the plan prices belongs to the plan's table. */
function collectUses(
  { accounts, pricePlans, usageMeters }: Book,
  usage: Iterable<UsageRow>,
): ReadonlyMap<readonly RateRow[], TableUse> {
  const findPlan = findPlanIn(pricePlans);
  const timelines = new Map(accounts.map((account) => [account.id, buildTimeline(toDecisions(account, findPlan))]));
  const meters = new Map(usageMeters.map((meter) => [meter.id, meter]));
  const findTable = createTableFinder(new Map(usageMeters.map(({ id, groupBy = [] }) => [id, groupBy])));
  const uses = new Map<readonly RateRow[], TableUse>();
  for (const usageRow of usage) {
    const instant = parseDate(usageRow.date);
    const meter = meters.get(usageRow.meterId);
    // A level, or a value that is carried over, is also usage of later days and plans (S19.1).
    const lasts = meter !== undefined && carriesOver(meter);
    const terms = timelines.get(usageRow.accountId) ?? [];
    for (const { plan } of terms.filter(({ from, until }) => (lasts || from <= instant) && instant < until)) {
      const { usageRateCards, supportedCurrencies } = plan.details;
      const card = usageRateCards.find(({ usageMeterId }) => usageMeterId === usageRow.meterId);
      if (card === undefined || !hasTable(card)) continue;
      const { groupBy, findRows } = findTable(card, supportedCurrencies?.[0] ?? "");
      const group = groupBy.map((dimension) => usageRow.group?.[dimension] ?? "");
      const rows = findRows(group, formatGroup(group));
      const isInForce = ({ prices: [price] }: RatedRow): boolean => (price?.from ?? Infinity) <= dayOf(instant);
      const first = rows.findIndex(isInForce);
      // A row that is not in force yet prices what lasts until then.
      const usedRows = rows.filter((_, index) => index === first || (lasts && (index < first || first < 0)));
      for (const written of card.rows ? [card.rows, card.rateTable.rows] : [card.rateTable.rows]) {
        const use = findUse(uses, written, usageRow.date);
        for (const { prices } of usedRows) use.usedRows.add(prices[0]?.written);
      }
      if (first >= 0 || usageRow.quantity.isZero()) continue;
      const use = findUse(uses, card.rateTable.rows, usageRow.date);
      addUnpriced(use, formatGroup(group), { ...usageRow, group: nameTexts(group, groupBy) });
    }
  }
  return uses;
}

/** The use of a list of rows, extended to a day. */
function findUse(uses: Map<readonly RateRow[], TableUse>, written: readonly RateRow[], date: string): TableUse {
  const use = uses.get(written) ?? { first: date, last: date, usedRows: new Set(), unpriced: new Map() };
  uses.set(written, use);
  extendDays(use, date);
  return use;
}

function addUnpriced({ unpriced }: TableUse, key: string, { group = {}, quantity, date }: UsageRow): void {
  const total = unpriced.get(key) ?? { group, quantity: ZERO, first: date, last: date };
  unpriced.set(key, total);
  total.quantity = add(total.quantity, quantity);
  extendDays(total, date);
}

function extendDays(days: Pick<TableUse, "first" | "last">, date: string): void {
  if (date < days.first) days.first = date;
  if (date > days.last) days.last = date;
}

/** Rows in force that price none of the usage. */
function findUnusedRows(linted: LintedTable, { usedRows, unpriced, first, last }: TableUse): readonly LintFinding[] {
  const groups = [...unpriced.values()].map(({ group }) => group);
  return linted.table.rows.flatMap((row) => {
    const [price] = row.prices;
    const when = Object.entries(row.when);
    const isUsed = price === undefined || usedRows.has(price.written);
    if (isUsed || when.length === 0 || (price.written.from ?? "") > last) return [];
    const hints = when.flatMap(([dimension, text]) => {
      const nearest = findNearest(text, [...new Set(groups.map((group) => group[dimension] ?? ""))]);
      return nearest === undefined
        ? []
        : [`; did you mean ${dimension} ${JSON.stringify(nearest)}, which has no price?`];
    });
    return createFinding("ROW_UNUSED", rowPlace(linted, row), {
      level: hints.length > 0 ? "warning" : "note",
      message: "the row prices none of the usage",
      example: `no usage from ${first} to ${last} has ${describeWhen(row.when)}${hints.join("")}`,
    });
  });
}

/** Groups that no row prices, the largest first. */
function findUnpricedGroups(linted: LintedTable, { unpriced }: TableUse): readonly LintFinding[] {
  const { path, at, meter } = linted;
  return [...unpriced.values()]
    .filter(({ quantity }) => hasKeys(meter) || !quantity.isZero())
    .toSorted((a, b) => b.quantity.cmp(a.quantity))
    .map(({ group, quantity, first, last }) => {
      const days = first === last ? `on ${first}` : `from ${first} to ${last}`;
      // Rows of a meter with keys are counts of events, or sums of changes, but not its quantity.
      const what = hasKeys(meter) ? "usage" : describeUnits(quantity);
      return createFinding(
        "USAGE_UNPRICED",
        { path, at: `${at}/group/${Object.values(group).join("/")}` },
        {
          message: `no row prices ${meter.id} of ${describeWhen(group)}; add a row, or one without a when`,
          example: `${what} ${days} ${quantity.eq(ONE) || hasKeys(meter) ? "costs" : "cost"} 0`,
        },
      );
    });
}
