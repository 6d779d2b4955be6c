/**
 * What is compared: the lines of an account's invoices, and the plans that priced them, also for cycles without a line or
 * an invoice.
 */
import type { Book } from "../../book/resources/book.ts";
import type { PricePlanDetails } from "../../book/resources/price-plan.ts";
import type { CreditGrantRateCard } from "../../book/resources/rate-card.ts";
import { toInstant } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import { type Invoice, CARD_LINE_TYPES, type InvoiceLine, SUM_LINE_TYPES } from "../../invoicing/invoice.ts";
import { cycleAt, knownTimelines, type PlanDecision, type Timeline, buildTimeline } from "../../invoicing/timeline.ts";
import { toDecisions } from "../../ledger/account/account-plan.ts";
import { type FindPlan, findPlanIn } from "../../ledger/catalog.ts";
import { add, type Decimal, minimum, subtract, sum, ZERO } from "../../numbers/decimal.ts";
import { rejection } from "../../problem-table.ts";

/** The plans of accounts on one side. */
export interface PlanSource {
  /** An account's plan decisions; empty if unknown. */
  readonly decisionsFor: (accountId: string) => readonly PlanDecision[];
  readonly findPlan: FindPlan;
  /** An account's credits and license updates; undefined if unknown. */
  readonly holdingsOf: (accountId: string) => Holdings | undefined;
}

/** The credits and license updates of an account. */
interface Holdings {
  readonly credits: readonly unknown[];
  readonly licenseUpdates: readonly unknown[];
}

/** The plans of the accounts in a book. */
export function createBookPlanSource(book: Book): PlanSource {
  const findPlan = findPlanIn(book.pricePlans);
  const accounts = new Map(book.accounts.map((account) => [account.id, account]));
  return {
    findPlan,
    decisionsFor(accountId) {
      const account = accounts.get(accountId);
      return account === undefined ? [] : toDecisions(account, findPlan);
    },
    holdingsOf: (accountId) => accounts.get(accountId),
  };
}

/** The plan of a cycle on one side. */
export interface CycleTerms {
  /** The plan and version; absent if unknown. */
  readonly plan?: string;
  /** The versions that may have priced the cycle, most likely first; empty if unknown. */
  readonly details: readonly PricePlanDetails[];
}

/** The plans of one account on one side. */
export interface AccountPlans {
  /** The plan of an invoice on this side. */
  readonly termsOfInvoice: (invoice: Invoice) => CycleTerms;
  /**
   * The plan on this side for the cycle of an invoice on the other side; undefined if the account has no such cycle
   * here.
   */
  readonly termsOfCycle: (other: Invoice) => CycleTerms | undefined;
  /** The account's credits and the grant terms of its plans, as a comparable text; undefined if unknown. */
  readonly creditTerms: string | undefined;
  /** The account's license updates, as a comparable text; undefined if unknown. */
  readonly licenseUpdates: string | undefined;
}

/**
 * Finds the plans of an account.
 *
 * @param source undefined if only the invoices are known
 * @param invoices the account's invoices on this side
 */
export function resolveAccountPlans(
  source: PlanSource | undefined,
  accountId: string,
  invoices: readonly Invoice[],
): AccountPlans {
  const decisions = source?.decisionsFor(accountId) ?? [];
  const timelines = buildTimelines(decisions);
  const findDetails = ({ startDate, pricePlanId, pricePlanVersion }: Invoice): readonly PricePlanDetails[] => {
    const start = toInstant(startDate);
    const matches = timelines.flatMap((timeline) =>
      timeline
        .filter(({ from, until, plan }) => from <= start && start < until && plan.planId === pricePlanId)
        .filter(({ plan }) => plan.version === pricePlanVersion)
        .map(({ plan }) => plan.details),
    );
    return [...new Set(matches)];
  };
  // A draft under trial is not among the plans that a book assigns to accounts.
  const isKnown = timelines.length > 0 && invoices.every((invoice) => findDetails(invoice).length > 0);
  const termsOfInvoice = (invoice: Invoice): CycleTerms => {
    const { pricePlanId, pricePlanVersion } = invoice;
    const details = findDetails(invoice);
    const fallbackPlan = details.length > 0 ? undefined : source?.findPlan(pricePlanId, pricePlanVersion);
    return {
      plan: JSON.stringify([pricePlanId, pricePlanVersion]),
      details: fallbackPlan === undefined ? details : [fallbackPlan.pricePlanDetails],
    };
  };
  const holdings = source?.holdingsOf(accountId);
  const grants = new Set(
    decisions.map(({ plan }) => JSON.stringify(plan?.details.creditGrantRateCards.map(listGrantTerms))),
  );
  return {
    creditTerms: holdings && isKnown ? JSON.stringify([holdings.credits, [...grants]]) : undefined,
    licenseUpdates: holdings && JSON.stringify(holdings.licenseUpdates),
    termsOfInvoice,
    termsOfCycle({ startDate, endDate }) {
      const matchingInvoice = invoices.find(
        (invoice) => invoice.startDate === startDate && invoice.endDate === endDate,
      );
      if (matchingInvoice !== undefined) return termsOfInvoice(matchingInvoice);
      if (!isKnown) return undefined;
      const [start, end] = [toInstant(startDate), toInstant(endDate)];
      for (const timeline of timelines) {
        const cycle = cycleAt(timeline, start);
        if (cycle?.start === start && cycle.end === end) return { details: [cycle.term.plan.details] };
      }
      return undefined;
    },
  };
}

