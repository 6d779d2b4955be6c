/** Prices the same usage on the current plans and on drafts, and compares each account and the totals. */
import { type BookSource, toBook } from "../../book/book.ts";
import type { Account } from "../../book/resources/account.ts";
import type { Book } from "../../book/resources/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { RatebookError } from "../../errors.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { rememberIds } from "../../ledger/preview/accepted-ids.ts";
import {
  selectDraftAccounts,
  type PreviewInput,
  type PreviewRange,
  toPreviewRange,
  computeEventRange,
} from "../../ledger/preview/preview-options.ts";
import { toEventCounts, addAllEvents, listUnmetered, startEventRun } from "../../ledger/preview/preview-run.ts";
import {
  computeAccountTotals,
  computeAccountInvoices,
  type PreviewOptions,
  type PreviewRun,
  selectAccounts,
} from "../../ledger/preview/preview.ts";
import type { ScenarioResult } from "../../ledger/preview/scenarios.ts";
import { addUsageRows, createUsageReceiver } from "../../ledger/preview/summed-usage.ts";
import { type Decimal, subtract, sum, ZERO } from "../../numbers/decimal.ts";
import type { UnpricedUsage } from "../../rating/charge.ts";
import {
  explainLines,
  sumLines,
  sumUnpriced,
  sumPeriods,
  computeDistribution,
  type MigrationInput,
  toTrialMigration,
  toMigrationOutcome,
  toNewVersion,
  type Backtest,
  type BacktestAccount,
  type BacktestPlan,
  type BacktestTotal,
  type BacktestPeriod,
} from "./compare-invoices.ts";

/** Options of a backtest. */
export interface BacktestOptions extends Pick<
  PreviewOptions,
  "at" | "from" | "until" | "accounts" | "ids" | "ruleBudget"
> {
  /** Whether accounts have their lines. Default true; totals alone take less time. */
  readonly lines?: boolean | undefined;
  /** Whether lines have causes, as in {@link diffInvoices}. Default false. */
  readonly causes?: boolean | undefined;
  /**
   * Moves each account from its current plan to the draft on a date (S16.5). Without it, a draft applies from the dates
   * on which the accounts took their plans.
   */
  readonly migration?: MigrationInput | undefined;
}

/** The options and usage of a backtest. At least one of events and usage cells is required. */
export interface BacktestInput extends BacktestOptions, PreviewInput {}

/** A backtest that takes events one at a time. Outcomes are those on the current plans. */
export interface BacktestRun extends Pick<PreviewRun, "addUsage" | "add" | "slotsOf" | "addSlots" | "addSummed"> {
  /** Returns the result for the usage so far. */
  finish(): Backtest;
}

/**
 * Prices the same usage on a book's current plans and on drafts. Events are read and measured once; each draft applies
 * its own entitlements. All sides cover the same cycles, by default from the first usage that any side accepts to the
 * last.
 *
 * @param plans checked drafts; each replaces the plans of all accounts, as `plan` of a preview
 * @throws {RatebookError} ERR_BOOK_INVALID; ERR_OPTION_INVALID without a draft, and as `preview`; ERR_ARITHMETIC if an
 * account can't be billed, because the totals would then be incomplete
 */
export function backtest(
  source: BookSource,
  plans: readonly PricePlan[],
  { events = [], usage = [], ...options }: BacktestInput,
): Backtest {
  const book = toBook(source, options);
  const { run, finish } = startBacktest(book, plans, options, Array.isArray(events) ? events.length : 0);
  addUsageRows(createUsageReceiver(book, run), usage);
  addAllEvents(run.add, events);
  return finish();
}

/** Starts a backtest that takes events one at a time. @throws {RatebookError} as {@link backtest} */
export function createBacktest(
  source: BookSource,
  plans: readonly PricePlan[],
  options: BacktestOptions = {},
): BacktestRun {
  const book = toBook(source, options);
  const { run, finish } = startBacktest(book, plans, options);
  const { add, slotsOf, addSlots, addSummed } = run;
  return { addUsage: createUsageReceiver(book, run), add, slotsOf, addSlots, addSummed, finish };
}

