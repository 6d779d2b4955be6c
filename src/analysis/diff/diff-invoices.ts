/** The changes between invoices and their causes, found by replacing the inputs of the first group by group. */
import { type BookSource, toBook } from "../../book/book.ts";
import { CARD_LINE_TYPES, type Invoice, type InvoiceLine, netTotal } from "../../invoicing/invoice.ts";
import { type Decimal, subtract, sum, formatDecimal, ZERO } from "../../numbers/decimal.ts";
import { type Fraction, ZERO_FRACTION, subtractFractions, sumFractions, toFraction } from "../../numbers/fraction.ts";
import {
  resolveAccountPlans,
  createBookPlanSource,
  type PlanSource,
  incomparableError,
  listLeaves,
  type Leaves,
  listNetLeaves,
} from "./account-plans.ts";
import {
  computeCardSteps,
  type InvoiceSide,
  type SideLines,
  type Sides,
  type StepAmounts,
  changeAtStep,
  type ChargedPair,
  computeTrueUpSteps,
} from "./card-steps.ts";
import { addRows, type DiffRow, listChangedRows } from "./table-steps.ts";

/** The groups of inputs, in the order of replacement. Rounding is the remainder. */
export const CAUSES = ["usage", "rates", "bounds", "days", "commitment", "credits", "rounding"] as const;
/** Why a line changed. */
export type Cause = (typeof CAUSES)[number];

/** A line on one or both sides, and what changed it. */
export interface DiffLine {
  /** The line type. */
  readonly type: string;
  /** The id of the meter, add-on, feature or credit. */
  readonly id?: string;
  readonly description?: string;
  /** Major units, rounded; 0 if the side has no such line. */
  readonly before: Decimal;
  readonly after: Decimal;
  /** `after − before`. */
  readonly difference: Decimal;
  /** Exact, without zeros. They add up to `difference`. */
  readonly causes: { readonly [Which in Cause]?: Fraction };
  /** What rows of a price table contribute to the causes `usage` and `rates`; absent without such a row (S18). */
  readonly rows?: readonly DiffRow[];
}

/** The changes for one account. */
export interface AccountDiff {
  readonly accountId: string;
  readonly currency: string;
  /** In the order of the second invoices, followed by lines only in the first. */
  readonly lines: readonly DiffLine[];
  /** The sum of the lines. */
  readonly total: Omit<DiffLine, "type" | "id" | "description" | "rows">;
}

/** The changes, account by account. */
export interface InvoiceDiff {
  readonly accounts: readonly AccountDiff[];
}

/** Additional inputs of a diff. */
export interface DiffOptions {
  /**
   * The books, in any form, that produced the first and the second invoices. They add slabs that were not reached and
   * cycles without charges, which invoices don't show.
   */
  readonly books?: readonly [BookSource, BookSource] | undefined;
}

/**
 * Compares invoices that have explanations. The inputs of the first are replaced by those of the second in order:
 * usage, rates and slabs, bounds, days, commitment, credits. The cause of a change is the exact difference that each
 * step makes; rounding is the remainder. Causes add up to each line's difference, and lines to the account's, in which
 * what a negative invoice pays of another is not subtracted twice (S13.4).
 *
 * Lines are matched within invoices of the same type and cycle. A card in a cycle that only one side has is a change by
 * days. Credits are compared as used and replaced last, as a whole. If a price is neither in an explanation nor in a
 * book, rates are replaced before usage.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for lines without explanations, and for an account in two currencies;
 * ERR_BOOK_INVALID
 */
export function diffInvoices(
  a: Invoice | readonly Invoice[],
  b: Invoice | readonly Invoice[],
  { books }: DiffOptions = {},
): InvoiceDiff {
  const sides = [toList(a), toList(b)] as const;
  const sources = createPlanSources(books);
  const ids = new Set([...sides[1], ...sides[0]].map(({ accountId }) => accountId));
  return {
    accounts: [...ids].map((id) => {
      const [before = [], after = []] = sides.map((side) => side.filter(({ accountId }) => accountId === id));
      return diffAccount(id, [before, after], { sources, isAlreadyNet: false });
    }),
  };
}

function createPlanSources(books: DiffOptions["books"]): Sides<PlanSource | undefined> {
  if (books === undefined) return [undefined, undefined];
  const [first, second] = books;
  const before = createBookPlanSource(toBook(first));
  return [before, second === first ? before : createBookPlanSource(toBook(second))];
}

function toList(invoices: Invoice | readonly Invoice[]): readonly Invoice[] {
  return "accountId" in invoices ? [invoices] : invoices;
}

/** The data to compare an account's invoices. */
export interface AccountComparison {
  /** The plans of each side, if known. */
  readonly sources: Sides<PlanSource | undefined>;
  /** Whether payments by negative invoices are already deducted. */
  readonly isAlreadyNet: boolean;
}

