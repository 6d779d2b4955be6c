import type { Book } from "../../book/book.ts";
/**
 * The preview: from a book and events to the invoices of its accounts, as a pure function (S13.5, book.md).
 *
 * @module
 */
import type { Account } from "../../book/resources/account.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { RatebookError } from "../../errors.ts";
import type { AccountView } from "../../invoicing/account-view.ts";
import { drawInvoices } from "../../invoicing/draw.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import type { EventSlots } from "../../metering/event-slots.ts";
import { takeLookedAt } from "../../metering/look-ahead.ts";
import type { RuleBudget } from "../../rules/budget.ts";
import { viewOfWork } from "../account/account-plan.ts";
import { billOf, isOfAmounts, sentenceOnNoBill, type SkippedAccount } from "../account/bill.ts";
import { creditIdOf } from "../account/due-ids.ts";
import { type IngestOutcome, type IngestStatus, isCompleted, METERED } from "../outcome.ts";
import type { PreviewAccount } from "./preview-account.ts";
import { draftable, noticesOnDraft } from "./preview-draft.ts";
import { invalidOption, type RangeOptions, rangeOf, rangeOfEvents } from "./preview-range.ts";
import { type EventRun, startEventRun } from "./preview-run.ts";
import { rememberIds, type SeenIds } from "./seen-ids.ts";

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
  /** What is worth knowing though nothing failed, a sentence each: accounts that are left out, and why. */
  readonly notices: readonly string[];
  /** Accounts without invoices, because their bill cannot be made (S1.4); absent where there are none. */
  readonly skipped?: readonly SkippedAccount[];
}

/** How many problems of events a preview keeps; all are counted. */
export const PROBLEMS_MAX = 1000;

/** A preview whose events come one after another; its memory does not grow with them, apart from ids. */
export interface PreviewRun {
  /** Decides one event as it was sent. */
  add(event: unknown): IngestOutcome;
  /** As {@link EventRun.slotsOf}. */
  slotsOf(schemaName: string): EventSlots | undefined;
  /** As {@link EventRun.addSlots}. */
  addSlots(slots: EventSlots): IngestOutcome;
  /** The invoices of what was added so far, and how many events there were of each kind; more may be added after it. */
  finish(): Omit<Preview, "problems">;
}

/**
 * Previews the invoices of a book's accounts over events, taken in the order given, each arriving at its own timestamp.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for an unknown account, a range that is none or is missing without events,
 * a plan without prices in the currency of an account that is named, or of all; events that reach over more than ten years,
 * where no range is given, or a budget of rules that is none; ERR_DATE_INVALID for a date that is none;
 * ERR_ARITHMETIC for an account that is named, whose bill cannot be made
 */
export function preview(book: Book, events: Iterable<unknown>, options: PreviewOptions = {}): Preview {
  const { run, finish } = startPreview(book, options, isObject(events) && Array.isArray(events) ? events.length : 0);
  if (!isObject(events) || !(Symbol.iterator in events))
    throw invalidOption("events", "events: expected a list or another iterable of events");
  const problems: EventProblem[] = [];
  let last: IngestOutcome = METERED;
  let place = 0;
  const take = (event: unknown): void => {
    place++;
    const outcome = run.add(event);
    // Most events come out as the one before them.
    if (outcome === last || problems.length === PROBLEMS_MAX) return;
    if (isCompleted(outcome.status)) last = outcome;
    else problems.push({ event: place, status: outcome.status, message: outcome.description });
  };
  if (Array.isArray(events)) takeLookedAt(events, take);
  else for (const event of events) take(event);
  return { ...finish(), problems };
}

/** Starts a preview whose events come one after another. @throws {RatebookError} as {@link preview} */
export function createPreview(book: Book, options: PreviewOptions = {}): PreviewRun {
  const { run, finish } = startPreview(book, options);
  return { add: run.add, slotsOf: run.slotsOf, addSlots: run.addSlots, finish };
}

