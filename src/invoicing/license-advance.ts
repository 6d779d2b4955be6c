/**
 * Licenses paid in advance: the quantity at a cycle's start, each increase immediately, and refunds for a decrease or
 * an early end (S9.5, S10.3).
 */
import type { LicenseRateCard } from "../book/resources/rate-card.ts";
import type { Cycle } from "../calendar/cycle.ts";
import { type Instant, startOfUtcDay } from "../calendar/instant.ts";
import type { Decimal } from "../numbers/decimal.ts";
import type { Steps } from "../numbers/steps.ts";
import type { Charge } from "../rating/charge.ts";
import {
  splitIntoDayRuns,
  quantityAt,
  type QuantityStep,
  quantitySteps,
  type QuantityUpdate,
  clipToPeriod,
  removeQuantitiesAbove,
  type PaidDays,
  type PriceOf,
  addChargedQuantity,
  replaceDays,
  highestPaid,
  NOTHING_PAID,
} from "../rating/license-timeline.ts";
import {
  type Increase,
  type RefundableDecrease,
  licensePrice,
  refundLicense,
  findPaidLevel,
  rateLicenseIncrease,
  rateLicenseInAdvance,
} from "../rating/license.ts";
import { type ChargedQuantity, quantitiesChargedBefore } from "./arrears.ts";
import { isChargedByDays, timeCard } from "./charge-periods.ts";
import {
  type AdvanceBilling,
  type AdvanceCharge,
  findCut,
  type Refund,
  refundKey,
  chargeAtCycleStart,
  type DueCycle,
  chargeOnceKey,
  periodKey,
} from "./due-work.ts";
import type { AccountView, LicenseChange, AccountCycle } from "./timeline.ts";

/** The updates of a license known from one instant until the next one arrived. */
interface KnownUpdates {
  readonly from: Instant;
  readonly until: Instant;
  /** Those of the cycle, after one that sets the quantity at its start. */
  readonly changes: readonly QuantityUpdate[];
  /** Whether an update arrived at its start: earlier updates are already charged. */
  readonly isLater: boolean;
}

/** One license in one charged cycle. */
interface LicenseCycle {
  readonly view: AccountView;
  readonly due: DueCycle;
  /** Prorated like the cycle. */
  readonly card: LicenseRateCard;
  readonly key: string;
  readonly period: { readonly served: Cycle; readonly natural: Cycle };
  readonly cut: { readonly at: Instant; readonly decidedAt: Instant } | undefined;
  readonly priceOf: PriceOf;
  readonly charges: AdvanceCharge[];
  /** By key: decreases refunded from the same instant and known at the same instant form one refund. */
  readonly decreases: Map<
    string,
    { readonly at: Instant; readonly due: Instant; readonly decreases: RefundableDecrease[] }
  >;
}

/**
 * Every advance license charge in these cycles, and the refunds.
 *
 * @param isSelected for other cycles only quantities charged in full matter: later parts of a natural cycle charge what
 * exceeds them
 */
export function* chargeLicensesInAdvance(
  view: AccountView,
  dues: readonly DueCycle[],
  isSelected: (cycle: AccountCycle) => boolean,
): Steps<AdvanceBilling> {
  const selected = new Set<LicenseCycle>();
  const inFull = new Map<string, LicenseCycle[]>();
  for (const due of dues) {
    if (due.cycle.term.plan.details.licenseRateCards.length === 0) continue;
    yield;
    const isWanted = isSelected(due.cycle);
    for (const each of due.cycle.term.plan.details.licenseRateCards) {
      if (each.invoiceTiming !== "IN_ADVANCE") continue;
      const enableProration = isChargedByDays(due.timeline, due.cycle, timeCard("LICENSE", each));
      if (enableProration && !isWanted) continue;
      const licenseCycle = createLicenseCycle(view, due, { ...each, enableProration });
      if (isWanted) selected.add(licenseCycle);
      if (enableProration) chargeByDays(licenseCycle);
      else inFull.set(licenseCycle.key, [...(inFull.get(licenseCycle.key) ?? []), licenseCycle]);
    }
  }
  for (const pieces of inFull.values()) {
    if (!pieces.some((piece) => selected.has(piece))) continue;
    chargeInFull(pieces);
    yield;
  }
  return {
    charges: [...selected].flatMap(({ charges }) => charges),
    refunds: [...selected].flatMap(toRefunds),
  };
}