/** Compares the invoices of one account. @throws {RatebookError} as {@link diffInvoices} */
export function diffAccount(
  accountId: string,
  invoices: Sides<readonly Invoice[]>,
  { sources, isAlreadyNet }: AccountComparison,
): AccountDiff {
  const [before, after] = invoices;
  const [currency = "", ...others] = new Set([...after, ...before].map((invoice) => invoice.currency));
  if (others.length > 0)
    throw incomparableError(
      `${accountId}: its invoices are in ${[currency, ...others].join(" and ")}: amounts in different currencies cannot be compared`,
    );
  const plans = [
    resolveAccountPlans(sources[0], accountId, before),
    resolveAccountPlans(sources[1], accountId, after),
  ] as const;
  const leaves = [readLeaves(before, isAlreadyNet), readLeaves(after, isAlreadyNet)] as const;
  const createSide = (sideIndex: 0 | 1, invoice: Invoice | undefined, other: Invoice | undefined): InvoiceSide => ({
    invoice,
    currency,
    licenseUpdates: plans[sideIndex].licenseUpdates,
    terms:
      invoice === undefined ? other && plans[sideIndex].termsOfCycle(other) : plans[sideIndex].termsOfInvoice(invoice),
  });
  const pairs = pairInvoices(invoices).map(([a, b]) => {
    const pairLeaves = [findLeaves(leaves[0], a), findLeaves(leaves[1], b)] as const;
    return comparePair([createSide(0, a, b), createSide(1, b, a)], pairLeaves);
  });
  const sums = sumByItem(pairs.flatMap((pair) => [...pair.lines, ...createTrueUpLines(pair, pairs)]));
  const areCreditsSame = plans[0].creditTerms !== undefined && plans[0].creditTerms === plans[1].creditTerms;
  const lines = areCreditsSame ? assignCreditCauses(sums) : sums;
  const { type: _type, rows: _rows, ...total } = lines.reduce<DiffLine>(addLines, { type: "", ...NO_CHANGE });
  for (const [lineSum, sideInvoices] of [
    [total.before, before],
    [total.after, after],
  ] as const) {
    const invoiceTotal = isAlreadyNet
      ? sum(sideInvoices.map(({ revenueInfo }) => revenueInfo.value))
      : netTotal(sideInvoices);
    if (lineSum.eq(invoiceTotal)) continue;
    throw incomparableError(
      `${accountId}: the lines of its invoices add up to ${formatDecimal(lineSum)}, but their totals to ${formatDecimal(invoiceTotal)}`,
    );
  }
  return { accountId, currency, lines, total };
}

function readLeaves(invoices: readonly Invoice[], isAlreadyNet: boolean): ReadonlyMap<Invoice, Leaves> {
  return isAlreadyNet ? new Map(invoices.map((invoice) => [invoice, listLeaves(invoice)])) : listNetLeaves(invoices);
}

function findLeaves(leaves: ReadonlyMap<Invoice, Leaves>, invoice: Invoice | undefined): Leaves {
  return (invoice && leaves.get(invoice)) ?? new Map<string, InvoiceLine>();
}

const NO_CHANGE = { before: ZERO, after: ZERO, difference: ZERO, causes: {} };

/**
 * Pairs invoices of the same type and cycle. There may be several, such as increases at one instant: with equally many
 * on both sides, they are paired in order; otherwise first by plan version, and the rest in order.
 */
function pairInvoices([before, after]: Sides<readonly Invoice[]>): readonly Sides<Invoice | undefined>[] {
  const groups = new Map<string, { readonly before: Invoice[]; readonly after: Invoice[] }>();
  for (const [side, invoices] of [
    ["after", after],
    ["before", before],
  ] as const) {
    for (const invoice of invoices) {
      const { invoiceType, startDate, endDate, invoiceDate } = invoice;
      const key = [invoiceType, startDate, endDate, invoiceType === "AD_HOC" ? invoiceDate : ""].join("|");
      const group = groups.get(key) ?? { before: [], after: [] };
      group[side].push(invoice);
      groups.set(key, group);
    }
  }
  return [...groups.values()].flatMap((group) => {
    const remaining = [...group.before];
    const takeFirst = (matches: (invoice: Invoice) => boolean): Invoice | undefined => {
      const index = remaining.findIndex(matches);
      return index < 0 ? undefined : remaining.splice(index, 1)[0];
    };
    const areSameCount = group.before.length === group.after.length;
    const partners = group.after.map((invoice) =>
      areSameCount ? remaining.shift() : takeFirst((other) => isSamePlan(other, invoice)),
    );
    const pairs = group.after.map((invoice, index) => [partners[index] ?? remaining.shift(), invoice] as const);
    return [...pairs, ...remaining.map((invoice) => [invoice, undefined] as const)];
  });
}

function isSamePlan(a: Invoice, b: Invoice): boolean {
  return a.pricePlanId === b.pricePlanId && a.pricePlanVersion === b.pricePlanVersion;
}

/** The sum of the lines of each type and id, in the order of the first ones. */
export function sumByItem(lines: Iterable<DiffLine>): readonly DiffLine[] {
  const sums = new Map<string, DiffLine>();
  for (const line of lines) {
    const key = JSON.stringify([line.type, line.id]);
    const existing = sums.get(key);
    sums.set(key, existing === undefined ? line : addLines(existing, line));
  }
  return [...sums.values()];
}

