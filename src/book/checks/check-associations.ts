/**
 * The plans and licenses of accounts over time (S7.7, S10.1, S16.1, S16.2, and rules 1 and 2 of a migration).
 *
 * @module
 */
import { formatDate, formatInstant, type Instant, dayStart } from "../../calendar/instant.ts";
import { add, type Decimal, formatDecimal, ZERO } from "../../numbers/decimal.ts";
import type { Account, PlanAssociation } from "../model/account.ts";
import type { PricePlan, PricePlanDetails } from "../model/price-plan.ts";
import type { Path, Report } from "../problems.ts";
import { detailsWithOverride } from "../resources/override.ts";
import { isWhole } from "../resources/rule-fields.ts";
import { oneOf, shown } from "../sentences.ts";
import { unique } from "./check-names.ts";
import { type CardContext, checkCards } from "./check-plans.ts";
import { type DecidedAssociation, inDecisionOrder } from "./decision-order.ts";

/** The context in which the associations of accounts are checked. */
export interface AssociationContext extends Pick<CardContext, "usageMeters" | "addOns"> {
  /** A plan's version; undefined when it is unknown or too broken to read. */
  readonly planOf: (association: Pick<PlanAssociation, "pricePlanId" | "version">) => PricePlan | undefined;
  /** Whether all of a plan could be read: what it lacks is then not there. */
  readonly isWhole: (plan: PricePlan) => boolean;
}

/** Reports what is wrong with an account's associations and license updates. */
export function checkAssociations(account: Account, context: AssociationContext, path: Path, report: Report): void {
  let decided: DecidedBefore | undefined;
  const inOrder = inDecisionOrder(account.pricePlans);
  // Where the decidedAt are out of order, which association was first is unknown: only the order is reported.
  const first = isInSaidOrder(account.pricePlans) ? inOrder[0]?.at : 0;
  account.pricePlans.forEach((association, at) => {
    const place = (): Path => [...path, "pricePlans", at];
    checkDates(association, { isFirst: at === first, decidedBefore: decided }, place, report);
    if (typeof association.decidedAt === "number") decided = { at, decidedAt: association.decidedAt };
    const plan = context.planOf(association);
    const override = association.pricePlanDetailsOverride;
    if (override) {
      const currencies = [account.invoiceCurrency];
      checkCards(override, { ...context, currencies, inUse: true }, [...place(), "pricePlanDetailsOverride"], report);
    }
    if (plan === undefined || !context.isWhole(plan)) return;
    checkTerms(detailsWithOverride(plan.pricePlanDetails, override), plan, account.invoiceCurrency, place, report);
    if (association.retainStartOffsets === true) checkRetained(association, inOrder, context, place(), report);
  });
  checkLicenses(account, { ...context, inOrder }, path, report);
}

/**
 * Why a plan cannot be associated with an account that is invoiced in a currency; undefined when it can (S7.7, S16.1).
 *
 * @param details with the association's override
 */
export function associationProblem(details: PricePlanDetails, currency: string): string | undefined {
  if (!details.pricingCycleConfig) return "has no pricingCycleConfig";
  const supported = details.supportedCurrencies ?? [];
  if (supported.length === 0) return "has no supportedCurrencies";
  // A currency that could not be read may be the one that is wanted.
  if (!isWhole(supported) || supported.includes(currency)) return undefined;
  return `supports ${oneOf(supported)}, not ${shown(currency)}, the account's invoiceCurrency`;
}

function isInSaidOrder(associations: readonly PlanAssociation[]): boolean {
  const said = associations.flatMap(({ decidedAt }) => decidedAt ?? []);
  return said.every((decidedAt, index) => decidedAt >= (said[index - 1] ?? decidedAt));
}

function checkTerms(
  details: PricePlanDetails,
  plan: PricePlan,
  currency: string,
  path: () => Path,
  report: Report,
): void {
  const problem = associationProblem(details, currency);
  if (problem === undefined) return;
  report(
    [...path(), "pricePlanId"],
    `expected a price plan that can be associated: version ${plan.version} of ${shown(plan.id)} ${problem}`,
  );
}

/** The association listed last that says when it was decided. */
interface DecidedBefore {
  /** Its place in the list, from 0. */
  readonly at: number;
  readonly decidedAt: Instant;
}

