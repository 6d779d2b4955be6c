/**
 * The working copy of a decision: the account data read, and the changes for the store. Reads return records written
 * earlier in the decision, so that the events of a batch are decided one after another (S14.3).
 *
 * @module
 */
import type { Day } from "../calendar/instant.ts";
import type { FeatureEntry } from "../credits/feature-credits.ts";
import { invariant } from "../errors.ts";
import type { InvoiceLine } from "../invoicing/invoice.ts";
import { add, type Decimal, ZERO } from "../numbers/decimal.ts";
import { addExact, decimalOfExact, type Exact } from "../numbers/exact.ts";
import type { AccountPlan } from "./catalog.ts";
import { compareIds } from "./compare-ids.ts";
import type { Changes } from "./decision.ts";
import type {
  AccountRecord,
  CreditRecord,
  EntryRecord,
  EventRecord,
  InvoiceRecord,
  BilledUsage,
  LedgerCell,
  UsageDelta,
} from "./records.ts";
import { SpendableEntries } from "./spendable-entries.ts";
import { WorkingRecords } from "./working-records.ts";

/** The data of one account as read. Parts that a decision does not need may be empty. */
export interface AccountParts {
  readonly record: AccountRecord;
  readonly entries: readonly EntryRecord[];
  readonly credits: readonly CreditRecord[];
  readonly invoices: readonly InvoiceRecord[];
  readonly usage: readonly LedgerCell[];
  readonly overage: readonly LedgerCell[];
  /** External usage, which is also included in `usage`; absent if all events are ingested. */
  readonly externalUsage?: AccountExternalUsage;
  /** Events that the decision may change: those to undo, and those with overage that may move (S11.5). */
  readonly events: readonly EventRecord[];
  /** Its plans, if nothing is known to be due up to the instant of an ingest. */
  readonly currentPlan?: AccountPlan | undefined;
}

/** An account of which nothing but its record was read. */
export function partsOfRecord(record: AccountRecord): AccountParts {
  return { record, entries: [], credits: [], invoices: [], usage: [], overage: [], events: [] };
}

/** The external usage of one account (S17.4). */
export interface AccountExternalUsage {
  /** The source's current usage of days that are not billed. */
  readonly open: readonly LedgerCell[];
  readonly billed: readonly BilledUsage[];
}

/** One account in a working copy. */
export interface AccountWork {
  readonly record: AccountRecord;
  /** In order of creation, then id. */
  entries(): readonly EntryRecord[];
  entry(id: string): EntryRecord | undefined;
  /** The spendable entries of a feature, in spending order (S11.2); valid until the next change. */
  spendable(featureId: string): readonly FeatureEntry[];
  credits(): readonly CreditRecord[];
  credit(id: string): CreditRecord | undefined;
  invoices(): readonly InvoiceRecord[];
  /** By number. */
  events(): readonly EventRecord[];
  event(referenceId: string): EventRecord | undefined;
  /** The usage of a meter on the days `[from, until)`. */
  usage(meterId: string, from: Day, until: Day): Decimal;
  /** The overage of a feature on the days `[from, until)`. */
  overage(featureId: string, from: Day, until: Day): Decimal;
  /** As read; undefined if all events are ingested. */
  externalUsage(): AccountExternalUsage | undefined;
  /** By first day. */
  keptUsage(): readonly BilledUsage[];
  /** The number of written entries, credits and invoices; an invoice counts once more for each {@link LINES_OF_RECORD} lines. */
  changedRecords(): number;
  putRecord(record: AccountRecord): void;
  putBilledUsage(billed: BilledUsage): void;
  putEntry(entry: EntryRecord): void;
  putCredit(credit: CreditRecord): void;
  putInvoice(invoice: InvoiceRecord): void;
  putEvent(event: EventRecord): void;
  addUsage(meterId: string, day: Day, quantity: Exact): void;
  addOverage(featureId: string, day: Day, quantity: Exact): void;
}

/** One account with its own working copy. */
export interface OpenAccount extends AccountWork {
  /** Adds its changes to those of others. */
  addTo(changes: GatheredChanges): void;
}

/** A working copy of some accounts. */
export interface Workspace {
  /** @throws {InvariantError} for an account that was not read */
  account(id: string): AccountWork;
  find(id: string): AccountWork | undefined;
  /** All changes: each changed record once, and one sum per cell. */
  changes(): Changes;
}

