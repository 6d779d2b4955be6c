/**
 * The changes between invoices, and their causes: from the first ones' inputs to the second ones', group by group.
 *
 * @module
 */
import { type BookSource, toBook } from "../../book/book-source.ts";
import { CARD_LINE_TYPES, type Invoice, type InvoiceLine } from "../../invoicing/invoice.ts";
import { netTotal } from "../../invoicing/net-total.ts";
import { type Decimal, subtract, sum, formatDecimal, ZERO } from "../../numbers/decimal.ts";
import { type Fraction, ZERO_FRACTION, subtractFractions, sumFractions, toFraction } from "../../numbers/fraction.ts";
import { resolveAccountPlans, createBookPlanSource, type PlanSource } from "./account-plans.ts";
import {
  computeCardSteps,
  type InvoiceSide,
  type SideLines,
  type Sides,
  type Steps,
  createSteps,
} from "./card-steps.ts";
import { incomparableError, listLeaves, type Leaves, listNetLeaves } from "./invoice-leaves.ts";
import { type ChargedPair, computeTrueUpSteps } from "./true-up-steps.ts";

/** The groups of inputs, in the order in which they are put in; rounding is what is left. */
export const CAUSES = ["usage", "rates", "bounds", "days", "commitment", "credits", "rounding"] as const;
/** Why a line changed. */
export type Cause = (typeof CAUSES)[number];

/** A line of both sides, or of one, with what changed it. */
export interface DiffLine {
  /** The type of the invoices' lines. */
  readonly type: string;
  /** The meter's, add-on's, feature's or credit's. */
  readonly id?: string;
  readonly description?: string;
  /** Major units, rounded; 0 where the side has no such line. */
  readonly before: Decimal;
  readonly after: Decimal;
  /** `after − before`. */
  readonly difference: Decimal;
  /** Exact; they add up to `difference`. Causes of nothing are left out. */
  readonly causes: { readonly [Which in Cause]?: Fraction };
}

/** The changes for one account. */
export interface AccountDiff {
  readonly accountId: string;
  readonly currency: string;
  /** In the order of the second invoices' lines, then those that the first alone have. */
  readonly lines: readonly DiffLine[];
  /** The sum of the lines. */
  readonly total: Omit<DiffLine, "type" | "id" | "description">;
}

/** The changes, account by account. */
export interface InvoiceDiff {
  readonly accounts: readonly AccountDiff[];
}

/** Facts beside the invoices that a diff may use. */
export interface DiffOptions {
  /**
   * The books that the first and the second invoices were made by, in any form: explanations show only the slabs that were
   * reached, and invoices no cycle in which nothing was charged.
   */
  readonly books?: readonly [BookSource, BookSource] | undefined;
}

/**
 * Compares invoices that carry explanations. From the inputs of the first, those of the second are put in group by
 * group: usage, rates and slabs, bounds, days, commitment, credits; a line's cause is what it changes by in that step,
 * in exact fractions, and rounding is what is left. Causes add up to each line's difference, and lines to the account's, in
 * which an invoice below zero counts once (S13.4).
 *
 * Lines are matched within invoices of one kind and cycle. A card of a cycle that one side alone has changed by its days.
 * Credits are compared as they were taken: they are put in last, whole. Where a price is needed that no explanation shows and
 * no book is given, rates are put in before usage.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for lines without explanations, and an account in two currencies; ERR_BOOK_INVALID
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
      return diffAccount(id, [before, after], { sources, isNet: false });
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

/** How the invoices of an account are compared. */
export interface AccountComparison {
  /** The plans that each side was made by, where they are known. */
  readonly sources: Sides<PlanSource | undefined>;
  /** Whether the invoices were drawn without what an invoice below zero pays of another one. */
  readonly isNet: boolean;
}

/** Compares the invoices of one account. @throws {RatebookError} as {@link diffInvoices} */
export function diffAccount(
  accountId: string,
  invoices: Sides<readonly Invoice[]>,
  { sources, isNet }: AccountComparison,
): AccountDiff {
  const [before, after] = invoices;
  const [currency = "", ...others] = new Set([...after, ...before].map((invoice) => invoice.currency));
  if (others.length > 0)
    throw incomparableError(
      `${accountId}: its invoices are in ${[currency, ...others].join(" and ")}: amounts in two currencies do not compare`,
    );
  const plans = [
    resolveAccountPlans(sources[0], accountId, before),
    resolveAccountPlans(sources[1], accountId, after),
  ] as const;
  const leaves = [readLeaves(before, isNet), readLeaves(after, isNet)] as const;
  const createSide = (which: 0 | 1, invoice: Invoice | undefined, other: Invoice | undefined): InvoiceSide => ({
    invoice,
    currency,
    seats: plans[which].seats,
    terms: invoice === undefined ? other && plans[which].inCycle(other) : plans[which].forInvoice(invoice),
  });
  const pairs = pairInvoices(invoices).map(([a, b]) => {
    const leavesOfPair = [findLeaves(leaves[0], a), findLeaves(leaves[1], b)] as const;
    return comparePair([createSide(0, a, b), createSide(1, b, a)], leavesOfPair);
  });
  const sums = new Map<string, DiffLine>();
  for (const line of pairs.flatMap((pair) => [...pair.lines, ...createTrueUpLines(pair, pairs)])) {
    const key = JSON.stringify([line.type, line.id]);
    const existing = sums.get(key);
    sums.set(key, existing === undefined ? line : addLines(existing, line));
  }
  const areCreditsSame = plans[0].credits !== undefined && plans[0].credits === plans[1].credits;
  const lines = areCreditsSame ? assignPaymentCauses([...sums.values()]) : [...sums.values()];
  const { before: from, after: to, difference, causes } = lines.reduce<DiffLine>(addLines, { type: "", ...NO_CHANGE });
  for (const [lineSum, invoicesOfSide] of [
    [from, before],
    [to, after],
  ] as const) {
    const total = isNet ? sum(invoicesOfSide.map(({ revenueInfo }) => revenueInfo.value)) : netTotal(invoicesOfSide);
    if (lineSum.eq(total)) continue;
    throw incomparableError(
      `${accountId}: the lines of its invoices come to ${formatDecimal(lineSum)}, and their totals to ${formatDecimal(total)}`,
    );
  }
  return { accountId, currency, lines, total: { before: from, after: to, difference, causes } };
}

