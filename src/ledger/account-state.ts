/**
 * The state of an account in a decision: what was read of it, and the changes so far. Reads return records written
 * earlier in the decision, so that the events of a batch are decided one after another (S14.3).
 */
import { formatGroup, findGroupLimit, type GroupUsage, type UsageGroup } from "../book/resources/event-schema.ts";
import { type Day, dayOf, type Instant } from "../calendar/instant.ts";
import type { FeatureEntry, OverageAllowance, FeatureConsumption } from "../credits/feature-credits.ts";
import { canPay } from "../credits/monetary-credits.ts";
import { invariant } from "../errors.ts";
import type { InvoiceLine } from "../invoicing/invoice.ts";
import type { AccountView } from "../invoicing/timeline.ts";
import type { SchemaProgram } from "../metering/compile-metering.ts";
import type { AccountDependencies } from "../metering/event-slots.ts";
import { readGroup } from "../metering/grouped-cells.ts";
import { aggregateUsage, type MeterUsage } from "../metering/keyed-usage.ts";
import { type Decimal, subtract, ZERO } from "../numbers/decimal.ts";
import { decimalOfExact, type Exact, exactOfDecimal, isZeroExact, subtractExact } from "../numbers/exact.ts";
import { compareIds } from "../numbers/ids.ts";
import { withCarriedUsage } from "./account-usage.ts";
import { findAccountPlan, findGraceTerms, type ClosedReason } from "./account/account-plan.ts";
import { findClosedReason, findLevelsEnd } from "./account/open-cycles.ts";
import { type AccountPlan, type Catalog, groupTermsFor, type AccountPeriod } from "./catalog.ts";
import { type Changes, type GatheredChanges, noChanges } from "./decision.ts";
import type {
  AccountRecord,
  CreditRecord,
  EntryRecord,
  EventRecord,
  FeatureUse,
  InvoiceRecord,
  BilledUsage,
  AccountExternalUsage,
} from "./records.ts";
import {
  SpendableEntries,
  toLicenseChange,
  toMonetaryCredit,
  WorkingCells,
  WorkingRecords,
  type AccountParts,
  type GroupRoom,
} from "./working-records.ts";

/** The states of some accounts. */
export interface Workspace {
  /** @throws {InvariantError} for an account that was not read */
  account(id: string): AccountState;
  /** All changes: each changed record once, and one sum per cell. */
  changes(): Changes;
}

/** Opens the states of accounts. */
export function createWorkspace(catalog: Catalog, read: readonly AccountParts[]): Workspace {
  const accounts = new Map<string, AccountState>();
  for (const parts of read) accounts.set(parts.record.id, new AccountState(catalog, parts));
  return {
    account(id) {
      const account = accounts.get(id);
      invariant(account !== undefined, "a decision reads every account that it touches first");
      return account;
    },
    changes() {
      const all = noChanges();
      for (const account of accounts.values()) account.addTo(all);
      return all;
    },
  };
}

const NO_PERIOD: AccountPeriod = { start: 0, end: 0 };

/**
 * The state of one account. A batch creates a thousand of them and writes a record or two into each, so this is a class
 * instead of closures, and its lists are created on first use.
 */
export class AccountState {
  readonly id: string;
  readonly customerId: string;
  /** The current record. */
  record: AccountRecord;
  /** Why its bill cannot be computed, as a sentence; the account then accepts no events (S13.5). */
  billFault: string | undefined = undefined;
  /** Grants due up to here were made, besides those that the record counts: future ones too. */
  grantedUpTo: Instant = Number.NEGATIVE_INFINITY;
  readonly #catalog: Catalog;
  #parts: AccountParts;
  /** Beside the parts, because every event of a preview reads it. */
  readonly #groupRoom: GroupRoom | undefined;
  #plan: AccountPlan | undefined;
  /** The record of which `#plan` are the plans. */
  #planRecord: AccountRecord;
  /** The last period looked up: consecutive events are mostly in the same one. */
  #period: AccountPeriod = NO_PERIOD;
  /** One decision asks for it at one time. */
  #levelsEnd: Instant | undefined;
  /** By program index; created on first use. */
  #dependencies: AccountDependencies[] | undefined;
  #entries: WorkingRecords<EntryRecord> | undefined;
  #spendableEntries: SpendableEntries | undefined;
  #credits: WorkingRecords<CreditRecord> | undefined;
  #invoices: WorkingRecords<InvoiceRecord> | undefined;
  #billedUsage: WorkingRecords<BilledUsage> | undefined;
  #events: WorkingRecords<EventRecord> | undefined;
  #usage: WorkingCells | undefined;
  #overage: WorkingCells | undefined;
  /** The extra count for the lines of written invoices. */
  #longInvoices = 0;

