/**
 * Charges after the end of a cycle: on its STANDARD invoice, or on an immediate one if that was final before they were
 * known (S9.3, S10.2, S11.7, S13.1).
 */
import { mayBeProrated, type UsageMeter } from "../book/resources/event-schema.ts";
import type { LicenseRateCard, UsageRateCard } from "../book/resources/rate-card.ts";
import type { Cycle } from "../calendar/cycle.ts";
import { dayOf, type Instant } from "../calendar/instant.ts";
import { describeQuantity } from "../metering/describe-quantity.ts";
import { type Decimal, sum } from "../numbers/decimal.ts";
import { rateOverage, coverageAt, rateUsage } from "../rating/cards.ts";
import type { Charge, RatedPeriod } from "../rating/charge.ts";
import { splitIntoDayRuns, largestQuantity, quantityAt, quantitySteps } from "../rating/license-timeline.ts";
import { findPaidLevel, rateLicenseInArrears } from "../rating/license.ts";
import { hasTable } from "../rating/rated-table.ts";
import { chargeByTable } from "../rating/table-charge.ts";
import {
  isChargedByDays,
  type CoveredPeriod,
  findCoveredPeriod,
  isArrearsChargeDue,
  isCutShort,
  isEndedLate,
  findSupersededPlans,
  BILLING_ENTITLEMENTS,
  CREDIT_GRANTS,
  FIXED_FEES,
  type PeriodicCard,
  type PeriodicCards,
  findOverlappingTerms,
  clipToTerm,
  timeCard,
} from "./charge-periods.ts";
import type { AdvanceCharge } from "./due-work.ts";
import {
  type AccountView,
  type BillingCatalog,
  type LicenseChange,
  closesAt,
  type AccountCycle,
  type AssociatedPlan,
  cycleAt,
  naturalPeriod,
  type Timeline,
} from "./timeline.ts";

/** How usage is measured and priced. */
type UsageCatalog = Pick<BillingCatalog, "findTable" | "keyedMeters">;

/** The exact arrears charges of an account for one cycle, in the order of the plan's cards. */
export function chargeInArrears(view: AccountView, cycle: AccountCycle, catalog: UsageCatalog): readonly Charge[] {
  const isLate = isEndedLate(cycle, closesAt(cycle, view));
  const isDue: ArrearsInput["isDue"] = (period) =>
    isArrearsChargeDue(cycle, period) && !(isLate && isCutShort(cycle, period));
  return [
    ...chargeUsage(view, cycle, catalog),
    ...chargeCards(FIXED_FEES, { view, cycle, isDue }),
    ...chargeLicenses(view, cycle),
    ...chargeCards(BILLING_ENTITLEMENTS, { view, cycle, isDue }),
    ...chargeOverage({ view, cycle, isDue }),
    ...chargeCards(CREDIT_GRANTS, { view, cycle, isDue }),
  ];
}

/**
 * Charges that cover several cycles, if the plan was cut short after the STANDARD invoice of the last cycle was final:
 * an AD_HOC invoice at the end of the plan, due as soon as that end was decided (S9.3).
 */
export function chargeLateArrears(view: AccountView): readonly AdvanceCharge[] {
  return view.timeline.flatMap((term): readonly AdvanceCharge[] => {
    const cycle = cycleAt(view.timeline, term.until - 1);
    if (cycle === undefined || !isEndedLate(cycle, closesAt(cycle, view))) return [];
    const isDue: ArrearsInput["isDue"] = (period) => isCutShort(cycle, period);
    const charges = [
      ...chargeCards(FIXED_FEES, { view, cycle, isDue }),
      ...chargeCards(BILLING_ENTITLEMENTS, { view, cycle, isDue }),
      ...chargeOverage({ view, cycle, isDue }),
      ...chargeCards(CREDIT_GRANTS, { view, cycle, isDue }),
    ];
    const terms = { invoiceType: "AD_HOC", invoiceDate: cycle.end, due: term.endDecidedAt, cycle } as const;
    return charges.map((charge) => ({ ...terms, rate: () => charge }));
  });
}

interface ArrearsInput {
  readonly view: AccountView;
  readonly cycle: AccountCycle;
  /** Whether a charge that covers the cycle is made in it. */
  readonly isDue: (period: CoveredPeriod) => boolean;
}

/** The billing window of a cycle's overage (S11.7), within the association; undefined before `startOffset`. */
export function findOverageWindow(
  cycle: AccountCycle,
  config:
    | { readonly interval?: number | null | undefined; readonly startOffset?: number | null | undefined }
    | null
    | undefined,
): CoveredPeriod | undefined {
  const covered = coverageAt({ interval: config?.interval, offset: config?.startOffset }, "RECURRING", cycle.n);
  if (covered === undefined) return undefined;
  const natural = naturalPeriod(cycle, covered.first, covered.last);
  return { covered, natural, served: clipToTerm(natural, cycle.term), prorated: false };
}

function chargeUsage(view: AccountView, cycle: AccountCycle, { findTable, keyedMeters }: UsageCatalog): Charge[] {
  const period: RatedPeriod = { served: toPeriod(cycle), natural: cycle.natural };
  const days = [dayOf(cycle.start), dayOf(cycle.end)] as const;
  return cycle.term.plan.details.usageRateCards.map((card) => {
    const meter = keyedMeters.get(card.usageMeterId);
    const isProrated = isPriceProrated(card, meter);
    const keyed = meter && view.usageByKey?.(meter, ...days);
    const groups = keyed?.changes ?? (hasTable(card) ? view.usageByGroup(card.usageMeterId, ...days) : []);
    const quantity =
      keyed === undefined ? view.usage(card.usageMeterId, ...days) : sum(groups.map((usage) => usage.quantity));
    const describe = keyed && (() => describeQuantity(keyed));
    const terms = { isProrated, ...(describe && { describe }) };
    if (hasTable(card)) {
      const usage = { meterId: card.usageMeterId, quantity, groups };
      return chargeByTable(findTable(card, view.currency), usage, period, terms);
    }
    return rateUsage(card, view.currency, quantity, period, terms);
  });
}

