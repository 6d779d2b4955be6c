/**
 * Parts of a backtest: the invoices of an account on both sides, the distribution of differences, migrations, which
 * move accounts to a draft on a date (S16.5), and gates: conditions under which a backtest fails.
 */
import type { Account } from "../../book/resources/account.ts";
import type { Book } from "../../book/resources/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { MIGRATION_MODES, type MigrationMode } from "../../book/resources/requests.ts";
import { formatDate, type Instant, toInstant, isDayStart } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { findAccountPlan } from "../../ledger/account/account-plan.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { planMoveOnto } from "../../ledger/commands/migrate.ts";
import { LOADED_AT, type TrialMigration } from "../../ledger/preview/preview-account.ts";
import { invalidOptionError } from "../../ledger/preview/preview-options.ts";
import type { EventCounts } from "../../ledger/preview/preview-run.ts";
import type { ScenarioResult } from "../../ledger/preview/scenarios.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import type { UnmeteredEvents } from "../../metering/unmetered-events.ts";
import { sum, ZERO, Decimal, parseDecimal, multiply, formatDecimal } from "../../numbers/decimal.ts";
import { groupBy } from "../../numbers/ids.ts";
import type { UnpricedUsage } from "../../rating/charge.ts";
import { type PlanSource, listLeaves } from "../diff/account-plans.ts";
import { createDiffLine, diffAccount, type DiffLine, sumByItem } from "../diff/diff-invoices.ts";

/** What an account would pay on a draft, in major units of its currency, rounded as on invoices. */
export interface BacktestAccount {
  readonly accountId: string;
  readonly currency: string;
  /**
   * The sum of its invoice totals on the current plans. A negative invoice that pays part of another counts once
   * (S13.4).
   */
  readonly before: Decimal;
  /** The same sum on the draft. */
  readonly after: Decimal;
  readonly difference: Decimal;
  /** Cards, true-ups and credits, summed over all cycles. Causes are empty unless requested. */
  readonly lines: readonly DiffLine[];
  /**
   * The totals of each billing period, with a migration only. A cycle that it splits appears in two parts on one side.
   */
  readonly periods?: readonly PeriodTotal[];
}

/** The sum over all accounts of one currency. */
export interface BacktestTotal extends Omit<BacktestAccount, "accountId" | "lines" | "periods"> {
  readonly distribution: Distribution;
}

/** What one draft would change. */
export interface BacktestPlan {
  readonly planId: string;
  readonly name: string;
  readonly version: number;
  /** By currency. */
  readonly totals: readonly BacktestTotal[];
  /** In book order, without accounts that have no invoices on either side. */
  readonly accounts: readonly BacktestAccount[];
  /** Accounts whose currency the draft does not support. They are in no total. */
  readonly leftOut: readonly string[];
  /** Usage that no row of the draft's price tables prices, if there is any; unknown if only totals are computed (S18.2). */
  readonly unpriced?: readonly UnpricedUsage[];
  /** Which accounts moved, with a migration only. */
  readonly migration?: MigrationOutcome;
  /** The number of events by status on the draft, whose entitlements may accept other events. */
  readonly events: EventCounts;
}

/** From the first day of a billing period to the last; the end is exclusive. */
export type BacktestPeriod = Pick<PeriodTotal, "startDate" | "endDate">;

/** The result of a backtest, as plain data. */
export interface Backtest {
  /** The billing periods of all compared invoices. Absent without invoices, and if only totals are computed. */
  readonly period?: BacktestPeriod;
  /** The number of events by status on the current plans. */
  readonly events: EventCounts;
  /** As in a preview. */
  readonly unmetered?: readonly UnmeteredEvents[];
  /** One for each draft, in the same order. */
  readonly plans: readonly BacktestPlan[];
}

/** The invoices on the current plans and on the draft. */
type InvoiceSides = readonly [before: readonly Invoice[], after: readonly Invoice[]];