function startBacktest(book: Book, draftPlans: readonly PricePlan[], options: BacktestOptions, count = 0) {
  if (draftPlans.length === 0)
    throw new RatebookError("ERR_OPTION_INVALID", "plans: expected at least one draft", { option: "plans" });
  const { accounts: accountIds, ids, ruleBudget } = options;
  const migration = options.migration === undefined ? undefined : toTrialMigration(options.migration);
  const range = toPreviewRange(options);
  const comparedAccounts = selectAccounts(book, accountIds);
  const plans = migration === undefined ? draftPlans : draftPlans.map((plan) => toNewVersion(plan, book));
  const drafts = plans.map((plan) => ({
    plan,
    supportedAccounts: new Set(
      selectDraftAccounts(comparedAccounts, plan, { areRequested: accountIds !== undefined }).supported,
    ),
  }));
  const run = startEventRun(book, {
    trials: [{}, ...plans.map((plan) => ({ plan, migration }))],
    ids: ids === false ? undefined : (ids ?? rememberIds(undefined, count)),
    ruleBudget,
  });
  const { lines = true, causes = false } = options;
  const comparison = { comparedAccounts, options, needsInvoices: lines || causes || migration !== undefined };
  return {
    run,
    finish: (): Backtest => {
      const [current, ...scenarios] = run.scenarios;
      const effectiveRange = range ?? findFullRange(run.scenarios);
      const sides = drafts.flatMap((draft, index) => {
        const scenario = scenarios[index];
        return scenario === undefined ? [] : [{ ...draft, scenario, accounts: [], leftOut: [], unpriced: [] }];
      });
      const period = effectiveRange && compareAccounts({ ...comparison, range: effectiveRange }, current, sides);
      return {
        ...(period && { period }),
        events: toEventCounts(current),
        ...listUnmetered(run),
        plans: sides.map((side) => toBacktestPlan(side, comparedAccounts)),
      };
    },
  };
}

/** From the first usage that any side accepts to the last. */
function findFullRange(scenarios: readonly ScenarioResult[]): PreviewRange | undefined {
  const spans = scenarios.flatMap((scenario) => scenario.span() ?? []);
  const [any] = spans;
  if (any === undefined) return undefined;
  const first = spans.reduce(
    (earliest, span) => (span.first.timestamp < earliest.timestamp ? span.first : earliest),
    any.first,
  );
  const last = spans.reduce((latest, span) => (span.last.timestamp > latest.timestamp ? span.last : latest), any.last);
  return computeEventRange({ first, last });
}

interface Comparison {
  readonly comparedAccounts: readonly Account[];
  readonly options: BacktestOptions;
  /** Whether lines or billing periods are compared, not only totals. */
  readonly needsInvoices: boolean;
  readonly range: PreviewRange;
}

/** A draft during the comparison. */
interface DraftSide {
  readonly plan: PricePlan;
  /** Accounts whose currency the draft supports. */
  readonly supportedAccounts: ReadonlySet<Account>;
  readonly scenario: ScenarioResult;
  readonly accounts: BacktestAccount[];
  readonly leftOut: string[];
  unpriced: readonly UnpricedUsage[];
}

/** The bill of an account in a scenario. */
interface Bill {
  /** Undefined without an invoice. */
  readonly total: Decimal | undefined;
  /** Empty if only totals are compared. */
  readonly invoices: readonly Invoice[];
}

