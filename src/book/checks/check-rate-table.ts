/** Checks price tables: the amounts and tiers of each row, dates, and rows that hold for one group (S18). */
import { type Decimal, divideExactly, formatDecimal, isDecimalObject, ZERO } from "../../numbers/decimal.ts";
import { groupBy } from "../../numbers/ids.ts";
import { guessName, hasNoHoles, type Path, quoteValue, type Report } from "../problems.ts";
import type { UsageMeter } from "../resources/event-schema.ts";
import type { Amounts } from "../resources/fields.ts";
import { changesTable, type PricePlanDetails } from "../resources/price-plan.ts";
import type { UsageRateCard } from "../resources/rate-card.ts";
import { amountIn, listTiers, type RateRow, type RateTier, whenKey } from "../resources/rate-table.ts";

/** Where a table stands, and the currencies that its amounts need. */
export interface TableContext {
  readonly currencies: readonly string[];
  /** Whether it is part of an override, which is for accounts with one of the plan's currencies. */
  readonly isOverride: boolean;
}

/** Reports problems of the price table of a card, and of an override's rows, that do not depend on the meter. */
export function checkRateTable(card: UsageRateCard, context: TableContext, path: Path, report: Report): void {
  const { rateTable, rows } = card;
  const isPresent = (field: "rateTable" | "rows" | "multiply"): boolean => (card[field] ?? undefined) !== undefined;
  const changes = (["rows", "multiply"] as const).filter(isPresent);
  if (!context.isOverride)
    for (const field of changes)
      report([...path, field], "UNEXPECTED_FIELD", { reason: "in a plan, only in an override" });
  const prices = [
    ...(card.ratePlan.slabs.length > 0 ? ["ratePlan"] : []),
    ...(isPresent("rateTable") ? ["rateTable"] : []),
    ...(context.isOverride ? changes.slice(0, 1) : []),
  ];
  if (prices.length > 1) report([...path, prices[0] ?? ""], "CONFLICTING_FIELDS", { fields: prices });
  if (rows) checkRows(rows, context, [...path, "rows"], report);
  if (!rateTable) return;
  const place: Path = [...path, "rateTable"];
  checkRows(rateTable.rows, context, [...place, "rows"], report);
  checkUnitRates(rateTable.rows, rateTable.per, [...place, "rows"], report);
  checkLimits(rateTable, context, place, report);
}

/** Reports changes of price tables that a plan does not have (S18.7). */
export function checkTableChanges(
  { usageRateCards }: Pick<PricePlanDetails, "usageRateCards">,
  override: Pick<PricePlanDetails, "usageRateCards">,
  path: Path,
  report: Report,
): void {
  override.usageRateCards.forEach((card, index) => {
    const planCard = usageRateCards.find(({ usageMeterId }) => usageMeterId === card.usageMeterId);
    if (!changesTable(card)) return;
    if (planCard?.rateTable) {
      const place: Path = [...path, "usageRateCards", index, "rows"];
      checkUnitRates(card.rows ?? [], planCard.rateTable.per, place, report);
      return;
    }
    const reason = `the plan has no price table for ${quoteValue(card.usageMeterId)}: write a rateTable, or change another card`;
    report([...path, "usageRateCards", index, card.rows ? "rows" : "multiply"], "NOT_ACCEPTED", { reason });
  });
}

/** Reports what a table needs of its meter: groups, by the dimensions that its rows name. */
export function checkTableMeter(card: UsageRateCard, meter: UsageMeter, path: Path, report: Report): void {
  const { groupBy } = meter;
  if (groupBy === undefined) {
    const reason = `the usage meter ${quoteValue(meter.id)} has no groups: give it a groupBy, such as ["model"]`;
    for (const field of ["rateTable", "rows"] as const)
      if (card[field]) report([...path, field], "NOT_ACCEPTED", { reason });
    return;
  }
  const reason = `a dimension by which the usage meter ${quoteValue(meter.id)} groups`;
  const checkWhens = (rows: readonly RateRow[], place: Path): void =>
    rows.forEach(({ when }, index) => {
      for (const dimension of Object.keys(when ?? {})) {
        if (groupBy.includes(dimension)) continue;
        const params = { options: groupBy, reason, got: quoteValue(dimension), ...guessName(dimension, groupBy) };
        report([...place, index, "when", dimension], "NOT_AN_OPTION", params);
      }
    });
  checkWhens(card.rateTable?.rows ?? [], [...path, "rateTable", "rows"]);
  checkWhens(card.rows ?? [], [...path, "rows"]);
}