/** Opens a working copy of accounts. */
export function openWorkspace(read: readonly AccountParts[]): Workspace {
  const accounts = new Map<string, OpenAccount>();
  for (const parts of read) accounts.set(parts.record.id, openAccount(parts));
  return {
    account(id) {
      const work = accounts.get(id);
      invariant(work !== undefined, "a decision reads every account that it touches first");
      return work;
    },
    find: (id) => accounts.get(id),
    changes() {
      const all = noChanges();
      for (const work of accounts.values()) work.addTo(all);
      return all;
    },
  };
}

/** Opens a working copy of a single account. */
export function openAccount(parts: AccountParts): OpenAccount {
  return new WorkingAccount(parts);
}

/** Collected changes. */
export type GatheredChanges = {
  [
    Part in Exclude<keyof Changes, `${string}ocuments` | "configurationRevision" | "newEvents" | "removedEvents">
  ]-?: NonNullable<Changes[Part]>[number][];
};

export function noChanges(): GatheredChanges {
  return { accounts: [], events: [], usage: [], overage: [], entries: [], credits: [], invoices: [], keptUsage: [] };
}

/**
 * The working copy of one account. A batch creates a thousand of them and writes a record or two into each, so this is
 * a class instead of closures, and its lists are created on first use.
 */
class WorkingAccount implements OpenAccount {
  record: AccountRecord;
  readonly #parts: AccountParts;
  #entries: WorkingRecords<EntryRecord> | undefined;
  #spendable: SpendableEntries | undefined;
  #credits: WorkingRecords<CreditRecord> | undefined;
  #invoices: WorkingRecords<InvoiceRecord> | undefined;
  #kept: WorkingRecords<BilledUsage> | undefined;
  #events: WorkingRecords<EventRecord> | undefined;
  #usage: WorkingCells | undefined;
  #overage: WorkingCells | undefined;
  /** The extra count for the lines of written invoices. */
  #longInvoices = 0;

  constructor(parts: AccountParts) {
    this.#parts = parts;
    this.record = parts.record;
  }