function createLicenseCycle(view: AccountView, due: DueCycle, card: LicenseRateCard): LicenseCycle {
  const { cycle } = due;
  const served: Cycle = { start: cycle.start, end: cycle.end };
  const onceKey = chargeOnceKey(cycle, timeCard("LICENSE", card), cycle.natural);
  return {
    view,
    due,
    card,
    key: card.enableProration ? onceKey : periodKey(onceKey, cycle),
    period: { served, natural: cycle.natural },
    cut: findCut(view.decisions, served, due.due),
    priceOf: (quantity) => licensePrice(card, view.currency, quantity),
    charges: [],
    decreases: new Map(),
  };
}

/**
 * By days: each increase is charged, and each decrease refunded, for the paid days that it changes. A late update
 * changes the days from its own day on (S10.3).
 */
function chargeByDays(licenseCycle: LicenseCycle): void {
  const { view, due, card, period, cut } = licenseCycle;
  const knownUpdates = splitByArrival(licenseCycle);
  const atStart = quantityAtStart(knownUpdates, period.served);
  licenseCycle.charges.push(
    chargeAtCycleStart(due, () => undefinedIfZero(rateLicenseInAdvance(card, view.currency, atStart, period))),
  );
  let paid: readonly PaidDays[] = [
    { ...period.served, levels: [{ chargedQuantity: atStart, levelQuantity: atStart }] },
  ];
  for (const updates of knownUpdates) {
    const steps = quantitySteps(updates.changes).filter(({ from }) => from < updates.until);
    let next = 0;
    for (const run of splitIntoDayRuns(updates.changes, period.served)) {
      if (run.start >= updates.until) break;
      // A quantity that arrived after its days were over changes no later day, if days are refunded.
      const isEnded = updates.isLater && refundsDecreases(card) && run.end <= updates.from;
      const change: QuantityChange = { licenseCycle, updates, end: isEnded ? run.end : period.served.end };
      paid = decrease(change, { from: run.start, quantity: run.quantity }, paid);
      // A change that took effect on an earlier day, but was not known then.
      const earlierStep = steps[next]?.from === run.start ? undefined : steps[next - 1];
      if (earlierStep !== undefined) paid = increase(change, earlierStep, run.start, paid);
      for (let step = steps[next]; step !== undefined && step.from < run.end; step = steps[++next]) {
        paid = increase(change, step, startOfUtcDay(step.from), paid);
      }
    }
  }
  if (cut === undefined) return;
  for (const days of clipToPeriod(paid, { start: cut.at, end: period.served.end })) {
    refundDecrease(licenseCycle, cut.at, Math.max(cut.at, cut.decidedAt), highestPaid(days).levelQuantity, {
      to: undefined,
      days,
    });
  }
}

/** A change of quantity, and the days for which it changes what is paid. */
interface QuantityChange {
  readonly licenseCycle: LicenseCycle;
  readonly updates: KnownUpdates;
  /** The end of these days, exclusive. */
  readonly end: Instant;
}

/** Charges an increase for the days from `start` on for which less was charged (S10.3); returns what they are then paid for. */
function increase(
  { licenseCycle, updates, end }: QuantityChange,
  step: QuantityStep,
  start: Instant,
  paid: readonly PaidDays[],
): readonly PaidDays[] {
  if (!paid.some((days) => days.end > start && step.quantity.gt(highestPaid(days).chargedQuantity))) return paid;
  const knownAt = Math.max(step.from, updates.from);
  // The cycle may have been cut short on that day, before or after the increase.
  const remaining = { start, end: Math.min(end, endAsKnown(licenseCycle, knownAt)) };
  const lessPaid = clipToPeriod(paid, remaining).filter((days) => step.quantity.gt(highestPaid(days).chargedQuantity));
  if (lessPaid.length === 0) return paid;
  const increases = lessPaid.map((days): Increase => {
    return { ...highestPaid(days), to: step.quantity, days: { start: days.start, end: days.end } };
  });
  chargeImmediately(licenseCycle, step.from, knownAt, increases);
  let result = paid;
  for (const days of lessPaid)
    result = replaceDays(result, addChargedQuantity(days, step.quantity, licenseCycle.priceOf));
  return result;
}