/** Whether a card's price is that of a whole cycle, so that it is prorated by days in a partial one (S19.4). */
export function isPriceProrated({ enableProration }: UsageRateCard, meter: UsageMeter | undefined): boolean {
  if (meter === undefined || !mayBeProrated(meter)) return false;
  return meter.aggregation === "TIME_WEIGHTED" || enableProration === true;
}

/** The arrears charges of a kind of card. */
function chargeCards<Card extends PeriodicCard>(
  { kind, listIn, rate }: PeriodicCards<Card>,
  { view, cycle, isDue }: ArrearsInput,
): Charge[] {
  return cardsInArrears(listIn(cycle.term.plan.details)).flatMap((card) => {
    const period = findCoveredPeriod(view.timeline, cycle, timeCard(kind, card));
    return period && isDue(period) ? [rate(card, view.currency, period)] : [];
  });
}

function chargeLicenses(view: AccountView, cycle: AccountCycle): Charge[] {
  const period: RatedPeriod = { served: toPeriod(cycle), natural: cycle.natural };
  return cardsInArrears(cycle.term.plan.details.licenseRateCards).map((card) => {
    const changes = view.licenseChanges.filter((change) => change.licenseId === card.id);
    const prorated = isChargedByDays(view.timeline, cycle, timeCard("LICENSE", card));
    const before = prorated ? [] : quantitiesChargedBefore(view, view.timeline, cycle, card.id);
    const chargedCard = { ...card, enableProration: prorated };
    const paid = findPaidLevel(
      chargedCard,
      view.currency,
      before.map(({ quantity }) => quantity),
    );
    return rateLicenseInArrears(chargedCard, view.currency, splitIntoDayRuns(changes, toPeriod(cycle)), period, paid);
  });
}

/** A quantity of a license that a part of a cycle charged in full. */
export interface ChargedQuantity {
  readonly quantity: Decimal;
  /** When the part ended. */
  readonly until: Instant;
}

/**
 * The quantities that earlier parts of the natural cycle charged in full, each part in order of time: in arrears its
 * largest, in advance each one greater than those before (S9.1, S10.3).
 *
 * @param isCounted which of their cards for the license count; default all
 */
export function quantitiesChargedBefore(
  view: AccountView,
  timeline: Timeline,
  cycle: AccountCycle,
  billableId: string,
  isCounted: (card: LicenseRateCard) => boolean = () => true,
): readonly ChargedQuantity[] {
  const before = { start: cycle.natural.start, end: cycle.start };
  const changes = view.licenseChanges.filter((change) => change.licenseId === billableId);
  const cardIn = ({ details }: AssociatedPlan): LicenseRateCard | undefined =>
    details.licenseRateCards.find((card) => card.id === billableId && isCounted(card));
  const chargedQuantities: ChargedQuantity[] = [];
  const addQuantities = (quantities: readonly Decimal[], until: Instant): void => {
    for (const quantity of quantities) chargedQuantities.push({ quantity, until });
  };
  for (const term of findOverlappingTerms(timeline, cycle, cycle.natural)) {
    if (term.from > cycle.start) break;
    for (const { day, until, plan } of findSupersededPlans(before, term)) {
      const card = cardIn(plan);
      // If the first charge is a superseded plan's by days, it was refunded.
      if (card?.invoiceTiming !== "IN_ADVANCE" || (card.enableProration && chargedQuantities.length === 0)) continue;
      const knownChanges = changes.filter(({ knownFrom = day }) => knownFrom < until);
      addQuantities(quantitiesChargedInAdvance(knownChanges, { start: day, end: until }), until);
    }
    const card = cardIn(term.plan);
    const piece = clipToTerm(before, term);
    if (card === undefined || piece.start >= piece.end) continue;
    const isInArrears = card.invoiceTiming === "IN_ARREARS";
    const largest = (): Decimal => largestQuantity(splitIntoDayRuns(changes, piece));
    addQuantities(isInArrears ? [largest()] : quantitiesChargedInAdvance(changes, piece), piece.end);
  }
  return chargedQuantities;
}

function quantitiesChargedInAdvance(changes: readonly LicenseChange[], { start, end }: Cycle): readonly Decimal[] {
  const later = quantitySteps(changes).filter(({ from }) => from > start && from < end);
  return [quantityAt(changes, start), ...later.map(({ quantity }) => quantity)];
}

function chargeOverage({ view, cycle, isDue }: ArrearsInput): Charge[] {
  return cycle.term.plan.details.entitlementOverageRateCards.flatMap((card) => {
    const window = findOverageWindow(cycle, card.billingConfig);
    if (window === undefined || !isDue(window)) return [];
    const quantity = view.overage(card.featureId, dayOf(window.served.start), dayOf(window.served.end));
    return [rateOverage(card, view.currency, quantity, window)];
  });
}

function cardsInArrears<Card extends PeriodicCard>(cards: readonly Card[]): readonly Card[] {
  return cards.filter((card) => card.invoiceTiming === "IN_ARREARS");
}

function toPeriod({ start, end }: Cycle): Cycle {
  return { start, end };
}
