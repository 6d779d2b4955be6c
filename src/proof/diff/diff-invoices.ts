/**
 * The changes between invoices, and their causes: from the first ones' inputs to the second ones', group by group.
 *
 * @module
 */
import type { Book } from "../../book/model/book.ts";
import { RatebookError } from "../../errors.ts";
import type { CardExplanation, ExactAmount, TrueUpExplanation } from "../../invoicing/explain.ts";
import { CARD_LINE_TYPES, type Invoice, type InvoiceLine } from "../../invoicing/invoice.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, subtract, sum, textOf, ZERO } from "../../numbers/decimal.ts";
import {
  addFractions,
  compareFractions,
  type Fraction,
  NOTHING,
  roundFraction,
  shareOf,
  subtractFractions,
  sumFractions,
  whole,
} from "../../numbers/fraction.ts";
import { bookPrices } from "./book-prices.ts";
import { amountOf, type CardInputs, inputsOf, NONE_COUNTED, withSlabsOf } from "./card-inputs.ts";
import { leavesOf } from "./leaves.ts";

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
  readonly causes: { readonly [Which in Cause]?: ExactAmount };
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
  /** The books that the first and the second invoices were made by: explanations show the slabs alone that were reached. */
  readonly books?: readonly [Book, Book] | undefined;
}

/**
 * Compares invoices that carry explanations. From the inputs of the first, those of the second are put in group by
 * group: usage, rates and slabs, bounds, days, commitment, credits; a line's cause is what it changes by in that step,
 * in exact fractions, and rounding is what is left. Causes add up to each line's difference, and lines to the account's.
 *
 * Lines are matched within invoices of one kind and cycle. A card of a cycle that one side alone has changed by its days.
 * Credits are compared as they were taken: they are put in last, whole.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for lines without explanations, an account in two currencies, and a slab that
 * would be needed and is in no explanation (give `books`)
 */
export function diffInvoices(
  a: Invoice | readonly Invoice[],
  b: Invoice | readonly Invoice[],
  options: DiffOptions = {},
): InvoiceDiff {
  const sides = [listOf(a), listOf(b)] as const;
  const ids = new Set([...sides[1], ...sides[0]].map(({ accountId }) => accountId));
  return {
    accounts: [...ids].map((id) => {
      const [before, after] = sides.map((side) => side.filter(({ accountId }) => accountId === id));
      return diffAccount(id, before ?? [], after ?? [], options);
    }),
  };
}

function listOf(invoices: Invoice | readonly Invoice[]): readonly Invoice[] {
  return "accountId" in invoices ? [invoices] : invoices;
}

function diffAccount(
  accountId: string,
  before: readonly Invoice[],
  after: readonly Invoice[],
  { books }: DiffOptions,
): AccountDiff {
  const [currency = "", ...others] = new Set([...after, ...before].map((invoice) => invoice.currency));
  if (others.length > 0)
    throw refusal(
      `${accountId}: its invoices are in ${[currency, ...others].join(" and ")}: amounts in two currencies do not compare`,
    );
  const sums = new Map<string, DiffLine>();
  const cycles = new Map<string, { before?: Invoice; after?: Invoice }>();
  for (const [key, invoice] of keyed(after)) cycles.set(key, { after: invoice });
  for (const [key, invoice] of keyed(before)) cycles.set(key, { ...cycles.get(key), before: invoice });
  for (const pair of cycles.values()) {
    for (const line of diffPair(pair, books)) {
      const key = JSON.stringify([line.type, line.id]);
      const known = sums.get(key);
      sums.set(key, known === undefined ? line : added(known, line));
    }
  }
  const lines = [...sums.values()];
  const { before: from, after: to, difference, causes } = lines.reduce<DiffLine>(added, { type: "", ...NO_CHANGE });
  for (const [side, invoices] of [
    [from, before],
    [to, after],
  ] as const) {
    const whole = sum(invoices.map(({ revenueInfo }) => revenueInfo.value));
    if (side.eq(whole)) continue;
    throw refusal(
      `${accountId}: the lines of its invoices come to ${textOf(side)}, and their totals to ${textOf(whole)}`,
    );
  }
  return { accountId, currency, lines, total: { before: from, after: to, difference, causes } };
}