  entries(): readonly EntryRecord[] {
    return this.#ownEntries().all();
  }
  entry(id: string): EntryRecord | undefined {
    return this.#ownEntries().get(id);
  }
  spendable(featureId: string): readonly FeatureEntry[] {
    return (this.#spendable ??= new SpendableEntries(() => this.entries())).of(featureId);
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
  events(): readonly EventRecord[] {
    return this.#ownEvents().all();
  }
  event(referenceId: string): EventRecord | undefined {
    return this.#ownEvents().get(referenceId);
  }
  usage(meterId: string, from: Day, until: Day): Decimal {
    return this.#ownUsage().between(meterId, from, until);
  }
  overage(featureId: string, from: Day, until: Day): Decimal {
    return this.#ownOverage().between(featureId, from, until);
  }
  externalUsage(): AccountExternalUsage | undefined {
    return this.#parts.externalUsage;
  }
  keptUsage(): readonly BilledUsage[] {
    return this.#ownKept().all();
  }
  changedRecords(): number {
    const records = [this.#entries, this.#credits, this.#invoices];
    return records.reduce((count, each) => count + (each?.changed() ?? 0), this.#longInvoices);
  }
  putBilledUsage(billed: BilledUsage): void {
    this.#ownKept().put(billed);
  }
  putRecord(record: AccountRecord): void {
    this.record = record;
  }
  putEntry(entry: EntryRecord): void {
    this.#ownEntries().put(entry);
    this.#spendable?.update(entry);
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
  addUsage(meterId: string, day: Day, quantity: Exact): void {
    this.#ownUsage().add(meterId, day, quantity);
  }
  addOverage(featureId: string, day: Day, quantity: Exact): void {
    this.#ownOverage().add(featureId, day, quantity);
  }

  addTo(changes: GatheredChanges): void {
    if (this.record !== this.#parts.record) changes.accounts.push(this.record);
    this.#events?.addTo(changes.events);
    this.#usage?.addTo(changes.usage);
    this.#overage?.addTo(changes.overage);
    this.#entries?.addTo(changes.entries);
    this.#credits?.addTo(changes.credits);
    this.#invoices?.addTo(changes.invoices);
    this.#kept?.addTo(changes.keptUsage);
  }

  #ownEntries(): WorkingRecords<EntryRecord> {
    return (this.#entries ??= new WorkingRecords(this.#parts.entries, idOf, byCreation));
  }
  #ownCredits(): WorkingRecords<CreditRecord> {
    return (this.#credits ??= new WorkingRecords(this.#parts.credits, idOf, byCreation));
  }
  #ownInvoices(): WorkingRecords<InvoiceRecord> {
    return (this.#invoices ??= new WorkingRecords(this.#parts.invoices, idOf));
  }
  #ownKept(): WorkingRecords<BilledUsage> {
    return (this.#kept ??= new WorkingRecords(this.#parts.externalUsage?.billed ?? [], idOf));
  }
  #ownEvents(): WorkingRecords<EventRecord> {
    return (this.#events ??= new WorkingRecords(this.#parts.events, referenceIdOf, byNumber));
  }
  #ownUsage(): WorkingCells {
    return (this.#usage ??= new WorkingCells(this.#parts.record.id, this.#parts.usage));
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

/** Up to this many sums are searched linearly; for more an index is built. */
const FEW = 16;

type Days = Map<Day, Decimal>;
/** A delta that more can be added to. */
type GrowingDelta = { -readonly [Part in keyof UsageDelta]: UsageDelta[Part] };

const NO_DELTAS: readonly GrowingDelta[] = [];

class WorkingCells {
  readonly #accountId: string;
  readonly #read: readonly LedgerCell[];
  #readByItem: Map<string, Days> | undefined;
  /** Undefined before the first: most accounts of a batch get one delta, and a growing empty list reserves room for 17. */
  #added: GrowingDelta[] | undefined;
  /** The sums by item and day, once there are many. */
  #places: Map<string, GrowingDelta> | undefined;

  constructor(accountId: string, read: readonly LedgerCell[]) {
    this.#accountId = accountId;
    this.#read = read;
  }

  between(itemId: string, from: Day, until: Day): Decimal {
    this.#readByItem ??= indexByItem(this.#read);
    let total = ZERO;
    for (const [day, quantity] of this.#readByItem.get(itemId) ?? []) {
      if (day >= from && day < until) total = add(total, quantity);
    }
    for (const { meterOrFeatureId, day, quantity } of this.#added ?? NO_DELTAS) {
      if (meterOrFeatureId === itemId && day >= from && day < until) total = add(total, decimalOfExact(quantity));
    }
    return total;
  }

  add(itemId: string, day: Day, quantity: Exact): void {
    const index = this.#find(itemId, day);
    if (index !== undefined) {
      index.quantity = addExact(index.quantity, quantity);
      return;
    }
    const delta = { accountId: this.#accountId, meterOrFeatureId: itemId, day, quantity };
    if (this.#added === undefined) this.#added = [delta];
    else this.#added.push(delta);
    this.#places?.set(`${day} ${itemId}`, delta);
  }

  addTo(changed: UsageDelta[]): void {
    for (const delta of this.#added ?? NO_DELTAS) changed.push(delta);
  }

  #find(itemId: string, day: Day): GrowingDelta | undefined {
    const added = this.#added ?? NO_DELTAS;
    if (added.length > FEW) {
      this.#places ??= new Map(added.map((delta) => [`${delta.day} ${delta.meterOrFeatureId}`, delta]));
      return this.#places.get(`${day} ${itemId}`);
    }
    for (const delta of added) if (delta.day === day && delta.meterOrFeatureId === itemId) return delta;
    return undefined;
  }
}

function indexByItem(read: readonly LedgerCell[]): Map<string, Days> {
  const byItem = new Map<string, Days>();
  for (const { meterOrFeatureId, day, quantity } of read) addCell(byItem, meterOrFeatureId, day, quantity);
  return byItem;
}

function addCell(byItem: Map<string, Days>, itemId: string, day: Day, quantity: Decimal): void {
  const days = byItem.get(itemId);
  if (days === undefined) byItem.set(itemId, new Map([[day, quantity]]));
  else days.set(day, add(days.get(day) ?? ZERO, quantity));
}

function idOf({ id }: { readonly id: string }): string {
  return id;
}

function referenceIdOf({ referenceId }: EventRecord): string {
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
