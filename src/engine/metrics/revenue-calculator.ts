/** The charges of a draft or existing plan for a cycle with given quantities (S13.5). */
import { resolvePriceableDetails } from "../../book/book.ts";
import { formatPath } from "../../book/problems.ts";
import { readInput } from "../../book/reading/read-request.ts";
import { NO_GROUP } from "../../book/resources/event-schema.ts";
import type { PricePlan, PricePlanDetails } from "../../book/resources/price-plan.ts";
import { type RevenueRequest, revenueRequest, type RevenueRequestInput } from "../../book/resources/revenue-request.ts";
import { type Cycle, type CycleConfig, resolveCycleConfig } from "../../calendar/cycle.ts";
import { dayOf, formatDate, formatInstant, type Instant, INSTANT_MIN } from "../../calendar/instant.ts";
import { inputError, invariant } from "../../errors.ts";
import { type LicenseChange, type AccountCycle, cycleAt, cyclesIn, NO_END } from "../../invoicing/timeline.ts";
import { findAccountPlan } from "../../ledger/account/account-plan.ts";
import type { Catalog } from "../../ledger/catalog.ts";
import { calculateRevenue, type CalculatedRevenue, findChargedCycle } from "../../ledger/metrics/revenue-calculator.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import { invalidInputError } from "../../ledger/refusals.ts";
import { aggregateGroups, readsFrom } from "../../metering/keyed-usage.ts";
import { type Decimal, formatDecimal, sum } from "../../numbers/decimal.ts";
import { groupBy } from "../../numbers/ids.ts";
import { quoteText, createProblem } from "../../problem-table.ts";
import { checkTimeline } from "../../rating/license-timeline.ts";
import { createYielder, runWithPauses } from "../../store/yielder.ts";
import { readUsage } from "../external-usage.ts";
import type { EngineContext } from "../methods.ts";

/** The charges of a plan, and the plan. */
export interface RevenueAnswer extends CalculatedRevenue {
  /** Absent for a plan given in the request. */
  readonly pricePlanId?: string;
  readonly pricePlanVersion?: number;
  /** The priced plan details, with references as ids. */
  readonly details: PricePlanDetails;
  /** Units by meter, from the request or the looked-up cycle. */
  readonly usage: ReadonlyMap<string, Decimal>;
}

/** The state for a calculation. */
interface CalculationInput {
  readonly context: EngineContext;
  readonly catalog: Catalog;
  readonly request: RevenueRequest;
  readonly accounts: ReadonlyMap<string, AccountRecord>;
  readonly now: Instant;
}

/** A plan before it is checked with the currency. */
interface RequestedPlan {
  readonly planId: string;
  readonly version: number;
  readonly details: PricePlanDetails;
  /** The account's; absent if derived from the cycle's date. */
  readonly cycleConfig?: CycleConfig;
  readonly cycleNumber: number;
  readonly currency: string;
}