  constructor(catalog: Catalog, parts: AccountParts) {
    const { record } = parts;
    this.id = record.id;
    this.customerId = record.customerId;
    this.record = record;
    this.#catalog = catalog;
    this.#parts = parts;
    this.#groupRoom = parts.groupRoom;
    this.#plan = parts.currentPlan;
    this.#planRecord = record;
  }

  get isArchived(): boolean {
    return this.record.status === "ARCHIVED";
  }

  /** Its current plans. */
  get plan(): AccountPlan {
    if (this.#plan !== undefined && this.#planRecord === this.record) return this.#plan;
    this.#planRecord = this.record;
    return (this.#plan = findAccountPlan(this.#catalog, this.record));
  }

  /**
   * The account as invoicing sees it. Its credits are all those created so far that can still pay.
   *
   * @param passedUntil the first day that has not passed, for drafts (S19.5); default none
   */
  view(catalog: Catalog = this.#catalog, passedUntil?: Day): AccountView {
    const { record } = this;
    const { decisions, timeline } = findAccountPlan(catalog, record);
    return {
      accountId: record.id,
      customerId: record.customerId,
      currency: record.invoiceCurrency,
      netTermDays: groupTermsFor(catalog, record).groupNetTermDays ?? record.netTermDays ?? 0,
      ...findGraceTerms(catalog, record),
      decisions,
      timeline,
      licenseChanges: record.licenseUpdates.map(toLicenseChange),
      credits: this.credits().filter(canPay).map(toMonetaryCredit),
      ...aggregateUsage(catalog.billing.keyedMeters, this.#storedUsage(), passedUntil),
      overage: (featureId, from, until) => this.overage(featureId, from, until),
    };
  }

  /** In order of creation, then id. */
  entries(): readonly EntryRecord[] {
    return this.#ownEntries().all();
  }
  entry(id: string): EntryRecord | undefined {
    return this.#ownEntries().get(id);
  }
  /** The spendable entries of a feature, in spending order (S11.2); valid until the next change. */
  spendableEntries(featureId: string): readonly FeatureEntry[] {
    return (this.#spendableEntries ??= new SpendableEntries(() => this.entries())).of(featureId);
  }
  credits(): readonly CreditRecord[] {
    return this.#ownCredits().all();
  }
  credit(id: string): CreditRecord | undefined {
    return this.#ownCredits().get(id);
  }
  invoices(): readonly InvoiceRecord[] {
    return this.#ownInvoices().all();
  }
  /** By number. */
  events(): readonly EventRecord[] {
    return this.#ownEvents().all();
  }
  event(referenceId: string): EventRecord | undefined {
    return this.#ownEvents().get(referenceId);
  }
  /** Adds stored events to those that the decision may change; before any of them changed. */
  addStoredEvents(events: readonly EventRecord[]): void {
    const all = new Map([...this.#parts.events, ...events].map((event) => [event.referenceId, event]));
    this.#parts = { ...this.#parts, events: [...all.values()] };
    this.#events = undefined;
  }
  /** The usage of a meter on the days `[from, until)`, ingested and external. */
  usage(meterId: string, from: Day, until: Day): Decimal {
    return this.#ownUsage().between(meterId, from, until);
  }
  /** The usage other than 0 of a meter's groups on the days `[from, until)`, by day, then group. */
  usageByGroup(meterId: string, from: Day, until: Day): readonly GroupUsage[] {
    return this.#ownUsage().groupsBetween(meterId, from, until);
  }
  /** The overage of a feature on the days `[from, until)`. */
  overage(featureId: string, from: Day, until: Day): Decimal {
    return this.#ownOverage().between(featureId, from, until);
  }
  /** As read; undefined if all events are ingested. */
  externalUsage(): AccountExternalUsage | undefined {
    return this.#parts.externalUsage;
  }
  /** By first day. */
  billedUsage(): readonly BilledUsage[] {
    return this.#ownBilledUsage().all();
  }
  /** The number of written entries, credits and invoices; an invoice counts once more for each {@link LINES_OF_RECORD} lines. */
  countChangedRecords(): number {
    const records = [this.#entries, this.#credits, this.#invoices];
    return records.reduce((count, each) => count + (each?.changed() ?? 0), this.#longInvoices);
  }
  putBilledUsage(billed: BilledUsage): void {
    this.#ownBilledUsage().put(billed);
  }
  putRecord(record: AccountRecord): void {
    this.record = record;
  }
  putEntry(entry: EntryRecord): void {
    this.#ownEntries().put(entry);
    this.#spendableEntries?.update(entry);
  }
  putCredit(credit: CreditRecord): void {
    this.#ownCredits().put(credit);
  }
  putInvoice(invoice: InvoiceRecord): void {
    this.#ownInvoices().put(invoice);
    this.#longInvoices += Math.floor(lineCount(invoice.invoice.revenueInfo) / LINES_OF_RECORD);
  }
  putEvent(event: EventRecord): void {
    this.#ownEvents().put(event);
  }
  /** @param group only for a meter with groups */
  addUsage(meterId: string, day: Day, quantity: Exact, group?: UsageGroup): void {
    this.#ownUsage().add(meterId, day, quantity, group);
  }
  addOverage(featureId: string, day: Day, quantity: Exact): void {
    this.#ownOverage().add(featureId, day, quantity);
  }

  /** Adds its changes to those of others. */
  addTo(changes: GatheredChanges): void {
    if (this.record !== this.#parts.record) changes.accounts.push(this.record);
    this.#events?.addTo(changes.events);
    this.#usage?.addTo(changes.usage);
    this.#overage?.addTo(changes.overage);
    this.#entries?.addTo(changes.entries);
    this.#credits?.addTo(changes.credits);
    this.#invoices?.addTo(changes.invoices);
    this.#billedUsage?.addTo(changes.billedUsage);
  }

  /** The account's settings that a schema depends on (S4.2). */
  dependenciesOf({ index, enrichment }: SchemaProgram): AccountDependencies {
    const { id: accountId, customerId } = this;
    const cache = (this.#dependencies ??= []);
    return (cache[index] ??= enrichment.findDependencies({ accountId, customerId }));
  }

  /** Whether the account certainly has room for the groups of an event, whatever they are (S18.1). */
  get hasRoomForAnyGroup(): boolean {
    const room = this.#groupRoom;
    return room === undefined ? this.#parts.fullDays === undefined : room.hasRoomForAnyGroup;
  }

  /**
   * Whether the event in the slots may add units other than 0 to its group: the account has not too many groups of the
   * meter on the day (S18.1).
   *
   * @param place the index of the meter among those of the program
   */
  hasRoomForGroup(program: SchemaProgram, place: number, day: Day): boolean {
    if (this.#groupRoom !== undefined) return this.#groupRoom.hasRoomForGroup(this.id, program, place, day);
    const { fullDays } = this.#parts;
    if (fullDays === undefined) return true;
    const [meter, texts] = [program.meters[place], program.groups[place]];
    if (meter === undefined || texts === undefined) return true;
    if (!fullDays.some((full) => full.meterId === meter.id && full.day === day)) return true;
    const used = this.#ownUsage().groupsOn(meter.id, day);
    return used.size < findGroupLimit(meter) || used.has(formatGroup(readGroup(texts)));
  }

  /** The cycle, or the period without one, that contains an instant. */
  periodAt(at: Instant): AccountPeriod {
    const period = this.#period;
    if (at >= period.start && at < period.end) return period;
    return (this.#period = this.plan.lookup.periodAt(at));
  }

  /** Why the period that contains `at` accepts no more events (S6.5); undefined while it is open. */
  closedReasonAt(period: AccountPeriod, at: Instant, now: Instant): ClosedReason | undefined {
    const latest = Math.max(now, this.record.caughtUpTo);
    // Nearly all events are in the current cycle, whose invoice is not final.
    if (latest < period.end) return undefined;
    return findClosedReason(this, period, at, now);
  }

  /** Until when levels that are carried over cannot change, because cycles after `at` are closed; `at` if none is (S6.5). */
  levelsEnd(at: Instant, now: Instant): Instant {
    const hasNoClosedAfter = Math.max(now, this.record.caughtUpTo) < this.periodAt(at).end;
    return hasNoClosedAfter ? at : (this.#levelsEnd ??= findLevelsEnd(this.#catalog, this, now));
  }

  /** The overage of a feature that is still allowed at an instant, by the plans known at `now` (S11.3). */
  overageAllowanceAt(featureId: string, at: Instant, now: Instant): OverageAllowance {
    const limit = this.plan.lookup.overageAt(featureId, at, now);
    if (limit === undefined) return 0;
    if (limit.maxQuantity === undefined || limit.maxQuantity === null) return "UNLIMITED";
    const used = this.overage(featureId, dayOf(limit.window.start), dayOf(limit.window.end));
    return subtractExact(exactOfDecimal(limit.maxQuantity), exactOfDecimal(used));
  }

  /** Debits the entries and adds the overage of an event, dated at its timestamp. @returns the use as it is stored (S11.4) */
  consume({ featureId, quantity, allocations, overage }: FeatureConsumption, at: Instant): FeatureUse {
    const total = decimalOfExact(quantity);
    // Usually one entry covers the whole quantity; share its Decimal instead of allocating a second one.
    const consumptions = allocations.map(({ entryId, quantity: usedQuantity }) => ({
      entryId,
      quantity: usedQuantity === quantity ? total : decimalOfExact(usedQuantity),
    }));
    for (const { entryId, quantity: usedQuantity } of consumptions) {
      const entry = this.entry(entryId);
      invariant(entry !== undefined, "S11.4: an allocation names an entry of its account and feature");
      this.putEntry({ ...entry, balance: subtract(entry.balance, usedQuantity) });
    }
    if (isZeroExact(overage)) return { featureId, quantity: total, allocations: consumptions, overage: ZERO };
    this.addOverage(featureId, dayOf(at), overage);
    return { featureId, quantity: total, allocations: consumptions, overage: decimalOfExact(overage) };
  }

  /** Adds the units of the event in the slots to the usage of its day. */
  addUnits({ meterIds, groups }: SchemaProgram, quantities: readonly (Exact | undefined)[], day: Day): void {
    for (let index = 0; index < quantities.length; index++) {
      const [quantity, group] = [quantities[index], groups[index]];
      if (quantity !== undefined) this.addUsage(meterIds[index] ?? "", day, quantity, group && readGroup(group));
    }
  }

  #storedUsage(): MeterUsage {
    return {
      usage: (meterId, from, until) => this.usage(meterId, from, until),
      usageByGroup: (meterId, from, until) => this.usageByGroup(meterId, from, until),
    };
  }
  #ownEntries(): WorkingRecords<EntryRecord> {
    return (this.#entries ??= new WorkingRecords<EntryRecord>(this.#parts.entries, recordId, byCreation));
  }
  #ownCredits(): WorkingRecords<CreditRecord> {
    return (this.#credits ??= new WorkingRecords<CreditRecord>(this.#parts.credits, recordId, byCreation));
  }
  #ownInvoices(): WorkingRecords<InvoiceRecord> {
    return (this.#invoices ??= new WorkingRecords<InvoiceRecord>(this.#parts.invoices, recordId));
  }
  #ownBilledUsage(): WorkingRecords<BilledUsage> {
    return (this.#billedUsage ??= new WorkingRecords<BilledUsage>(this.#parts.externalUsage?.billed ?? [], recordId));
  }
  #ownEvents(): WorkingRecords<EventRecord> {
    return (this.#events ??= new WorkingRecords<EventRecord>(this.#parts.events, eventReferenceId, byNumber));
  }
  #ownUsage(): WorkingCells {
    return (this.#usage ??= new WorkingCells(this.id, withCarriedUsage(this.#catalog, this.#parts)));
  }
  #ownOverage(): WorkingCells {
    return (this.#overage ??= new WorkingCells(this.#parts.record.id, this.#parts.overage));
  }
}

/** Number of invoice lines that take as much work to write as another record. */
const LINES_OF_RECORD = 16;

function lineCount({ lineItems = [] }: InvoiceLine): number {
  return lineItems.reduce((count, line) => count + lineCount(line), 1);
}

function recordId({ id }: { readonly id: string }): string {
  return id;
}

function eventReferenceId({ referenceId }: EventRecord): string {
  return referenceId;
}

function byNumber(a: EventRecord, b: EventRecord): number {
  return a.number - b.number;
}

function byCreation(
  a: { readonly createdAt: number; readonly id: string },
  b: { readonly createdAt: number; readonly id: string },
): number {
  return a.createdAt - b.createdAt || compareIds(a.id, b.id);
}
