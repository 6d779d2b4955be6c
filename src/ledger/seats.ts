/**
 * What every event asks of its account, worked out once for as long as the account's plans stay the same.
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import { planOf } from "./account-plan.ts";
import type { AccountPlan, Catalog } from "./catalog.ts";
import type { EventAccount } from "./event-batch.ts";
import type { EventOwner } from "./event-outcomes.ts";
import type { AccountRecord } from "./records.ts";
import type { AccountPeriod } from "./state.ts";

/** One account, as events see it. */
export interface Seat {
  /** With the settings that were looked up for it (S4.2). */
  readonly owner: EventOwner;
  /** What its events say of it. */
  readonly account: EventAccount;
  readonly associations: AccountRecord["associations"];
  readonly groupId: string | undefined;
  readonly plan: AccountPlan;
  /** The period that was asked for last. */
  period: AccountPeriod;
}

/** Accounts that are remembered at once: what is asked of more is worked out again. */
const SEATS_MAX = 10_000;
/** Periods that are remembered at once: accounts mostly are in the same ones. */
const PERIODS_MAX = 1000;

/** The seat of an account. */
export function seatOf(catalog: Catalog, record: AccountRecord): Seat {
  const { id, customerId, associations, invoiceGroupId: groupId } = record;
  const { seats } = catalog;
  const known = seats.get(id);
  if (known?.associations === associations && known.groupId === groupId && known.account.customerId === customerId) {
    return known;
  }
  if (seats.size >= SEATS_MAX) seats.clear();
  const sameOwner = known?.account.customerId === customerId;
  const seat: Seat = {
    owner: sameOwner ? known.owner : { id, customerId, dependencies: [] },
    account: sameOwner ? known.account : { id, customerId },
    associations,
    groupId,
    plan: planOf(catalog, record),
    period: NO_PERIOD,
  };
  seats.set(id, seat);
  return seat;
}

const NO_PERIOD: AccountPeriod = { start: 0, end: 0 };

/** The period of an account that holds an instant: that of the event before, mostly. */
export function periodIn(catalog: Catalog, seat: Seat, at: Instant): AccountPeriod {
  const { period } = seat;
  if (at >= period.start && at < period.end) return period;
  return (seat.period = shared(catalog.periods, seat.plan.clock.periodAt(at)));
}

/** One period for all accounts that have it, so that it is near when the next one asks. */
function shared(periods: Map<Instant, AccountPeriod>, period: AccountPeriod): AccountPeriod {
  const known = periods.get(period.end);
  if (known?.start === period.start && known.openUntil === period.openUntil) return known;
  if (periods.size >= PERIODS_MAX) periods.clear();
  periods.set(period.end, period);
  return period;
}