/** Compares one account at a time, so that only its invoices are in memory. Returns the period of all invoices. */
function compareAccounts(
  comparison: Comparison,
  current: ScenarioResult,
  sides: readonly DraftSide[],
): BacktestPeriod | undefined {
  let period: BacktestPeriod | undefined;
  for (const account of comparison.comparedAccounts) {
    const before = computeBill(comparison, current, account);
    period = extendPeriod(period, before.invoices);
    for (const side of sides) {
      if (!side.supportedAccounts.has(account)) {
        if (before.total !== undefined) side.leftOut.push(account.id);
        continue;
      }
      const after = computeBill(comparison, side.scenario, account);
      period = extendPeriod(period, after.invoices);
      side.unpriced = sumUnpriced([...side.unpriced, ...after.invoices.flatMap(({ unpriced = [] }) => unpriced)]);
      if (before.total !== undefined || after.total !== undefined)
        side.accounts.push(compareAccount(comparison, account, [current, side.scenario], [before, after]));
    }
  }
  return period;
}

function extendPeriod(period: BacktestPeriod | undefined, invoices: readonly Invoice[]): BacktestPeriod | undefined {
  return invoices.reduce<BacktestPeriod | undefined>(
    (whole, { startDate, endDate }) => ({
      startDate: whole === undefined || startDate < whole.startDate ? startDate : whole.startDate,
      endDate: whole === undefined || endDate > whole.endDate ? endDate : whole.endDate,
    }),
    period,
  );
}

/** @throws {RatebookError} ERR_ARITHMETIC with the account's id, if it can't be billed */
function computeBill({ range, options, needsInvoices }: Comparison, scenario: ScenarioResult, { id }: Account): Bill {
  const sumOrUndefined = (totals: readonly Decimal[]): Decimal | undefined =>
    totals.length === 0 ? undefined : sum(totals);
  if (!needsInvoices) return { total: sumOrUndefined(computeAccountTotals(scenario, id, range) ?? []), invoices: [] };
  const { causes: explain = false } = options;
  const invoices =
    computeAccountInvoices(scenario, id, { ...range, explain, areRequested: true, countsNegativeInvoicesOnce: true })
      ?.invoices ?? [];
  return { total: sumOrUndefined(invoices.map(({ revenueInfo }) => revenueInfo.value)), invoices };
}

function compareAccount(
  { options: { lines = true, causes = false, migration } }: Comparison,
  { id: accountId, invoiceCurrency: currency }: Account,
  scenarios: readonly [ScenarioResult, ScenarioResult],
  bills: readonly [Bill, Bill],
): BacktestAccount {
  const [{ total: before = ZERO, invoices: oldInvoices }, { total: after = ZERO, invoices: newInvoices }] = bills;
  return {
    accountId,
    currency,
    before,
    after,
    difference: subtract(after, before),
    lines: causes
      ? explainLines(accountId, scenarios, [oldInvoices, newInvoices])
      : lines
        ? sumLines([oldInvoices, newInvoices])
        : [],
    ...(migration === undefined ? {} : { periods: sumPeriods([oldInvoices, newInvoices]) }),
  };
}

function toBacktestPlan(
  { plan, scenario, accounts, leftOut, unpriced }: DraftSide,
  comparedAccounts: readonly Account[],
): BacktestPlan {
  const migration = toMigrationOutcome(scenario, plan, comparedAccounts);
  return {
    planId: plan.id,
    name: plan.name,
    version: plan.version,
    totals: [...new Set(accounts.map(({ currency }) => currency))].map((currency) =>
      sumCurrency(
        currency,
        accounts.filter((account) => account.currency === currency),
      ),
    ),
    accounts,
    leftOut,
    ...(unpriced.length > 0 && { unpriced }),
    ...(migration === undefined ? {} : { migration }),
    events: toEventCounts(scenario),
  };
}

function sumCurrency(currency: string, accounts: readonly BacktestAccount[]): BacktestTotal {
  const [before, after] = [sum(accounts.map((each) => each.before)), sum(accounts.map((each) => each.after))];
  return { currency, before, after, difference: subtract(after, before), distribution: computeDistribution(accounts) };
}
