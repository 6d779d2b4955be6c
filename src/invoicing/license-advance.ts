/**
 * Licenses that are paid before they are used: the quantity at a cycle's start, each increase at once, and what is
 * given back for a decrease or an early end (S9.5, S10.3).
 *
 * @module
 */
import type { LicenseRateCard } from "../book/rate-card.ts";
import type { Cycle } from "../calendar/cycle.ts";
import { DAY_MS, formatInstant, type Instant } from "../calendar/instant.ts";
import { type Decimal, greatest, ZERO } from "../numbers/decimal.ts";
import { addFractions, compareFractions, type Fraction, NOTHING, subtractFractions } from "../numbers/fraction.ts";
import type { Charge } from "../rating/charge.ts";
import { dayRuns, quantityAt } from "../rating/license-timeline.ts";
import { licenseEndRefund, licenseRefund, rateLicenseIncrease, rateLicenseInAdvance } from "../rating/license.ts";
import type { AccountView, LicenseChange } from "./account-view.ts";
import { type Advance, type AdvanceCharge, cutOf, type Refund, standing } from "./advance-charge.ts";
import { chargedByDays } from "./charging.ts";
import { type DueCycle, onceKey } from "./dues.ts";

/** What the quantity of one license was paid up to, and for how long; a change of it is a step. */
interface Step {
  /** Absent for the charge at the cycle's start, which took nothing off. */
  readonly from?: Decimal;
  readonly to: Decimal;
  /** The end of the days it was paid, or given back, for. */
  readonly until: Instant;
}

/** Every license charge in advance in these cycles, and what was given back for them. */
export function licenseInAdvance(view: AccountView, dues: readonly DueCycle[]): Advance {
  const charges: AdvanceCharge[] = [];
  const refunds: Refund[] = [];
  const paidWhole = new Map<string, Decimal>();
  for (const due of dues) {
    for (const card of due.cycle.term.plan.details.licenseRateCards ?? []) {
      if (card.invoiceTiming !== "IN_ADVANCE") continue;
      const paid = payCycle(view, due, card, paidWhole);
      charges.push(...paid.charges);
      refunds.push(...paid.refunds);
    }
  }
  return { charges, refunds };
}

function payCycle(view: AccountView, due: DueCycle, card: LicenseRateCard, paidWhole: Map<string, Decimal>): Advance {
  const { cycle } = due;
  const { currency } = view;
  const prorated = chargedByDays(due.timeline, cycle, { kind: "LICENSE", billableId: card.id });
  const key = onceKey(cycle, { kind: "LICENSE", billableId: card.id }, cycle.natural);
  const asCharged = { ...card, enableProration: prorated };
  const changes = view.licenseChanges.filter((change) => change.licenseId === card.id);
  const known: Cycle = { start: cycle.start, end: cycle.end };
  const rated = { served: known, natural: cycle.natural };
  const cut = cutOf(view.decisions, known, due.due);
  const charges: AdvanceCharge[] = [];
  const refunds: Refund[] = [];
  const refund = (at: Instant, dueAt: Instant, amount: Fraction): void => {
    if (compareFractions(amount, NOTHING) <= 0) return;
    refunds.push({ key: `${key}|${formatInstant(at)}`, kind: "LICENSE", billableId: card.id, at, due: dueAt, amount });
  };

  const atStart = quantityAt(changes, cycle.start);
  const before = prorated ? undefined : paidWhole.get(key);
  charges.push(standing(due, rateLicenseInAdvance(asCharged, currency, atStart, rated, before)));
  let paid = greatest(before ?? ZERO, atStart);
  const steps: Step[] = [{ to: paid, until: known.end }];

  for (const run of dayRuns(changes, { start: cycle.start, end: cut?.at ?? cycle.end })) {
    const until =
      cutOf(
        view.decisions.filter(({ decidedAt }) => decidedAt <= run.start),
        known,
        due.due,
      )?.at ?? known.end;
    const remaining = { start: run.start, end: until };
    if (run.quantity.gt(paid)) {
      const change = { from: paid, to: run.quantity };
      const charge = rateLicenseIncrease(asCharged, currency, change, remaining, rated);
      const invoiceDate = reachedAt(changes, run.start, paid);
      charges.push({ invoiceType: "AD_HOC", invoiceDate, due: Math.max(invoiceDate, due.due), cycle, charge });
      steps.push({ ...change, until });
      paid = run.quantity;
    } else if (run.quantity.lt(paid) && prorated && card.proratedRefundMode === "CREDITS") {
      const change = { from: paid, to: run.quantity };
      refund(run.start, run.start, licenseRefund(asCharged, currency, change, remaining, rated));
      steps.push({ ...change, until });
      paid = run.quantity;
    }
  }
  if (!prorated) paidWhole.set(key, paid);
  else if (cut !== undefined)
    refund(cut.at, Math.max(cut.at, cut.decidedAt), unservedOf(asCharged, currency, steps, cut.at, rated));
  return { charges: charges.filter(({ charge }) => isCharged(charge)), refunds };
}

/** What was paid for the days from `at` on, step by step, less what was given back for them (S9.5). */
function unservedOf(
  card: LicenseRateCard,
  currency: string,
  steps: readonly Step[],
  at: Instant,
  period: { readonly served: Cycle; readonly natural: Cycle },
): Fraction {
  let total = NOTHING;
  for (const { from, to, until } of steps) {
    if (until <= at) continue;
    const unserved = { start: at, end: until };
    total = addFractions(total, licenseEndRefund(card, currency, to, unserved, period));
    if (from !== undefined) total = subtractFractions(total, licenseEndRefund(card, currency, from, unserved, period));
  }
  return total;
}

/** The instant, on a day, at which the quantity first went above what was paid. */
function reachedAt(changes: readonly LicenseChange[], day: Instant, paid: Decimal): Instant {
  const instants = changes.map(({ effectiveFrom }) => effectiveFrom).filter((at) => at >= day && at < day + DAY_MS);
  return instants.toSorted((a, b) => a - b).find((at) => quantityAt(changes, at).gt(paid)) ?? day;
}

function isCharged(charge: Charge): boolean {
  return !charge.bounded.numerator.isZero() || charge.quantity?.isZero() === false;
}
