/** What the rows of a price table contribute to a change: their quantities, then their rates, are replaced (S18). */
import { formatGroup, type UsageGroup } from "../../book/resources/event-schema.ts";
import { whenKey } from "../../book/resources/rate-table.ts";
import type { CardExplanation, Invoice, InvoiceLine } from "../../invoicing/invoice.ts";
import { type Decimal, multiply, subtract, sum, ZERO } from "../../numbers/decimal.ts";
import { addFractions, type Fraction, toFraction, ZERO_FRACTION } from "../../numbers/fraction.ts";
import type { PartExplanation, SlabExplanation } from "../../rating/charge.ts";
import { clampToShare, sumSlabs } from "../../rating/slab-charge.ts";

/** What a row of a price table contributes to the change of a line. */
export interface DiffRow {
  /** The texts that the row names. */
  readonly when: Readonly<Record<string, string>>;
  /** Whether the row came or went, and another row or none prices its usage on the other side. */
  readonly change?: "ADDED" | "REMOVED";
  /** Exact, without zeros, and before the limits of the card. */
  readonly causes: { readonly usage?: Fraction; readonly rates?: Fraction };
}

type Lines = readonly [InvoiceLine | undefined, InvoiceLine | undefined];
/** The invoices of the lines. */
type Sides = readonly [Side, Side];
interface Side {
  readonly invoice?: Pick<Invoice, "unpriced"> | undefined;
}

/** Whether a price table prices a line. */
export function isPricedByTable(line: InvoiceLine | undefined): boolean {
  return findCard(line)?.rules.some((rule) => rule.endsWith("#s18.2")) === true;
}

/** The exact amounts after replacing the quantities of all rows, then their rates, with the limits of the first side. */
export function computeTableSteps(sides: Sides, lines: Lines): readonly [afterUsage: Fraction, afterRates: Fraction] {
  const [from, to] = lines.map(findCard);
  const withUsage = hasPlainCard(lines)
    ? repriceCard(from, lines[1]?.quantity ?? ZERO)
    : sum(compareRows(sides, lines).map(({ afterUsage }) => afterUsage));
  const { bounds } = from ?? to ?? {};
  const limit = (amount: Decimal): Fraction =>
    bounds === undefined ? toFraction(amount) : clampToShare(toFraction(amount), bounds, bounds.share);
  return [limit(withUsage), limit(sum((to?.parts ?? []).map(partAmount)))];
}

/** The rows that changed; empty unless price tables price both sides. */
export function listChangedRows(sides: Sides, lines: Lines): readonly DiffRow[] {
  if (hasPlainCard(lines)) return [];
  return compareRows(sides, lines).flatMap(({ when, change, before, afterUsage, after }) => {
    const [usage, rates] = [subtract(afterUsage, before), subtract(after, afterUsage)];
    if (usage.isZero() && rates.isZero() && change === undefined) return [];
    const causes = {
      ...(!usage.isZero() && { usage: toFraction(usage) }),
      ...(!rates.isZero() && { rates: toFraction(rates) }),
    };
    return { when, ...(change && { change }), causes };
  });
}

/** Whether one side's card has no price table. */
function hasPlainCard(lines: Lines): boolean {
  return lines.some((line) => line !== undefined && !isPricedByTable(line));
}

/** A quantity at the rate of a card, if it has only one; otherwise usage counts as unchanged. */
function repriceCard({ parts = [] }: Partial<CardExplanation> = {}, quantity: Decimal): Decimal {
  const [only] = parts;
  return (only && only.row === undefined ? repriceFlat(only, quantity) : undefined) ?? sum(parts.map(partAmount));
}

/** The sums of the rows of two cycles. */
export function addRows(a: readonly DiffRow[], b: readonly DiffRow[]): readonly DiffRow[] {
  const rows = new Map(a.map((row) => [whenKey(row.when), row]));
  for (const row of b) {
    const other = rows.get(whenKey(row.when));
    const causes = (["usage", "rates"] as const).flatMap((cause) => {
      const amount = addFractions(other?.causes[cause] ?? ZERO_FRACTION, row.causes[cause] ?? ZERO_FRACTION);
      return amount.numerator.isZero() ? [] : [[cause, amount] as const];
    });
    rows.set(whenKey(row.when), { ...row, ...other, causes: Object.fromEntries(causes) });
  }
  return [...rows.values()];
}

/** A row on one side. */
interface RowSide {
  readonly when: Readonly<Record<string, string>>;
  readonly parts: PartExplanation[];
  /** All its units, also those that are free. */
  usage: Decimal;
}

/** The amounts of rows with the inputs of the first side, after replacing their usage, and after replacing their rates. */
function compareRows(sides: Sides, lines: Lines) {
  const [before, after] = [listRows(lines[0]), listRows(lines[1])];
  const movedRows = findMovedRows(mapGroups(before, sides[0]), mapGroups(after, sides[1]));
  return [...new Set([...before.keys(), ...after.keys()])].map((key) => {
    const [from, to] = [before.get(key), after.get(key)];
    const isMoved = movedRows.has(key);
    const change: DiffRow["change"] = !isMoved || (from && to) ? undefined : from ? "REMOVED" : "ADDED";
    const afterUsage = isMoved ? rowAmount(from) : repriceRow(from, to);
    const when = (to ?? from)?.when ?? {};
    return { when, ...(change && { change }), before: rowAmount(from), afterUsage, after: rowAmount(to) };
  });
}

