import type { Book } from "../../book/book.ts";
/**
 * The preview: from a book and events to the invoices of its accounts, as a pure function (S13.5, book.md).
 *
 * @module
 */
import type { Account } from "../../book/resources/account.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { naturalCycleAt } from "../../calendar/cycle.ts";
import { DAY_MS, dayOf, type Instant } from "../../calendar/instant.ts";
import type { FeatureEntry } from "../../credits/feature-credits.ts";
import { drawInvoices } from "../../invoicing/draw.ts";
import type { FeatureGrant } from "../../invoicing/dues.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { NO_END, type PlanDecision } from "../../invoicing/timeline.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import { LOOK_AHEAD } from "../../metering/look-ahead.ts";
import { exactOfDecimal } from "../../numbers/exact.ts";
import type { RuleBudget } from "../../rules/budget.ts";
import { asOf, decisionsOf, findPlanIn, withDraft } from "../account/account-plans.ts";
import { catalogOf, type GroupTerms, groupTermsOf, viewOf } from "../account/book-views.ts";
import { creditIdOf, entryIdOf } from "../account/due-ids.ts";
import { type PlanClock, planClock } from "../account/plan-clock.ts";
import { rememberIds, type SeenIds } from "../events/duplicates.ts";
import type { PlanHooks } from "../events/state.ts";
import { type IngestOutcome, type IngestStatus, isCompleted, METERED } from "../outcome.ts";
import { createMeteringRun, type MeteringRun } from "./metering-run.ts";
import { draftable, noticesOnDraft } from "./preview-draft.ts";
import {
  checkCycleCount,
  invalidOption,
  isLong,
  type PreviewRange,
  type RangeOptions,
  rangeOf,
  sentenceOnLong,
} from "./preview-range.ts";

/** What a preview shows. */
export interface PreviewOptions extends RangeOptions {
  /** Ids or aliases of the accounts to show; default all that are not archived. */
  readonly accounts?: readonly string[] | undefined;
  /**
   * A checked plan instead of the accounts' plans: it keeps the association dates and drops overrides; an account
   * without an association gets it from its first event's natural cycle on. Accounts in a currency that it does not
   * support are left out with a notice, but for those that `accounts` names: these are refused.
   */
  readonly plan?: PricePlan | undefined;
  /** Whether lines carry explanations (S13.6). */
  readonly explain?: boolean | undefined;
  /** Remembers the ids of accepted events (S14.1); `false` does without, default an exact memory. */
  readonly ids?: SeenIds | false | undefined;
  /** What one evaluation of a rule may do, where it goes through lists or makes text (S3.8). */
  readonly ruleBudget?: RuleBudget | undefined;
}

/** An event that was refused or failed. */
export interface EventProblem {
  /** Its place among the events, from 1. */
  readonly event: number;
  readonly status: IngestStatus;
  /** A sentence. */
  readonly message: string;
}

/** How many events were read, and how many had each status that occurred. */
export type EventCounts = { readonly read: number } & { readonly [Status in IngestStatus]?: number };

/** What came of a preview. */
export interface Preview {
  /** By account in book order, each in the order in which invoices take credits. */
  readonly invoices: readonly Invoice[];
  readonly events: EventCounts;
  /** The first {@link PROBLEMS_MAX} refused or failed events. */
  readonly problems: readonly EventProblem[];
  /** What is worth knowing though nothing failed, a sentence each: accounts that a plan leaves out, a very long range. */
  readonly notices: readonly string[];
}

/** How many problems of events a preview keeps; all are counted. */
export const PROBLEMS_MAX = 1000;

/** A preview whose events come one after another; its memory does not grow with them, apart from ids. */
export interface PreviewRun {
  /** Decides one event as it was sent. */
  add(event: unknown): IngestOutcome;
  /** As {@link MeteringRun.slotsOf}. */
  slotsOf(schemaName: string): EventSlots | undefined;
  /** As {@link MeteringRun.addSlots}. */
  addSlots(slots: EventSlots): IngestOutcome;
  /** The invoices of what was added so far, and how many events there were of each kind; more may be added after it. */
  finish(): Omit<Preview, "problems">;
}

/**
 * Previews the invoices of a book's accounts over events, taken in the order given, each arriving at its own timestamp.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for an unknown account, a range that is none or is missing without events,
 * a plan without prices in the currency of an account that is named, or of all; events that reach over more cycles than
 * anyone can want, where no range is given, or a budget of rules that is none; ERR_DATE_INVALID for a date that is none
 */