/** The totals of one billing period; 0 on a side without invoices. */
export interface PeriodTotal {
  /** As on the invoices; the end is exclusive. */
  readonly startDate: string;
  readonly endDate: string;
  readonly before: Decimal;
  readonly after: Decimal;
}

/** The scenarios that the invoices belong to. */
type Scenarios = readonly [before: ScenarioResult, after: ScenarioResult];

/** The cards, true-ups and credits of an account, summed over all cycles, with causes. */
export function explainLines(accountId: string, scenarios: Scenarios, sides: InvoiceSides): readonly DiffLine[] {
  const sources = [createPlanSource(scenarios[0]), createPlanSource(scenarios[1])] as const;
  return diffAccount(accountId, sides, { sources, isAlreadyNet: true }).lines;
}

/** The plans of accounts in a scenario, including a draft and a migration. */
function createPlanSource({ catalog, accounts }: ScenarioResult): PlanSource {
  return {
    findPlan: catalog.findPlan,
    decisionsFor(accountId) {
      const record = accounts.findById(accountId)?.state.record;
      return record === undefined ? [] : findAccountPlan(catalog, record).decisions;
    },
    // Both sides use the same book, so these never differ.
    holdingsOf: () => ({ credits: [], licenseUpdates: [] }),
  };
}

/** Sums usage that no row of a price table prices, by meter and group (S18.2). */
export function sumUnpriced(usage: readonly UnpricedUsage[]): readonly UnpricedUsage[] {
  const byGroup = groupBy(usage, ({ meterId, group }) => JSON.stringify([meterId, group]));
  return [...byGroup.values()].flatMap((same) =>
    same.slice(0, 1).map((each) => ({ ...each, quantity: sum(same.map(({ quantity }) => quantity)) })),
  );
}

/** The cards, true-ups and credits, summed over all cycles. */
export function sumLines([before, after]: InvoiceSides): readonly DiffLine[] {
  const listLines = (invoices: readonly Invoice[]) => invoices.flatMap((invoice) => [...listLeaves(invoice).values()]);
  return sumByItem([
    ...listLines(after).map((line) => createDiffLine([undefined, line], line)),
    ...listLines(before).map((line) => createDiffLine([line, undefined], line)),
  ]);
}

/** The totals of each billing period, earliest first. */
export function sumPeriods([before, after]: InvoiceSides): readonly PeriodTotal[] {
  const periods = new Map<string, PeriodTotal>();
  const addSide = (invoices: readonly Invoice[], side: "before" | "after"): void => {
    for (const { startDate, endDate, revenueInfo } of invoices) {
      const existing = periods.get(`${startDate}|${endDate}`) ?? { startDate, endDate, before: ZERO, after: ZERO };
      periods.set(`${startDate}|${endDate}`, { ...existing, [side]: sum([existing[side], revenueInfo.value]) });
    }
  };
  addSide(before, "before");
  addSide(after, "after");
  const periodKey = ({ startDate, endDate }: PeriodTotal): string => `${startDate}|${endDate}`;
  return [...periods.values()].sort((a, b) => (periodKey(a) < periodKey(b) ? -1 : 1));
}

/** One account's difference. */
interface AccountDifference {
  readonly accountId: string;
  readonly difference: Decimal;
}

/** The distribution of differences over accounts of one currency. */
export interface Distribution {
  /** The number of accounts that would pay more, the same and less. */
  readonly more: number;
  readonly same: number;
  readonly less: number;
  /** Quantiles by nearest rank, not interpolated: `percent` of the accounts have at most this difference. */
  readonly quantiles: readonly { readonly percent: number; readonly difference: Decimal }[];
  /** The ten largest increases, largest first. */
  readonly increases: readonly AccountDifference[];
  /** The ten largest decreases, largest first. */
  readonly decreases: readonly AccountDifference[];
}

const PERCENTS = [0, 5, 25, 50, 75, 95, 100] as const;
const LARGEST_SHOWN = 10;