function addLines(a: DiffLine, b: DiffLine): DiffLine {
  const causes = CAUSES.filter((cause) => a.causes[cause] ?? b.causes[cause]).map(
    (cause) => [cause, sumFractions([a.causes[cause] ?? ZERO_FRACTION, b.causes[cause] ?? ZERO_FRACTION])] as const,
  );
  const rows = addRows(a.rows ?? [], b.rows ?? []);
  return {
    ...a,
    ...(rows.length > 0 && { rows }),
    before: sum([a.before, b.before]),
    after: sum([a.after, b.after]),
    difference: sum([a.difference, b.difference]),
    causes: removeZeroCauses(causes),
  };
}

function removeZeroCauses(causes: readonly (readonly [Cause, Fraction])[]): DiffLine["causes"] {
  return Object.fromEntries(causes.filter(([, amount]) => !amount.numerator.isZero()));
}

/** Two invoices of one cycle, with cards and credits compared. */
interface ComparedPair extends ChargedPair {
  readonly lines: readonly DiffLine[];
  readonly trueUps: SideLines;
}

function comparePair(sides: Sides<InvoiceSide>, leaves: Sides<Leaves>): ComparedPair {
  const cardSteps: StepAmounts[] = [];
  const lines: DiffLine[] = [];
  for (const key of new Set([...leaves[1].keys(), ...leaves[0].keys()])) {
    const leafPair = [leaves[0].get(key), leaves[1].get(key)] as const;
    const line = leafPair[1] ?? leafPair[0];
    if (line === undefined || line.type === "TRUE_UP_AMOUNT") continue;
    const steps = CARD_LINE_TYPES.has(line.type)
      ? computeCardSteps(sides, leafPair, line)
      : computeCreditSteps(leafPair);
    if (CARD_LINE_TYPES.has(line.type)) cardSteps.push(steps);
    const rows = sides.every(({ terms }) => terms !== undefined) ? listChangedRows(sides, leafPair) : [];
    lines.push({ ...createDiffLine(leafPair, line, steps), ...(rows.length > 0 && { rows }) });
  }
  const chargedAmounts = CAUSES.map((_, step) => sumFractions(cardSteps.map((steps) => steps[step] ?? ZERO_FRACTION)));
  return { sides, chargedAmounts, lines, trueUps: [leaves[0].get(TRUE_UP), leaves[1].get(TRUE_UP)] };
}

const TRUE_UP = JSON.stringify(["TRUE_UP_AMOUNT", null]);

/** The true-up depends on all invoices of its cycle (S13.3). */
function createTrueUpLines(pair: ComparedPair, pairs: readonly ComparedPair[]): readonly DiffLine[] {
  const { trueUps } = pair;
  const line = trueUps[1] ?? trueUps[0];
  return line === undefined ? [] : [createDiffLine(trueUps, line, computeTrueUpSteps(pair, trueUps, pairs))];
}

/**
 * Assigns causes to the lines of credits: if the credits are equal and only one group of inputs differs, that group is
 * the cause.
 */
function assignCreditCauses(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isCredit = ({ type }: DiffLine): boolean => type === "SUB_CREDITS";
  const changedCauses = new Set(lines.filter((line) => !isCredit(line)).flatMap(({ causes }) => Object.keys(causes)));
  const [cause, ...others] = CAUSES.filter((each) => each !== "rounding" && changedCauses.has(each));
  if (cause === undefined || others.length > 0) return lines;
  return lines.map((line) => {
    const { credits } = line.causes;
    return isCredit(line) && credits !== undefined ? { ...line, causes: { [cause]: credits } } : line;
  });
}

/** Credits are replaced last. */
function computeCreditSteps([a, b]: SideLines): StepAmounts {
  return changeAtStep(CREDITS, toFraction(a?.value ?? ZERO), toFraction(b?.value ?? ZERO));
}

const CREDITS = CAUSES.indexOf("credits");

/** Turns the exact amounts of a line after each step into causes. @param steps default: without causes */
export function createDiffLine(
  [a, b]: SideLines,
  { type, id, description }: InvoiceLine,
  steps?: StepAmounts,
): DiffLine {
  const [before, after] = [a?.value ?? ZERO, b?.value ?? ZERO];
  const difference = subtract(after, before);
  return {
    type,
    ...(id !== undefined && { id }),
    ...(description !== undefined && { description }),
    before,
    after,
    difference,
    causes: steps === undefined ? {} : toCauses(steps, difference),
  };
}

function toCauses(steps: StepAmounts, difference: Decimal): DiffLine["causes"] {
  const causes = CAUSES.slice(0, -1).map(
    (cause, index) =>
      [cause, subtractFractions(steps[index + 1] ?? ZERO_FRACTION, steps[index] ?? ZERO_FRACTION)] as const,
  );
  const rest = subtractFractions(toFraction(difference), sumFractions(causes.map(([, amount]) => amount)));
  return removeZeroCauses([...causes, ["rounding", rest]]);
}