export function preview(book: Book, events: Iterable<unknown>, options: PreviewOptions = {}): Preview {
  const { metering, finish } = startPreview(
    book,
    options,
    isObject(events) && Array.isArray(events) ? events.length : 0,
  );
  if (!isObject(events) || !(Symbol.iterator in events))
    throw invalidOption("events", "events: expected a list or another iterable of events");
  const problems: EventProblem[] = [];
  let last: IngestOutcome = METERED;
  let place = 0;
  const take = (event: unknown): void => {
    place++;
    const outcome = metering.add(event);
    // Most events come out as the one before them.
    if (outcome === last || problems.length === PROBLEMS_MAX) return;
    if (isCompleted(outcome.status)) last = outcome;
    else problems.push({ event: place, status: outcome.status, message: outcome.description });
  };
  if (isPlainList(events)) {
    for (let from = 0; from < events.length; from += LOOK_AHEAD) {
      const until = Math.min(from + LOOK_AHEAD, events.length);
      metering.lookAhead(events, from, until);
      for (let index = from; index < until; index++) take(events[index]);
    }
  } else for (const event of events) take(event);
  return { ...finish(), problems };
}

/** Whether a list goes through its own elements when it is iterated, in their order. */
function isPlainList(events: Iterable<unknown>): events is readonly unknown[] {
  return Array.isArray(events) && events[Symbol.iterator] === Array.prototype[Symbol.iterator];
}

/** Starts a preview whose events come one after another. @throws {RatebookError} as {@link preview} */
export function createPreview(book: Book, options: PreviewOptions = {}): PreviewRun {
  const { metering, finish } = startPreview(book, options);
  return {
    add: (event) => metering.add(event),
    slotsOf: (schemaName) => metering.slotsOf(schemaName),
    addSlots: (slots) => metering.addSlots(slots),
    finish,
  };
}

interface StartedPreview extends Pick<PreviewRun, "finish"> {
  readonly metering: MeteringRun;
}

function startPreview(book: Book, options: PreviewOptions, count = 0): StartedPreview {
  checkCall(book, options);
  const range = rangeOf(options);
  const { shown, leftOut } = draftable(shownAccounts(book, options.accounts), options.plan, {
    areNamed: options.accounts !== undefined,
  });
  const plans = plansOf(book, options.plan);
  const { ids = rememberIds(undefined, count), ruleBudget } = options;
  const metering = createMeteringRun(book, { ...plans.hooks, ids, ruleBudget });
  return {
    metering,
    finish() {
      const counts = metering.counts();
      const occurred = Object.entries(counts).filter(([, count]) => count > 0);
      const read = occurred.reduce((total, [, count]) => total + count, 0);
      const events = { read, ...Object.fromEntries(occurred) };
      const notices = noticesOnDraft(leftOut, options.plan);
      const drawn = range ?? eventRange(metering);
      if (drawn === undefined) return { invoices: [], events, notices };
      if (range === undefined && isLong(drawn)) {
        const decided = shown.map(({ id }) => plans.decisionsOf(id));
        checkCycleCount(drawn, decided);
        notices.push(sentenceOnLong(drawn));
      }
      return { invoices: draw(book, { plans, metering, shown, range: drawn, options }), events, notices };
    },
  };
}

/** What types would refuse, for callers without them: most of all a book or plan that was never read. */
function checkCall(book: Book, options: PreviewOptions): void {
  if (!hasLists(book, BOOK_LISTS)) throw invalidOption("book", "book: expected a book that readBook has read");
  if (!isObject(options)) throw invalidOption("options", "options: expected an object");
  const { accounts, plan, ids } = options;
  if (accounts !== undefined && !Array.isArray(accounts))
    throw invalidOption("accounts", "accounts: expected a list of ids");
  if (plan !== undefined && !hasLists(plan.pricePlanDetails, PLAN_LISTS)) {
    throw invalidOption("plan", "plan: expected a price plan that checkPlan or readBook has read");
  }
  if (ids !== undefined && ids !== false && typeof ids.admit !== "function") {
    throw invalidOption("ids", "ids: expected false or a memory of ids");
  }
}

const BOOK_LISTS = ["eventSchemas", "usageMeters", "features", "addOns", "pricePlans", "accounts", "invoiceGroups"];
const PLAN_LISTS = ["usageRateCards", "fixedFeeRateCards", "licenseRateCards"];