/** A row in a message, beside the path of another row of the table. */
function rowName(index: number): string {
  return `rows[${index}]`;
}

/** A row that could be read, with its index and the key of its `when`. */
interface PlacedRow {
  readonly row: RateRow;
  readonly index: number;
  readonly key: string;
}

function checkRows(rows: readonly RateRow[], context: TableContext, path: Path, report: Report): void {
  const placed = rows.flatMap((row, index): PlacedRow[] => [{ row, index, key: whenKey(row.when ?? {}) }]);
  const byWhen = groupBy(placed, ({ key }) => key);
  for (const same of byWhen.values()) {
    const isDated = same.length > 1 || Boolean(same[0]?.row.from);
    for (const { row, index } of same) checkRow(row, { ...context, isDated }, [...path, index], report);
    checkSameWhen(same, path, report);
  }
  if (hasNoHoles(rows)) checkAmbiguity(byWhen, path, report);
}

/** Rows with one `when` begin on different days, and count their groups alike. */
function checkSameWhen(rows: readonly PlacedRow[], path: Path, report: Report): void {
  const byDay = new Map<string | undefined, number>();
  const [first] = rows;
  const expected = first?.row.slabsOver ?? "ROW";
  for (const { row, index } of rows) {
    const from = row.from ?? undefined;
    const other = byDay.get(from);
    if (other === undefined) byDay.set(from, index);
    else report([...path, index], "NOT_UNIQUE", { what: "combination of when and from", other: rowName(other) });
    if ((row.slabsOver ?? "ROW") === expected) continue;
    const reason = `expected ${expected}, as in ${rowName(first?.index ?? 0)}, which has the same when`;
    report([...path, index, "slabsOver"], "NOT_ACCEPTED", { reason });
  }
}

interface RowContext extends TableContext {
  /** Whether it has a date, or shares its `when` with another row. */
  readonly isDated: boolean;
}

function checkRow(row: RateRow, context: RowContext, path: Path, report: Report): void {
  const prices = (["rate", "tiers", "volumeTiers"] as const).filter((field) => (row[field] ?? undefined) !== undefined);
  const [first] = prices;
  if (first === undefined) report([...path, "rate"], "MISSING", { expected: "a rate or tiers" });
  if (first === undefined || prices.length > 1) {
    if (first !== undefined) report([...path, first], "CONFLICTING_FIELDS", { fields: prices });
    return;
  }
  const tiers = listTiers(row);
  if (!hasNoHoles(tiers)) return;
  let previous = ZERO;
  tiers.forEach((tier, index) => {
    const place: Path = first === "rate" ? path : [...path, first, index];
    checkTier(tier, context, place, report);
    if (context.isDated) checkDatedTier(tier, place, report);
    checkTierEnd(tier, { previous, isLast: index === tiers.length - 1 }, place, report);
    previous = tier.upTo ?? previous;
    if (tier.chargeAtZero !== true) return;
    if (index > 0) report([...place, "chargeAtZero"], "UNEXPECTED_FIELD", { reason: "in a tier after the first" });
    else if (row.slabsOver === "GROUP")
      report([...place, "chargeAtZero"], "UNEXPECTED_FIELD", { reason: "in a row whose groups count by themselves" });
  });
}

function checkTier(tier: RateTier, context: RowContext, path: Path, report: Report): void {
  if (!tier.rate && !tier.flat) report([...path, "rate"], "MISSING", { expected: "a rate or a flat amount" });
  if (tier.package && !tier.rate) report([...path, "package"], "UNEXPECTED_FIELD", { reason: "without a rate" });
  checkAmounts(tier.rate, context, [...path, "rate"], report);
  checkAmounts(tier.flat, context, [...path, "flat"], report);
  checkLimits(tier, context, path, report);
}

