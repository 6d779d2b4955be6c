/**
 * Checks a preview's arguments, for callers without types.
 *
 * @module
 */
import type { EventInput } from "../../metering/event-envelope.ts";
import type { UsageRowInput } from "../../metering/usage-row.ts";
import { invalidOptionError } from "./preview-range.ts";

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
