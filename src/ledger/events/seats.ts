/**
 * What every event asks of its account, worked out once for as long as the account's plans stay the same.
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { planOf } from "../account/account-plan.ts";
import { behindFrom } from "../account/catch-up.ts";
import type { AccountPlan, Catalog } from "../catalog.ts";
import type { AccountRecord } from "../records.ts";
import type { EventAccount } from "./event-batch.ts";
import type { EventOwner } from "./event-outcomes.ts";
import type { AccountPeriod } from "./state.ts";

/** One account, as events see it. */
export interface Seat {
  /** The record that it was made of, or looked at last. */
  record: AccountRecord;
  /**
   * At twice the place of the seat: from when on its account is behind, then up to when it is caught up. Side by side, since
   * every event asks for both; in an account's record they are far apart.
   */
  readonly times: Float64Array;
  readonly place: number;
  readonly isArchived: boolean;
  /** With the settings that were looked up for it (S4.2). */
  readonly owner: EventOwner;
  /** What its events say of it. */
  readonly account: EventAccount;
  readonly plan: AccountPlan;
  /** The period that was asked for last. */
  period: AccountPeriod;
}

/** What events asked of accounts so far. */
export interface Seats {
  readonly byId: Map<string, Seat>;
  /** Those of all seats; without room before the first one. */
  times: Float64Array;
  /** One of each, which accounts share, so that it is near when the next one asks. */
  readonly periods: Map<Instant, AccountPeriod>;
}

/** Accounts that are remembered at once: what is asked of more is worked out again. */
const SEATS_MAX = 10_000;
/** Periods that are remembered at once: accounts mostly are in the same ones. */
const PERIODS_MAX = 1000;

/** The seat of an account. */
export function seatOf(catalog: Catalog, record: AccountRecord): Seat {
  const { seats } = catalog;
  const { byId } = seats;
  const known = byId.get(record.id);
  if (known?.record === record) return known;
  const { id, customerId } = record;
  if (known === undefined && 2 * byId.size >= seats.times.length) {
    byId.clear();
    // A decision that is under way goes on with the seats that it has.
    seats.times = new Float64Array(2 * SEATS_MAX);
  }
  const sameOwner = known?.account.customerId === customerId;
  const place = known?.place ?? byId.size;
  const plan = planOf(catalog, record);
  const { times } = known ?? seats;
  const seat: Seat = {
    record,
    times,
    place,
    isArchived: record.status === "ARCHIVED",
    owner: sameOwner ? known.owner : { id, customerId, dependencies: [] },
    account: sameOwner ? known.account : { id, customerId },
    plan,
    period: known?.plan === plan ? known.period : NO_PERIOD,
  };
  byId.set(id, seat);
  times[2 * place] = behindFrom(record);
  times[2 * place + 1] = record.caughtUpTo;
  return seat;
}

/** Whether something falls due up to and including an instant: `isBehind`, remembered. */
export function isSeatBehind({ times, place }: Seat, upTo: Instant): boolean {
  return (times[2 * place] ?? -Infinity) <= upTo;
}

/** Up to when an account is caught up, or the clock where that is later. */
export function latestOf({ times, place }: Seat, now: Instant): Instant {
  return Math.max(now, times[2 * place + 1] ?? -Infinity);
}

const NO_PERIOD: AccountPeriod = { start: 0, end: 0 };

/** The period of an account that holds an instant: that of the event before, mostly. */
export function periodIn(catalog: Catalog, seat: Seat, at: Instant): AccountPeriod {
  const { period } = seat;
  if (at >= period.start && at < period.end) return period;
  return (seat.period = shared(catalog.seats.periods, seat.plan.clock.periodAt(at)));
}

/** One period for all accounts that have it, so that it is near when the next one asks. */
function shared(periods: Map<Instant, AccountPeriod>, period: AccountPeriod): AccountPeriod {
  const known = periods.get(period.end);
  if (known?.start === period.start && known.openUntil === period.openUntil) return known;
  if (periods.size >= PERIODS_MAX) periods.clear();
  periods.set(period.end, period);
  return period;
}
