/**
 * The invoices of one account on both sides of a backtest, line by line and period by period.
 *
 * @module
 */
import type { Invoice } from "../../invoicing/invoice.ts";
import { findAccountPlan } from "../../ledger/account/account-plan.ts";
import type { ScenarioResult } from "../../ledger/preview/preview-scenario.ts";
import { type Decimal, subtract, sum, ZERO } from "../../numbers/decimal.ts";
import type { PlanSource } from "../diff/account-plans.ts";
import { diffAccount, type DiffLine } from "../diff/diff-invoices.ts";
import { listLeaves } from "../diff/invoice-leaves.ts";

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
  return diffAccount(accountId, sides, { sources, isNet: true }).lines;
}

/** The plans of accounts in a scenario, including a draft and a migration. */
function createPlanSource({ catalog, accounts }: ScenarioResult): PlanSource {
  return {
    findPlan: catalog.findPlan,
    decisionsFor(accountId) {
      const record = accounts.of(accountId)?.current.record;
      return record === undefined ? [] : findAccountPlan(catalog, record).decisions;
    },
    // Both sides use the same book, so these never differ.
    holdingsOf: () => ({ credits: [], licenseUpdates: [] }),
  };
}

/** The cards, true-ups and credits, summed over all cycles. */
export function sumLines([before, after]: InvoiceSides): readonly DiffLine[] {
  const lines = new Map<string, DiffLine>();
  const sides = [
    [after, (value: Decimal) => ({ before: ZERO, after: value })],
    [before, (value: Decimal) => ({ before: value, after: ZERO })],
  ] as const;
  for (const [invoices, toSide] of sides) {
    for (const invoice of invoices) {
      for (const [key, { type, id, description, value }] of listLeaves(invoice)) {
        const existing = lines.get(key);
        const side = toSide(value);
        const [from, to] = [sum([existing?.before ?? ZERO, side.before]), sum([existing?.after ?? ZERO, side.after])];
        const name = existing ?? {
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