function readLeaves(invoices: readonly Invoice[], isNet: boolean): ReadonlyMap<Invoice, Leaves> {
  return isNet ? new Map(invoices.map((invoice) => [invoice, listLeaves(invoice)])) : listNetLeaves(invoices);
}

function findLeaves(leaves: ReadonlyMap<Invoice, Leaves>, invoice: Invoice | undefined): Leaves {
  return (invoice && leaves.get(invoice)) ?? new Map<string, InvoiceLine>();
}

const NO_CHANGE = { before: ZERO, after: ZERO, difference: ZERO, causes: {} };

/**
 * Invoices of one kind and cycle together. Of several, as increases of one instant and those of two versions of a plan, each
 * goes with one of its own version where there is one, and then with the next in order.
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

function addLines(a: DiffLine, b: DiffLine): DiffLine {
  const causes = CAUSES.map(
    (cause) => [cause, sumFractions([a.causes[cause] ?? ZERO_FRACTION, b.causes[cause] ?? ZERO_FRACTION])] as const,
  );
  return {
    ...a,
    before: sum([a.before, b.before]),
    after: sum([a.after, b.after]),
    difference: sum([a.difference, b.difference]),
    causes: removeZeroCauses(causes),
  };
}

function removeZeroCauses(causes: readonly (readonly [Cause, Fraction])[]): DiffLine["causes"] {
  return Object.fromEntries(causes.filter(([, amount]) => !amount.numerator.isZero()));
}

/** Two invoices of one cycle whose cards and credits were compared. */
interface ComparedPair extends ChargedPair {
  readonly lines: readonly DiffLine[];
  readonly trueUps: SideLines;
}

function comparePair(sides: Sides<InvoiceSide>, leaves: Sides<Leaves>): ComparedPair {
  const cards: Steps[] = [];
  const lines: DiffLine[] = [];
  for (const key of new Set([...leaves[1].keys(), ...leaves[0].keys()])) {
    const own = [leaves[0].get(key), leaves[1].get(key)] as const;
    const line = own[1] ?? own[0];
    if (line === undefined || line.type === "TRUE_UP_AMOUNT") continue;
    const steps = CARD_LINE_TYPES.has(line.type) ? computeCardSteps(sides, own, line) : computeCreditSteps(own);
    if (CARD_LINE_TYPES.has(line.type)) cards.push(steps);
    lines.push(createDiffLine(own, line, steps));
  }
  const chargedAmounts = CAUSES.map((_, step) => sumFractions(cards.map((steps) => steps[step] ?? ZERO_FRACTION)));
  return { sides, chargedAmounts, lines, trueUps: [leaves[0].get(TRUE_UP), leaves[1].get(TRUE_UP)] };
}

const TRUE_UP = JSON.stringify(["TRUE_UP_AMOUNT", null]);

/** The true-up follows from what all invoices of its cycle charge (S13.3). */
function createTrueUpLines(pair: ComparedPair, pairs: readonly ComparedPair[]): readonly DiffLine[] {
  const { trueUps } = pair;
  const line = trueUps[1] ?? trueUps[0];
  return line === undefined ? [] : [createDiffLine(trueUps, line, computeTrueUpSteps(pair, trueUps, pairs))];
}

/**
 * Lines of which those of credits follow from the others: where the credits themselves are the same and one group of inputs
 * alone differs, that is why they pay another amount.
 */
function assignPaymentCauses(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isPayment = ({ type }: DiffLine): boolean => type === "SUB_CREDITS";
  const changedCauses = new Set(lines.filter((line) => !isPayment(line)).flatMap(({ causes }) => Object.keys(causes)));
  const [cause, ...others] = CAUSES.filter((each) => each !== "rounding" && changedCauses.has(each));
  if (cause === undefined || others.length > 0) return lines;
  return lines.map((line) => {
    const { credits } = line.causes;
    return isPayment(line) && credits !== undefined ? { ...line, causes: { [cause]: credits } } : line;
  });
}

/** Credits are put in last. */
function computeCreditSteps([a, b]: SideLines): Steps {
  return createSteps(CREDITS, toFraction(a?.value ?? ZERO), toFraction(b?.value ?? ZERO));
}

const CREDITS = CAUSES.indexOf("credits");

/** The line's exact amounts, from the first side's through all groups to the second's, as causes. */
function createDiffLine([a, b]: SideLines, { type, id, description }: InvoiceLine, steps: Steps): DiffLine {
  const [before, after] = [a?.value ?? ZERO, b?.value ?? ZERO];
  const difference = subtract(after, before);
  const causes = CAUSES.slice(0, -1).map(
    (cause, index) =>
      [cause, subtractFractions(steps[index + 1] ?? ZERO_FRACTION, steps[index] ?? ZERO_FRACTION)] as const,
  );
  const rest = subtractFractions(toFraction(difference), sumFractions(causes.map(([, amount]) => amount)));
  return {
    type,
    ...(id !== undefined && { id }),
    ...(description !== undefined && { description }),
    before,
    after,
    difference,
    causes: removeZeroCauses([...causes, ["rounding", rest]]),
  };
}
