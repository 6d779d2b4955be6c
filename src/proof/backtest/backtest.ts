/**
 * The same usage on the current plans and on drafts: who would pay more, who less, and how much in all.
 *
 * @module
 */
import type { Book } from "../../book/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { RatebookError } from "../../errors.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import type { IngestOutcome } from "../../ledger/outcome.ts";
import { createPreview, type EventCounts, type Preview, type PreviewOptions } from "../../ledger/preview/preview.ts";
import { type Decimal, subtract, sum, ZERO } from "../../numbers/decimal.ts";
import { diffInvoices, type DiffLine } from "../diff/diff-invoices.ts";
import { leavesOf } from "../diff/leaves.ts";
import { distributionOf, type Distribution } from "./distribution.ts";

/** What is compared. */
export interface BacktestOptions extends Pick<PreviewOptions, "at" | "from" | "until" | "accounts"> {
  /** Whether lines say why they changed, as {@link diffInvoices} does; default false. */
  readonly causes?: boolean | undefined;
}

/** The events of a backtest, beside its options. */
export interface BacktestInput extends BacktestOptions {
  /** As they were sent, in the order in which they count. */
  readonly events: Iterable<unknown>;
}

/** What an account would pay on a draft. Major units of its currency, rounded as invoices are. */
export interface BacktestAccount {
  readonly accountId: string;
  readonly currency: string;
  /** The sum of its invoices' totals on the current plans. */
  readonly before: Decimal;
  /** The same on the draft. */
  readonly after: Decimal;
  readonly difference: Decimal;
  /** Cards, true-ups and credits, all cycles together; causes are empty unless they were asked for. */
  readonly lines: readonly DiffLine[];
}

/** The accounts of one currency together. */
export interface BacktestTotal extends Omit<BacktestAccount, "accountId" | "lines"> {
  readonly distribution: Distribution;
}

/** What one draft would change. */
export interface BacktestPlan {
  readonly planId: string;
  readonly version: number;
  /** By currency. */
  readonly totals: readonly BacktestTotal[];
  /** In book order; accounts without invoices on both sides are not among them. */
  readonly accounts: readonly BacktestAccount[];
  /** Accounts whose currency the draft does not support: they are compared nowhere. */
  readonly leftOut: readonly string[];
  /** How many events had each status on the draft: entitlements of its own may decide them otherwise. */
  readonly events: EventCounts;
}

/** What came of a backtest, as plain data. */
export interface Backtest {
  /** How many events had each status on the current plans. */
  readonly events: EventCounts;
  /** One for each draft, in their order. */
  readonly plans: readonly BacktestPlan[];
}

/** A backtest whose events come one after another. */
export interface BacktestRun {
  /** Decides one event on the current plans and on each draft. @returns its outcome on the current plans */
  add(event: unknown): IngestOutcome;
  /** What the events so far come to. */
  finish(): Backtest;
}

/**
 * Prices the same events on a book's current plans and on drafts. The events are gone through once; each draft decides
 * them by itself, because its entitlements may change what is accepted.
 *
 * @param plans checked drafts, each in place of the plans of all accounts, as `plan` of a preview
 * @throws {RatebookError} ERR_OPTION_INVALID without a draft, and as `preview`
 */
export function backtest(book: Book, plans: readonly PricePlan[], { events, ...options }: BacktestInput): Backtest {
  const run = createBacktest(book, plans, options);
  for (const event of events) run.add(event);
  return run.finish();
}

/** Starts a backtest whose events come one after another. @throws {RatebookError} as {@link backtest} */
export function createBacktest(book: Book, plans: readonly PricePlan[], options: BacktestOptions = {}): BacktestRun {
  if (plans.length === 0) {
    throw new RatebookError("ERR_OPTION_INVALID", "plans: expected at least one draft", { option: "plans" });
  }
  const { causes = false, ...range } = options;
  const current = createPreview(book, { ...range, explain: causes });
  const drafts = plans.map((plan) => ({ plan, run: createPreview(book, { ...range, plan, explain: causes }) }));
  return {
    add(event) {
      for (const { run } of drafts) run.add(event);
      return current.add(event);
    },
    finish() {
      const before = whole(current.finish());
      return {
        events: before.events,
        plans: drafts.map(({ plan, run }) => {
          const { invoices, events } = whole(run.finish());
          return { ...compared({ book, plan, causes }, before.invoices, invoices), events };
        }),
      };
    },
  };
}

/**
 * The preview, where it has every account: without the bill of one, what the others would pay in all is no answer.
 *
 * @throws {RatebookError} ERR_ARITHMETIC, which names the first account whose bill cannot be made
 */
function whole<Result extends Pick<Preview, "skipped">>(finished: Result): Result {
  const [first] = finished.skipped ?? [];
  if (first !== undefined) throw new RatebookError("ERR_ARITHMETIC", first.message, {});
  return finished;
}

interface Comparison {
  readonly book: Book;
  readonly plan: PricePlan;
  readonly causes: boolean;
}

function compared(of: Comparison, before: readonly Invoice[], after: readonly Invoice[]): Omit<BacktestPlan, "events"> {
  const { book, plan } = of;
  const supported = new Set(plan.pricePlanDetails.supportedCurrencies ?? []);
  const isLeftOut = (currency: string): boolean => !supported.has(currency);
  const [old, changed] = [byAccount(before), byAccount(after)];
  const accounts = book.accounts.flatMap(({ id, invoiceCurrency: currency }) => {
    const sides = [old.get(id) ?? [], changed.get(id) ?? []] as const;
    if (isLeftOut(currency) || sides.every((side) => side.length === 0)) return [];
    const [from, to] = [totalOf(sides[0]), totalOf(sides[1])];
    return [
      { accountId: id, currency, before: from, after: to, difference: subtract(to, from), lines: linesOf(of, sides) },
    ];
  });
  const shown = new Set([...old.keys(), ...changed.keys()]);
  return {
    planId: plan.id,
    version: plan.version,
    totals: [...new Set(accounts.map(({ currency }) => currency))].map((currency) =>
      totalIn(
        currency,
        accounts.filter((account) => account.currency === currency),
      ),
    ),
    accounts,
    leftOut: book.accounts
      .filter(({ id, invoiceCurrency }) => shown.has(id) && isLeftOut(invoiceCurrency))
      .map(({ id }) => id),
  };
}

function byAccount(invoices: readonly Invoice[]): ReadonlyMap<string, readonly Invoice[]> {
  const lists = new Map<string, Invoice[]>();
  for (const invoice of invoices) {
    const list = lists.get(invoice.accountId);
    if (list === undefined) lists.set(invoice.accountId, [invoice]);
    else list.push(invoice);
  }
  return lists;
}

function totalOf(invoices: readonly Invoice[]): Decimal {
  return sum(invoices.map(({ revenueInfo }) => revenueInfo.value));
}

function totalIn(currency: string, accounts: readonly BacktestAccount[]): BacktestTotal {
  const [before, after] = [sum(accounts.map((each) => each.before)), sum(accounts.map((each) => each.after))];
  return { currency, before, after, difference: subtract(after, before), distribution: distributionOf(accounts) };
}

function linesOf(
  { book, plan, causes }: Comparison,
  [before, after]: readonly [readonly Invoice[], readonly Invoice[]],
): readonly DiffLine[] {
  if (causes) {
    const others = book.pricePlans.filter(({ id, version }) => id !== plan.id || version !== plan.version);
    const books = [book, { ...book, pricePlans: [...others, plan] }] as const;
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
