/** The preview: a pure function from a book and events to the invoices of its accounts (S13.5, book.md). */
import { type BookSource, toBook } from "../../book/book.ts";
import { didYouMean } from "../../book/problems.ts";
import type { Account } from "../../book/resources/account.ts";
import type { Book } from "../../book/resources/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import type { Day } from "../../calendar/instant.ts";
import { RatebookError, hasCode } from "../../errors.ts";
import { type InvoicingOptions, computeInvoices, computeTotals } from "../../invoicing/compute-invoices.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import type { AccountView, BillingCatalog } from "../../invoicing/timeline.ts";
import type { EventInput } from "../../metering/event-envelope.ts";
import { aggregateUsage, type MeterUsage } from "../../metering/keyed-usage.ts";
import type { UnmeteredEvents } from "../../metering/unmetered-events.ts";
import type { UsageRowInput } from "../../metering/usage-rows.ts";
import type { UsageCell } from "../../metering/usage.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import { quoteText } from "../../problem-table.ts";
import { dueCreditId } from "../account/record-ids.ts";
import type { IngestOutcome } from "../outcome.ts";
import { type SkippedAccount, withBillErrors, describeMissingBill } from "../refusals.ts";
import { rememberIds } from "./accepted-ids.ts";
import { createEventSampler, type DayEvents, type EventSampler } from "./event-sampler.ts";
import { type LineTrace, createTracer } from "./line-trace.ts";
import type { PreviewAccount } from "./preview-account.ts";
import {
  selectDraftAccounts,
  describeLeftOut,
  checkOptions,
  toPreviewInput,
  type PreviewInput,
  invalidOptionError,
  type RangeOptions,
  toPreviewRange,
  computeEventRange,
  type PreviewRange,
} from "./preview-options.ts";
import {
  type EventCounts,
  toEventCounts,
  type EventProblem,
  addAllEvents,
  type EventRun,
  listUnmetered,
  startEventRun,
  type MeterOptions,
  type EventReceiver,
} from "./preview-run.ts";
import type { ScenarioResult } from "./scenarios.ts";
import { addUsageRows, createUsageReceiver } from "./summed-usage.ts";

/** Options of a preview. */
export interface PreviewOptions extends RangeOptions, MeterOptions {
  /** Ids or aliases of the accounts to show; default all that are not archived. */
  readonly accounts?: readonly string[] | undefined;
  /**
   * A checked plan to use instead of the accounts' plans. It keeps the association dates and drops overrides; an
   * account without an association gets it from the natural cycle of its first event. Accounts in a currency that it
   * does not support are left out with a notice, or rejected if `accounts` names them.
   */
  readonly plan?: PricePlan | undefined;
  /** Whether lines have explanations (S13.6). */
  readonly explain?: boolean | undefined;
  /**
   * The id of a meter or a feature: {@link Preview.traces} lists the events behind its lines, which are kept in memory,
   * and lines have explanations. Rows of usage have no events.
   */
  readonly trace?: string | undefined;
  /**
   * The number of largest events to keep per account, meter and UTC day for {@link PreviewRun.eventsOf}; default none.
   * Rows of usage have no events.
   */
  readonly sampleEvents?: number | undefined;
}

/** The result of a preview. */
export interface Preview {
  /** By account in book order, then in the order in which invoices take credits. */
  readonly invoices: readonly Invoice[];
  readonly events: EventCounts;
  /** The first thousand rejected or failed events. */
  readonly problems: readonly EventProblem[];
  /** Sentences about things that did not fail but matter, such as accounts that are left out. */
  readonly notices: readonly string[];
  /** Accounts without invoices, because their bill cannot be computed (S1.4); absent if there are none. */
  readonly skipped?: readonly SkippedAccount[];
  /** The accepted events that no meter counts, the most first, except those of schemas that allow them; absent without any. */
  readonly unmetered?: readonly UnmeteredEvents[];
  /** With the option `trace`: the events behind each line that charges the usage of the meter or the overage of the feature. */
  readonly traces?: readonly LineTrace[];
}

/** A preview that takes events one at a time. Its memory does not grow with them, except for ids. */
export interface PreviewRun extends Omit<EventReceiver, "add"> {
  /**
   * Adds a row of usage, in any order (S17.1).
   *
   * @throws {RatebookError} ERR_INPUT_INVALID for an invalid row, or an unknown account or meter; ERR_REFUSED for a
   * meter whose event schema consumes a feature; ERR_ARITHMETIC if its cell would need more than 100 digits. It adds
   * nothing then
   */
  addUsage(row: UsageRowInput): void;
  /** Decides one event as sent. */
  add(event: EventInput): IngestOutcome;
  /** The usage of an account so far, by meter and day; empty for an unknown account. */
  cellsOf(accountId: string): Iterable<UsageCell>;
  /** The events behind the usage of a day, with the option `sampleEvents`. */
  eventsOf(accountId: string, meterId: string, day: Day): DayEvents | undefined;
  /** The invoices and the event counts so far; more can be added afterwards. */
  finish(): Omit<Preview, "problems">;
}

