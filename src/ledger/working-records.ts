/**
 * Records of one kind, and cells of usage or overage, in the state of an account: those read, and those written since; and
 * records as other parts see them.
 */
import {
  compareGroups,
  formatGroup,
  type GroupUsage,
  NO_GROUP,
  type UsageGroup,
} from "../book/resources/event-schema.ts";
import type { Day } from "../calendar/instant.ts";
import { compareSpending, type FeatureEntry, sortForSpending } from "../credits/feature-credits.ts";
import { type AccountView, NO_END } from "../invoicing/timeline.ts";
import type { SchemaProgram } from "../metering/compile-metering.ts";
import { sumGroupUsage } from "../metering/usage.ts";
import { add, type Decimal, subtract, ZERO } from "../numbers/decimal.ts";
import { addExact, decimalOfExact, type Exact, exactOfDecimal, isZeroExact } from "../numbers/exact.ts";
import { groupBy } from "../numbers/ids.ts";
import type { AccountPlan } from "./catalog.ts";
import type {
  CreditRecord,
  EntryRecord,
  LedgerCell,
  LicenseUpdateRecord,
  UsageDelta,
  AccountRecord,
  InvoiceRecord,
  AccountExternalUsage,
  EventRecord,
} from "./records.ts";
import type { MeterDay } from "./view.ts";

/** The data of one account as read. Parts that a decision does not need may be empty. */
export interface AccountParts {
  readonly record: AccountRecord;
  readonly entries: readonly EntryRecord[];
  readonly credits: readonly CreditRecord[];
  readonly invoices: readonly InvoiceRecord[];
  /** Of ingested events. */
  readonly usage: readonly LedgerCell[];
  readonly overage: readonly LedgerCell[];
  /** Absent if all events are ingested. */
  readonly externalUsage?: AccountExternalUsage;
  /** Events that the decision may change: those to undo, and those with overage that may move (S11.5). */
  readonly events: readonly EventRecord[];
  /**
   * The meters and days whose groups a decision may fill up; all usage of them was read. Others have room for all its
   * events (S18.1).
   */
  readonly fullDays?: readonly Pick<MeterDay, "meterId" | "day">[] | undefined;
  /** In a preview: whether the account has room for another group of a meter on a day (S18.1). */
  readonly groupRoom?: GroupRoom | undefined;
  /** Its plans, if nothing is known to be due up to the instant of an ingest. */
  readonly currentPlan?: AccountPlan | undefined;
}

/** The room for groups of all accounts of a preview, as that of one account. */
export interface GroupRoom {
  readonly hasRoomForAnyGroup: boolean;
  hasRoomForGroup(accountId: string, program: SchemaProgram, place: number, day: Day): boolean;
}

/** An account of which nothing but its record was read. */
export function partsOfRecord(record: AccountRecord): AccountParts {
  return { record, entries: [], credits: [], invoices: [], usage: [], overage: [], events: [] };
}

/** Records of one kind: those read, and those written since. A batch creates thousands of instances. */
export class WorkingRecords<Item> {
  readonly #read: readonly Item[];
  readonly #idOf: (item: Item) => string;
  readonly #compare: ((a: Item, b: Item) => number) | undefined;
  /** All current records by id, in the order of reading, then of writing; created on first use. */
  #byId: Map<string, Item> | undefined;
  /** The written records by id. */
  #changed: Map<string, Item> | undefined;
  /** All records in order, until the next change. */
  #orderedRecords: readonly Item[] | undefined;

  constructor(read: readonly Item[], idOf: (item: Item) => string, compare?: (a: Item, b: Item) => number) {
    this.#read = read;
    this.#idOf = idOf;
    this.#compare = compare;
  }

