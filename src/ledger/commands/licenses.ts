/** Changes license quantities (S10.1). */
import type { Frozen } from "../../book/resources/fields.ts";
import type { RequestOutput } from "../../book/resources/requests.ts";
import { formatInstant, type Instant } from "../../calendar/instant.ts";
import { closesAt, cycleAt, cyclesIn, NO_END, type Timeline } from "../../invoicing/timeline.ts";
import { type Decimal, formatDecimal } from "../../numbers/decimal.ts";
import { describeStatus, quoteText } from "../../problem-table.ts";
import { createQuantityLookup, quantityAt } from "../../rating/license-timeline.ts";
import type { AccountState } from "../account-state.ts";
import { decisionInstant, findGraceTerms, findAccountPlan } from "../account/account-plan.ts";
import { catchUp } from "../account/catch-up.ts";
import { saveWithDraftIndex } from "../account/invoices.ts";
import { lastInvoicedEnd } from "../account/open-cycles.ts";
import { findByIdempotencyKey } from "../account/record-ids.ts";
import type { Catalog } from "../catalog.ts";
import type { IdSource } from "../decision.ts";
import type { LicenseUpdateRecord } from "../records.ts";
import { notFoundError, refusedError, requireUnusedId, requireActive } from "../refusals.ts";

/** Maximum number of updates per license that take effect in one cycle; each new one reads all of them. */
export const LICENSE_UPDATES_MAX = 1000;

/** A change of the quantity of a license, which takes effect when it arrives if it says no other time. */
export type LicenseUpdateRequest = Frozen<RequestOutput<"licenseUpdate">>;

/** An update and the resulting quantity. */
export interface LicenseUpdateResult {
  readonly update: LicenseUpdateRecord;
  /** In effect right after the update. */
  readonly quantity: Decimal;
}

/**
 * Changes the quantity of a license. Updates apply by effectiveFrom, then arrival (S10.1). A repeated request with the
 * same idempotencyKey returns the first answer. What falls due because of it is left to the next catch-up.
 *
 * @param account with everything that {@link catchUp} needs
 * @throws {RatebookError} ERR_NOT_FOUND for a license, ERR_TAKEN for a key used for another update or another kind of
 * record, ERR_REFUSED if a quantity would leave its bounds or the update is in a closed cycle
 */
export function updateLicense(
  catalog: Catalog,
  account: AccountState,
  request: LicenseUpdateRequest,
  now: Instant,
  ids: IdSource,
): LicenseUpdateResult {
  catchUp(catalog, account, now);
  const before = account.record.licenseUpdates;
  const repeated = findByIdempotencyKey(account, "license update", request.idempotencyKey, (update) =>
    isSameUpdate(update, request),
  );
  if (repeated !== undefined) {
    // Updates are in order of arrival: those up to this one give the first answer again.
    return { update: repeated, quantity: quantityAfter(before.slice(0, before.indexOf(repeated) + 1), repeated) };
  }
  const update = createUpdateRecord(account, request, now, ids);
  const hasLicense = before.some(({ licenseId }) => licenseId === request.licenseId);
  checkLicense(catalog, account, request.licenseId, hasLicense);
  checkOpen(catalog, account, update.effectiveFrom, now);
  const updates = [...before, update];
  const { timeline } = findAccountPlan(catalog, account.record);
  checkCount(timeline, updates, update);
  checkBounds(timeline, before, updates, update);
  saveWithDraftIndex(catalog, account, {
    ...account.record,
    licenseUpdates: updates,
    nextDueAt: Math.min(account.record.nextDueAt, now),
    updatedAt: now,
  });
  return { update, quantity: quantityAfter(updates, update) };
}

function createUpdateRecord(
  account: AccountState,
  request: LicenseUpdateRequest,
  now: Instant,
  ids: IdSource,
): LicenseUpdateRecord {
  const { licenseId, updateType, quantity, effectiveFrom, idempotencyKey } = request;
  return {
    id: requireUnusedId("license update", account.record.licenseUpdates, ids("lu")),
    licenseId,
    updateType,
    quantity,
    effectiveFrom: effectiveFrom ?? now,
    ...(typeof effectiveFrom === "number" ? {} : { fromArrival: true as const }),
    createdAt: decisionInstant(account.record, now),
    ...(idempotencyKey ? { idempotencyKey } : {}),
  };
}

function isSameUpdate(update: LicenseUpdateRecord, request: LicenseUpdateRequest): boolean {
  return (
    update.licenseId === request.licenseId &&
    update.updateType === request.updateType &&
    update.quantity.eq(request.quantity) &&
    (update.fromArrival === true ? undefined : update.effectiveFrom) === (request.effectiveFrom ?? undefined)
  );
}