/** @throws {RatebookError} ERR_INPUT_INVALID with the paths of what is malformed, unknown or cannot be priced */
export async function calculatePlanRevenue(context: EngineContext, input: RevenueRequestInput): Promise<RevenueAnswer> {
  const request = readInput(revenueRequest, input);
  // Read accounts first: plans are never deleted, so every later configuration has those of the accounts.
  const accounts = await readReferencedAccounts(context, request);
  const { catalog } = await context.configuration(context.store.read);
  const yieldToOthers = createYielder();
  const calculation: CalculationInput = { context, catalog, request, accounts, now: context.clock() };
  const usageCycle = findUsageCycle(calculation);
  const at = request.cycleConfig?.date ?? usageCycle?.start ?? calculation.now;
  const requestedPlan = findPlan(calculation, at);
  const currency = requestedCurrency(calculation) ?? requestedPlan.currency;
  const details = resolvePriceableDetails(requestedPlan.details, currency, catalog.book);
  const cycleConfig = requestedPlan.cycleConfig ?? resolveCycle(details.pricingCycleConfig, at);
  const cycleNumber = request.cycleConfig?.cycleNumber ?? requestedPlan.cycleNumber;
  const cycle = findChargedCycle(cycleConfig, at, cycleNumber);
  if (cycle.planStart < INSTANT_MIN || cycle.end > NO_END) {
    throw invalidInputError("cycleConfig", "DATE_NOT_ALLOWED", "expected a cycle within the years 0000 to 9998");
  }
  const { planId, version } = requestedPlan;
  const plan = { planId, version, details, cycleConfig, gracePeriodDays: 0 };
  const usage = await resolveUsage(calculation, usageCycle);
  const overage = resolveOverage(calculation);
  const licenseChanges = resolveLicenseChanges(calculation, details, cycle);
  await yieldToOthers();
  const { explain } = request;
  const revenueCase = { plan, currency, cycle, usage, overage, licenseChanges, explain: explain ?? false };
  const revenue = await runWithPauses(calculateRevenue(catalog.billing, revenueCase), yieldToOthers);
  const answer = { ...revenue, details, usage };
  return planId === "" ? answer : { ...answer, pricePlanId: planId, pricePlanVersion: version };
}

/** The requested currency, or that of the requested account. */
function requestedCurrency({ request, accounts }: CalculationInput): string | undefined {
  const { currency, accountId } = request.currencyConfig ?? {};
  return currency ?? (accountId ? accounts.get(accountId)?.invoiceCurrency : undefined);
}

async function readReferencedAccounts(
  { store }: EngineContext,
  { pricePlanDetailsConfig: plan, usageConfig: usage, currencyConfig }: RevenueRequest,
): Promise<ReadonlyMap<string, AccountRecord>> {
  const accountIds = [
    ...(plan.mode === "ACCOUNT" ? [["pricePlanDetailsConfig.accountId", plan.accountId] as const] : []),
    ...(currencyConfig?.accountId ? [["currencyConfig.accountId", currencyConfig.accountId] as const] : []),
    ...(usage?.mode === "LOOKUP_CYCLE" && usage.accountId ? [["usageConfig.accountId", usage.accountId] as const] : []),
  ];
  const records = await store.read.accounts([...new Set(accountIds.map(([, id]) => id))]);
  const accounts = new Map(records.map((record) => [record.id, record]));
  const missing = accountIds.find(([, id]) => !accounts.has(id));
  if (missing !== undefined)
    throw invalidInputError(missing[0], "UNKNOWN_ID", `expected the id of an account, got ${quoteText(missing[1])}`);
  return accounts;
}

/** The cycle whose usage is looked up; undefined if the request has quantities. */
function findUsageCycle({ catalog, request, accounts, now }: CalculationInput): AccountCycle | undefined {
  const usage = request.usageConfig;
  if (usage?.mode !== "LOOKUP_CYCLE") return undefined;
  const record = accounts.get(requireLookupAccount(request));
  invariant(record !== undefined, "the account was read");
  const { cycle: relativeCycle, date } = usage;
  if (relativeCycle && date !== undefined && date !== null)
    throw invalidInputError("usageConfig.date", "NOT_SUPPORTED", "expected either cycle or date, not both");
  const { timeline } = findAccountPlan(catalog, record);
  if (relativeCycle === "LAST") {
    const lastCycle = cyclesIn(timeline, timeline[0]?.from ?? now, now).findLast(({ end }) => end <= now);
    if (lastCycle !== undefined) return lastCycle;
    const message = `use CURRENT: no pricing cycle of the account ${quoteText(record.id)} has ended`;
    throw invalidInputError("usageConfig.cycle", "DATE_NOT_ALLOWED", message);
  }
  const at = date ?? now;
  const cycle = cycleAt(timeline, at);
  if (cycle !== undefined) return cycle;
  const field = date === undefined || date === null ? "usageConfig.cycle" : "usageConfig.date";
  const expected = `expected a time at which the account ${quoteText(record.id)} has a price plan`;
  throw invalidInputError(field, "DATE_NOT_ALLOWED", `${expected}, not ${formatDate(at)}`);
}

