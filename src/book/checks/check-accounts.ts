/**
 * Checks accounts: aliases, groups, ids of credits, dates, and plans and licenses over time (S7.7, S10.1, S11, S12, S16).
 */
import { formatInstant, type Instant, formatDate, startOfUtcDay } from "../../calendar/instant.ts";
import { add, type Decimal, formatDecimal, ZERO } from "../../numbers/decimal.ts";
import { joinQuoted } from "../../problem-table.ts";
import { checkUnique, hasNoHoles, type Path, formatPath, type Report, quoteValue } from "../problems.ts";
import {
  type Account,
  type Credit,
  type FeatureCredit,
  type PlanAssociation,
  type DecidedAssociation,
  sortByDecision,
} from "../resources/account.ts";
import type { Book, BookDocument } from "../resources/book.ts";
import { applyOverride, type PricePlan, type PricePlanDetails } from "../resources/price-plan.ts";
import { type CardContext, checkCards } from "./check-plans.ts";
import { checkTableChanges } from "./check-rate-table.ts";

/** Reports problems of the accounts and invoice groups. */
export function checkAccounts(book: Book, document: BookDocument, context: AssociationContext, report: Report): void {
  checkAliases(document, report);
  checkGroups(book, report);
  checkHoldingIds(book, document, report);
  book.accounts.forEach((account, index) => {
    const path: Path = ["accounts", index];
    checkAssociations(account, context, path, report);
    checkPeriods(account.credits, "credits", path, report);
    checkPeriods(account.featureCredits, "featureCredits", path, report);
  });
}

/** An alias names one active account, and is not an account's id (S16.6). */
function checkAliases(document: BookDocument, report: Report): void {
  const ids = new Set<string>();
  document.accounts.forEach(({ id }) => ids.add(id));
  const accountIdsByAlias = new Map<string, string>();
  document.accounts.forEach((account, index) => {
    if (account.status === "ARCHIVED") return;
    account.aliases.forEach((entry, position) => {
      if (typeof entry !== "string" && entry.status === "ARCHIVED") return;
      const alias = typeof entry === "string" ? entry : entry.alias;
      const path = (): Path => ["accounts", index, "aliases", position];
      const otherAccountId = accountIdsByAlias.get(alias);
      if (ids.has(alias)) report(path(), "ALIAS_IS_ACCOUNT_ID", { alias });
      else if (otherAccountId !== undefined) {
        report(path(), "NOT_UNIQUE", { what: "alias", other: `the account ${quoteValue(otherAccountId)}` });
      } else accountIdsByAlias.set(alias, account.id);
    });
  });
}

/** An account is in at most one group, and a group's accounts have one currency (S16.7). */
function checkGroups(book: Book, report: Report): void {
  if (book.invoiceGroups.length === 0) return;
  const accounts = new Map<string, Account>();
  book.accounts.forEach((account) => accounts.set(account.id, account));
  const memberships = new Map<string, readonly [group: number, position: number]>();
  book.invoiceGroups.forEach((group, index) => {
    let currency = group.invoiceCurrency ?? undefined;
    group.accountIds.forEach((id, position) => {
      const firstMembership = memberships.get(id);
      if (firstMembership === undefined) memberships.set(id, [index, position]);
      else {
        const other = formatPath(toMemberPath(...firstMembership));
        report(toMemberPath(index, position), "IN_ANOTHER_GROUP", { id, other });
      }
      const account = accounts.get(id);
      if (account === undefined) return;
      currency ??= account.invoiceCurrency;
      if (account.invoiceCurrency === currency) return;
      const params = { id, expected: currency, currency: account.invoiceCurrency };
      report(toMemberPath(index, position), "WRONG_CURRENCY", params);
    });
  });
}

type Holding = Pick<Credit | FeatureCredit, "id" | "effectiveFrom" | "effectiveUntil">;

/** Credits, and feature credits, have unique ids in the book. A generated id can only collide with an explicit one. */
function checkHoldingIds(book: Book, document: BookDocument, report: Report): void {
  for (const list of ["credits", "featureCredits"] as const) {
    const hasIds = document.accounts.some((account) => account[list].some((holding) => (holding?.id ?? null) !== null));
    if (!hasIds) continue;
    const firstPaths = new Map<string, Path>();
    book.accounts.forEach((account, index) => {
      const holdings: readonly Holding[] = account[list];
      holdings.forEach(({ id }, position) => {
        const path: Path = ["accounts", index, list, position];
        const firstPath = firstPaths.get(id);
        if (firstPath === undefined) firstPaths.set(id, path);
        else report([...path, "id"], "NOT_UNIQUE", { what: "id", other: formatPath(firstPath) });
      });
    });
  }
}

