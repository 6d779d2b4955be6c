/**
 * The state of one account during ingest (`AccountAtEvent`), and the changes that its events make to it.
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
 * The state of one account during ingest. A batch creates up to a thousand, most for a single event, so everything
 * except the plan is read on first use.
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
  /** The last period looked up: consecutive events are mostly in the same one. */
  #period: AccountPeriod = NO_PERIOD;
  /** By program index; created on first use. */
  #dependencies: AccountDependencies[] | undefined;
  /** Grants due up to here were made, including future ones. */
  #grantedUpTo: Instant;

  /**
   * @param plan the account's plans
   * @param work the working copy, if the account was caught up already
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

  /** The current state. */
  get record(): AccountRecord {
    return this.#work?.record ?? this.#parts.record;
  }

  /** The working copy, created on first use. */
  get work(): OpenAccount {
    return (this.#work ??= openAccount(this.#parts));
  }

  dependenciesOf({ index, enrichment }: SchemaProgram): AccountDependencies {
    const { id: accountId, customerId } = this;
    const cache = (this.#dependencies ??= []);
    return (cache[index] ??= enrichment.findDependencies({ accountId, customerId }));
  }

  periodAt(at: Instant): AccountPeriod {
    const period = this.#period;
    if (at >= period.start && at < period.end) return period;
    return (this.#period = this.plan.clock.periodAt(at));
  }

  closedAt(period: AccountPeriod, at: Instant, now: Instant): Closed | undefined {
    const latest = Math.max(now, this.record.caughtUpTo);
    // Nearly all events are in the current cycle, whose invoice is not final.
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
    // Usually one entry covers the whole quantity; share its Decimal instead of allocating a second one.
    const consumptions = allocations.map(({ entryId, quantity: usedQuantity }) => ({
      entryId,
      quantity: usedQuantity === quantity ? total : decimalOfExact(usedQuantity),
    }));
    for (const { entryId, quantity: usedQuantity } of consumptions) {
      const entry = work.entry(entryId);
      invariant(entry !== undefined, "S11.4: an allocation names an entry of its account and feature");
      work.putEntry({ ...entry, balance: subtract(entry.balance, usedQuantity) });
    }
    if (isZeroExact(overage)) return { featureId, quantity: total, allocations: consumptions, overage: ZERO };
    work.addOverage(featureId, dayOf(at), overage);
    return { featureId, quantity: total, allocations: consumptions, overage: decimalOfExact(overage) };
  }

  /** Adds the units of an event to the usage of its day. */
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

  /** Creates the grants due up to an instant, for a future-dated event (S2.4). */
  grantUpTo(at: Instant): void {
    // Every grant falls due at the start of a day.
    const upTo = dayStart(at);
    if (upTo <= this.#grantedUpTo) return;
    this.#grantedUpTo = upTo;
    grantUpTo(this.#catalog, this.work, upTo);
  }
}
