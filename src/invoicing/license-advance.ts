/**
 * Licenses that are paid before they are used: the quantity at a cycle's start, each increase at once, and what is
 * given back for a decrease or an early end (S9.5, S10.3).
 *
 * @module
 */
import type { LicenseRateCard } from "../book/resources/rate-card.ts";
import type { Cycle } from "../calendar/cycle.ts";
import { DAY_MS, type Instant } from "../calendar/instant.ts";
import { intersection } from "../calendar/proration.ts";
import { add, type Decimal, greatest, least, subtract, ZERO } from "../numbers/decimal.ts";
import { addFractions, compareFractions, type Fraction, NOTHING } from "../numbers/fraction.ts";
import type { Charge } from "../rating/charge.ts";
import { dayRuns, quantityAt, type QuantityUpdate } from "../rating/license-timeline.ts";
import { licensePrice, licenseRefund, rateLicenseIncrease, rateLicenseInAdvance } from "../rating/license.ts";
import type { AccountView, LicenseChange } from "./account-view.ts";
import { type Advance, type AdvanceCharge, cutOf, type Refund, refundKey, standing } from "./advance-charge.ts";
import { chargedBefore } from "./arrears.ts";
import { chargedByDays } from "./charging.ts";
import { type DueCycle, onceKey } from "./dues.ts";
import type { AccountCycle } from "./timeline.ts";

/** Days that are paid up to a quantity. */
interface PaidDays extends Cycle {
  readonly quantity: Decimal;
  /** What was charged for them and not given back, for a whole natural cycle: no more is ever given back. */
  readonly price: Decimal;
}

/** What was known of a license's quantity from an instant on, until more was. */
interface Epoch {
  readonly from: Instant;
  readonly until: Instant;
  /** Those of the cycle, after one that sets the quantity at its start. */
  readonly changes: readonly QuantityUpdate[];
}

/** One license in one cycle that it is charged for. */
interface Charging {
  readonly view: AccountView;
  readonly due: DueCycle;
  /** Prorated as the cycle is. */
  readonly card: LicenseRateCard;
  readonly key: string;
  readonly period: { readonly served: Cycle; readonly natural: Cycle };
  readonly cut: { readonly at: Instant; readonly decidedAt: Instant } | undefined;
  readonly charges: AdvanceCharge[];
  readonly refunds: Refund[];
}

/** What was paid whole for a natural cycle, and when it fell due. */
interface PaidWhole {
  readonly due: Instant;
  readonly quantity: Decimal;
}

/**
 * Every license charge in advance in these cycles, and what was given back for them.
 *
 * @param isAsked of other cycles only what was paid whole matters: later pieces of a natural cycle charge what is above it
 */
export function licenseInAdvance(
  view: AccountView,
  dues: readonly DueCycle[],
  isAsked: (cycle: AccountCycle) => boolean,
): Advance {
  const charges: AdvanceCharge[] = [];
  const refunds: Refund[] = [];
  const paidWhole = new Map<string, PaidWhole[]>();
  for (const due of dues) {
    for (const card of due.cycle.term.plan.details.licenseRateCards ?? []) {
      if (card.invoiceTiming !== "IN_ADVANCE") continue;
      const asked = isAsked(due.cycle);
      if (!asked && chargedByDays(due.timeline, due.cycle, { kind: "LICENSE", billableId: card.id })) continue;
      const paid = payCycle(view, due, card, paidWhole);
      if (!asked) continue;
      charges.push(...paid.charges);
      refunds.push(...paid.refunds);
    }
  }
  return { charges: charges.filter(({ charge }) => isCharged(charge)), refunds };
}

function payCycle(
  view: AccountView,
  due: DueCycle,
  card: LicenseRateCard,
  paidWhole: Map<string, PaidWhole[]>,
): Advance {
  const { cycle } = due;
  const prorated = chargedByDays(due.timeline, cycle, { kind: "LICENSE", billableId: card.id });
  const key = onceKey(cycle, { kind: "LICENSE", billableId: card.id }, cycle.natural);
  const served: Cycle = { start: cycle.start, end: cycle.end };
  const charging: Charging = {
    view,
    due,
    card: { ...card, enableProration: prorated },
    key,
    period: { served, natural: cycle.natural },
    cut: cutOf(view.decisions, served, due.due),
    charges: [],
    refunds: [],
  };
  const changes = view.licenseChanges.filter((change) => change.licenseId === card.id);
  const epochs = epochsOf(changes, served, due.due);
  const atStart = quantityAt(epochs[0]?.changes ?? [], cycle.start);
  if (prorated) payByDays(charging, epochs, atStart);
  else {
    const paid = paidWhole.get(key) ?? [];
    paidWhole.set(key, paid);
    payWhole(charging, epochs, atStart, paid);
  }
  return charging;
}

