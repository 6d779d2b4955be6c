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
      const all = [...accounts.values()].map((work) => work.changes());
      return {
        accounts: all.flatMap((each) => each.accounts ?? []),
        events: all.flatMap((each) => each.events ?? []),
        usage: all.flatMap((each) => each.usage ?? []),
        overage: all.flatMap((each) => each.overage ?? []),
        entries: all.flatMap((each) => each.entries ?? []),
        credits: all.flatMap((each) => each.credits ?? []),
        invoices: all.flatMap((each) => each.invoices ?? []),
      };
    },
  };
}

function workOn(parts: AccountParts): { readonly account: AccountWork; changes(): Changes } {
  let { record } = parts;
  const entries = records(parts.entries, ({ id }) => id);
  const credits = records(parts.credits, ({ id }) => id);
  const invoices = records(parts.invoices, ({ id }) => id);
  const events = records(parts.events, ({ referenceId }) => referenceId);
  const usage = cells(record.id, parts.usage);
  const overage = cells(record.id, parts.overage);
  const account: AccountWork = {
    get record() {
      return record;
    },
    entries: () => entries.all().toSorted((a, b) => a.createdAt - b.createdAt || compareText(a.id, b.id)),
    credits: () => credits.all().toSorted((a, b) => a.createdAt - b.createdAt || compareText(a.id, b.id)),
    invoices: () => invoices.all(),
    events: () => events.all().toSorted((a, b) => a.number - b.number),
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
    changes: () => ({
      accounts: record === parts.record ? [] : [record],
      events: events.changed(),
      usage: usage.added(),
      overage: overage.added(),
      entries: entries.changed(),
      credits: credits.changed(),
      invoices: invoices.changed(),
    }),
  };
}

interface Records<Item> {
  all(): readonly Item[];
  readonly put: (item: Item) => void;
  changed(): readonly Item[];
}

function records<Item>(read: readonly Item[], idOf: (item: Item) => string): Records<Item> {
  const items = new Map(read.map((item) => [idOf(item), item]));
  const changed = new Set<string>();
  return {
    all: () => [...items.values()],
    put: (item) => {
      items.set(idOf(item), item);
      changed.add(idOf(item));
    },
    changed: () => [...changed].flatMap((id) => items.get(id) ?? []),
  };
}

interface Cells {
  readonly between: (itemId: string, from: Day, until: Day) => Decimal;
  readonly add: (itemId: string, day: Day, quantity: Decimal) => void;
  added(): readonly CellChange[];
}

function cells(accountId: string, read: readonly CellChange[]): Cells {
  const byItem = new Map<string, Map<Day, Decimal>>();
  const added = new Map<string, Map<Day, Decimal>>();
  const addTo = (to: Map<string, Map<Day, Decimal>>, itemId: string, day: Day, quantity: Decimal): void => {
    const days = to.get(itemId) ?? new Map<Day, Decimal>();
    to.set(itemId, days.set(day, add(days.get(day) ?? ZERO, quantity)));
  };
  for (const { itemId, day, quantity } of read) addTo(byItem, itemId, day, quantity);
  return {
    between(itemId, from, until) {
      let total = ZERO;
      for (const [day, quantity] of byItem.get(itemId) ?? [])
        if (day >= from && day < until) total = add(total, quantity);
      return total;
    },
    add(itemId, day, quantity) {
      addTo(byItem, itemId, day, quantity);
      addTo(added, itemId, day, quantity);
    },
    added: () =>
      [...added].flatMap(([itemId, days]) =>
        [...days].map(([day, quantity]) => ({ accountId, itemId, day, quantity })),
      ),
  };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