function checkDates(
  { effectiveFrom, effectiveUntil, decidedAt }: PlanAssociation,
  order: { readonly isFirst: boolean; readonly decidedBefore: DecidedBefore | undefined },
  path: () => Path,
  report: Report,
): void {
  if (effectiveUntil !== undefined && effectiveUntil !== null && effectiveUntil <= effectiveFrom) {
    report(
      [...path(), "effectiveUntil"],
      `expected a date after ${formatDate(effectiveFrom)}, the effectiveFrom, got ${formatDate(effectiveUntil)}`,
    );
  }
  if (decidedAt === undefined || decidedAt === null) return;
  const before = order.decidedBefore;
  if (before !== undefined && decidedAt < before.decidedAt) {
    report(
      [...path(), "decidedAt"],
      `expected associations in the order of their decisions: ${formatInstant(decidedAt)} is earlier than ${formatInstant(before.decidedAt)}, the decidedAt of pricePlans[${before.at}], which is listed before it`,
    );
  }
  if (!order.isFirst && effectiveFrom < dayStart(decidedAt)) {
    report(
      [...path(), "effectiveFrom"],
      `expected a date from ${formatDate(decidedAt)} on, the decidedAt, as only a first association may start in the past, got ${formatDate(effectiveFrom)}`,
    );
  }
}

/** Rules 1 and 2 of a migration: offsets are retained from a plan that is there, with cycles of the same length. */
function checkRetained(
  association: PlanAssociation,
  inOrder: readonly DecidedAssociation[],
  context: AssociationContext,
  path: Path,
  report: Report,
): void {
  const place: Path = [...path, "retainStartOffsets"];
  const own = inOrder.findIndex((decided) => decided.association === association);
  const before = associationAt(inOrder.slice(0, own), association.effectiveFrom);
  if (before === undefined) {
    report(
      place,
      `expected a price plan in force on ${formatDate(association.effectiveFrom)} whose offsets can be retained`,
    );
    return;
  }
  const [now, former] = [intervalOf(association, context), intervalOf(before, context)];
  if (now === undefined || former === undefined || now === former) return;
  report(place, `expected cycles of one interval to retain offsets: ${former} before, ${now} now`);
}

function intervalOf(association: PlanAssociation, context: AssociationContext): string | undefined {
  const config =
    association.pricePlanDetailsOverride?.pricingCycleConfig ??
    context.planOf(association)?.pricePlanDetails.pricingCycleConfig;
  return config?.interval;
}

/** The association in force at an instant: of those that cover it, the one made last (S16.1). */
function associationAt(inOrder: readonly DecidedAssociation[], at: Instant): PlanAssociation | undefined {
  return inOrder.findLast(
    ({ association: { effectiveFrom, effectiveUntil } }) =>
      effectiveFrom <= at && at < (effectiveUntil ?? Number.POSITIVE_INFINITY),
  )?.association;
}

/** A license's quantity never leaves 0 to the maxQuantity of the plan in force (S10.1). */
function checkLicenses(
  account: Account,
  context: AssociationContext & { readonly inOrder: readonly DecidedAssociation[] },
  path: Path,
  report: Report,
): void {
  if (account.licenseUpdates.length === 0) return;
  const updates: Path = [...path, "licenseUpdates"];
  unique(
    account.licenseUpdates,
    { path: updates, field: "idempotencyKey" },
    report,
    (update) => update.idempotencyKey ?? undefined,
  );
  const quantities = new Map<string, Decimal>();
  const inOrder = account.licenseUpdates
    .flatMap((update, at) => [{ ...update, at }])
    .sort((a, b) => a.effectiveFrom - b.effectiveFrom || a.at - b.at);
  for (const { licenseId, updateType, quantity, effectiveFrom, at } of inOrder) {
    const addOn = context.addOns.get(licenseId);
    if (addOn !== undefined && addOn.type !== "LICENSE") {
      report(
        [...updates, at, "licenseId"],
        `expected an add-on of type LICENSE: ${shown(licenseId)} is a ${addOn.type}`,
      );
      continue;
    }
    const held = updateType === "ABSOLUTE" ? quantity : add(quantities.get(licenseId) ?? ZERO, quantity);
    quantities.set(licenseId, held);
    const most = maxQuantityOf(licenseId, associationAt(context.inOrder, effectiveFrom), context);
    if (!held.isNegative() && (most === undefined || held.lte(most))) continue;
    const bounds = most === undefined ? "0 or more" : `0 to ${formatDecimal(most)}`;
    report(
      [...updates, at, "quantity"],
      `expected a quantity that leaves ${bounds} licenses, got ${formatDecimal(held)} of them`,
    );
  }
}

function maxQuantityOf(
  licenseId: string,
  association: PlanAssociation | undefined,
  context: AssociationContext,
): Decimal | undefined {
  const plan = association === undefined ? undefined : context.planOf(association);
  if (association === undefined || plan === undefined) return undefined;
  const override = association.pricePlanDetailsOverride?.licenseRateCards ?? [];
  const isFor = (card: { readonly id: string }): boolean => card?.id === licenseId;
  const card = override.find(isFor) ?? plan.pricePlanDetails.licenseRateCards.find(isFor);
  return card?.config?.maxQuantity ?? undefined;
}