function listRows(line: InvoiceLine | undefined): ReadonlyMap<string, RowSide> {
  const rows = new Map<string, RowSide>();
  const addUnits = (when: RowSide["when"], quantity: Decimal, part?: PartExplanation): void => {
    const row = rows.get(whenKey(when)) ?? { when, parts: [], usage: ZERO };
    rows.set(whenKey(when), row);
    row.usage = sum([row.usage, quantity]);
    if (part) row.parts.push(part);
  };
  const { parts = [], free = [], belowZero = [] } = findCard(line) ?? {};
  for (const part of parts) if (part.row) addUnits(part.row.when, part.quantity ?? ZERO, part);
  for (const { when, quantity } of [...free, ...belowZero]) addUnits(when, quantity);
  return rows;
}

/** Stands for no row. */
const UNPRICED = "";

/** The rows that price each group. */
function mapGroups(rows: ReadonlyMap<string, RowSide>, { invoice }: Side): ReadonlyMap<string, ReadonlySet<string>> {
  const rowsByGroup = new Map<string, Set<string>>();
  const add = (group: UsageGroup, key: string): void => {
    const keys = rowsByGroup.get(formatGroup(group)) ?? new Set();
    rowsByGroup.set(formatGroup(group), keys.add(key));
  };
  for (const [key, { parts }] of rows)
    for (const { row } of parts) for (const group of row?.groups ?? []) add(group, key);
  for (const { group } of invoice?.unpriced ?? []) add(Object.values(group), UNPRICED);
  return rowsByGroup;
}

/** The rows of groups that other rows price on the other side: their usage did not change, but what it costs. */
function findMovedRows(before: ReturnType<typeof mapGroups>, after: ReturnType<typeof mapGroups>): ReadonlySet<string> {
  const moved = new Set<string>();
  for (const [group, from] of before) {
    const to = after.get(group);
    if (to === undefined || (from.size === to.size && [...from].every((key) => to.has(key)))) continue;
    for (const key of [...from, ...to]) moved.add(key);
  }
  return moved;
}

/** The second side's usage at the first side's rates; if these are not known for it, usage counts as unchanged. */
function repriceRow(from: RowSide | undefined, to: RowSide | undefined): Decimal {
  if (from === undefined || to === undefined) return rowAmount(to);
  if (from.usage.eq(to.usage)) return rowAmount(from);
  const amounts = to.parts.map((part) => {
    const overlapping = from.parts.filter((each) => haveCommonDays(each, part));
    const [only] = overlapping.length > 1 ? overlapping.filter((each) => isSameStretch(each, part)) : overlapping;
    if (overlapping.length === 0) return partAmount(part);
    if (only === undefined || !coversDays(only, part)) return undefined;
    return haveSameRates(only, part) ? partAmount(part) : repriceFlat(only, part.quantity ?? ZERO);
  });
  return amounts.every((amount) => amount !== undefined) ? sum(amounts) : rowAmount(from);
}

function haveCommonDays({ row: a }: PartExplanation, { row: b }: PartExplanation): boolean {
  return a !== undefined && b !== undefined && a.startDate < b.endDate && b.startDate < a.endDate;
}

function coversDays({ row: a }: PartExplanation, { row: b }: PartExplanation): boolean {
  return a !== undefined && b !== undefined && a.startDate <= b.startDate && b.endDate <= a.endDate;
}

/** Whether two parts are for one group or row on the same days. */
function isSameStretch(a: PartExplanation, b: PartExplanation): boolean {
  return a.because === b.because;
}

/** A quantity at the rate of a part; undefined if it has tiers. */
function repriceFlat({ slabs = [] }: PartExplanation, quantity: Decimal): Decimal | undefined {
  const [only, ...others] = slabs;
  const isFlat = others.length === 0 && only?.priceType === "PER_UNIT" && only.endAt === undefined;
  return isFlat && only.startAfter.isZero() ? multiply(only.rate, quantity) : undefined;
}

/** Whether the tiers that both sides show are alike. */
function haveSameRates(a: PartExplanation, b: PartExplanation): boolean {
  const describe = ({ slabs = [] }: PartExplanation): ReadonlyMap<number, string> =>
    new Map(slabs.map((slab) => [slab.order, describeRate(slab)]));
  const other = describe(b);
  return [...describe(a)].every(([order, slab]) => (other.get(order) ?? slab) === slab);
}

/** A slab without the quantity that reached it. */
function describeRate(explanation: SlabExplanation): string {
  const { quantity: _, packages: __, amount: ___, ...slab } = explanation;
  return JSON.stringify(slab);
}

function partAmount({ slabs = [] }: PartExplanation): Decimal {
  return sumSlabs(slabs);
}

function rowAmount(row: RowSide | undefined): Decimal {
  return sum((row?.parts ?? []).map(partAmount));
}

function findCard(line: InvoiceLine | undefined): CardExplanation | undefined {
  return line?.explanation?.of === "CARD" ? line.explanation : undefined;
}
