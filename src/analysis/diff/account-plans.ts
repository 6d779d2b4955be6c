/**
 * The plans by which the invoices of one account were made: also where a line, an invoice or a whole cycle is missing.
 *
 * @module
 */
import type { Book } from "../../book/model/book.ts";
import type { CreditGrantRateCard } from "../../book/model/grant-card.ts";
import type { PricePlanDetails } from "../../book/model/price-plan.ts";
import { toInstant } from "../../calendar/instant.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { cycleAt, knownTimelines, type PlanDecision, type Timeline, buildTimeline } from "../../invoicing/timeline.ts";
import { toDecisions, type FindPlan, findPlanIn } from "../../ledger/account/associated-plans.ts";

/** The plans by which invoices were made. */
export interface PlanSource {
  /** An account's plans, as they were decided; empty where they are not known. */
  readonly decisionsFor: (accountId: string) => readonly PlanDecision[];
  readonly findPlan: FindPlan;
  /** What an account has beside its plans; undefined where that is not known. */
  readonly holdingsOf: (accountId: string) => Holdings | undefined;
}

/** What an account has beside its plans. */
interface Holdings {
  /** The credits that it was given. */
  readonly credits: readonly unknown[];
  /** The changes of the seats that it holds. */
  readonly licenseUpdates: readonly unknown[];
}

/** The plans of a book and its accounts. */
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
  /** The plan and version; absent where they are not known. */
  readonly plan?: string;
  /** What may have priced the cycle, the likeliest first; empty where it is not known. */
  readonly details: readonly PricePlanDetails[];
}

/** The plans of one account on one side. */
export interface AccountPlans {
  /** The plan of an invoice of this side. */
  readonly forInvoice: (invoice: Invoice) => CycleTerms;
  /** The plan of this side in the cycle of an invoice of the other side; undefined where the account has no such cycle here. */
  readonly inCycle: (other: Invoice) => CycleTerms | undefined;
  /** The credits that the account was given, and how its plans grant more, as a text; undefined where they are not known. */
  readonly credits: string | undefined;
  /** The changes of the seats that the account holds, as a text; undefined where they are not known. */
  readonly seats: string | undefined;
}

/**
 * The plans of an account.
 *
 * @param source undefined where nothing is known but the invoices
 * @param invoices those of the account on this side
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
  // A draft that was tried is not among the plans that a book gives its accounts.
  const isKnown = timelines.length > 0 && invoices.every((invoice) => findDetails(invoice).length > 0);
  const forInvoice = (invoice: Invoice): CycleTerms => {
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
    credits: holdings && isKnown ? JSON.stringify([holdings.credits, [...grants]]) : undefined,
    seats: holdings && JSON.stringify(holdings.licenseUpdates),
    forInvoice,
    inCycle({ startDate, endDate }) {
      const own = invoices.find((invoice) => invoice.startDate === startDate && invoice.endDate === endDate);
      if (own !== undefined) return forInvoice(own);
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

/** How a card grants credits, apart from their amount. */
function listGrantTerms({ id, type, recurrenceConfig, grantDetails }: CreditGrantRateCard): readonly unknown[] {
  return [id, type, recurrenceConfig, grantDetails];
}

/** The timeline of all decisions, then those that were known before, the latest first. */
function buildTimelines(decisions: readonly PlanDecision[]): readonly Timeline[] {
  if (decisions.length === 0) return [];
  return [
    buildTimeline(decisions),
    ...knownTimelines(decisions)
      .map(({ timeline }) => timeline)
      .toReversed(),
  ];
}
