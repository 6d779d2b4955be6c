/**
 * The arguments of a preview: its input and options, checked for callers without types, the cycles that it shows, and the
 * accounts to which it can apply a draft plan (book.md).
 */

import type { Account } from "../../book/resources/account.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { DAY_MS, formatDate, formatInstant, type Instant, toInstant } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import type { EventInput } from "../../metering/event-envelope.ts";
import type { UsageRowInput } from "../../metering/usage-rows.ts";
import { quoteText } from "../../problem-table.ts";

/** Usage and events of a preview. For a schema with both, both count. */
export interface PreviewInput {
  /** Usage cells, in any order: rows of one account, meter and day add up (S17.1). */
  readonly usage?: Iterable<UsageRowInput> | undefined;
  /** As sent, in the order in which they count. */
  readonly events?: Iterable<EventInput> | undefined;
}

/**
 * Normalizes the two forms of input: events alone, or usage and events.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for anything else
 */
export function toPreviewInput(input: PreviewInput | Iterable<EventInput>): PreviewInput {
  if (isIterable(input)) return { events: input };
  if (!isObject(input) || Object.keys(input).some((key) => key !== "usage" && key !== "events")) throw NO_EVENTS();
  const { usage, events } = input;
  if (events !== undefined && !isIterable(events)) throw NO_EVENTS();
  if (usage === undefined || isIterable(usage)) return input;
  throw invalidOptionError("usage", "usage: expected a list or another iterable of rows");
}

const NO_EVENTS = (): Error => invalidOptionError("events", "events: expected a list or another iterable of events");

/** The options of a preview besides its range. */
interface CheckedOptions {
  readonly accounts?: unknown;
  readonly plan?: { readonly pricePlanDetails: unknown } | undefined;
  readonly ids?: { readonly admit: unknown } | false | undefined;
}

/** @throws {RatebookError} ERR_OPTION_INVALID for invalid options, in particular a plan that was not read */
export function checkOptions(options: CheckedOptions): void {
  if (!isObject(options)) throw invalidOptionError("options", "options: expected an object");
  const { accounts, plan, ids } = options;
  if (accounts !== undefined && !Array.isArray(accounts))
    throw invalidOptionError("accounts", "accounts: expected a list of ids");
  if (plan !== undefined && !hasLists(plan.pricePlanDetails, PLAN_LISTS)) {
    throw invalidOptionError("plan", "plan: expected a price plan from checkPlan or readBook");
  }
  if (ids !== undefined && ids !== false && typeof ids.admit !== "function") {
    throw invalidOptionError("ids", "ids: expected false or an object with has() and admit()");
  }
}

const PLAN_LISTS = ["usageRateCards", "fixedFeeRateCards", "licenseRateCards"];

function hasLists(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => Array.isArray(Reflect.get(value, name)));
}