function toMemberPath(group: number, position: number): Path {
  return ["invoiceGroups", group, "accountIds", position];
}

function checkPeriods(holdings: readonly Holding[], list: string, path: Path, report: Report): void {
  holdings.forEach(({ effectiveFrom, effectiveUntil }, index) => {
    if (effectiveUntil === undefined || effectiveUntil === null || effectiveUntil > effectiveFrom) return;
    const [start, got] = [formatInstant(effectiveFrom), formatInstant(effectiveUntil)];
    report([...path, list, index, "effectiveUntil"], "ENDS_BEFORE_START", { start, got });
  });
}

/** The context for checking associations. */
export interface AssociationContext extends Pick<CardContext, "usageMeters" | "addOns"> {
  /** A plan version; undefined if it is unknown or unreadable. */
  readonly findPlan: (association: Pick<PlanAssociation, "pricePlanId" | "version">) => PricePlan | undefined;
  /** Whether all of a plan could be read, so that what it lacks is really absent. */
  readonly isComplete: (plan: PricePlan) => boolean;
}

/** Reports problems of an account's associations and license updates. */
export function checkAssociations(account: Account, context: AssociationContext, path: Path, report: Report): void {
  let before: Pick<DecidedAssociation, "index" | "decidedAt"> | undefined;
  const sortedAssociations = sortByDecision(account.pricePlans);
  // If the decidedAt are out of order, the first association is unknown: only the order is reported.
  const firstIndex = isInDecidedOrder(account.pricePlans) ? sortedAssociations[0]?.index : 0;
  account.pricePlans.forEach((association, index) => {
    const associationPath = (): Path => [...path, "pricePlans", index];
    checkDates(association, { isFirst: index === firstIndex, before }, associationPath, report);
    if (typeof association.decidedAt === "number") before = { index, decidedAt: association.decidedAt };
    const plan = context.findPlan(association);
    const override = association.pricePlanDetailsOverride;
    const overridePath = (): Path => [...associationPath(), "pricePlanDetailsOverride"];
    if (override) {
      const currencies = [account.invoiceCurrency];
      checkCards(override, { ...context, currencies, inUse: true }, overridePath(), report);
    }
    if (plan === undefined || !context.isComplete(plan)) return;
    if (override) checkTableChanges(plan.pricePlanDetails, override, overridePath(), report);
    const details = applyOverride(plan.pricePlanDetails, override);
    const reason = describeAssociationProblem(details, account.invoiceCurrency);
    if (reason !== undefined)
      report([...associationPath(), "pricePlanId"], "NOT_ASSOCIABLE", { plan: plan.id, version: plan.version, reason });
    if (association.retainStartOffsets === true)
      checkRetainedOffsets(association, sortedAssociations, context, associationPath(), report);
  });
  checkLicenses(account, { ...context, sortedAssociations }, path, report);
}

/**
 * Why a plan cannot be associated with an account with a currency; undefined if it can (S7.7, S16.1).
 *
 * @param details including the association's override
 */
export function describeAssociationProblem(details: PricePlanDetails, currency: string): string | undefined {
  if (!details.pricingCycleConfig) return "has no pricingCycleConfig";
  const currencies = details.supportedCurrencies ?? [];
  if (currencies.length === 0) return "has no supportedCurrencies";
  // A currency that could not be read may be the required one.
  if (!hasNoHoles(currencies) || currencies.includes(currency)) return undefined;
  return `supports ${joinQuoted(currencies, "or")}, not ${quoteValue(currency)}, the account's invoiceCurrency`;
}

function isInDecidedOrder(associations: readonly PlanAssociation[]): boolean {
  const decidedInstants = associations.flatMap(({ decidedAt }) => decidedAt ?? []);
  return decidedInstants.every((decidedAt, index) => decidedAt >= (decidedInstants[index - 1] ?? decidedAt));
}

/** @param before the index and decision of the last association above that has a decidedAt */
function checkDates(
  { effectiveFrom, effectiveUntil, decidedAt }: PlanAssociation,
  { isFirst, before }: { isFirst: boolean; before: Pick<DecidedAssociation, "index" | "decidedAt"> | undefined },
  path: () => Path,
  report: Report,
): void {
  if (effectiveUntil !== undefined && effectiveUntil !== null && effectiveUntil <= effectiveFrom) {
    const [start, got] = [formatDate(effectiveFrom), formatDate(effectiveUntil)];
    report([...path(), "effectiveUntil"], "ENDS_BEFORE_START", { start, got });
  }
  if (decidedAt === undefined || decidedAt === null) return;
  if (before !== undefined && decidedAt < before.decidedAt) {
    const params = { got: formatInstant(decidedAt), before: formatInstant(before.decidedAt), index: before.index };
    report([...path(), "decidedAt"], "DECISIONS_OUT_OF_ORDER", params);
  }
  if (!isFirst && effectiveFrom < startOfUtcDay(decidedAt)) {
    const [earliest, got] = [formatDate(decidedAt), formatDate(effectiveFrom)];
    report([...path(), "effectiveFrom"], "BACKDATED", { earliest, got });
  }
}