export function computeDistribution(accounts: readonly AccountDifference[]): Distribution {
  const sorted = accounts
    .map(({ accountId, difference }) => ({ accountId, difference }))
    .sort((a, b) => a.difference.comparedTo(b.difference));
  const increases = sorted.filter(({ difference }) => difference.gt(ZERO));
  const decreases = sorted.filter(({ difference }) => difference.lt(ZERO));
  return {
    more: increases.length,
    same: sorted.length - increases.length - decreases.length,
    less: decreases.length,
    quantiles: PERCENTS.flatMap((percent) => {
      const rank = Math.max(1, Math.ceil((percent * sorted.length) / 100));
      const difference = sorted[rank - 1]?.difference;
      return difference === undefined ? [] : [{ percent, difference }];
    }),
    increases: increases.toReversed().slice(0, LARGEST_SHOWN),
    decreases: decreases.slice(0, LARGEST_SHOWN),
  };
}

/** When and how accounts move. */
export interface MigrationInput {
  readonly mode: MigrationMode;
  /** A UTC day, or an instant at its midnight. An account moves from the plan that it has at that midnight. */
  readonly on: string | Instant | Date;
}

/** The outcome of a trial migration. */
export interface MigrationOutcome {
  readonly mode: MigrationMode;
  /** A UTC day, such as `2026-01-31`. */
  readonly on: string;
  readonly moved: number;
  /** Accounts that stay: with overrides that the mode preserves, without a plan on that day, or with one that ends. */
  readonly stayed: readonly string[];
}

/**
 * Checks a migration and reads its day.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for an unknown mode, or an instant that isn't midnight; ERR_DATE_INVALID
 */
export function toTrialMigration({ mode, on }: MigrationInput): TrialMigration {
  if (!(MIGRATION_MODES as readonly string[]).includes(mode))
    throw invalidOptionError("migration", `migration: expected the mode ${MIGRATION_MODES.join(", ")}, got ${mode}`);
  const at = toInstant(on);
  if (!isDayStart(at))
    throw invalidOptionError("migration", "migration: expected a UTC day, got an instant that is not midnight UTC");
  const when = { mode, on: at };
  return { ...when, migrate: (catalog, record, target) => migrateTo(catalog, record, target, when) };
}

/** An account after a migration that is known from the day of its decision; undefined if it does not take part. */
function migrateTo(
  catalog: Catalog,
  record: AccountRecord,
  target: PricePlan,
  { mode, on }: Pick<TrialMigration, "mode" | "on">,
): AccountRecord | undefined {
  const decided = planMoveOnto(catalog, record, { mode, target }, on)?.decided;
  if (decided === undefined || record.status !== "ACTIVE") return undefined;
  // The migration takes precedence over every association of the book, including later decisions (S9.2).
  const before = record.associations.map((each) => (each.decidedAt > on ? { ...each, decidedAt: on } : each));
  return { ...record, associations: [...before, { ...decided, id: record.id, decidedAt: on, recordedAt: LOADED_AT }] };
}

/** Gives a draft a new version number if the book has its version, because accounts move away from that version. */
export function toNewVersion(draft: PricePlan, { pricePlans }: Pick<Book, "pricePlans">): PricePlan {
  const versions = pricePlans.filter(({ id }) => id === draft.id).map(({ version }) => version);
  return versions.includes(draft.version) ? { ...draft, version: Math.max(...versions) + 1 } : draft;
}

/** The migration's outcome for the accounts in the result; undefined without a migration. */
export function toMigrationOutcome(
  { trial: { migration }, accounts }: ScenarioResult,
  plan: PricePlan,
  comparedAccounts: readonly Account[],
): MigrationOutcome | undefined {
  if (migration === undefined) return undefined;
  const isMoved = ({ id }: Account): boolean =>
    accounts
      .findById(id)
      ?.state.record.associations.some((each) => each.plan?.planId === plan.id && each.plan.version === plan.version) ??
    false;
  const unmovedIds = comparedAccounts.filter((account) => !isMoved(account)).map(({ id }) => id);
  return {
    mode: migration.mode,
    on: formatDate(migration.on),
    moved: comparedAccounts.length - unmovedIds.length,
    stayed: unmovedIds,
  };
}