/** Refunds a decrease for the days from its first on for which more was charged (S10.3); like {@link increase}. */
function decrease(
  { licenseCycle, updates, end }: QuantityChange,
  step: QuantityStep,
  paid: readonly PaidDays[],
): readonly PaidDays[] {
  const { card, priceOf } = licenseCycle;
  if (!refundsDecreases(card) || !paid.some((days) => step.quantity.lt(highestPaid(days).chargedQuantity))) return paid;
  const remaining = {
    start: step.from,
    end: Math.min(end, endAsKnown(licenseCycle, Math.max(step.from, updates.from))),
  };
  let result = paid;
  for (const days of clipToPeriod(paid, remaining)) {
    if (step.quantity.gte(highestPaid(days).chargedQuantity)) continue;
    const reducedDays = removeQuantitiesAbove(days, step.quantity, priceOf);
    const knownAt = Math.max(days.start, updates.from);
    refundDecrease(licenseCycle, days.start, knownAt, highestPaid(days).levelQuantity, {
      to: highestPaid(reducedDays).levelQuantity,
      days,
    });
    result = replaceDays(result, reducedDays);
  }
  return result;
}

function refundsDecreases({ proratedRefundMode }: LicenseRateCard): boolean {
  return proratedRefundMode === "CREDITS";
}

function refundDecrease(
  { due, key, decreases }: LicenseCycle,
  at: Instant,
  knownAt: Instant,
  from: Decimal | undefined,
  { to, days }: Omit<RefundableDecrease, "from">,
): void {
  if (from === undefined) return;
  const refundTime = { at, due: knownAt };
  const name = refundKey(key, due, refundTime);
  const otherDecreases = decreases.get(name)?.decreases ?? [];
  decreases.set(name, {
    ...refundTime,
    decreases: [...otherDecreases, { from, to, days: { start: days.start, end: days.end } }],
  });
}

function toRefunds({ view, due: { cycle }, card, period, decreases }: LicenseCycle): readonly Refund[] {
  return [...decreases].flatMap(([key, { at, due, decreases: all }]) => {
    const refund = refundLicense(card, view.currency, all, period);
    const { natural } = period;
    return refund === undefined
      ? []
      : [{ key, kind: "LICENSE" as const, billableId: card.id, cycle, at, due, natural, ...refund }];
  });
}

/** Charges an increase on a separate invoice, for the cycle as known when it falls due (S13.1). */
function chargeImmediately(
  licenseCycle: LicenseCycle,
  at: Instant,
  knownAt: Instant,
  increases: readonly Increase[],
): void {
  const { view, due, card, period, charges } = licenseCycle;
  const rate = (): Charge | undefined => undefinedIfZero(rateLicenseIncrease(card, view.currency, increases, period));
  const cycle = { ...due.cycle, end: endAsKnown(licenseCycle, knownAt) };
  charges.push({ invoiceType: "AD_HOC", invoiceDate: at, due: knownAt, cycle, rate });
}

/** A quantity that may be charged in full, and when it is known. */
interface QuantityToCharge {
  readonly licenseCycle: LicenseCycle;
  readonly knownAt: Instant;
  readonly step: QuantityStep;
  /** Whether it is the quantity at the start of the cycle, as known when it fell due. */
  readonly isStart: boolean;
}

/**
 * Without proration: the parts of a natural cycle together charge each quantity that exceeds earlier ones, once and in
 * full, in the order in which it became known (S9.1, S10.3).
 */
function chargeInFull(pieces: readonly LicenseCycle[]): void {
  const inArrears = new Map(pieces.map((piece) => [piece, quantitiesChargedInArrears(piece)]));
  const charged: { readonly quantity: Decimal; readonly knownAt: Instant }[] = [];
  for (const { licenseCycle, knownAt, step, isStart } of listQuantitiesToCharge(pieces)) {
    const { view, due, card, period } = licenseCycle;
    const before = sortByTime(inArrears.get(licenseCycle) ?? [], charged);
    const isMore = before.every((quantity) => step.quantity.gt(quantity));
    if (isStart) {
      const paid = findPaidLevel(card, view.currency, before);
      licenseCycle.charges.push(
        chargeAtCycleStart(due, () =>
          undefinedIfZero(rateLicenseInAdvance(card, view.currency, step.quantity, period, paid)),
        ),
      );
    } else {
      if (!isMore || startOfUtcDay(step.from) >= endAsKnown(licenseCycle, knownAt)) continue;
      const paid = findPaidLevel(card, view.currency, before) ?? NOTHING_PAID;
      chargeImmediately(licenseCycle, step.from, knownAt, [{ ...paid, to: step.quantity, days: period.served }]);
    }
    if (isMore) charged.push({ quantity: step.quantity, knownAt });
  }
}