/** Checks that the license exists. An archived one can be changed by accounts that have it, because they are charged for it. */
function checkLicense(catalog: Catalog, { record }: AccountState, licenseId: string, hasLicense: boolean): void {
  requireActive(record);
  const addOn = catalog.book.addOns.find(({ id }) => id === licenseId);
  if (addOn === undefined) throw notFoundError("license", licenseId);
  if (addOn.type === "LICENSE" && (addOn.status === "ACTIVE" || hasLicense)) return;
  const actual = addOn.type === "LICENSE" ? describeStatus(addOn.status) : `of type ${addOn.type}, not LICENSE`;
  throw refusedError("S10.1", `the add-on ${quoteText(licenseId)} is ${actual}`);
}

/** Refuses a change that would affect a final invoice (S6.5, S10.1). */
function checkOpen(catalog: Catalog, account: AccountState, effectiveFrom: Instant, now: Instant): void {
  const terms = findGraceTerms(catalog, account.record);
  const { timeline } = findAccountPlan(catalog, account.record);
  // If the clock was set back, cycles closed by a later time stay closed.
  const latest = Math.max(now, account.record.caughtUpTo);
  const closedCycles = cyclesIn(timeline, effectiveFrom, Math.max(effectiveFrom, latest)).filter(
    (cycle) => closesAt(cycle, terms) <= latest,
  );
  const until = Math.max(lastInvoicedEnd(account), ...closedCycles.map(({ end }) => end));
  if (effectiveFrom >= until) return;
  const sentence = `${formatInstant(effectiveFrom)} is before ${formatInstant(until)}; the billing periods before it are closed`;
  throw refusedError("S10.1", `the update cannot take effect: ${sentence}`);
}

/** Refuses an update if the license has too many in its cycle; without a plan all of its updates count. */
function checkCount(timeline: Timeline, updates: readonly LicenseUpdateRecord[], update: LicenseUpdateRecord): void {
  const { licenseId, effectiveFrom } = update;
  const { start, end } = cycleAt(timeline, effectiveFrom) ?? { start: Number.NEGATIVE_INFINITY, end: NO_END };
  const updatesInCycle = updates.filter(
    (each) => each.licenseId === licenseId && each.effectiveFrom >= start && each.effectiveFrom < end,
  );
  if (updatesInCycle.length <= LICENSE_UPDATES_MAX) return;
  const cycleText = Number.isFinite(start) ? ` in the cycle from ${formatInstant(start)}` : "";
  throw refusedError(
    "S10.1",
    `the license ${quoteText(licenseId)} was updated ${LICENSE_UPDATES_MAX} times${cycleText}; that is the maximum`,
  );
}

/** Wherever the update changes the quantity, it must be from 0 to the maxQuantity of the plan in force (S10.1). */
function checkBounds(
  timeline: Timeline,
  before: readonly LicenseUpdateRecord[],
  updates: readonly LicenseUpdateRecord[],
  update: LicenseUpdateRecord,
): void {
  const { licenseId, effectiveFrom } = update;
  const ofLicense = (all: readonly LicenseUpdateRecord[]): readonly LicenseUpdateRecord[] =>
    all.filter((each) => each.licenseId === licenseId);
  const quantityBefore = createQuantityLookup(ofLicense(before));
  const quantityNow = createQuantityLookup(ofLicense(updates));
  const steps = [...ofLicense(updates), ...timeline.map(({ from }) => ({ effectiveFrom: from }))];
  for (const at of steps.map((step) => step.effectiveFrom).sort((a, b) => a - b)) {
    if (at < effectiveFrom) continue;
    const quantity = quantityNow(at);
    if (quantity.eq(quantityBefore(at)) && at !== effectiveFrom) continue;
    const maximum = maxQuantityAt(timeline, licenseId, at);
    if (!quantity.isNegative() && (maximum === undefined || quantity.lte(maximum))) continue;
    const bounds = maximum === undefined ? "0 or more" : `from 0 to ${formatDecimal(maximum)}`;
    const sentence = `the account would have ${formatDecimal(quantity)} of ${quoteText(licenseId)} from ${formatInstant(at)} on`;
    throw refusedError("S10.1", `${sentence}; the quantity must be ${bounds}`);
  }
}

function maxQuantityAt(timeline: Timeline, licenseId: string, at: Instant): Decimal | undefined {
  const cards = cycleAt(timeline, at)?.term.plan.details.licenseRateCards ?? [];
  return cards.find(({ id }) => id === licenseId)?.config?.maxQuantity ?? undefined;
}

function quantityAfter(
  updates: readonly LicenseUpdateRecord[],
  { licenseId, effectiveFrom }: LicenseUpdateRecord,
): Decimal {
  return quantityAt(
    updates.filter((each) => each.licenseId === licenseId),
    effectiveFrom,
  );
}
