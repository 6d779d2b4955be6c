/**
 * The invoices of one account on both sides of a backtest, line by line and period by period.
 *
 * @module
 */
import type { Book } from "../../book/model/book.ts";
import type { PricePlan } from "../../book/model/price-plan.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { type Decimal, subtract, sum, ZERO } from "../../numbers/decimal.ts";
import { diffInvoices, type DiffLine } from "../diff/diff-invoices.ts";
import { leavesOf } from "../diff/leaves.ts";

/** Invoices on the current plans, and on the draft. */
type Sides = readonly [before: readonly Invoice[], after: readonly Invoice[]];

/** What the invoices of one billing period come to; 0 where a side has none. */
export interface PeriodTotal {
  /** As the invoices have them; the end is exclusive. */
  readonly startDate: string;
  readonly endDate: string;
  readonly before: Decimal;
  readonly after: Decimal;
}

/** How lines are compared. */
interface LineComparison {
  readonly book: Book;
  readonly plan: PricePlan;
  readonly causes: boolean;
}

/** Cards, true-ups and credits of all cycles together. */
export function linesOf({ book, plan, causes }: LineComparison, [before, after]: Sides): readonly DiffLine[] {
  if (causes) {
    const others = book.pricePlans.filter(({ id, version }) => id !== plan.id || version !== plan.version);
    // A draft is tried as it stands: what an account has over its plan is not over the draft.
    const accounts = book.accounts.map((account) => ({ ...account, pricePlans: [] }));
    const books = [book, { ...book, accounts, pricePlans: [...others, plan] }] as const;
    return diffInvoices(before, after, { books }).accounts.flatMap(({ lines }) => lines);
  }
  const lines = new Map<string, DiffLine>();
  const sides = [
    [after, (value: Decimal) => ({ before: ZERO, after: value })],
    [before, (value: Decimal) => ({ before: value, after: ZERO })],
  ] as const;
  for (const [invoices, sideOf] of sides) {
    for (const invoice of invoices) {
      for (const [key, { type, id, description, value }] of leavesOf(invoice)) {
        const known = lines.get(key);
        const side = sideOf(value);
        const [from, to] = [sum([known?.before ?? ZERO, side.before]), sum([known?.after ?? ZERO, side.after])];
        const name = known ?? {
          type,
          ...(id !== undefined && { id }),
          ...(description !== undefined && { description }),
        };
        lines.set(key, { ...name, before: from, after: to, difference: subtract(to, from), causes: {} });
      }
    }
  }
  return [...lines.values()];
}

/** What each billing period comes to, the earliest first. */
export function periodsOf([before, after]: Sides): readonly PeriodTotal[] {
  const periods = new Map<string, PeriodTotal>();
  const take = (invoices: readonly Invoice[], side: "before" | "after"): void => {
    for (const { startDate, endDate, revenueInfo } of invoices) {
      const known = periods.get(`${startDate}|${endDate}`) ?? { startDate, endDate, before: ZERO, after: ZERO };
      periods.set(`${startDate}|${endDate}`, { ...known, [side]: sum([known[side], revenueInfo.value]) });
    }
  };
  take(before, "before");
  take(after, "after");
  const order = ({ startDate, endDate }: PeriodTotal): string => `${startDate}|${endDate}`;
  return [...periods.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1));
}