/** Charged quantities in order of time; the paid level depends on it if larger quantities cost less. */
function sortByTime(
  inArrears: readonly ChargedQuantity[],
  inAdvance: readonly { readonly quantity: Decimal; readonly knownAt: Instant }[],
): readonly Decimal[] {
  const all = [...inArrears.map(({ quantity, until }) => ({ quantity, knownAt: until })), ...inAdvance];
  return all.toSorted((a, b) => a.knownAt - b.knownAt).map(({ quantity }) => quantity);
}

function listQuantitiesToCharge(pieces: readonly LicenseCycle[]): readonly QuantityToCharge[] {
  return pieces
    .flatMap((licenseCycle): readonly QuantityToCharge[] => {
      const { due, period } = licenseCycle;
      const knownUpdates = splitByArrival(licenseCycle);
      const start = { from: due.due, quantity: quantityAtStart(knownUpdates, period.served) };
      const steps = knownUpdates.flatMap((updates) =>
        quantitySteps(updates.changes)
          .filter(({ from }) => from < updates.until)
          .map((step) => ({ licenseCycle, knownAt: Math.max(step.from, updates.from), step, isStart: false })),
      );
      return [{ licenseCycle, knownAt: due.due, step: start, isStart: true }, ...steps];
    })
    .sort((a, b) => a.knownAt - b.knownAt);
}

/** The arrears charges of earlier parts of the natural cycle. */
function quantitiesChargedInArrears({ view, due, card }: LicenseCycle): readonly ChargedQuantity[] {
  return quantitiesChargedBefore(view, due.timeline, due.cycle, card.id, (each) => each.invoiceTiming === "IN_ARREARS");
}

function quantityAtStart(knownUpdates: readonly KnownUpdates[], served: Cycle): Decimal {
  return quantityAt(knownUpdates[0]?.changes ?? [], served.start);
}

/** The known updates by instant: when the cycle fell due, and at each later arrival. */
function splitByArrival({ view, due: { due }, card, period: { served } }: LicenseCycle): readonly KnownUpdates[] {
  // An update that takes effect after the cycle is irrelevant, whenever it arrives.
  const changes = view.licenseChanges.filter((each) => each.licenseId === card.id && each.effectiveFrom < served.end);
  const arrivals = changes.map((change) => arrivalOf(change)).filter((at) => at > due);
  const starts = [due, ...[...new Set(arrivals)].sort((a, b) => a - b)];
  return starts.map((from, index) => ({
    from,
    until: starts[index + 1] ?? Number.POSITIVE_INFINITY,
    isLater: index > 0,
    changes: changesIn(
      served,
      changes.filter((change) => arrivalOf(change) <= from),
    ),
  }));
}

/** The updates of one cycle: an account may have years of others, and a cycle uses its own repeatedly. */
function changesIn({ start, end }: Cycle, changes: readonly LicenseChange[]): readonly QuantityUpdate[] {
  const before = { updateType: "ABSOLUTE", quantity: quantityAt(changes, start), effectiveFrom: start } as const;
  return [before, ...changes.filter(({ effectiveFrom }) => effectiveFrom > start && effectiveFrom < end)];
}

function arrivalOf({ knownFrom }: LicenseChange): Instant {
  return knownFrom ?? Number.NEGATIVE_INFINITY;
}

/** The end of the cycle as known at an instant. */
function endAsKnown({ view, due, period }: LicenseCycle, at: Instant): Instant {
  const decisions = view.decisions.filter(({ decidedAt }) => decidedAt <= at);
  return findCut(decisions, period.served, due.due)?.at ?? period.served.end;
}

function undefinedIfZero(charge: Charge): Charge | undefined {
  return charge.bounded.numerator.isZero() && charge.quantity?.isZero() !== false ? undefined : charge;
}