/**
 * By days: each increase is charged, and each decrease given back, for the days that it changes of those paid. A change
 * that arrives after its time changes the days from its own day on (S10.3).
 */
function payByDays(charging: Charging, epochs: readonly Epoch[], atStart: Decimal): void {
  const { view, due, card, period, cut } = charging;
  charging.charges.push(standing(due, rateLicenseInAdvance(card, view.currency, atStart, period)));
  const price = greatest(licensePrice(card, view.currency, atStart), ZERO);
  let paid: readonly PaidDays[] = [{ ...period.served, quantity: atStart, price }];
  for (const [index, epoch] of epochs.entries()) {
    for (const run of dayRuns(epoch.changes, period.served)) {
      if (run.start >= epoch.until) break;
      const known = endAsKnown(charging, Math.max(run.start, epoch.from));
      // What arrived late and was over before it arrived changes no day after.
      const end = index > 0 && run.end <= epoch.from ? Math.min(run.end, known) : known;
      for (const days of clipped(paid, { start: run.start, end })) {
        const changed = changeDays(charging, days, run.quantity, epoch);
        if (changed !== undefined) paid = [...without(paid, changed), changed];
      }
    }
  }
  if (cut === undefined) return;
  let unserved = NOTHING;
  for (const days of clipped(paid, { start: cut.at, end: period.served.end })) {
    unserved = addFractions(unserved, licenseRefund(card, days.price, days, period));
  }
  giveBack(charging, cut.at, Math.max(cut.at, cut.decidedAt), unserved);
}

/** Charges or gives back the difference for some days; what they are paid up to then, undefined where that stays. */
function changeDays(charging: Charging, days: PaidDays, quantity: Decimal, epoch: Epoch): PaidDays | undefined {
  const { view, due, card, period } = charging;
  const priceOf = (units: Decimal): Decimal => licensePrice(card, view.currency, units);
  if (quantity.gt(days.quantity)) {
    const invoiceDate = reachedAt(epoch.changes, days.start, days.quantity);
    const known = Math.max(invoiceDate, epoch.from);
    // The cycle may have been cut on that day, before or after the increase.
    const remaining = { start: days.start, end: Math.min(days.end, endAsKnown(charging, known)) };
    if (invoiceDate >= epoch.until || remaining.start >= remaining.end) return undefined;
    const charge = rateLicenseIncrease(card, view.currency, { from: days.quantity, to: quantity }, remaining, period);
    charging.charges.push({ invoiceType: "AD_HOC", invoiceDate, due: known, cycle: due.cycle, charge });
    const more = greatest(subtract(priceOf(quantity), priceOf(days.quantity)), ZERO);
    return { ...remaining, quantity, price: add(days.price, more) };
  }
  if (quantity.gte(days.quantity) || card.proratedRefundMode !== "CREDITS") return undefined;
  const less = least(greatest(subtract(priceOf(days.quantity), priceOf(quantity)), ZERO), days.price);
  const known = Math.max(days.start, epoch.from);
  giveBack(charging, days.start, known, licenseRefund(card, less, days, period));
  return { ...days, quantity, price: subtract(days.price, less) };
}

function giveBack({ due, key, card, refunds }: Charging, at: Instant, known: Instant, amount: Fraction): void {
  if (compareFractions(amount, NOTHING) <= 0) return;
  const given = { at, due: known };
  refunds.push({ key: refundKey(key, due, given), kind: "LICENSE", billableId: card.id, ...given, amount });
}

