/**
 * An account as the decider sees it (`AccountAtEvent`), and the changes that its events make to it.
 *
 * @module
 */
import { type Day, dayOf, type Instant, dayStart } from "../../calendar/instant.ts";
import type { FeatureEntry, OverageAllowance } from "../../credits/feature-credits.ts";
import { invariant } from "../../errors.ts";
import type { SchemaProgram } from "../../metering/compile-metering.ts";
import type { AccountDependencies } from "../../metering/event-slots.ts";
import { subtract, ZERO } from "../../numbers/decimal.ts";
import { decimalOfExact, type Exact, exactOfDecimal, isZeroExact, subtractExact } from "../../numbers/exact.ts";
import { grantUpTo } from "../account/catch-up.ts";
import { findClosedReason } from "../account/open-cycles.ts";
import type { AccountPeriod, Closed } from "../account/plans-at-event.ts";
import type { AccountPlan, Catalog } from "../catalog.ts";
import type { AccountRecord, FeatureUse } from "../records.ts";
import { type AccountParts, type GatheredChanges, openAccount, type OpenAccount } from "../workspace.ts";
import type { AccountAtEvent, FeatureConsumption } from "./decide-event.ts";

const NO_PERIOD: AccountPeriod = { start: 0, end: 0 };

/**
 * One account while events of it are decided. A batch opens a thousand of them, most for a single event, so nothing but
 * the plan is looked up before it is asked for.
 */
export class EventAccount implements AccountAtEvent {
  readonly id: string;
  readonly customerId: string;
  readonly isArchived: boolean;
  billFault: string | undefined = undefined;
  readonly plan: AccountPlan;
  readonly #catalog: Catalog;
  readonly #parts: AccountParts;
  #work: OpenAccount | undefined;
  /** The period that was asked for last: events come close to each other. */
  #period: AccountPeriod = NO_PERIOD;
  /** By the index of the program that asked; none before the first one does. */
  #dependencies: AccountDependencies[] | undefined;
  /** Grants that fall due up to here were made, also those ahead of the clock. */
  #grantedUpTo: Instant;

  /**
   * @param plan its plans
   * @param work the working copy, where the account was caught up with already
   */
  constructor(catalog: Catalog, parts: AccountParts, plan: AccountPlan, work?: OpenAccount) {
    const { id, customerId, status } = parts.record;
    this.id = id;
    this.customerId = customerId;
    this.isArchived = status === "ARCHIVED";
    this.plan = plan;
    this.#catalog = catalog;
    this.#parts = parts;
    this.#work = work;
    this.#grantedUpTo = parts.record.caughtUpTo;
  }

  /** As it is now. */
  get record(): AccountRecord {
    return this.#work?.record ?? this.#parts.record;
  }

  /** The working copy, made when it is asked for. */
  get work(): OpenAccount {
    return (this.#work ??= openAccount(this.#parts));
  }

  dependenciesOf({ index, enrichment }: SchemaProgram): AccountDependencies {
    const { id: accountId, customerId } = this;
    const known = (this.#dependencies ??= []);
    return (known[index] ??= enrichment.findDependencies({ accountId, customerId }));
  }

  periodAt(at: Instant): AccountPeriod {
    const period = this.#period;
    if (at >= period.start && at < period.end) return period;
    return (this.#period = this.plan.clock.periodAt(at));
  }

  closedAt(period: AccountPeriod, at: Instant, now: Instant): Closed | undefined {
    const latest = Math.max(now, this.record.caughtUpTo);
    // Nearly all events are in the running cycle, whose invoice is not final.
    if (latest < period.end) return undefined;
    return findClosedReason(this.work, period, at, now);
  }

  entries(featureId: string): readonly FeatureEntry[] {
    return this.work.spendable(featureId);
  }

  overageRoomAt(featureId: string, at: Instant, now: Instant): OverageAllowance {
    const limit = this.plan.clock.overageAt(featureId, at, now);
    if (limit === undefined) return 0;
    if (limit.maxQuantity === undefined || limit.maxQuantity === null) return "UNLIMITED";
    const used = this.work.overage(featureId, dayOf(limit.window.start), dayOf(limit.window.end));
    return subtractExact(exactOfDecimal(limit.maxQuantity), exactOfDecimal(used));
  }

  /** Debits the entries and adds the overage of an event, dated at its timestamp. @returns the use as it is stored (S11.4) */
  consume({ featureId, quantity, allocations, overage }: FeatureConsumption, at: Instant): FeatureUse {
    const { work } = this;
    const total = decimalOfExact(quantity);
    // Mostly one entry covers the whole quantity: then one Decimal serves both, for every event keeps its own.
    const consumptions = allocations.map(({ entryId, quantity: taken }) => ({
      entryId,
      quantity: taken === quantity ? total : decimalOfExact(taken),
    }));
    for (const { entryId, quantity: taken } of consumptions) {
      const entry = work.entry(entryId);
      invariant(entry !== undefined, "S11.4: an allocation names an entry of its account and feature");
      work.putEntry({ ...entry, balance: subtract(entry.balance, taken) });
    }
    if (isZeroExact(overage)) return { featureId, quantity: total, allocations: consumptions, overage: ZERO };
    work.addOverage(featureId, dayOf(at), overage);
    return { featureId, quantity: total, allocations: consumptions, overage: decimalOfExact(overage) };
  }

  /** Adds what an event counts to the usage of its day. */
  count(meterIds: readonly string[], quantities: readonly (Exact | undefined)[], day: Day): void {
    for (let place = 0; place < quantities.length; place++) {
      const quantity = quantities[place];
      if (quantity !== undefined) this.work.addUsage(meterIds[place] ?? "", day, quantity);
    }
  }

  /** Adds the account's changes to a list of changes. */
  addTo(changes: GatheredChanges): void {
    this.#work?.addTo(changes);
  }

  /** Makes the grants that fall due up to an instant, for an event that is dated ahead of the clock (S2.4). */
  grantUpTo(at: Instant): void {
    // Every grant falls due at the beginning of a day.
    const upTo = dayStart(at);
    if (upTo <= this.#grantedUpTo) return;
    this.#grantedUpTo = upTo;
    grantUpTo(this.#catalog, this.work, upTo);
  }
}