/**
 * Previews the invoices of a book's accounts over events, added in the given order and each arriving at its own
 * timestamp, and over usage rows. Without a range, shows the cycles from the first event or day of usage to the last.
 *
 * @param source a book object, its text, or a book from `readBook`
 * @param input events, or usage and events
 * @throws {RatebookError} ERR_BOOK_INVALID; ERR_OPTION_INVALID for an unknown account, an invalid range or none without
 * events, a plan without prices in the currency of a requested account or of all, events that span more than ten years
 * without a range, or an invalid rule budget; ERR_DATE_INVALID for an invalid date; ERR_ARITHMETIC for a requested
 * account whose bill cannot be computed; ERR_INPUT_INVALID with all problems of usage rows
 */
export function preview(
  source: BookSource,
  input: PreviewInput | Iterable<EventInput>,
  options: PreviewOptions = {},
): Preview {
  checkOptions(options);
  const book = toBook(source, options);
  const { usage = [], events = [] } = toPreviewInput(input);
  const { run, addUsage, finish } = startPreview(book, options, Array.isArray(events) ? events.length : 0);
  addUsageRows(addUsage, usage);
  const problems = addAllEvents(run.add, events);
  return { ...finish(), problems };
}

/** Starts a preview that takes events one at a time. @throws {RatebookError} as {@link preview} */
export function createPreview(source: BookSource, options: PreviewOptions = {}): PreviewRun {
  checkOptions(options);
  const book = toBook(source, options);
  const { run, addUsage, finish, sampler } = startPreview(book, options);
  const { add, slotsOf, addSlots, addSummed, scenarios } = run;
  const cellsOf = (accountId: string): Iterable<UsageCell> => scenarios[0].usage.cellsOf(accountId);
  const eventsOf: PreviewRun["eventsOf"] = (...of) => sampler?.of(...of);
  return { addUsage, add, slotsOf, addSlots, addSummed, cellsOf, eventsOf, finish };
}

interface StartedPreview extends Pick<PreviewRun, "finish"> {
  readonly run: EventRun;
  readonly addUsage: (row: unknown) => void;
  readonly sampler: EventSampler | undefined;
}

function startPreview(book: Book, options: PreviewOptions, count = 0): StartedPreview {
  const { plan, accounts: requestedAccounts, trace, sampleEvents = 0 } = options;
  const explain = options.explain === true || trace !== undefined;
  const tracer = trace === undefined ? undefined : createTracer(book, trace);
  const sampler = sampleEvents > 0 ? createEventSampler(sampleEvents) : undefined;
  const areRequested = requestedAccounts !== undefined;
  const range = toPreviewRange(options);
  const { supported, leftOut } = selectDraftAccounts(selectAccounts(book, requestedAccounts), plan, { areRequested });
  const ids = options.ids === false ? undefined : (options.ids ?? rememberIds(undefined, count));
  const run = startEventRun(book, {
    trials: [{ plan }],
    ids,
    ruleBudget: options.ruleBudget,
    tracers: [tracer, sampler].filter((each) => each !== undefined),
  });
  return {
    run,
    sampler,
    addUsage: createUsageReceiver(book, run),
    finish() {
      const events = toEventCounts(run);
      const notices = describeLeftOut(leftOut, plan);
      const span = range === undefined ? run.span() : undefined;
      const shownRange = span === undefined ? range : computeEventRange(span);
      const result = { events, notices, ...listUnmetered(run) };
      if (shownRange === undefined) return { invoices: [], ...result, ...(tracer && { traces: [] }) };
      const [invoices, skipped]: [Invoice[], SkippedAccount[]] = [[], []];
      for (const { id } of supported) {
        const account = computeAccountInvoices(run.scenarios[0], id, { ...shownRange, explain, areRequested });
        for (const invoice of account?.invoices ?? []) invoices.push(invoice);
        if (account?.skipped !== undefined) skipped.push(account.skipped);
      }
      notices.push(...describeSkipped(skipped));
      const traces = tracer?.tracesOf(run.scenarios[0], invoices);
      return { invoices, ...result, ...(skipped.length > 0 && { skipped }), ...(traces && { traces }) };
    },
  };
}

/** Maximum number of accounts without a bill named in sentences; {@link Preview.skipped} has all. */
const SKIPPED_NOTICES_MAX = 20;