/** The terms by which a card grants credits, apart from the amount. */
function listGrantTerms({ id, type, recurrenceConfig, grantDetails }: CreditGrantRateCard): readonly unknown[] {
  return [id, type, recurrenceConfig, grantDetails];
}

/** The current timeline, then the earlier ones, latest first. */
function buildTimelines(decisions: readonly PlanDecision[]): readonly Timeline[] {
  if (decisions.length === 0) return [];
  return [
    buildTimeline(decisions),
    ...knownTimelines(decisions)
      .map(({ timeline }) => timeline)
      .toReversed(),
  ];
}

/** Lines by type and id. */
export type Leaves = ReadonlyMap<string, InvoiceLine>;

/**
 * The cards, true-up and credits of an invoice, by type and id.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for an unknown line type, such as a newer version's
 */
export function listLeaves(invoice: Invoice | undefined): Leaves {
  const leaves = new Map<string, InvoiceLine>();
  const visit = (line: InvoiceLine): void => {
    if (SUM_LINE_TYPES.has(line.type)) {
      line.lineItems?.forEach(visit);
      return;
    }
    const isLeaf = CARD_LINE_TYPES.has(line.type) || line.type === "TRUE_UP_AMOUNT" || line.type === "SUB_CREDITS";
    if (!isLeaf) {
      throw incomparableError(`unknown invoice line type ${line.type}; run preview again with this version`);
    }
    leaves.set(JSON.stringify([line.type, line.id ?? null]), line);
  };
  if (invoice !== undefined) visit(invoice.revenueInfo);
  return leaves;
}

/**
 * The lines of one account's invoices, in which a negative invoice counts once: what it pays of others is left out
 * (S13.4). The lines add up to the net total.
 */
export function listNetLeaves(invoices: readonly Invoice[]): ReadonlyMap<Invoice, Leaves> {
  const totals = invoices.map(({ revenueInfo }) => revenueInfo.value);
  let remaining = sum(totals.filter((total) => total.isNegative())).abs();
  return new Map(
    invoices.map((invoice) => {
      const leaves = new Map(listLeaves(invoice));
      for (const [key, line] of leaves) {
        if (line.creditKind !== "NEGATIVE_INVOICE") continue;
        const deduction = minimum(line.value.abs(), remaining);
        remaining = subtract(remaining, deduction);
        const value = add(line.value, deduction);
        if (value.isZero()) leaves.delete(key);
        else leaves.set(key, { ...line, value });
      }
      return [invoice, leaves];
    }),
  );
}

/** The rounded sum of an invoice's cards; 0 without an invoice. */
export function computeSubTotal(invoice: Invoice | undefined): Decimal {
  const cards = [...listLeaves(invoice).values()].filter(({ type }) => CARD_LINE_TYPES.has(type));
  return cards.length === 0 ? ZERO : sum(cards.map(({ value }) => value));
}

export function incomparableError(message: string): RatebookError<"ERR_INPUT_INVALID"> {
  return new RatebookError("ERR_INPUT_INVALID", message, { problems: [rejection("$", "NOT_ACCEPTED", message)] });
}
