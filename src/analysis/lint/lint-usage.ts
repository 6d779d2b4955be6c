/** Findings in the usage of accounts on plans with price tables (S18.2): groups without a row, and rows without usage. */
import { findNearest } from "../../book/problems.ts";
import type { Book } from "../../book/resources/book.ts";
import { carriesOver, formatGroup, hasKeys, nameTexts } from "../../book/resources/event-schema.ts";
import type { RateRow } from "../../book/resources/rate-table.ts";
import { dayOf, parseDate } from "../../calendar/instant.ts";
import { buildTimeline } from "../../invoicing/timeline.ts";
import { toDecisions } from "../../ledger/account/account-plan.ts";
import { findPlanIn } from "../../ledger/catalog.ts";
import type { NamedGroup, UsageRow } from "../../metering/usage-rows.ts";
import { add, type Decimal, ONE, ZERO } from "../../numbers/decimal.ts";
import { createTableFinder, hasTable, type RatedRow } from "../../rating/rated-table.ts";
import { describeUnits } from "../../rating/table-charge.ts";
import { createFinding, type LintFinding } from "./finding.ts";
import { describeWhen, type LintedTable, rowPlace } from "./lint-tables.ts";

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