  /** In order. */
  all(): readonly Item[] {
    if (this.#orderedRecords !== undefined) return this.#orderedRecords;
    const all = this.#changed === undefined ? this.#read : [...this.#index().values()];
    return (this.#orderedRecords = this.#compare === undefined || all.length < 2 ? all : all.toSorted(this.#compare));
  }

  get(id: string): Item | undefined {
    return this.#index().get(id);
  }

  put(item: Item): void {
    const id = this.#idOf(item);
    this.#index().set(id, item);
    (this.#changed ??= new Map()).set(id, item);
    this.#orderedRecords = undefined;
  }

  /** The number of written records. */
  changed(): number {
    return this.#changed?.size ?? 0;
  }

  addTo(changed: Item[]): void {
    for (const item of this.#changed?.values() ?? []) changed.push(item);
  }

  #index(): Map<string, Item> {
    return (this.#byId ??= new Map(this.#read.map((item) => [this.#idOf(item), item])));
  }
}

type Days = Map<Day, Decimal>;
/** A delta that more can be added to. */
type GrowingDelta = { -readonly [Part in keyof UsageDelta]: UsageDelta[Part] };

const NO_DELTAS: readonly GrowingDelta[] = [];
/** Up to this many sums are searched linearly; for more an index is built. */
const FEW = 16;

/** The usage or overage of one account: that read, and what was added since. */
export class WorkingCells {
  readonly #accountId: string;
  readonly #read: readonly LedgerCell[];
  #readByItem: Map<string, Days> | undefined;
  /** The read cells that have a group, by meter. */
  #readGroups: ReadonlyMap<string, readonly LedgerCell[]> | undefined;
  /** Undefined before the first: most accounts of a batch get one delta, and a growing empty list reserves room for 17. */
  #added: GrowingDelta[] | undefined;
  /** The added sums by day and item, once there are many. */
  #addedByDay: Map<string, GrowingDelta> | undefined;
  /** The groups of meters and days for which they were asked. */
  #groupsByDay: Map<string, Map<string, Exact>> | undefined;

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

  /** The sums other than 0 of a meter's groups, by day, then group. */
  groupsBetween(itemId: string, from: Day, until: Day): readonly GroupUsage[] {
    this.#readGroups ??= groupBy(
      this.#read.filter(({ group }) => group !== undefined),
      (cell) => cell.meterOrFeatureId,
    );
    const added = (this.#added ?? NO_DELTAS).filter(({ meterOrFeatureId }) => meterOrFeatureId === itemId);
    const addedCells = added.map((delta) => ({ ...delta, quantity: decimalOfExact(delta.quantity) }));
    return sumGroupUsage(
      [...(this.#readGroups.get(itemId) ?? []), ...addedCells].flatMap(({ group, day, quantity }) =>
        group === undefined || day < from || day >= until ? [] : [{ group, day, quantity }],
      ),
    );
  }

  /** The sums other than 0 of a meter's groups on a day, by {@link formatGroup}. The map changes with later additions. */
  groupsOn(itemId: string, day: Day): ReadonlyMap<string, Exact> {
    const key = cellKey(itemId, day);
    const known = this.#groupsByDay?.get(key);
    if (known !== undefined) return known;
    const usage = this.groupsBetween(itemId, day, day + 1);
    const sums = new Map(usage.map(({ group, quantity }) => [formatGroup(group), exactOfDecimal(quantity)]));
    (this.#groupsByDay ??= new Map()).set(key, sums);
    return sums;
  }

  /** @param group only for a meter with groups */
  add(itemId: string, day: Day, quantity: Exact, group?: UsageGroup): void {
    if (group !== undefined) addToGroup(this.#groupsByDay?.get(cellKey(itemId, day)), group, quantity);
    const found = this.#find(itemId, day, group);
    if (found !== undefined) {
      found.quantity = addExact(found.quantity, quantity);
      return;
    }
    const delta: GrowingDelta = { accountId: this.#accountId, meterOrFeatureId: itemId, day, quantity };
    if (group !== undefined) delta.group = group;
    if (this.#added === undefined) this.#added = [delta];
    else this.#added.push(delta);
    this.#addedByDay?.set(cellKey(itemId, day, group), delta);
  }

  addTo(changed: UsageDelta[]): void {
    for (const delta of this.#added ?? NO_DELTAS) changed.push(delta);
  }

  #find(itemId: string, day: Day, group: UsageGroup | undefined): GrowingDelta | undefined {
    const added = this.#added ?? NO_DELTAS;
    if (added.length > FEW) {
      this.#addedByDay ??= new Map(
        added.map((delta) => [cellKey(delta.meterOrFeatureId, delta.day, delta.group), delta]),
      );
      return this.#addedByDay.get(cellKey(itemId, day, group));
    }
    for (const delta of added) {
      const isSameItem = delta.day === day && delta.meterOrFeatureId === itemId;
      if (isSameItem && compareGroups(delta.group ?? NO_GROUP, group ?? NO_GROUP) === 0) return delta;
    }
    return undefined;
  }
}

function cellKey(itemId: string, day: Day, group = NO_GROUP): string {
  return `${day} ${itemId} ${formatGroup(group)}`;
}

/** Adds to the sum of a group, which stays while it is other than 0. */
function addToGroup(sums: Map<string, Exact> | undefined, group: UsageGroup, quantity: Exact): void {
  if (sums === undefined) return;
  const key = formatGroup(group);
  const sum = addExact(sums.get(key) ?? 0, quantity);
  if (isZeroExact(sum)) sums.delete(key);
  else sums.set(key, sum);
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

/**
 * The entries of an account that are not voided and have a balance, by feature. A batch may take from thousands of
 * entries, so they are sorted once and then updated.
 */
export class SpendableEntries {
  readonly #all: () => readonly EntryRecord[];
  readonly #byFeature = new Map<string, FeatureEntry[]>();

  /** @param all the current entries of the account */
  constructor(all: () => readonly EntryRecord[]) {
    this.#all = all;
  }

  /** The entries of one feature, in spending order; valid until the next change. */
  of(featureId: string): readonly FeatureEntry[] {
    let entries = this.#byFeature.get(featureId);
    if (entries === undefined) {
      const featureEntries = this.#all().filter((entry) => entry.featureId === featureId && isSpendable(entry));
      this.#byFeature.set(featureId, (entries = [...sortForSpending(featureEntries.map(toFeatureEntry))]));
    }
    return entries;
  }

  /** Applies a written entry. */
  update(record: EntryRecord): void {
    const entries = this.#byFeature.get(record.featureId);
    if (entries === undefined) return;
    const entry = toFeatureEntry(record);
    const index = findEntryIndex(entries, entry);
    // An entry that is new, has another end, or was not spendable changes the order.
    if (entries[index]?.id !== entry.id) this.#byFeature.delete(record.featureId);
    else if (isSpendable(record)) entries[index] = entry;
    else entries.splice(index, 1);
  }
}

/** Converts a license update for invoicing. */
export function toLicenseChange(update: LicenseUpdateRecord): AccountView["licenseChanges"][number] {
  const { licenseId, updateType, quantity, effectiveFrom, fromBook, createdAt } = update;
  return { licenseId, updateType, quantity, effectiveFrom, ...(fromBook === true ? {} : { knownFrom: createdAt }) };
}

/** Converts a credit for invoicing. */
export function toMonetaryCredit(record: CreditRecord): AccountView["credits"][number] {
  const { id, kind, purpose, creditAmount, consumedAmount, priority, effectiveFrom, effectiveUntil, createdAt } =
    record;
  const { applicableEntityIds } = record;
  return {
    id,
    kind,
    purpose,
    creditAmount,
    left: consumedAmount.isZero() ? creditAmount : subtract(creditAmount, consumedAmount),
    priority,
    effectiveFrom,
    ...(effectiveUntil === undefined || effectiveUntil >= NO_END ? {} : { effectiveUntil }),
    ...(applicableEntityIds === undefined ? {} : { applicableEntityIds }),
    createdAt,
  };
}

/** Converts an entry record for the feature credit functions. */
export function toFeatureEntry(record: EntryRecord): FeatureEntry {
  return { ...record, granted: exactOfDecimal(record.granted), balance: exactOfDecimal(record.balance) };
}

function isSpendable({ voided, balance }: EntryRecord): boolean {
  return !voided && !balance.isZero();
}

/** The index of an entry in spending order, or the index at which to insert it. */
function findEntryIndex(entries: readonly FeatureEntry[], entry: FeatureEntry): number {
  let [from, until] = [0, entries.length];
  while (from < until) {
    const middle = (from + until) >> 1;
    const other = entries[middle];
    if (other !== undefined && compareSpending(other, entry) < 0) from = middle + 1;
    else until = middle;
  }
  return from;
}