interface StartedPreview extends Pick<PreviewRun, "finish"> {
  readonly run: EventRun;
}

function startPreview(book: Book, options: PreviewOptions, count = 0): StartedPreview {
  checkCall(book, options);
  const range = rangeOf(options);
  const { shown, leftOut } = draftable(shownAccounts(book, options.accounts), options.plan, {
    areNamed: options.accounts !== undefined,
  });
  const ids = options.ids === false ? undefined : (options.ids ?? rememberIds(undefined, count));
  const run = startEventRun(book, { plan: options.plan, ids, ruleBudget: options.ruleBudget });
  return {
    run,
    finish() {
      const occurred = Object.entries(run.counts()).filter(([, count]) => count > 0);
      const read = occurred.reduce((total, [, count]) => total + count, 0);
      const events = { read, ...Object.fromEntries(occurred) };
      const notices = noticesOnDraft(leftOut, options.plan);
      const span = range === undefined ? run.span() : undefined;
      const drawn = span === undefined ? range : rangeOfEvents(span);
      if (drawn === undefined) return { invoices: [], events, notices };
      const accounts = shown.flatMap(({ id }) => run.accounts.of(id) ?? []);
      const explain = options.explain ?? false;
      const draw = (account: PreviewAccount): readonly Invoice[] =>
        drawInvoices(viewOf(run, account), run.catalog.billing, {
          ...drawn,
          explain,
          creditId: (cause) => creditIdOf(account.seen.id, cause),
        });
      const { invoices, skipped } = drawEach(accounts, draw, { areNamed: options.accounts !== undefined });
      notices.push(...noticesOnSkipped(skipped));
      return { invoices, events, notices, ...(skipped.length === 0 ? {} : { skipped }) };
    },
  };
}

interface DrawnInvoices {
  readonly invoices: readonly Invoice[];
  readonly skipped: readonly SkippedAccount[];
}

/**
 * Draws the invoices of each account. One whose bill cannot be made stops no other one.
 *
 * @param areNamed whether the caller named the accounts: then one whose bill cannot be made is an error
 * @throws {RatebookError} ERR_ARITHMETIC, which names the account
 */
function drawEach(
  accounts: readonly PreviewAccount[],
  draw: (account: PreviewAccount) => readonly Invoice[],
  { areNamed }: { readonly areNamed: boolean },
): DrawnInvoices {
  const [invoices, skipped]: [Invoice[], SkippedAccount[]] = [[], []];
  for (const account of accounts) {
    const { id, billFault } = account.seen;
    try {
      // What falls due while events come has failed already: events that came later are not counted (S13.5).
      if (billFault !== undefined) throw new RatebookError("ERR_ARITHMETIC", sentenceOnNoBill(id, billFault), {});
      for (const invoice of billOf(id, () => draw(account))) invoices.push(invoice);
    } catch (error) {
      if (areNamed || !isOfAmounts(error)) throw error;
      skipped.push({ accountId: id, message: error.message });
    }
  }
  return { invoices, skipped };
}

/** So many accounts without a bill are named in sentences; all are in {@link Preview.skipped}. */
const NO_BILLS_TOLD_MAX = 20;

function noticesOnSkipped(skipped: readonly SkippedAccount[]): readonly string[] {
  const told = skipped.slice(0, NO_BILLS_TOLD_MAX).map(({ message }) => `left out: ${message}`);
  const more = skipped.length - told.length;
  return more === 0 ? told : [...told, `left out: ${more} more, whose bills cannot be made either`];
}

/** An account as invoicing sees it: its usage is that of the run. */
function viewOf({ catalog, usage }: EventRun, { seen: { id, work } }: PreviewAccount): AccountView {
  const metered: AccountView["usage"] = (meterId, from, until) => usage.between(id, meterId, from, until);
  return { ...viewOfWork(catalog, work), usage: metered };
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