/** Rules 1 and 2 of a migration: offsets can be retained only from an existing plan with cycles of the same length. */
function checkRetainedOffsets(
  association: PlanAssociation,
  sortedAssociations: readonly DecidedAssociation[],
  context: AssociationContext,
  path: Path,
  report: Report,
): void {
  const place: Path = [...path, "retainStartOffsets"];
  const ownIndex = sortedAssociations.findIndex((entry) => entry.association === association);
  const before = findAssociationAt(sortedAssociations.slice(0, ownIndex), association.effectiveFrom);
  if (before === undefined) {
    report(place, "NO_OFFSETS_TO_RETAIN", { date: formatDate(association.effectiveFrom) });
    return;
  }
  const [newInterval, oldInterval] = [findInterval(association, context), findInterval(before, context)];
  if (newInterval === undefined || oldInterval === undefined || newInterval === oldInterval) return;
  report(place, "INTERVAL_CHANGES", { before: oldInterval, now: newInterval });
}

function findInterval(association: PlanAssociation, context: AssociationContext): string | undefined {
  const config =
    association.pricePlanDetailsOverride?.pricingCycleConfig ??
    context.findPlan(association)?.pricePlanDetails.pricingCycleConfig;
  return config?.interval;
}

/** The association in force at an instant: of those that cover it, the last decision (S16.1). */
function findAssociationAt(
  sortedAssociations: readonly DecidedAssociation[],
  at: Instant,
): PlanAssociation | undefined {
  return sortedAssociations.findLast(
    ({ association: { effectiveFrom, effectiveUntil } }) =>
      effectiveFrom <= at && at < (effectiveUntil ?? Number.POSITIVE_INFINITY),
  )?.association;
}

/** A license's quantity is always from 0 to the maxQuantity of the plan in force (S10.1). */
function checkLicenses(
  account: Account,
  context: AssociationContext & { readonly sortedAssociations: readonly DecidedAssociation[] },
  path: Path,
  report: Report,
): void {
  if (account.licenseUpdates.length === 0) return;
  const updatesPath: Path = [...path, "licenseUpdates"];
  checkUnique(account.licenseUpdates, { path: updatesPath, field: "idempotencyKey" }, report);
  const quantities = new Map<string, Decimal>();
  const sortedUpdates = account.licenseUpdates
    .flatMap((update, index) => [{ ...update, index }])
    .sort((a, b) => a.effectiveFrom - b.effectiveFrom || a.index - b.index);
  for (const { licenseId, updateType, quantity, effectiveFrom, index } of sortedUpdates) {
    const addOn = context.addOns.get(licenseId);
    if (addOn !== undefined && addOn.type !== "LICENSE") {
      const params = { id: licenseId, expected: "LICENSE", got: addOn.type };
      report([...updatesPath, index, "licenseId"], "WRONG_ADD_ON_TYPE", params);
      continue;
    }
    const newQuantity = updateType === "ABSOLUTE" ? quantity : add(quantities.get(licenseId) ?? ZERO, quantity);
    quantities.set(licenseId, newQuantity);
    const association = findAssociationAt(context.sortedAssociations, effectiveFrom);
    const maxQuantity = findMaxQuantity(licenseId, association, context);
    if (!newQuantity.isNegative() && (maxQuantity === undefined || newQuantity.lte(maxQuantity))) continue;
    const bounds = { minimum: 0, unit: "license", ...(maxQuantity && { maximum: formatDecimal(maxQuantity) }) };
    report([...updatesPath, index, "quantity"], "OUT_OF_BOUNDS", { ...bounds, got: formatDecimal(newQuantity) });
  }
}

function findMaxQuantity(
  licenseId: string,
  association: PlanAssociation | undefined,
  context: AssociationContext,
): Decimal | undefined {
  const plan = association && context.findPlan(association);
  if (association === undefined || plan === undefined) return undefined;
  const override = association.pricePlanDetailsOverride?.licenseRateCards ?? [];
  const isForLicense = (card: { readonly id: string }): boolean => card?.id === licenseId;
  const card = override.find(isForLicense) ?? plan.pricePlanDetails.licenseRateCards.find(isForLicense);
  return card?.config?.maxQuantity ?? undefined;
}