const NO_CHANGE = { before: ZERO, after: ZERO, difference: ZERO, causes: {} };

/** Invoices by kind and cycle; of several with one key, as increases of one instant, each has its number too. */
function keyed(invoices: readonly Invoice[]): readonly (readonly [string, Invoice])[] {
  const counts = new Map<string, number>();
  return invoices.map((invoice) => {
    const { invoiceType, startDate, endDate, invoiceDate } = invoice;
    const key = [invoiceType, startDate, endDate, invoiceType === "AD_HOC" ? invoiceDate : ""].join("|");
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return [`${key}|${count}`, invoice];
  });
}

function added(a: DiffLine, b: DiffLine): DiffLine {
  const causes = CAUSES.map(
    (cause) => [cause, sumFractions([a.causes[cause] ?? NOTHING, b.causes[cause] ?? NOTHING])] as const,
  );
  return {
    ...a,
    before: sum([a.before, b.before]),
    after: sum([a.after, b.after]),
    difference: sum([a.difference, b.difference]),
    causes: withoutNothing(causes),
  };
}

function withoutNothing(causes: readonly (readonly [Cause, Fraction])[]): DiffLine["causes"] {
  return Object.fromEntries(causes.filter(([, amount]) => !amount.numerator.isZero()));
}

type Pair = { readonly before?: Invoice; readonly after?: Invoice };
type Sides<T> = readonly [T | undefined, T | undefined];

/** Two invoices of one cycle, or one that the other side does not have. */
function diffPair(pair: Pair, books: DiffOptions["books"]): readonly DiffLine[] {
  const leaves = [leavesOf(pair.before), leavesOf(pair.after)] as const;
  const keys = new Set([...leaves[1].keys(), ...leaves[0].keys()]);
  const paths = new Map<string, readonly Fraction[]>();
  const lines: DiffLine[] = [];
  for (const key of keys) {
    const sides = [leaves[0].get(key), leaves[1].get(key)] as const;
    const line = sides[1] ?? sides[0];
    if (line === undefined || line.type === "TRUE_UP_AMOUNT") continue;
    const steps = line.type === "SUB_CREDITS" ? creditSteps(sides) : cardSteps(pair, sides, line, books);
    if (line.type !== "SUB_CREDITS") paths.set(key, steps);
    lines.push(diffLine(sides, line, steps));
  }
  const trueUps = [leaves[0].get(TRUE_UP), leaves[1].get(TRUE_UP)] as const;
  const trueUp = trueUps[1] ?? trueUps[0];
  return trueUp === undefined ? lines : [...lines, diffLine(trueUps, trueUp, trueUpSteps(pair, trueUps, paths, books))];
}

const TRUE_UP = JSON.stringify(["TRUE_UP_AMOUNT", null]);

/** The line's exact amounts, from the first side's through all groups to the second's, as causes. */
function diffLine(
  [a, b]: Sides<InvoiceLine>,
  { type, id, description }: InvoiceLine,
  steps: readonly Fraction[],
): DiffLine {
  const [before, after] = [a?.value ?? ZERO, b?.value ?? ZERO];
  const difference = subtract(after, before);
  const causes = CAUSES.slice(0, -1).map(
    (cause, index) => [cause, subtractFractions(steps[index + 1] ?? NOTHING, steps[index] ?? NOTHING)] as const,
  );
  const rest = subtractFractions(whole(difference), sumFractions(causes.map(([, amount]) => amount)));
  return {
    type,
    ...(id !== undefined && { id }),
    ...(description !== undefined && { description }),
    before,
    after,
    difference,
    causes: withoutNothing([...causes, ["rounding", rest]]),
  };
}