/** Every rate for several units is an exact decimal for one. @param per default 1 */
function checkUnitRates(rows: readonly RateRow[], per: Decimal | null | undefined, path: Path, report: Report): void {
  if (!per) return;
  rows.forEach((row, index) => {
    listTiers(row).forEach((tier, position) => {
      if (tier.package) return;
      for (const [currency, rate] of listAmounts(tier.rate)) {
        if (divideExactly(rate, per) !== undefined) continue;
        const tierPath = row.rate ? [] : [row.tiers ? "tiers" : "volumeTiers", position];
        const reason = `${formatDecimal(rate)} per ${formatDecimal(per)} units is no exact decimal for one unit: change the rate or per`;
        const place: Path = [...path, index, ...tierPath, "rate", ...(currency === undefined ? [] : [currency])];
        report(place, "NOT_ACCEPTED", { reason });
      }
    });
  });
}

/** Fields of tiers that a price change within a cycle cannot have (S18.4). */
const UNDATED_FIELDS = ["flat", "package", "minimum", "maximum", "chargeAtZero"] as const;

function checkDatedTier(tier: RateTier, path: Path, report: Report): void {
  for (const field of UNDATED_FIELDS) {
    if ((tier[field] ?? undefined) === undefined || tier[field] === false) continue;
    const reason = `a price that changes on a date has only rates: remove ${field}, or make a new version of the plan`;
    report([...path, field], "NOT_ACCEPTED", { reason });
  }
}

/** Every tier but the last ends, above the one before it. */
function checkTierEnd(
  { upTo }: RateTier,
  { previous, isLast }: { readonly previous: Decimal; readonly isLast: boolean },
  path: Path,
  report: Report,
): void {
  const place: Path = [...path, "upTo"];
  if (isLast) {
    if (upTo) report(place, "UNEXPECTED_FIELD", { reason: "in the last tier, which has no end" });
  } else if (!upTo) {
    report(place, "MISSING", { expected: "the last unit of the tier", reason: "because another tier follows" });
  } else if (!upTo.gt(previous))
    report(place, "OUT_OF_BOUNDS", { above: formatDecimal(previous), got: formatDecimal(upTo) });
}

type Limits = Pick<RateTier, "minimum" | "maximum">;

/** Limits may be in some currencies only; a minimum is at most its maximum (S7.4). */
function checkLimits({ minimum, maximum }: Limits, context: TableContext, path: Path, report: Report): void {
  checkAmounts(minimum, { ...context, isLimit: true }, [...path, "minimum"], report);
  checkAmounts(maximum, { ...context, isLimit: true }, [...path, "maximum"], report);
  for (const currency of context.currencies) {
    const [least, most] = [amountIn(minimum, currency), amountIn(maximum, currency)];
    if (!least || !most || least.lte(most)) continue;
    const params = { maximum: formatDecimal(most), source: "maximum", got: formatDecimal(least) };
    report([...path, "minimum"], "OUT_OF_BOUNDS", params);
    return;
  }
}

/** One amount for each currency (S7.7); a decimal is in the only one. */
function checkAmounts(
  amounts: Amounts<Decimal> | null | undefined,
  { currencies, isOverride, isLimit = false }: TableContext & { readonly isLimit?: boolean },
  path: Path,
  report: Report,
): void {
  if (amounts === null || amounts === undefined || currencies.length === 0) return;
  if (isDecimalObject(amounts)) {
    const example = currencies.map((currency) => `"${currency}": …`).join(", ");
    if (currencies.length > 1)
      report(path, "NOT_ACCEPTED", { reason: `the plan has several currencies: write { ${example} }` });
    return;
  }
  for (const currency of Object.keys(amounts)) {
    if (isOverride || currencies.includes(currency)) continue;
    const reason = "a currency of the plan";
    report([...path, currency], "NOT_AN_OPTION", { options: currencies, reason, got: quoteValue(currency) });
  }
  const missing = isLimit ? [] : currencies.filter((currency) => !Object.hasOwn(amounts, currency));
  if (missing.length > 0) report(path, "MISSING_CURRENCY", { currencies: missing });
}

