/** Checks price tables: the amounts and tiers of each row, dates, and rows that hold for one group (S18). */
import { type Decimal, divide, formatDecimal, isDecimalObject, multiply, ZERO } from "../../numbers/decimal.ts";
import { guessName, hasNoHoles, type Path, quoteValue, type Report } from "../problems.ts";
import type { UsageMeter } from "../resources/event-schema.ts";
import type { Amounts } from "../resources/fields.ts";
import { changesTable } from "../resources/override.ts";
import type { PricePlanDetails } from "../resources/price-plan.ts";
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
  for (const [rows, place] of [
    [card.rateTable?.rows, [...path, "rateTable"]],
    [card.rows, [...path]],
  ] as const) {
    if (!rows) continue;
    const { groupBy } = meter;
    if (groupBy === undefined) {
      const reason = `the usage meter ${quoteValue(meter.id)} has no groups: give it a groupBy, such as ["model"]`;
      report(place.length > path.length ? place : [...path, "rows"], "NOT_ACCEPTED", { reason });
      continue;
    }
    rows.forEach(({ when }, index) => {
      for (const dimension of Object.keys(when ?? {})) {
        if (groupBy.includes(dimension)) continue;
        const reason = `a dimension by which the usage meter ${quoteValue(meter.id)} groups`;
        const params = { options: groupBy, reason, got: quoteValue(dimension), ...guessName(dimension, groupBy) };
        report([...place, "rows", index, "when", dimension], "NOT_AN_OPTION", params);
      }
    });
  }
}

/** A row in a message, beside the path of another row of the table. */
function rowName(index: number): string {
  return `rows[${index}]`;
}

function checkRows(rows: readonly RateRow[], context: TableContext, path: Path, report: Report): void {
  const byWhen = new Map<string, number[]>();
  rows.forEach((row, index) => {
    const key = whenKey(row.when ?? {});
    byWhen.set(key, [...(byWhen.get(key) ?? []), index]);
  });
  rows.forEach((row, index) => {
    const same = byWhen.get(whenKey(row.when ?? {})) ?? [];
    const isDated = same.length > 1 || Boolean(row.from);
    checkRow(row, { ...context, isDated }, [...path, index], report);
  });
  for (const [firstIndex = 0, ...others] of byWhen.values()) {
    const days = new Map([[rows[firstIndex]?.from ?? undefined, firstIndex]]);
    for (const index of others) {
      const { from, slabsOver } = rows[index] ?? {};
      const other = days.get(from ?? undefined);
      if (other === undefined) days.set(from ?? undefined, index);
      else {
        const what = from ? `when with the from ${from}` : "when without a from";
        report([...path, index], "NOT_UNIQUE", { what, other: rowName(other) });
      }
      const expected = rows[firstIndex]?.slabsOver ?? "ROW";
      if ((slabsOver ?? "ROW") === expected) continue;
      const reason = `expected ${expected}, as in ${rowName(firstIndex)}, which has the same when`;
      report([...path, index, "slabsOver"], "NOT_ACCEPTED", { reason });
    }
  }
  if (hasNoHoles(rows)) checkAmbiguity(rows, path, report);
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
        if (multiply(divide(rate, per), per).eq(rate)) continue;
        const tierPath = row.rate ? [] : [row.tiers ? "tiers" : "volumeTiers", position];
        const reason = `${formatDecimal(rate)} per ${formatDecimal(per)} units is no exact decimal for one unit`;
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

/** Rows with one `when`, of which one is in force from a day on. */
interface DatedWhen {
  readonly when: Readonly<Record<string, string>>;
  readonly index: number;
  /** Empty if always in force. */
  from: string;
}

/** Reports rows that name equally many dimensions and can hold for one group (S18.2): each row once. */
function checkAmbiguity(rows: readonly RateRow[], path: Path, report: Report): void {
  const byWhen = new Map<string, DatedWhen>();
  rows.forEach(({ when, from }, index) => {
    const key = whenKey(when ?? {});
    const earlier = byWhen.get(key);
    if (earlier === undefined) byWhen.set(key, { when: when ?? {}, index, from: from ?? "" });
    else if ((from ?? "") < earlier.from) earlier.from = from ?? "";
  });
  const bySet = new Map<string, DatedWhen[]>();
  for (const each of byWhen.values()) {
    const set = JSON.stringify(Object.keys(each.when).sort());
    bySet.set(set, [...(bySet.get(set) ?? []), each]);
  }
  const sets = [...bySet].map(([set, members]) => ({ dimensions: JSON.parse(set) as readonly string[], members }));
  sets.forEach((set, position) => {
    for (const other of sets.slice(position + 1)) {
      if (set.dimensions.length !== other.dimensions.length) continue;
      for (const [one, two] of findAmbiguousPairs(set, other, byWhen)) {
        const [former, latter] = one.index < two.index ? [one, two] : [two, one];
        const shared = Object.entries({ ...former.when, ...latter.when }).map(
          ([name, text]) => `${name} ${quoteValue(text)}`,
        );
        const reason = `${rowName(former.index)} names as many dimensions and holds for ${shared.join(" and ")} too: add a row for both`;
        report([...path, latter.index, "when"], "NOT_ACCEPTED", { reason });
      }
    }
  });
}

/** Rows of two sets of dimensions that hold for one group, unless a more specific row takes what they share. */
function findAmbiguousPairs(
  set: { readonly dimensions: readonly string[]; readonly members: readonly DatedWhen[] },
  other: { readonly dimensions: readonly string[]; readonly members: readonly DatedWhen[] },
  byWhen: ReadonlyMap<string, DatedWhen>,
): readonly (readonly [DatedWhen, DatedWhen])[] {
  const shared = set.dimensions.filter((dimension) => other.dimensions.includes(dimension));
  const keyOf = ({ when }: DatedWhen): string => JSON.stringify(shared.map((dimension) => when[dimension]));
  const others = new Map<string, DatedWhen[]>();
  for (const each of other.members) others.set(keyOf(each), [...(others.get(keyOf(each)) ?? []), each]);
  return set.members.flatMap((one) => {
    const two = others.get(keyOf(one))?.find((candidate) => !isResolved(one, candidate, byWhen));
    return two === undefined ? [] : [[one, two] as const];
  });
}

/** Whether a row that names more dimensions holds for every group that two rows share, once both are in force. */
function isResolved(one: DatedWhen, two: DatedWhen, byWhen: ReadonlyMap<string, DatedWhen>): boolean {
  const both = Object.entries({ ...one.when, ...two.when });
  const from = one.from > two.from ? one.from : two.from;
  const size = Object.keys(one.when).length;
  for (let subset = 1; subset < 2 ** both.length; subset++) {
    const when = Object.fromEntries(both.filter((_, bit) => (subset >> bit) % 2 === 1));
    if (Object.keys(when).length <= size) continue;
    const resolving = byWhen.get(whenKey(when));
    if (resolving !== undefined && resolving.from <= from) return true;
  }
  return false;
}