function isIterable(value: unknown): value is Iterable<EventInput> {
  return isObject(value) && Symbol.iterator in value;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Half open. */
export interface PreviewRange {
  readonly from: Instant;
  readonly until: Instant;
}

/** The requested range. */
export interface RangeOptions {
  /** Shows the cycles that contain this instant. Excludes `from` and `until`. */
  readonly at?: Instant | string | Date | undefined;
  /** Shows the cycles that touch `[from, until)`; default from the first event to the last. */
  readonly from?: Instant | string | Date | undefined;
  readonly until?: Instant | string | Date | undefined;
}

/** An event, or a day of usage, at one end of the span. */
export interface SpanEnd {
  /** As in `event "e-1"`. */
  readonly name: string;
  readonly timestamp: Instant;
}

/** The time span of the accepted events and the days of usage. */
export interface EventSpan {
  readonly first: SpanEnd;
  /** The last event, inclusive. */
  readonly last: SpanEnd;
}

/** Ten years with the most leap days they may have. A longer span means that an event has a wrong date. */
const SPAN_MAX_MS = 3653 * DAY_MS;

/**
 * The requested range; undefined for that of the events.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for conflicting options, or a range that ends before it begins or after
 * 9999-01-01; ERR_DATE_INVALID for an invalid date
 */
export function toPreviewRange({ at, from, until }: RangeOptions): PreviewRange | undefined {
  if (at !== undefined) {
    if (from !== undefined || until !== undefined)
      throw invalidOptionError("at", "use either `at`, or `from` and `until`");
    const instant = toInstant(at);
    if (instant >= NO_END) throw tooLateError("at", instant);
    return { from: instant, until: instant + 1 };
  }
  if (from === undefined && until === undefined) return undefined;
  if (from === undefined || until === undefined)
    throw invalidOptionError("until", "`from` and `until` must be given together");
  const range = { from: toInstant(from), until: toInstant(until) };
  if (range.from >= range.until) {
    const [start, end] = [formatDate(range.from), formatDate(range.until)];
    throw invalidOptionError("until", `\`until\` (${end}) must be later than \`from\` (${start})`);
  }
  if (range.until > NO_END) throw tooLateError("until", range.until);
  return range;
}

/**
 * The range from the first event to the last.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID if that is more than ten years, naming both events: a single wrong date
 * would give thousands of cycles
 */
export function computeEventRange({ first, last }: EventSpan): PreviewRange {
  const range = { from: first.timestamp, until: last.timestamp + 1 };
  if (range.until - range.from <= SPAN_MAX_MS) return range;
  const [begin, end] = [first, last].map(({ name, timestamp }) => `${formatInstant(timestamp)} (${name})`);
  const reason = `the events span more than ten years, from ${begin} to ${end}`;
  const message = `${reason}; if both dates are right, set \`at\`, or \`from\` and \`until\``;
  throw new RatebookError("ERR_OPTION_INVALID", message, { option: "from", reason });
}

/** The error for an option of a preview. */
export function invalidOptionError(option: string, message: string): RatebookError<"ERR_OPTION_INVALID"> {
  return new RatebookError("ERR_OPTION_INVALID", message, { option });
}

function tooLateError(option: "at" | "until", instant: Instant): RatebookError<"ERR_OPTION_INVALID"> {
  const bound = option === "at" ? "an instant before" : "a date up to";
  const message = `\`${option}\`: expected ${bound} 9999-01-01, which stands for no end, got ${formatDate(instant)}`;
  return invalidOptionError(option, message);
}

/** Accounts by whether a draft can be applied to them. */
export interface DraftAccounts {
  readonly supported: readonly Account[];
  /** Accounts that the draft cannot be associated with. */
  readonly leftOut: readonly Account[];
}

/**
 * The accounts to which a draft can be applied (S7.7, S16.1). If all accounts of a book are shown, those in a currency
 * that the draft does not support are left out; a requested account must have a supported one.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID if the draft supports none of the accounts, or not a requested one
 */
export function selectDraftAccounts(
  accounts: readonly Account[],
  plan: PricePlan | undefined,
  { areRequested }: { readonly areRequested: boolean },
): DraftAccounts {
  if (plan === undefined) return { supported: accounts, leftOut: [] };
  const { pricingCycleConfig, supportedCurrencies } = plan.pricePlanDetails;
  if (!pricingCycleConfig)
    throw invalidOptionError("plan", "the plan has no pricingCycleConfig, so no account can use it");
  const fits = ({ invoiceCurrency }: Account): boolean => supportedCurrencies?.includes(invoiceCurrency) ?? false;
  const [supported, leftOut] = [accounts.filter(fits), accounts.filter((account) => !fits(account))];
  if (leftOut.length > 0 && (areRequested || supported.length === 0)) {
    throw invalidOptionError("plan", `the plan ${quoteText(plan.id)} ${describeUnsupported(plan, leftOut)}`);
  }
  return { supported, leftOut };
}

/** The notices on accounts left out. */
export function describeLeftOut(leftOut: readonly Account[], plan: PricePlan | undefined): string[] {
  if (plan === undefined || leftOut.length === 0) return [];
  const accounts = leftOut.length === 1 ? "1 account is" : `${leftOut.length} accounts are`;
  return [`${accounts} left out: the plan ${describeUnsupported(plan, leftOut)}`];
}

/** Maximum number of accounts named in a sentence. */
const NAMED_MAX = 5;

/** The currencies that a plan supports, and the accounts in other ones. */
function describeUnsupported({ pricePlanDetails }: PricePlan, accounts: readonly Account[]): string {
  const supported = (pricePlanDetails.supportedCurrencies ?? []).join(", ") || "no currency";
  const named = accounts.slice(0, NAMED_MAX).map(({ id, invoiceCurrency }) => `${id} (${invoiceCurrency})`);
  const more = accounts.length > NAMED_MAX ? ` and ${accounts.length - NAMED_MAX} more` : "";
  return `supports ${supported}, not the invoice currency of ${named.join(", ")}${more}`;
}