function describeSkipped(skipped: readonly SkippedAccount[]): readonly string[] {
  const listed = skipped.slice(0, SKIPPED_NOTICES_MAX).map(({ message }) => `left out: ${message}`);
  const more = skipped.length - listed.length;
  return more === 0
    ? listed
    : [...listed, `left out: ${more} more ${more === 1 ? "account" : "accounts"} that cannot be billed`];
}

/** The accounts of a book that are shown. @throws {RatebookError} ERR_OPTION_INVALID for an unknown name */
export function selectAccounts(book: Book, accounts: readonly string[] | undefined): readonly Account[] {
  if (accounts === undefined) return book.accounts.filter(({ status }) => status === "ACTIVE");
  const selection = new Set(accounts.map((name) => requireAccount(book, name)));
  return book.accounts.filter((account) => selection.has(account));
}

function requireAccount(book: Book, name: string): Account {
  const account =
    book.accounts.find(({ id }) => id === name) ??
    book.accounts.find(({ aliases, status }) => status === "ACTIVE" && aliases.includes(name));
  if (account === undefined) {
    const names = book.accounts.flatMap(({ id, aliases }) => [id, ...aliases]);
    throw invalidOptionError("accounts", `no account has the id or alias ${quoteText(name)}${didYouMean(name, names)}`);
  }
  return account;
}

/** How the invoices of an account are computed. */
interface AccountInvoiceOptions extends PreviewRange {
  readonly explain: boolean;
  /** Whether the caller requested specific accounts: then one whose bill fails is an error. */
  readonly areRequested: boolean;
  /** See the option of `computeInvoices`. */
  readonly countsNegativeInvoicesOnce?: boolean | undefined;
}

/** The invoices of an account, or why it has none. */
export type AccountInvoices =
  | { readonly invoices: readonly Invoice[]; readonly skipped?: undefined }
  | { readonly invoices?: undefined; readonly skipped: SkippedAccount };

/**
 * Computes the invoices of an account. A failed bill does not affect other accounts.
 *
 * @returns undefined if the scenario has no such account
 * @throws {RatebookError} ERR_ARITHMETIC, which names the account
 */
export function computeAccountInvoices(
  scenario: ScenarioResult,
  accountId: string,
  { areRequested, ...options }: AccountInvoiceOptions,
): AccountInvoices | undefined {
  try {
    const invoices = computeInScenario(scenario, accountId, computeInvoices, options);
    return invoices && { invoices };
  } catch (error) {
    if (areRequested || !hasCode(error, "ERR_ARITHMETIC")) throw error;
    return { skipped: { accountId, message: error.message } };
  }
}

/**
 * Computes the totals of an account's invoices, which is faster than their lines. An invoice below zero that pays for another counts
 * once.
 *
 * @returns undefined if the scenario has no such account
 * @throws {RatebookError} ERR_ARITHMETIC, which names the account
 */
export function computeAccountTotals(
  scenario: ScenarioResult,
  accountId: string,
  range: PreviewRange,
): readonly Decimal[] | undefined {
  return computeInScenario(scenario, accountId, computeTotals, { ...range, countsNegativeInvoicesOnce: true });
}

/**
 * Computes the bill of an account; undefined if the scenario lacks it.
 *
 * @throws {RatebookError} ERR_ARITHMETIC, which names the account
 */
function computeInScenario<Result>(
  scenario: ScenarioResult,
  accountId: string,
  compute: (view: AccountView, catalog: BillingCatalog, options: InvoicingOptions) => Result,
  options: InvoicingOptions,
): Result | undefined {
  const account = scenario.accounts.findById(accountId);
  if (account === undefined) return undefined;
  account.processRemainingWork();
  const { billFault } = account.state;
  // A trial bill failed and later events were not counted: no invoice may be computed without them (S13.5).
  if (billFault !== undefined) throw new RatebookError("ERR_ARITHMETIC", describeMissingBill(accountId, billFault), {});
  const view = createAccountView(scenario, account);
  const creditId = (cause: Parameters<typeof dueCreditId>[1]): string => dueCreditId(accountId, cause);
  return withBillErrors(accountId, () => compute(view, scenario.catalog.billing, { ...options, creditId }));
}

/** An account as input for invoicing, with the usage of the scenario. */
function createAccountView({ usage, catalog }: ScenarioResult, { state }: PreviewAccount): AccountView {
  const stored: MeterUsage = {
    usage: (...of) => usage.between(state.id, ...of),
    usageByGroup: (...of) => usage.groupsBetween(state.id, ...of),
  };
  return { ...state.view(), ...aggregateUsage(catalog.billing.keyedMeters, stored) };
}