/** A card: usage, rates, bounds and days are put in; commitment and credits do not touch it. */
function cardSteps(
  pair: Pair,
  [a, b]: Sides<InvoiceLine>,
  line: InvoiceLine,
  books: DiffOptions["books"],
): readonly Fraction[] {
  const name = `${line.type} ${line.id ?? ""}`;
  const [from, to] = [a && inputsOf(cardOf(a)), b && inputsOf(cardOf(b))];
  const ends = [a ? exactOf(cardOf(a)) : NOTHING, b ? exactOf(cardOf(b)) : NOTHING] as const;
  // A cycle that one side alone has: all of it is days.
  if (pair.before === undefined || pair.after === undefined)
    return [ends[0], ends[0], ends[0], ends[0], ends[1], ends[1], ends[1]];
  const known = (side: 0 | 1): CardInputs["prices"] => {
    const invoice = side === 0 ? pair.before : pair.after;
    return books && invoice && bookPrices(books[side], invoice, line);
  };
  const isOnePrice = haveOnePlan(pair, books) && isSharable(pair, [a, b]);
  for (const [inputs, end] of [
    [from, ends[0]],
    [to, ends[1]],
  ] as const)
    checkEnd(inputs, end, name);
  const prices = [pricesOf(from, known(0)), pricesOf(to, known(1))] as const;
  const shared = isOnePrice ? ([joined(...prices), joined(prices[1], prices[0])] as const) : prices;
  const start = withDefaults(from ?? { ...(to ?? EMPTY), ...usageOf(pair.before, line), prices: shared[0] }, shared[0]);
  const end = withDefaults(to ?? { ...start, ...usageOf(pair.after, line), prices: shared[1] }, shared[1]);
  const used: CardInputs = {
    ...start,
    counted: end.counted,
    notBelowZero: end.notBelowZero,
    ...(start.counted.length !== end.counted.length && { shares: end.shares }),
  };
  const rated: CardInputs = { ...used, prices: end.prices };
  const bounded: CardInputs = {
    ...rated,
    bounds: end.bounds,
    ...(start.bounds === undefined && { boundShare: end.boundShare }),
  };
  const middle = [used, rated, bounded].map((inputs) => amountOf(inputs, name));
  return [ends[0], ...middle, ends[1], ends[1], ends[1]];
}

const EMPTY: CardInputs = {
  ...NONE_COUNTED,
  prices: undefined,
  bounds: undefined,
  boundShare: { days: 1, of: 1 },
  notBelowZero: false,
};

/** An explanation that does not give its own amount would make causes of nothing. */
function checkEnd(inputs: CardInputs | undefined, end: Fraction, name: string): void {
  if (inputs === undefined || compareFractions(amountOf(inputs, name), end) === 0) return;
  throw refusal(`${name}: the explanation does not give the exact amount that stands in it`);
}

function withDefaults(inputs: CardInputs, prices: CardInputs["prices"]): CardInputs {
  return { ...inputs, prices };
}

function pricesOf(inputs: CardInputs | undefined, known: CardInputs["prices"]): CardInputs["prices"] {
  return inputs?.prices === undefined ? known : withSlabsOf(inputs.prices, known);
}

function joined(own: CardInputs["prices"], other: CardInputs["prices"]): CardInputs["prices"] {
  return own === undefined ? other : withSlabsOf(own, other);
}

/** Whether both sides were priced by one version of one plan, so that what one shows of it holds for the other. */
function haveOnePlan({ before, after }: Pair, books: DiffOptions["books"]): boolean {
  const isOne = before?.pricePlanId === after?.pricePlanId && before?.pricePlanVersion === after?.pricePlanVersion;
  return isOne && (books === undefined || books[0] === books[1]);
}

/** Whether one side's slabs may stand for the other's: not where that used the meter and has no card for it, nor of a fee. */
function isSharable({ before, after }: Pair, [a, b]: Sides<InvoiceLine>): boolean {
  const line = b ?? a;
  const side = a === undefined ? before : after;
  if (line?.quantity === undefined) return false;
  if ((a !== undefined && b !== undefined) || side === undefined) return true;
  return usageOf(side, line).counted?.some(({ quantity }) => quantity?.gt(ZERO)) !== true;
}

