/**
 * The accounts of a book while a preview decides their events. They behave as in a ledger into which the book was loaded
 * before the first event and whose clock is the event's timestamp (S13.5).
 */

import type { Account } from "../../book/resources/account.ts";
import type { Book } from "../../book/resources/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import type { MigrationMode } from "../../book/resources/requests.ts";
import { naturalCycleAt } from "../../calendar/cycle.ts";
import {
  type Day,
  formatInstant,
  type Instant,
  startOfUtcDay,
  instantOfDay,
  INSTANT_MIN,
} from "../../calendar/instant.ts";
import { hasCode } from "../../errors.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import type { SchemaProgram } from "../../metering/compile-metering.ts";
import type { EventEnvelope } from "../../metering/event-envelope.ts";
import type { UsageTally } from "../../metering/usage.ts";
import { decimalOfExact, type Exact } from "../../numbers/exact.ts";
import { AccountState } from "../account-state.ts";
import { findAccountPlan, associateOn } from "../account/account-plan.ts";
import { createBookAccount } from "../account/book-account.ts";
import { grantUpTo, nextDueAfter, processDueWork } from "../account/catch-up.ts";
import type { Catalog } from "../catalog.ts";
import { noChanges } from "../decision.ts";
import type { EventDecision } from "../events/decide-event.ts";
import { createNewEvent, toEventRecord } from "../events/new-event.ts";
import { type EventRecord, type FeatureUse, UNNUMBERED, type AccountRecord } from "../records.ts";
import type { AccountParts, GroupRoom } from "../working-records.ts";

/** The usage of all accounts so far. */
export type PreviewUsage = Pick<UsageTally, "cellsOf" | "fullness" | "hasRoom">;

/** Decimal places up to which sums of units keep a bill within 100 digits at any rate (S1.4). */
const NARROW_SCALE_MAX = 15;

/** Creates the accounts of a preview, each at its first event. */
export interface PreviewAccounts {
  /** The account with an id or alias; undefined if there is none (S16.6). */
  readonly findByName: (name: string) => PreviewAccount | undefined;
  /** The account with an id of the book. */
  readonly findById: (accountId: string) => PreviewAccount | undefined;
  /** The account at an index of the book's list. */
  readonly findByIndex: (index: number) => PreviewAccount | undefined;
}

/** Creates the accounts of a preview. @param catalog includes the plan of the trial */
export function createPreviewAccounts(
  catalog: Catalog,
  book: Book,
  trial: PlanTrial,
  usage: PreviewUsage,
): PreviewAccounts {
  const groups = new Map(book.invoiceGroups.flatMap(({ id, accountIds }) => accountIds.map((each) => [each, id])));
  const createdAccounts: (PreviewAccount | undefined)[] = [];
  const indexes = new Map(book.accounts.map(({ id }, index) => [id, index]));
  const names = new Map(indexes);
  for (const { id, status, aliases } of book.accounts) {
    // Archiving an account frees its aliases.
    if (status !== "ARCHIVED")
      for (const alias of aliases) if (!names.has(alias)) names.set(alias, indexes.get(id) ?? -1);
  }
  // One object for all accounts, which is faster than one for each.
  const groupRoom: GroupRoom = {
    get hasRoomForAnyGroup() {
      return usage.fullness < 1;
    },
    hasRoomForGroup(accountId, { measure, groups: texts }, place, day) {
      const [account, meter, group] = [indexes.get(accountId), measure.meters[place], texts[place]];
      if (account === undefined || meter === undefined || group === undefined) return true;
      return usage.hasRoom(account, meter, day, group);
    },
  };
  const findByIndex = (index: number | undefined): PreviewAccount | undefined => {
    if (index === undefined) return undefined;
    const existing = createdAccounts[index];
    if (existing !== undefined) return existing;
    const account = book.accounts[index];
    if (account === undefined) return undefined;
    const parts = { ...createTrialAccount(catalog, account, groups.get(account.id), trial), groupRoom };
    const draft = trial.migration === undefined ? trial.plan : undefined;
    return (createdAccounts[index] = new PreviewAccount({ catalog, parts, usage, index, draft }));
  };
  return {
    findByName: (name) => findByIndex(names.get(name)),
    findById: (accountId) => findByIndex(indexes.get(accountId)),
    findByIndex,
  };
}