function requireLookupAccount({ usageConfig: usage, pricePlanDetailsConfig: plan }: RevenueRequest): string {
  if (usage?.mode === "LOOKUP_CYCLE" && usage.accountId) return usage.accountId;
  if (plan.mode === "ACCOUNT") return plan.accountId;
  const expected = "the id of the account whose usage is used";
  throw inputError([createProblem("$.usageConfig.accountId", "MISSING", { expected })]);
}

function findPlan(calculation: CalculationInput, at: Instant): RequestedPlan {
  const { baseCurrency } = calculation.catalog.book.organization;
  const config = calculation.request.pricePlanDetailsConfig;
  switch (config.mode) {
    case "CUSTOM":
      return toRequestedPlan({ id: "", version: 1, pricePlanDetails: config.pricePlanDetails }, baseCurrency);
    case "PRICE_PLAN": {
      const plan = requireStoredPlan(calculation.catalog, config.pricePlanId, config.pricePlanVersion);
      return toRequestedPlan(plan, baseCurrency);
    }
    case "ACCOUNT": {
      const record = calculation.accounts.get(config.accountId);
      invariant(record !== undefined, "the account was read");
      const cycle = cycleAt(findAccountPlan(calculation.catalog, record).timeline, at);
      if (cycle !== undefined) return { ...cycle.term.plan, cycleNumber: cycle.n, currency: record.invoiceCurrency };
      const message = `no price plan is in force on ${formatDate(at)} for the account ${quoteText(record.id)}`;
      throw invalidInputError("pricePlanDetailsConfig.accountId", "NOT_SUPPORTED", message);
    }
  }
}

/** A plan without an account, priced in the organization's currency or, if it does not support that, in its first one. */
function toRequestedPlan(
  { id, version, pricePlanDetails: details }: Pick<PricePlan, "id" | "version" | "pricePlanDetails">,
  baseCurrency: string,
): RequestedPlan {
  const supported = details.supportedCurrencies ?? [];
  const [first = baseCurrency] = supported;
  const currency = supported.includes(baseCurrency) ? baseCurrency : first;
  return { planId: id, version, details, cycleNumber: 1, currency };
}

/** A version of a plan, or the latest one. */
function requireStoredPlan(
  { book, findPlan: find }: Catalog,
  id: string,
  version: number | null | undefined,
): PricePlan {
  const versions = book.pricePlans.filter((plan) => plan.id === id).map((plan) => plan.version);
  if (versions.length === 0) {
    const message = `expected the id of a price plan, got ${quoteText(id)}`;
    throw invalidInputError("pricePlanDetailsConfig.pricePlanId", "UNKNOWN_ID", message);
  }
  const plan = find(id, version ?? Math.max(...versions));
  if (plan !== undefined) return plan;
  const message = `expected a version of ${quoteText(id)}, 1 to ${Math.max(...versions)}, got ${version}`;
  throw invalidInputError("pricePlanDetailsConfig.pricePlanVersion", "UNKNOWN_ID", message);
}

function resolveCycle(config: PricePlanDetails["pricingCycleConfig"], at: Instant): CycleConfig {
  invariant(config !== undefined && config !== null, "S16.1: a plan that can be priced has a pricingCycleConfig");
  return resolveCycleConfig(config, at);
}