/** Without proration: each increase over the most that was paid in the natural cycle, in full (S9.1, S10.3). */
function payWhole(charging: Charging, epochs: readonly Epoch[], atStart: Decimal, paidBefore: PaidWhole[]): void {
  const { view, due, card, period } = charging;
  const earlier = paidBefore.filter((each) => each.due <= due.due).map(({ quantity }) => quantity);
  const inArrears = chargedBefore(
    view,
    due.timeline,
    due.cycle,
    card.id,
    (each) => each.invoiceTiming === "IN_ARREARS",
  );
  if (inArrears !== undefined) earlier.push(inArrears);
  const before = earlier.length === 0 ? undefined : earlier.reduce(greatest);
  charging.charges.push(standing(due, rateLicenseInAdvance(card, view.currency, atStart, period, before)));
  let paid = greatest(before ?? ZERO, atStart);
  paidBefore.push({ due: due.due, quantity: paid });
  for (const epoch of epochs) {
    for (const run of dayRuns(epoch.changes, period.served)) {
      if (run.quantity.lte(paid)) continue;
      const invoiceDate = reachedAt(epoch.changes, run.start, paid);
      if (invoiceDate >= epoch.until) break;
      const known = Math.max(invoiceDate, epoch.from);
      const remaining = { start: run.start, end: endAsKnown(charging, known) };
      if (remaining.start >= remaining.end) break;
      const charge = rateLicenseIncrease(card, view.currency, { from: paid, to: run.quantity }, remaining, period);
      charging.charges.push({ invoiceType: "AD_HOC", invoiceDate, due: known, cycle: due.cycle, charge });
      paid = run.quantity;
      paidBefore.push({ due: known, quantity: paid });
    }
  }
}

/** What was known when: from when the cycle fell due, and from each later arrival on. */
function epochsOf(all: readonly LicenseChange[], served: Cycle, due: Instant): readonly Epoch[] {
  // What takes effect after the cycle says nothing of it, whenever it arrives.
  const changes = all.filter(({ effectiveFrom }) => effectiveFrom < served.end);
  const arrivals = changes.map((change) => arrivalOf(change)).filter((at) => at > due);
  const starts = [due, ...[...new Set(arrivals)].sort((a, b) => a - b)];
  return starts.map((from, index) => ({
    from,
    until: starts[index + 1] ?? Number.POSITIVE_INFINITY,
    changes: changesIn(
      served,
      changes.filter((change) => arrivalOf(change) <= from),
    ),
  }));
}

/** The changes of a cycle alone: an account may have years of others, and a cycle looks at its own again and again. */
function changesIn({ start, end }: Cycle, changes: readonly LicenseChange[]): readonly QuantityUpdate[] {
  const before = { updateType: "ABSOLUTE", quantity: quantityAt(changes, start), effectiveFrom: start } as const;
  return [before, ...changes.filter(({ effectiveFrom }) => effectiveFrom > start && effectiveFrom < end)];
}

function arrivalOf({ knownFrom }: LicenseChange): Instant {
  return knownFrom ?? Number.NEGATIVE_INFINITY;
}

/** The end of the cycle as it was known at an instant. */
function endAsKnown({ view, due, period }: Charging, at: Instant): Instant {
  const decisions = view.decisions.filter(({ decidedAt }) => decidedAt <= at);
  return cutOf(decisions, period.served, due.due)?.at ?? period.served.end;
}

/** The parts of paid days that lie in a period. */
function clipped(paid: readonly PaidDays[], period: Cycle): readonly PaidDays[] {
  return paid.flatMap((days) => {
    const common = intersection(days, period);
    return common === undefined ? [] : [{ ...days, ...common }];
  });
}

/** Paid days less some of them. */
function without(paid: readonly PaidDays[], taken: Cycle): readonly PaidDays[] {
  return paid.flatMap((days) =>
    intersection(days, taken) === undefined
      ? [days]
      : [
          { ...days, end: Math.min(days.end, taken.start) },
          { ...days, start: Math.max(days.start, taken.end) },
        ].filter(({ start, end }) => start < end),
  );
}

/** The instant, on a day, at which the quantity first went above what was paid. */
function reachedAt(changes: readonly QuantityUpdate[], day: Instant, paid: Decimal): Instant {
  const instants = changes.map(({ effectiveFrom }) => effectiveFrom).filter((at) => at >= day && at < day + DAY_MS);
  return instants.toSorted((a, b) => a - b).find((at) => quantityAt(changes, at).gt(paid)) ?? day;
}

function isCharged(charge: Charge): boolean {
  return !charge.bounded.numerator.isZero() || charge.quantity?.isZero() === false;
}