/** The parts of an account of a preview. */
interface PreviewAccountParts {
  readonly catalog: Catalog;
  readonly parts: AccountParts;
  readonly usage: PreviewUsage;
  readonly index: number;
  readonly draft: PricePlan | undefined;
}

/** One account of a preview. Its grants fall due, and its feature credits are consumed, as its events arrive. */
export class PreviewAccount {
  /** Its index in the book's list. */
  readonly index: number;
  /** The account at the current event. */
  state: AccountState;
  /** The number of its events that consumed a feature. */
  consumptions = 0;
  readonly #catalog: Catalog;
  #parts: AccountParts;
  readonly #usage: PreviewUsage;
  /** The draft that the account gets with its first accepted event, if it has no plan. */
  #pendingPlan: PricePlan | undefined;
  /** The next instant at which something falls due that affects events. */
  #nextDueAt: Instant = Number.NEGATIVE_INFINITY;
  /** Whether one of its plans grants feature credits. */
  #hasEntitlements = false;
  /** The latest decision on a backdated plan: its grants may take overage of earlier events. */
  #lastBackdatedDecisionAt: Instant = Number.NEGATIVE_INFINITY;
  /**
   * The account with the invoices that a ledger would have finalized so far. Kept from the first wide quantity (see
   * {@link isNarrow}), because from then on its bill may need too many digits.
   */
  #billedAccount: AccountParts | undefined;
  /** The starts of days with usage given as cells: the first, the last, and the first with a wide quantity. */
  readonly #cellTimes = {
    firstCellAt: Number.POSITIVE_INFINITY,
    lastCellAt: Number.NEGATIVE_INFINITY,
    firstWideAt: Number.POSITIVE_INFINITY,
  };

  constructor({ catalog, parts, usage, index, draft }: PreviewAccountParts) {
    this.index = index;
    this.#catalog = catalog;
    this.#parts = parts;
    this.#usage = usage;
    this.#pendingPlan = parts.record.associations.length === 0 ? draft : undefined;
    this.state = this.#createState(parts);
  }

  /** Whether the account gets a plan with its first accepted event. */
  get hasPendingPlan(): boolean {
    return this.#pendingPlan !== undefined;
  }

  /**
   * Whether all events of a UTC day without wide quantities are decided alike: nothing within the day can make the
   * account's bill fail (S17.3).
   */
  decidesAlikeOn(day: Day): boolean {
    if (this.#billedAccount !== undefined || this.state.billFault !== undefined) return false;
    const { associations, licenseUpdates } = this.state.record;
    const isWithin = (at: Instant): boolean => at > instantOfDay(day) && at < instantOfDay(day + 1);
    return (
      !associations.some(({ decidedAt }) => isWithin(decidedAt)) &&
      !licenseUpdates.some(({ effectiveFrom }) => isWithin(effectiveFrom))
    );
  }

  /** The next instant at which something falls due; the past while the account awaits a plan or needs trial bills. */
  get unchangedUntil(): Instant {
    const isPast =
      this.#pendingPlan !== undefined || this.#billedAccount !== undefined || this.state.billFault !== undefined;
    return isPast ? Number.NEGATIVE_INFINITY : this.#nextDueAt;
  }

  /**
   * Associates the draft from the natural cycle of the first accepted event (book.md, `--plan`).
   *
   * @returns an undo function: call it at once if the event is rejected with the plan too
   */
  startPlan(at: Instant): () => void {
    const plan = this.#pendingPlan;
    if (plan === undefined) return () => {};
    const before = this.#parts;
    this.#pendingPlan = undefined;
    const { cycleConfig: natural } = associateOn(plan, startOfUtcDay(at));
    const from = naturalCycleAt(natural, at).start;
    const { planId, version, cycleConfig } = associateOn(plan, from);
    const association = { id: "", plan: { planId, version, cycleConfig }, from, until: NO_END, decidedAt: from };
    const record = { ...this.#parts.record, associations: [association], nextDueAt: LOADED_AT };
    this.#nextDueAt = Number.NEGATIVE_INFINITY;
    this.state = this.#createState({ ...this.#parts, record });
    this.processDueWork(at);
    return () => {
      this.#pendingPlan = plan;
      this.#nextDueAt = Number.NEGATIVE_INFINITY;
      this.state = this.#createState(before);
    };
  }

  /** Creates the grants due up to and including an instant (S2.4); computes a trial bill if the bill could fail. */
  processDueWork(at: Instant): void {
    if (at >= this.#nextDueAt) this.#processDueNow(at);
  }

  #processDueNow(at: Instant): void {
    const { firstCellAt, firstWideAt } = this.#cellTimes;
    if (this.#pendingPlan !== undefined && firstCellAt <= at) this.startPlan(firstCellAt);
    if (firstWideAt <= at) this.#startTrialBill(firstWideAt);
    if (this.#billedAccount !== undefined && !this.#tryTrialBill(at, this.#billedAccount)) return;
    if (this.#hasEntitlements) grantUpTo(this.#catalog, this.state, at);
    const due =
      this.#hasEntitlements || this.#billedAccount !== undefined ? this.#dueAfter(at) : Number.POSITIVE_INFINITY;
    this.#nextDueAt = Math.min(due, this.#nextCellTime());
  }

  /** Consumes the feature credits of an accepted event, and creates a trial bill if its quantities are wide. */
  apply(event: EventEnvelope, program: SchemaProgram, decision: EventDecision): void {
    const { units, consumption } = decision;
    const { timestamp: at } = event;
    for (let place = 0; place < units.length; place++) {
      const quantity = units[place];
      if (typeof quantity === "object") this.#startTrialBillIfWide(quantity, at);
    }
    if (consumption === undefined) return;
    this.consumptions++;
    // The trial bill of everything due up to the event excludes it, so it precedes consumption.
    this.#startTrialBillIfWide(consumption.quantity, at);
    const use = this.state.consume(consumption, at);
    // Its overage may move onto a grant that is decided later, so it is kept (S11.5).
    if (at < this.#lastBackdatedDecisionAt && !use.overage.isZero())
      this.state.putEvent(toPreviewRecord(this, event, program, decision, use));
  }

  /** Records usage given as cells, which exists from the beginning, in any order (S17.1). @param at the day's first instant */
  addCell(quantity: Exact, at: Instant): void {
    const times = this.#cellTimes;
    times.firstCellAt = Math.min(times.firstCellAt, at);
    times.lastCellAt = Math.max(times.lastCellAt, at);
    if (!isNarrow(quantity)) times.firstWideAt = Math.min(times.firstWideAt, at);
    this.#nextDueAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * Processes due work after the last event: everything due up to the last day of usage given as cells, and the grants
   * of a backdated plan, onto which overage of earlier events moves (S11.5).
   */
  processRemainingWork(): void {
    const { firstCellAt, lastCellAt } = this.#cellTimes;
    if (firstCellAt <= lastCellAt) this.processDueWork(lastCellAt);
    grantUpTo(this.#catalog, this.state, this.#lastBackdatedDecisionAt);
  }

  /** When usage given as cells matters next: its first day may start a plan, a wide quantity needs a trial bill. */
  #nextCellTime(): Instant {
    const { firstCellAt, firstWideAt } = this.#cellTimes;
    return Math.min(
      this.#pendingPlan === undefined ? Number.POSITIVE_INFINITY : firstCellAt,
      this.#billedAccount === undefined ? firstWideAt : Number.POSITIVE_INFINITY,
    );
  }

  #createState(parts: AccountParts): AccountState {
    this.#parts = parts;
    const { decisions } = findAccountPlan(this.#catalog, parts.record);
    this.#hasEntitlements = decisions.some((each) => (each.plan?.details.billingEntitlementRateCards ?? []).length > 0);
    const late = decisions.filter(({ from, decidedAt }) => decidedAt > from).map(({ decidedAt }) => decidedAt);
    this.#lastBackdatedDecisionAt = this.#hasEntitlements
      ? Math.max(Number.NEGATIVE_INFINITY, ...late)
      : Number.NEGATIVE_INFINITY;
    return new AccountState(this.#catalog, parts);
  }

  #startTrialBillIfWide(quantity: Exact, at: Instant): void {
    if (isNarrow(quantity)) return;
    this.#startTrialBill(at);
  }

  #startTrialBill(at: Instant): void {
    if (this.#billedAccount !== undefined) return;
    // Everything due earlier had narrow quantities, so this bill can be computed.
    this.#billedAccount = this.#computeBill(at, this.#parts, []);
    this.#nextDueAt = this.#dueAfter(at);
  }

  #dueAfter(at: Instant): Instant {
    return nextDueAfter(this.#catalog, this.#parts.record, at);
  }

  /** Computes a trial bill. If that fails, the account accepts no more events (S13.5). @returns whether it succeeded */
  #tryTrialBill(at: Instant, before: AccountParts): boolean {
    if (this.state.billFault !== undefined) return false;
    const cells = [...this.#usage.cellsOf(this.state.id)];
    try {
      this.#billedAccount = this.#computeBill(
        at,
        before,
        cells.map(({ meterId, ...cell }) => ({ ...cell, meterOrFeatureId: meterId })),
      );
      return true;
    } catch (error) {
      if (!hasCode(error, "ERR_ARITHMETIC")) throw error;
      this.state.billFault = error.message;
      return false;
    }
  }

  /** The account with everything due up to and including an instant processed, as a ledger would have it. */
  #computeBill(at: Instant, before: AccountParts, usage: AccountParts["usage"]): AccountParts {
    const changes = noChanges();
    this.state.addTo(changes);
    const overage = changes.overage.map((delta) => ({ ...delta, quantity: decimalOfExact(delta.quantity) }));
    const account = new AccountState(this.#catalog, { ...before, usage, overage });
    processDueWork(this.#catalog, account, at);
    return {
      ...before,
      record: account.record,
      entries: account.entries(),
      credits: account.credits(),
      invoices: account.invoices(),
    };
  }
}

/** The record of an event that consumed a feature. Its referenceId is its index among the account's
 * consuming events, because ids may be reused. */
function toPreviewRecord(
  { state: { id: accountId, customerId }, consumptions }: PreviewAccount,
  event: EventEnvelope,
  program: SchemaProgram,
  decision: EventDecision,
  use: FeatureUse,
): EventRecord {
  const { schemaName, id, timestamp } = event;
  const sent = { schemaName, id, accountId: event.accountId, timestamp: formatInstant(timestamp) };
  const owner = { accountId, customerId, referenceId: String(consumptions), createdAt: timestamp };
  return toEventRecord(createNewEvent({ ...event, sent }, program, decision, owner, use), UNNUMBERED);
}

/** Whether sums of such quantities keep every amount of a bill within 100 digits at any rate (S1.3, S1.4). */
export function isNarrow(quantity: Exact): boolean {
  return typeof quantity === "number" || (typeof quantity.mantissa === "number" && quantity.scale <= NARROW_SCALE_MAX);
}

/** The createdAt of everything in a book: before all events, so that the order in the book breaks ties. */
export const LOADED_AT: Instant = INSTANT_MIN;

/** Migrates accounts to a plan (S16.5). */
export interface TrialMigration {
  readonly mode: MigrationMode;
  /** The midnight of the migration; accounts with a plan at that time take part. */
  readonly on: Instant;
  /** An account after a migration that is known from the day of its decision; undefined if it does not take part. */
  readonly migrate: (catalog: Catalog, record: AccountRecord, target: PricePlan) => AccountRecord | undefined;
}

/** The plans of one scenario. */
export interface PlanTrial {
  /** A checked plan; undefined for the plans of the book only. */
  readonly plan?: PricePlan | undefined;
  /** Undefined: every account has the plan on the dates of its associations (book.md, `--plan`). */
  readonly migration?: TrialMigration | undefined;
}

/** Creates a ledger account from an account of the book, with the plans of a trial. */
export function createTrialAccount(
  catalog: Catalog,
  account: Account,
  groupId: string | undefined,
  { plan, migration }: PlanTrial,
): AccountParts {
  const drafted = plan === undefined || migration !== undefined ? account : withDraft(account, plan);
  const parts = createBookAccount(catalog, drafted, groupId, { now: LOADED_AT, ids: () => account.id });
  if (plan === undefined || migration === undefined) return parts;
  const record = migration.migrate(catalog, parts.record, plan);
  return record === undefined ? parts : { ...parts, record };
}

/** Gives an account a draft on the dates of its associations, without overrides (book.md, `--plan`). */
function withDraft(account: Account, { id: pricePlanId, version }: PricePlan): Account {
  return {
    ...account,
    pricePlans: account.pricePlans.map(({ effectiveFrom, effectiveUntil, decidedAt }) => ({
      pricePlanId,
      version,
      effectiveFrom,
      retainStartOffsets: false,
      ...(effectiveUntil === undefined ? {} : { effectiveUntil }),
      ...(decidedAt === undefined ? {} : { decidedAt }),
    })),
  };
}