/** Units by meter: as given, or what the account used in the looked-up cycle. */
async function resolveUsage(
  calculation: CalculationInput,
  cycle: AccountCycle | undefined,
): Promise<ReadonlyMap<string, Decimal>> {
  const { context, catalog, request } = calculation;
  const config = request.usageConfig;
  if (config?.mode === "CUSTOM")
    return requireKnownKeys(config.usageMap, "usageConfig.usageMap", "usage meter", catalog.billing.meters);
  const usage = new Map<string, Decimal>();
  if (cycle === undefined) return usage;
  const { store } = context;
  const { keyedMeters } = catalog.billing;
  const [from, until] = [dayOf(cycle.start), dayOf(cycle.end)];
  const cells = await readUsage(store, store.read, {
    catalog,
    records: await store.read.accounts([requireLookupAccount(request)]),
    from: Math.min(from, ...[...keyedMeters.values()].map((meter) => readsFrom(meter, from))),
    until,
    upTo: context.clock(),
  });
  for (const [meterId, ofMeter] of groupBy(cells, ({ meterOrFeatureId }) => meterOrFeatureId)) {
    const meter = keyedMeters.get(meterId);
    const stored = ofMeter.map(({ group = NO_GROUP, day, quantity }) => ({ group, day, quantity }));
    const used =
      meter === undefined
        ? stored.filter(({ day }) => day >= from)
        : aggregateGroups(meter, stored, { from, until, passedUntil: dayOf(calculation.now) });
    if (used.length > 0) usage.set(meterId, sum(used.map(({ quantity }) => quantity)));
  }
  return usage;
}

function resolveOverage({ catalog, request }: CalculationInput): ReadonlyMap<string, Decimal> {
  const overageConfig = request.entitlementOverageConfig ?? {};
  return requireKnownKeys(overageConfig, "entitlementOverageConfig", "feature", catalog.billing.features);
}

/** The changes of licenses, from 0 to the plan's maximum (S10.1). */
function resolveLicenseChanges(
  { catalog, request }: CalculationInput,
  details: PricePlanDetails,
  cycle: Cycle,
): readonly LicenseChange[] {
  const licenses = new Set(catalog.book.addOns.filter(({ type }) => type === "LICENSE").map(({ id }) => id));
  const licenseConfig = request.licenseEntriesConfig ?? {};
  const entries = requireKnownKeys(licenseConfig, "licenseEntriesConfig", "license add-on", licenses);
  return [...entries].flatMap(([licenseId, entry]) => {
    const list = Array.isArray(entry) ? entry : [{ quantity: entry }];
    const changes = list.map(({ quantity, updateType, effectiveFrom }): LicenseChange => ({
      licenseId,
      updateType: updateType ?? "ABSOLUTE",
      quantity,
      effectiveFrom: effectiveFrom ?? cycle.start,
    }));
    const path = `licenseEntriesConfig${formatKey(licenseId)}`;
    const lateIndex = changes.findIndex(({ effectiveFrom }) => effectiveFrom >= cycle.end);
    if (lateIndex >= 0) {
      const message = `expected a time before ${formatInstant(cycle.end)}, the end of the cycle`;
      throw invalidInputError(`${path}[${lateIndex}].effectiveFrom`, "DATE_NOT_ALLOWED", message);
    }
    const maximum = details.licenseRateCards.find(({ id }) => id === licenseId)?.config?.maxQuantity;
    const violation = checkTimeline(changes, maximum);
    if (violation === undefined) return changes;
    const place = Array.isArray(entry) ? `${path}[${violation.index}].quantity` : path;
    const bounds = maximum ? `0 to ${formatDecimal(maximum)}` : "0 or more";
    const message = `expected ${bounds} licenses, got ${formatDecimal(violation.quantity)}`;
    throw invalidInputError(place, "QUANTITY_NOT_ALLOWED", message);
  });
}

/** Checks that the keys of a map are known ids. */
function requireKnownKeys<Value>(
  valuesById: Readonly<Record<string, Value>>,
  path: string,
  noun: string,
  known: { has(id: string): boolean },
): ReadonlyMap<string, Value> {
  const unknown = Object.keys(valuesById).find((id) => !known.has(id));
  if (unknown === undefined) return new Map(Object.entries(valuesById));
  const message = `expected the id of a ${noun} as the key, got ${quoteText(unknown)}`;
  throw invalidInputError(`${path}${formatKey(unknown)}`, "UNKNOWN_ID", message);
}

function formatKey(key: string): string {
  return formatPath([key]).slice(1);
}
