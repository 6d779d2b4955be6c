/**
 * The working copy in which a decision is made: what was read of the accounts, what the decision makes of it, and the
 * difference as changes for the store (design: decide, then commit).
 *
 * Whatever is put is seen by what is asked next, so that the events of a batch are decided one after another (S14.3).
 *
 * @module
 */
import type { Day } from "../calendar/instant.ts";
import { invariant } from "../errors.ts";
import { add, type Decimal, ZERO } from "../numbers/decimal.ts";
import type { Changes } from "./decision.ts";
import { compareIds } from "./order.ts";
import type { AccountRecord, CellChange, CreditRecord, EntryRecord, EventRecord, InvoiceRecord } from "./records.ts";

/** What was read of one account. What a decision does not need may be left empty. */
export interface AccountParts {
  readonly record: AccountRecord;
  readonly entries: readonly EntryRecord[];
  readonly credits: readonly CreditRecord[];
  readonly invoices: readonly InvoiceRecord[];
  readonly usage: readonly CellChange[];
  readonly overage: readonly CellChange[];
  /** Events that the decision may change: those to undo, and those with overage that may move (S11.5). */
  readonly events: readonly EventRecord[];
}

/** One account in a working copy. */
export interface AccountWork {
  readonly record: AccountRecord;
  /** In order of creation, then id. */
  entries(): readonly EntryRecord[];
  credits(): readonly CreditRecord[];
  invoices(): readonly InvoiceRecord[];
  /** By number. */
  events(): readonly EventRecord[];
  /** The usage of a meter on the days `[from, until)`. */
  usage(meterId: string, from: Day, until: Day): Decimal;
  /** The overage of a feature on the days `[from, until)`. */
  overage(featureId: string, from: Day, until: Day): Decimal;
  putRecord(record: AccountRecord): void;
  putEntry(entry: EntryRecord): void;
  putCredit(credit: CreditRecord): void;
  putInvoice(invoice: InvoiceRecord): void;
  putEvent(event: EventRecord): void;
  addUsage(meterId: string, day: Day, quantity: Decimal): void;
  addOverage(featureId: string, day: Day, quantity: Decimal): void;
}

/** A working copy of some accounts. */
export interface Workspace {
  /** @throws {InvariantError} for an account that was not read */
  account(id: string): AccountWork;
  find(id: string): AccountWork | undefined;
  /** What was put, once for each record, and the sum added to each cell. */
  changes(): Changes;
}

/** Opens a working copy over what was read. */
export function openWorkspace(read: readonly AccountParts[]): Workspace {
  const accounts = new Map(read.map((parts) => [parts.record.id, workOn(parts)]));
  return {
    account(id) {
      const work = accounts.get(id);
      invariant(work !== undefined, "a decision reads every account that it touches first");
      return work.account;
    },
    find: (id) => accounts.get(id)?.account,
    changes() {
      const all = noChanges();
      for (const { addTo } of accounts.values()) addTo(all);
      return all;
    },
  };
}

/** Changes as they are gathered. */
type Gathered = {
  [Part in Exclude<keyof Changes, `${string}ocuments` | "configurationChanged">]-?: NonNullable<
    Changes[Part]
  >[number][];
};

function noChanges(): Gathered {
  return { accounts: [], events: [], usage: [], overage: [], entries: [], credits: [], invoices: [] };
}

function workOn(parts: AccountParts): { readonly account: AccountWork; readonly addTo: (changes: Gathered) => void } {
  let { record } = parts;
  const entries = records(parts.entries, ({ id }) => id, byCreation);
  const credits = records(parts.credits, ({ id }) => id, byCreation);
  const invoices = records(parts.invoices, ({ id }) => id);
  const events = records(
    parts.events,
    ({ referenceId }) => referenceId,
    (a, b) => a.number - b.number,
  );
  const usage = cells(record.id, parts.usage);
  const overage = cells(record.id, parts.overage);
  const account: AccountWork = {
    get record() {
      return record;
    },
    entries: entries.all,
    credits: credits.all,
    invoices: invoices.all,
    events: events.all,
    usage: usage.between,
    overage: overage.between,
    putRecord: (next) => {
      record = next;
    },
    putEntry: entries.put,
    putCredit: credits.put,
    putInvoice: invoices.put,
    putEvent: events.put,
    addUsage: usage.add,
    addOverage: overage.add,
  };
  return {
    account,
    addTo(changes) {
      if (record !== parts.record) changes.accounts.push(record);
      events.addTo(changes.events);
      usage.addTo(changes.usage);
      overage.addTo(changes.overage);
      entries.addTo(changes.entries);
      credits.addTo(changes.credits);
      invoices.addTo(changes.invoices);
    },
  };
}