/** The usage of the meter on the side that lacks the line. */
function usageOf({ usageInfo }: Invoice, { type, id, quantity }: InvoiceLine): Partial<CardInputs> {
  if (quantity === undefined) return {};
  const used =
    type === "USAGE_RATE_CARD_AMOUNT" ? usageInfo?.lineItems.find((line) => line.id === id)?.quantity : undefined;
  return used === undefined ? NONE_COUNTED : { ...NONE_COUNTED, counted: [{ sign: 1, quantity: used }] };
}

/** The true-up of a commitment at each step, from the charges of the cards there. */
function trueUpSteps(
  pair: Pair,
  sides: Sides<InvoiceLine>,
  cards: ReadonlyMap<string, readonly Fraction[]>,
  books: DiffOptions["books"],
): readonly Fraction[] {
  const [a, b] = sides.map((line) => line && commitmentOf(line));
  const isOnePlan = haveOnePlan(pair, books);
  const lackingOf = ({ committed, elsewhere }: Commitment, charged: Fraction): Fraction => {
    const lacking = subtractFractions(subtractFractions(committed, whole(elsewhere)), charged);
    return compareFractions(lacking, NOTHING) > 0 ? lacking : NOTHING;
  };
  const at = (of: Commitment | undefined, step: number): Fraction =>
    of === undefined
      ? NOTHING
      : lackingOf(of, sumFractions([...cards.values()].map((steps) => steps[step] ?? NOTHING)));
  // A side that lacks nothing may have the other's commitment only where nothing would lack with it. Its plan may have been
  // edited under the same version, or its invoices in advance may have come to more.
  const borrowed = (of: Commitment | undefined, invoice: Invoice | undefined): Commitment | undefined => {
    if (!isOnePlan || of === undefined || invoice === undefined) return undefined;
    const lacking = lackingOf(of, whole(chargedOn(invoice)));
    return roundFraction(lacking, minorUnitDigits(invoice.currency), "DOWN").isZero() ? of : undefined;
  };
  const [start, end] = [a ?? borrowed(b, pair.before), b ?? borrowed(a, pair.after)];
  return [at(start, 0), at(start, 1), at(start, 2), at(start, 3), at(start, 4), at(end, 4), at(end, 4)];
}

/** The sum of the cards of an invoice, rounded. */
function chargedOn(invoice: Invoice): Decimal {
  const cards = [...leavesOf(invoice).values()].filter(({ type }) => CARD_LINE_TYPES.has(type));
  return sum(cards.map(({ value }) => value));
}

/** A commitment, and what the other invoices of its cycle come to. */
interface Commitment {
  readonly committed: Fraction;
  readonly elsewhere: Decimal;
}

function commitmentOf(line: InvoiceLine): Commitment {
  const { parts, invoiced } = trueUpOf(line);
  const committed = parts
    .filter(({ sign }) => sign === 1)
    .map(({ rate = ZERO, share }) => shareOf(whole(rate), share.days, share.of));
  return {
    committed: sumFractions(committed),
    elsewhere: sum(invoiced.filter(({ invoiceType }) => invoiceType !== "STANDARD").map(({ value }) => value)),
  };
}

/** Credits are put in last. */
function creditSteps([a, b]: Sides<InvoiceLine>): readonly Fraction[] {
  const [before, after] = [whole(a?.value ?? ZERO), whole(b?.value ?? ZERO)];
  return [before, before, before, before, before, before, after];
}

function exactOf({ exact }: CardExplanation): Fraction {
  return addFractions(exact, NOTHING);
}

function cardOf(line: InvoiceLine): CardExplanation {
  if (line.explanation?.of === "CARD") return line.explanation;
  throw refusal(`${line.type} ${line.id ?? ""}: the line has no explanation: preview with --explain, or \`explain\``);
}

function trueUpOf(line: InvoiceLine): TrueUpExplanation {
  if (line.explanation?.of === "TRUE_UP") return line.explanation;
  throw refusal(`${line.type}: the line has no explanation: preview with --explain, or \`explain\``);
}

function refusal(message: string): RatebookError<"ERR_INPUT_INVALID"> {
  return new RatebookError("ERR_INPUT_INVALID", message, { problems: [{ path: "$", message }] });
}
