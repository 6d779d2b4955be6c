/**
 * The changes between invoices, and their causes: from the first ones' inputs to the second ones', group by group.
 *
 * @module
 */
import type { Invoice, InvoiceLine } from "../../invoicing/invoice.ts";
import { type Decimal, subtract, sum, textOf, ZERO } from "../../numbers/decimal.ts";
import { type Fraction, NOTHING, subtractFractions, sumFractions, whole } from "../../numbers/fraction.ts";
import {
  type Books,
  cardSteps,
  creditSteps,
  type InvoicePair,
  type Sides,
  type Steps,
  trueUpSteps,
} from "./cause-steps.ts";
import { incomparable, leavesOf } from "./leaves.ts";

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
  /** The books that the first and the second invoices were made by: explanations show the slabs alone that were reached. */
  readonly books?: Books | undefined;
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
    throw incomparable(
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
    const total = sum(invoices.map(({ revenueInfo }) => revenueInfo.value));
    if (side.eq(total)) continue;
    throw incomparable(
      `${accountId}: the lines of its invoices come to ${textOf(side)}, and their totals to ${textOf(total)}`,
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

/** Two invoices of one cycle, or one that the other side does not have. */
function diffPair(pair: InvoicePair, books: Books | undefined): readonly DiffLine[] {
  const leaves = [leavesOf(pair.before), leavesOf(pair.after)] as const;
  const keys = new Set([...leaves[1].keys(), ...leaves[0].keys()]);
  const cards = new Map<string, Steps>();
  const lines: DiffLine[] = [];
  for (const key of keys) {
    const sides = [leaves[0].get(key), leaves[1].get(key)] as const;
    const line = sides[1] ?? sides[0];
    if (line === undefined || line.type === "TRUE_UP_AMOUNT") continue;
    const steps = line.type === "SUB_CREDITS" ? creditSteps(sides) : cardSteps(pair, sides, line, books);
    if (line.type !== "SUB_CREDITS") cards.set(key, steps);
    lines.push(diffLine(sides, line, steps));
  }
  const trueUps = [leaves[0].get(TRUE_UP), leaves[1].get(TRUE_UP)] as const;
  const trueUp = trueUps[1] ?? trueUps[0];
  return trueUp === undefined ? lines : [...lines, diffLine(trueUps, trueUp, trueUpSteps(pair, trueUps, cards, books))];
}

const TRUE_UP = JSON.stringify(["TRUE_UP_AMOUNT", null]);

/** The line's exact amounts, from the first side's through all groups to the second's, as causes. */
function diffLine([a, b]: Sides<InvoiceLine>, { type, id, description }: InvoiceLine, steps: Steps): DiffLine {
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