interface Records<Item> {
  readonly all: () => readonly Item[];
  readonly put: (item: Item) => void;
  readonly addTo: (changed: Item[]) => void;
}

/** Most accounts of a batch put few records, and of most kinds none: nothing is made before it is needed. */
function records<Item>(
  read: readonly Item[],
  idOf: (item: Item) => string,
  compare?: (a: Item, b: Item) => number,
): Records<Item> {
  let changed: Map<string, Item> | undefined;
  let known: readonly Item[] | undefined;
  return {
    all() {
      known ??= together(read, changed, idOf);
      return compare === undefined ? known : (known = inOrder(known, compare));
    },
    put(item) {
      changed ??= new Map();
      changed.set(idOf(item), item);
      known = undefined;
    },
    addTo: (all) => {
      for (const item of changed?.values() ?? []) all.push(item);
    },
  };
}

/** What was read with what was put in its place, and what was put beside it. */
function together<Item>(
  read: readonly Item[],
  changed: ReadonlyMap<string, Item> | undefined,
  idOf: (item: Item) => string,
): readonly Item[] {
  if (changed === undefined) return read;
  const added = new Map(changed);
  const replaced = read.map((item) => {
    const id = idOf(item);
    const put = added.get(id);
    added.delete(id);
    return put ?? item;
  });
  return added.size === 0 ? replaced : [...replaced, ...added.values()];
}

/** Records mostly are in order: what is read is, and what is made comes after it. */
function inOrder<Item>(items: readonly Item[], compare: (a: Item, b: Item) => number): readonly Item[] {
  const isOrdered = items.every((item, index) => {
    const before = items[index - 1];
    return before === undefined || compare(before, item) <= 0;
  });
  return isOrdered ? items : items.toSorted(compare);
}

interface Cells {
  readonly between: (itemId: string, from: Day, until: Day) => Decimal;
  readonly add: (itemId: string, day: Day, quantity: Decimal) => void;
  readonly addTo: (changed: CellChange[]) => void;
}

type Days = Map<Day, Decimal>;

function cells(accountId: string, read: readonly CellChange[]): Cells {
  let readByItem: Map<string, Days> | undefined;
  let added: Map<string, Days> | undefined;
  return {
    between(itemId, from, until) {
      readByItem ??= byItemOf(read);
      let total = ZERO;
      for (const days of [readByItem.get(itemId), added?.get(itemId)]) {
        for (const [day, quantity] of days ?? []) if (day >= from && day < until) total = add(total, quantity);
      }
      return total;
    },
    add(itemId, day, quantity) {
      added ??= new Map();
      addCell(added, itemId, day, quantity);
    },
    addTo(changed) {
      for (const [itemId, days] of added ?? []) {
        for (const [day, quantity] of days) changed.push({ accountId, itemId, day, quantity });
      }
    },
  };
}

function byItemOf(read: readonly CellChange[]): Map<string, Days> {
  const byItem = new Map<string, Days>();
  for (const { itemId, day, quantity } of read) addCell(byItem, itemId, day, quantity);
  return byItem;
}

function addCell(byItem: Map<string, Days>, itemId: string, day: Day, quantity: Decimal): void {
  const days = byItem.get(itemId);
  if (days === undefined) byItem.set(itemId, new Map([[day, quantity]]));
  else days.set(day, add(days.get(day) ?? ZERO, quantity));
}

function byCreation(
  a: { readonly createdAt: number; readonly id: string },
  b: { readonly createdAt: number; readonly id: string },
): number {
  return a.createdAt - b.createdAt || compareIds(a.id, b.id);
}