function hasLists(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => Array.isArray(Reflect.get(value, name)));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function eventRange(metering: MeteringRun): PreviewRange | undefined {
  const span = metering.span();
  return span && { from: span.first, until: span.last + 1 };
}

function shownAccounts(book: Book, accounts: readonly string[] | undefined): readonly Account[] {
  if (accounts === undefined) return book.accounts.filter(({ status }) => status === "ACTIVE");
  const shown = new Set(accounts.map((name) => accountNamed(book, name)));
  return book.accounts.filter((account) => shown.has(account));
}

function accountNamed(book: Book, name: string): Account {
  const found =
    book.accounts.find(({ id }) => id === name) ??
    book.accounts.find(({ aliases, status }) => status === "ACTIVE" && aliases.includes(name));
  if (found === undefined)
    throw invalidOption("accounts", `no account has the id or alias ${JSON.stringify(name.slice(0, 60))}`);
  return found;
}

/** The plans of all accounts, as the events find them. */
interface Plans {
  decisionsOf(accountId: string): readonly PlanDecision[];
  readonly hooks: PlanHooks;
}

interface AccountPlans {
  decisions: readonly PlanDecision[];
  clock: PlanClock;
}

function plansOf(book: Book, draft: PricePlan | undefined): Plans {
  const findPlan = findPlanIn(book.pricePlans);
  const terms = groupTermsOf(book);
  const accounts = new Map(book.accounts.map((account) => [account.id, account]));
  const known = new Map<string, AccountPlans>();
  const plansFor = (accountId: string): AccountPlans => {
    let plans = known.get(accountId);
    if (plans === undefined) {
      const own = decisionsOf(accounts.get(accountId) ?? { pricePlans: [] }, findPlan);
      plans = laidOut(draft === undefined ? own : withDraft(own, draft), terms.get(accountId));
      known.set(accountId, plans);
    }
    return plans;
  };
  return {
    decisionsOf: (accountId) => plansFor(accountId).decisions,
    hooks: {
      periodAt(accountId, at) {
        const plans = plansFor(accountId);
        if (draft !== undefined && plans.decisions.length === 0) {
          const { decisions, clock } = laidOut([fromFirstEvent(draft, at)], terms.get(accountId));
          Object.assign(plans, { decisions, clock });
        }
        return plans.clock.periodAt(at);
      },
      grantsDue: (accountId, upTo) =>
        plansFor(accountId)
          .clock.grantsUpTo(upTo)
          .map((grant) => entryOf(accountId, grant)),
      overageAt: (accountId, featureId, at) => plansFor(accountId).clock.overageAt(featureId, at),
    },
  };
}

function laidOut(decisions: readonly PlanDecision[], terms: GroupTerms | undefined): AccountPlans {
  return { decisions, clock: planClock(decisions, terms) };
}

/** A draft that an account without a plan gets from its first event's natural cycle on (book.md, `--plan`). */
function fromFirstEvent(draft: PricePlan, at: Instant): PlanDecision {
  const from = naturalCycleAt(asOf(draft, dayOf(at) * DAY_MS).cycleConfig, at).start;
  return { from, until: NO_END, decidedAt: from, plan: asOf(draft, from) };
}

function entryOf(accountId: string, grant: FeatureGrant): FeatureEntry {
  const granted = exactOfDecimal(grant.granted);
  return {
    id: entryIdOf(accountId, grant.key),
    featureId: grant.featureId,
    granted,
    balance: granted,
    effectiveFrom: grant.effectiveFrom,
    effectiveUntil: grant.effectiveUntil,
    createdAt: grant.due,
    voided: false,
  };
}

interface Drawing {
  readonly plans: Plans;
  readonly metering: MeteringRun;
  readonly shown: readonly Account[];
  readonly range: PreviewRange;
  readonly options: PreviewOptions;
}

function draw(book: Book, { plans, metering, shown, range, options }: Drawing): readonly Invoice[] {
  const catalog = catalogOf(book);
  const terms = groupTermsOf(book);
  return shown.flatMap((account) => {
    const decisions = plans.decisionsOf(account.id);
    const view = viewOf(account, decisions, terms.get(account.id) ?? {}, {
      usage: (meterId, from, until) => metering.usage.between(account.id, meterId, from, until),
      overage: (featureId, from, until) => metering.overage.between(account.id, featureId, from, until),
    });
    return drawInvoices(view, catalog, {
      ...range,
      explain: options.explain ?? false,
      creditId: (cause) => creditIdOf(account.id, cause),
    });
  });
}