/** The amounts with their currencies; undefined for the only one. */
function listAmounts(
  amounts: Amounts<Decimal> | null | undefined,
): readonly (readonly [string | undefined, Decimal])[] {
  if (amounts === null || amounts === undefined) return [];
  return isDecimalObject(amounts) ? [[undefined, amounts]] : Object.entries(amounts);
}

/** Rows with one `when`. */
interface Condition {
  readonly when: Readonly<Record<string, string>>;
  readonly dimensions: readonly string[];
  /** Of the first row. */
  readonly index: number;
  /** From when on one of them is in force; empty if always. */
  readonly from: string;
}

/** Reports rows that name equally many dimensions and can hold for one group (S18.2): each row once. */
function checkAmbiguity(byWhen: ReadonlyMap<string, readonly PlacedRow[]>, path: Path, report: Report): void {
  const conditions = [...byWhen.values()].map(toCondition);
  const sets = [...groupBy(conditions, ({ dimensions }) => JSON.stringify(dimensions)).values()];
  sets.forEach((set, position) => {
    for (const others of sets.slice(position + 1)) {
      for (const [one, two] of findAmbiguousPairs(set, others, sets)) {
        const [former, latter] = one.index < two.index ? [one, two] : [two, one];
        const both = Object.entries({ ...former.when, ...latter.when });
        const groups = both.map(([name, text]) => `${name} ${quoteValue(text)}`).join(" and ");
        const reason = `${rowName(former.index)} names as many dimensions and holds for ${groups} too: add a row for both`;
        report([...path, latter.index, "when"], "NOT_ACCEPTED", { reason });
      }
    }
  });
}

function toCondition(rows: readonly PlacedRow[]): Condition {
  const { row: { when } = {}, index = 0 } = rows[0] ?? {};
  const [from = ""] = rows.map((each) => each.row.from ?? "").sort();
  return { when: when ?? {}, dimensions: Object.keys(when ?? {}).sort(), index, from };
}

/**
 * Conditions on two sets of as many dimensions that hold for one group, unless a row that names more dimensions holds
 * for every group that they share, once both are in force.
 */
function findAmbiguousPairs(
  set: readonly Condition[],
  others: readonly Condition[],
  sets: readonly (readonly Condition[])[],
): readonly (readonly [Condition, Condition])[] {
  const [own = [], other = []] = [set[0]?.dimensions, others[0]?.dimensions];
  if (own.length !== other.length) return [];
  const wider = sets.filter(([first]) => {
    const { dimensions = [] } = first ?? {};
    return dimensions.length > own.length && dimensions.every((each) => own.includes(each) || other.includes(each));
  });
  // There may be millions of pairs, so each is resolved by a lookup.
  const resolvers = wider.map((rows) => {
    const dimensions = rows[0]?.dimensions ?? [];
    const ownPart = dimensions.filter((dimension) => own.includes(dimension));
    const otherPart = dimensions.filter((dimension) => !own.includes(dimension));
    const byOwnPart = groupBy(rows, (row) => formatTexts(row, ownPart));
    return {
      ownPart,
      startsByOwnPart: new Map(
        [...byOwnPart].map(([key, list]) => [key, new Map(list.map((row) => [formatTexts(row, otherPart), row.from]))]),
      ),
      otherKeys: new Map(others.map((row) => [row, formatTexts(row, otherPart)])),
    };
  });
  const shared = own.filter((dimension) => other.includes(dimension));
  const byShared = groupBy(others, (row) => formatTexts(row, shared));
  return set.flatMap((one) => {
    const starts = resolvers.map((each) => each.startsByOwnPart.get(formatTexts(one, each.ownPart)));
    const isResolved = (two: Condition): boolean =>
      resolvers.some(({ otherKeys }, index) => {
        const from = starts[index]?.get(otherKeys.get(two) ?? "");
        return from !== undefined && (from <= one.from || from <= two.from);
      });
    const two = byShared.get(formatTexts(one, shared))?.find((each) => !isResolved(each));
    return two === undefined ? [] : [[one, two] as const];
  });
}

function formatTexts({ when }: Condition, dimensions: readonly string[]): string {
  return JSON.stringify(dimensions.map((dimension) => when[dimension]));
}