/** A forbidden change: an increase or decrease of an account or a currency's total that exceeds a limit. */
export interface GateRule {
  readonly of: "account" | "total";
  readonly change: "increase" | "decrease";
  /** Whether a change of exactly the limit is forbidden too. */
  readonly inclusive: boolean;
  /** Percent of the amount before, or major units of each currency. */
  readonly limit: Decimal;
  readonly percent: boolean;
}

/** The parts of a rule in order: the allowed texts, and the expected value that the error names. */
const PARTS = [
  [/^(account|total)/, '"account" or "total"'],
  [/^\./, '"."'],
  [/^(increase|decrease)/, '"increase" or "decrease"'],
  [/^(>=?)/, '">" or ">="'],
  [/^(\d{1,20}(?:\.\d{1,20})?)(?!\.?\d)/, "an amount of at most 20 digits before and after the point"],
  [/^(%?)/, '"%"'],
  [/^$/, 'the end, or "%" before it'],
] as const satisfies readonly (readonly [RegExp, string])[];

/**
 * Reads a rule such as `account.increase > 20%` or `total.decrease > 0`.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID with the position and what was expected there
 */
export function parseGate(text: string): GateRule {
  const matches: string[] = [];
  let at = 0;
  for (const [part, expectation] of PARTS) {
    at += /^\s*/.exec(text.slice(at))?.[0].length ?? 0;
    const match = part.exec(text.slice(at));
    if (match === null) throw invalidGateError(text, at, expectation);
    at += match[0].length;
    if (match[1] !== undefined) matches.push(match[1]);
  }
  const [of, change, operator, limit, percent] = matches;
  return {
    of: of === "total" ? "total" : "account",
    change: change === "decrease" ? "decrease" : "increase",
    inclusive: operator === ">=",
    limit: parseDecimal(limit),
    percent: percent === "%",
  };
}

function invalidGateError(text: string, at: number, expectation: string): RatebookError<"ERR_OPTION_INVALID"> {
  const rest = text.slice(at, at + 20);
  const place = rest === "" ? "at its end" : `at character ${at + 1}, ${JSON.stringify(rest)}`;
  const message = `${JSON.stringify(text.slice(0, 60))}: expected ${expectation} ${place}; for example "account.increase > 20%" or "total.decrease > 0"`;
  return new RatebookError("ERR_OPTION_INVALID", message, { option: "failIf" });
}

/** Describes each forbidden change in a sentence. An increase from 0 exceeds any percentage. */
export function findBreaches({ plans }: Backtest, rule: GateRule): readonly string[] {
  return plans.flatMap(({ planId, version, accounts, totals }) => {
    const changes =
      rule.of === "account"
        ? accounts.map((each) => ({ ...each, name: each.accountId }))
        : totals.map((each) => ({ ...each, name: "the total" }));
    return changes
      .filter((each) => isForbidden(rule, each))
      .map(({ name, before, after, currency }) => {
        const limit = `${formatDecimal(rule.limit)}${rule.percent ? "%" : ""}`;
        return `${planId}@${version}: ${rule.change} of ${name} ${rule.inclusive ? "of at least" : "above"} ${limit}: ${formatDecimal(before)} → ${formatDecimal(after)} ${currency}`;
      });
  });
}

function isForbidden(
  { change, limit, percent, inclusive }: GateRule,
  { before, difference }: { readonly before: Decimal; readonly difference: Decimal },
): boolean {
  const amount = change === "increase" ? difference : difference.negated();
  if (amount.lte(ZERO)) return inclusive && limit.isZero() && amount.isZero();
  const [left, right] = percent ? [multiply(amount, new Decimal(100)), multiply(limit, before.abs())] : [amount, limit];
  return inclusive ? left.gte(right) : left.gt(right);
}
