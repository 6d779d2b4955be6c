/** The rules of each read of the memory store, with which the conformance suite compares other stores. */
import { describe, expect, test } from "vitest";

import { addDays, DAY_MS, formatInstant, parseDate } from "../../src/calendar/instant.ts";
import type { Changes } from "../../src/ledger/decision.ts";
import type { AccountRecord, DraftIndexEntry, EventRecord, InvoiceRecord } from "../../src/ledger/records.ts";
import type { LedgerView, PageRequest } from "../../src/ledger/view.ts";
import { Decimal, formatDecimal } from "../../src/numbers/decimal.ts";
import { commit, createScope } from "../../src/store/conformance/case.ts";
import { endUnreadable } from "../../src/store/conformance/random-steps.ts";
import * as samples from "../../src/store/conformance/samples.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";

const { account, billedUsage, cell, consumption, credit, document, entry, event, groupCell, invoice } = samples;
const { LONG, newEvent, NOON, TODAY } = samples;

const ALL: PageRequest = { limit: 99 };
const [YEAR, MARCH, APRIL] = [parseDate("2025-06-01"), parseDate("2026-03-01"), parseDate("2026-04-01")];
/** The date of an AD_HOC invoice. */
const ADHOC = addDays(MARCH, 20);
const dayStart = (day: number): number => (TODAY + day) * DAY_MS;

function draft(id: string, start: number, days: number, listedAt = start): DraftIndexEntry {
  return { id, listedAt, start, end: addDays(start, days), finalAt: addDays(start, days) };
}

/** An account that is due at an instant, when a credit is due, and whose draft index ends then. */
function dueAccount(id: string, at: number, creditId: string, ...places: readonly DraftIndexEntry[]): AccountRecord {
  const credits = [{ id: creditId, createdAt: at }];
  return account(id, { nextDueAt: at, drafts: { until: at, places, credits } });
}

function cycle(id: string, start: number, days: number, more: Partial<InvoiceRecord["invoice"]> = {}): InvoiceRecord {
  const record = invoice("a", id);
  const endDate = formatInstant(addDays(start, days));
  const dates = { startDate: formatInstant(start), endDate, invoiceDate: endDate };
  return { ...record, invoice: { ...record.invoice, ...dates, ...more } };
}

/** An event of account `a` with overage. */
function charged(number: number, day: number, more: Partial<EventRecord> = {}): EventRecord {
  const feature = consumption("f.one", 2, ["e", "e.other"]);
  return event("a", number, { referenceId: `a${number}`, timestamp: dayStart(day), feature, ...more });
}

const EXAMPLE: Changes = {
  configurationRevision: Number.MAX_SAFE_INTEGER,
  documents: [
    document("addOn", "c"),
    document("addOn", "b", {}, NOON + 1),
    document("addOn", "a"),
    document("alias", "c"),
  ],
  accounts: [
    dueAccount("a", NOON, "soon", draft("month", MARCH, 31), draft("day", addDays(APRIL, -1), 1)),
    {
      ...dueAccount("b", NOON + 1, "later", draft("year", YEAR, 365), draft("adhoc", addDays(MARCH, -9), 9, ADHOC)),
      status: "ARCHIVED",
    },
    account("c", { customerId: "c.two", invoiceGroupId: "g", drafts: { until: Infinity, places: [] } }),
  ],
  events: [
    charged(1, 9, { reverted: true, eventId: "same" }),
    charged(2, 1),
    charged(9, 0, { status: "INGESTION_FAILED", description: "", timestamp: dayStart(9) }),
    charged(10, 0, { schemaName: "other", timestamp: dayStart(1) - 1 }),
    charged(100, 0, { timestamp: 9, feature: consumption("f.one", 0, ["e"]) }),
    event("b", 6, { referenceId: "b6", eventId: "same", schemaName: "other" }),
    event("b", 5, { referenceId: "b5" }),
  ],
  usage: [cell("a", "m", TODAY, "0.1"), cell("a", "m", TODAY, "0.2"), cell("a", "n", TODAY + 1, LONG)],
  overage: [cell("a", "m", TODAY, "-7"), cell("a", "n", TODAY, "1.5"), cell("a", "n", TODAY, "-1.50")],
  entries: [entry("a", "y", { createdAt: NOON + 1 }), entry("b", "x"), entry("a", "z", { featureId: "f.two" })],
  credits: [
    credit("a", "endless", { createdAt: NOON + 1 }),
    credit("a", "gone", { voided: true }),
    credit("b", "late", { effectiveUntil: NOON + 1 }),
    credit("a", "over", { effectiveUntil: NOON, consumedAmount: new Decimal("9.99") }),
    credit("b", "spent", { effectiveUntil: NOON - 1, consumedAmount: new Decimal(10) }),
  ],
  invoices: [
    cycle("month", MARCH, 31, { status: "PAID" }),
    cycle("day", addDays(APRIL, -1), 1),
    cycle("year", YEAR, 365),
    cycle("adhoc", addDays(MARCH, -9), 9, { invoiceType: "AD_HOC", invoiceDate: formatInstant(ADHOC) }),
  ],
  billedUsage: [
    billedUsage("a", "k.3", TODAY + 31, 1),
    billedUsage("b", "k.2", TODAY, 1),
    billedUsage("a", "k.1", TODAY, 31),
  ],
};

type Item = string | Partial<Record<"id" | "referenceId", string>> | undefined;
/** A read of the example, and the ids or the value that it must return. */
type Statement = readonly [
  read: (view: LedgerView) => Promise<readonly Item[] | Item | number>,
  expected: readonly string[] | string | number | undefined,
];

function toId(item: Item | number): string | number | undefined {
  return typeof item === "object" ? (item.referenceId ?? item.id) : item;
}

async function readSums(view: LedgerView, kind: "usage" | "overage", from = 0, until = 1): Promise<readonly string[]> {
  const cells = await view[kind](["b", "a", "b"], TODAY + from, TODAY + until);
  return cells
    .map((each) => [each.accountId, each.meterOrFeatureId, each.day - TODAY, formatDecimal(each.quantity)].join(" "))
    .toSorted();
}

const accepted = async (view: LedgerView, ...eventIds: readonly string[]): Promise<readonly string[]> =>
  (await view.acceptedIds(eventIds)).map(({ eventId, referenceId }) => `${eventId} ${referenceId}`).toSorted();

/** Ranges, and the ids of the billing periods that touch each. */
const PERIODS: readonly (readonly [from: number, until: number, ids: readonly string[]])[] = [
  [-Infinity, Infinity, ["day", "adhoc", "month", "year"]],
  [addDays(MARCH, -1), MARCH, ["adhoc", "year"]],
  [MARCH, MARCH + 1, ["month", "year"]],
  [addDays(APRIL, -1), APRIL, ["day", "month", "year"]],
  [APRIL, addDays(APRIL, 1), ["year"]],
  [addDays(YEAR, 365), Infinity, []],
];

const STATEMENTS: Readonly<Record<string, readonly Statement[]>> = {
  "documents are separate by kind; all of a kind are sorted from oldest to newest, then by id": [
    [(view) => view.allDocuments("addOn"), ["a", "c", "b"]],
    [(view) => view.documentsOf("addOn", ["b", "none", "b"]), ["b"]],
    [(view) => view.document("alias", "a"), undefined],
    [(view) => view.configurationRevision(), Number.MAX_SAFE_INTEGER],
  ],
  "accounts are found by customer, status and group": [
    [(view) => view.accounts(["c", "none", "c"]), ["c"]],
    [(view) => view.accountList({ customerId: "c.one" }, ALL), ["a", "b"]],
    [(view) => view.accountList({ customerId: "c.one", status: "ACTIVE" }, ALL), ["a"]],
    [(view) => view.accountList({ invoiceGroupId: "g" }, ALL), ["c"]],
  ],
  "accounts that are due or whose draft index is not complete are found up to an instant, sorted by id": [
    [(view) => view.accountsBehind(NOON, 9), ["a"]],
    [(view) => view.accountsBehind(NOON + 1, 1, "a"), ["b"]],
    [(view) => view.accountsWithStaleDraftIndex(NOON, 9), ["a", "c"]],
    [(view) => view.accountsWithStaleDraftIndex(NOON - 1, 9), ["c"]],
  ],
  "only an accepted event that is not reverted reserves its id": [
    [(view) => accepted(view, "same", "event.a.9", "event.a.2", "none", "same"), ["event.a.2 a2", "same b6"]],
  ],
  "events are found by any combination of filters": [
    [(view) => view.events({ accountId: "a" }, ALL), ["a100", "a10", "a9", "a2", "a1"]],
    [(view) => view.events({ schemaName: "other", accountId: "b" }, ALL), ["b6"]],
    [(view) => view.events({ accepted: true, reverted: false, accountId: "a" }, ALL), ["a100", "a10", "a2"]],
    [(view) => view.events({ eventId: "same" }, ALL), ["b6", "a1"]],
    [(view) => view.events({ referenceId: "b5", accountId: "a" }, ALL), []],
    [(view) => view.events({ timestamp: { from: dayStart(1) - 1, until: dayStart(1) } }, ALL), ["a10"]],
    [(view) => view.events({ createdAt: { from: NOON + 2, until: NOON + 6 } }, ALL), ["b5", "a2"]],
  ],
  "events to undo are those not reverted, sorted by number as a value, not by time": [
    [(view) => view.eventsToUndo("a", {}), ["a2", "a9", "a10", "a100"]],
    [(view) => view.eventsToUndo("a", { accepted: true }, 2), ["a2", "a10"]],
    [(view) => view.eventsToUndo("a", { timestamp: { from: 9, until: dayStart(1) } }, 2), ["a10", "a100"]],
    [(view) => view.eventsToUndo("a", { accountId: "b" }), []],
    [(view) => view.eventsToUndo("a", { accountId: "a", reverted: true }, 2), []],
    [(view) => view.eventsToUndo("a", { timestamp: { from: dayStart(1), until: 9 } }, 2), []],
  ],
  "events with overage are the accepted, not reverted events of the given days, sorted by number": [
    [(view) => view.eventsWithOverage("a", "f.one", TODAY - 1, TODAY + 2), ["a2", "a10"]],
    [(view) => view.eventsWithOverage("a", "f.one", TODAY, TODAY + 1), ["a10"]],
    [(view) => view.eventsWithOverage("a", "f.one", TODAY, TODAY + 9, { limit: 1, afterNumber: 2 }), ["a10"]],
  ],
  "an entry was last used by the latest event that is accepted and not reverted": [
    [(view) => view.lastSpent("e", "a"), dayStart(1)],
    [(view) => view.lastSpent("e", "b"), undefined],
  ],
  "usage and overage are exact sums by account, item and day; a sum of 0 is not listed": [
    [(view) => readSums(view, "usage", 0, 2), ["a m 0 0.3", `a n 1 ${LONG.toFixed()}`]],
    [(view) => readSums(view, "usage", 1, 1), []],
    [(view) => readSums(view, "overage"), ["a m 0 -7"]],
  ],
  "billed usage is found by the days it overlaps, sorted by its first day, then by id": [
    [(view) => view.billedUsage(["b", "a", "b"], TODAY - 9, TODAY + 99), ["k.1", "k.2", "k.3"]],
    [(view) => view.billedUsage(["a"], TODAY + 30, TODAY + 31), ["k.1"]],
    [(view) => view.billedUsage(["a"], TODAY + 31, TODAY + 32), ["k.3"]],
    [(view) => view.billedUsage(["a"], TODAY - 9, TODAY), []],
  ],
  "entries and credits of accounts are sorted by creation, then by id": [
    [(view) => view.entries(["b", "a", "b"]), ["x", "z", "y"]],
    [(view) => view.entries(["a"], "f.one"), ["y"]],
    [(view) => view.credits(["a", "a"]), ["gone", "over", "endless"]],
    [(view) => view.credit("none"), undefined],
  ],
  "credits are found by account, state and end": [
    [(view) => view.creditList({ state: "ACTIVE" }, ALL), ["endless", "late", "over"]],
    [(view) => view.creditList({ state: "CONSUMED" }, ALL), ["spent"]],
    [(view) => view.creditList({ state: "VOIDED", accountId: "b" }, ALL), []],
    [(view) => view.creditList({ endsBy: NOON }, ALL), ["over", "spent"]],
    [(view) => view.creditList({ endsAfter: NOON, accountId: "b" }, ALL), ["late"]],
    [(view) => view.dueCreditList({ dueBy: NOON }, ALL), ["soon"]],
    [(view) => view.dueCreditList({ id: "later", dueBy: NOON }, ALL), []],
  ],
  "final invoices are found by account, customer and status, or from a listing instant by date, then by id": [
    [(view) => view.invoices(["a", "a"], -Infinity), ["adhoc", "day", "month", "year"]],
    [(view) => view.invoices(["a"], ADHOC), ["adhoc", "day"]],
    [(view) => view.invoiceList({ status: "PAID", accountId: "a" }, ALL), ["month"]],
    [(view) => view.invoiceList({ customerId: "c.two" }, ALL), []],
  ],
  "drafts in the index are found by each filter": [
    [(view) => view.draftList({ accountId: "a" }, ALL), ["day", "month"]],
    [(view) => view.draftList({ begunBy: MARCH }, ALL), ["adhoc", "month", "year"]],
    [(view) => view.draftList({ final: { from: MARCH, until: APRIL } }, ALL), ["adhoc"]],
  ],
  "final invoices and drafts in the index are found by the days they overlap, a day or a year": PERIODS.flatMap(
    ([from, until, ids]): Statement[] => [
      [(view) => view.invoiceList({ period: { from, until } }, ALL), ids],
      [(view) => view.draftList({ period: { from, until } }, ALL), ids],
    ],
  ),
};

/** In the order of lists: newest first, then by code points. */
const SORTED_IDS = ["new", "B", "a", "a-b", "a.b", "b", "é", "\uFF5E", "\u{1F9FE}", "old"];
const timeOf = (id: string): number => NOON + Number(id === "new") - Number(id === "old");

function listed(id: string): Changes {
  const createdAt = timeOf(id);
  const drafts = { until: NOON, places: [draft(id, createdAt, 31)], credits: [{ id, createdAt }] };
  return {
    documents: [document("feature", id, {}, createdAt)],
    accounts: [account(id, { createdAt, drafts })],
    events: [event("a", 1, { referenceId: id, eventId: id, createdAt })],
    entries: [entry("a", id, { createdAt })],
    credits: [credit("a", id, { createdAt })],
    invoices: [cycle(id, createdAt, 31)],
  };
}

const LISTS: Readonly<Record<string, (view: LedgerView, page: PageRequest) => Promise<readonly Item[]>>> = {
  documents: (view, page) => view.documents("feature", page),
  accounts: (view, page) => view.accountList({}, page),
  events: (view, page) => view.events({}, page),
  entries: (view, page) => view.entryList("a", "f.one", page),
  credits: (view, page) => view.creditList({}, page),
  "due credits in the index": (view, page) => view.dueCreditList({}, page),
  "final invoices": (view, page) => view.invoiceList({}, page),
  "drafts in the index": (view, page) => view.draftList({}, page),
};

describe("a memory store", () => {
  test.each(Object.entries(STATEMENTS))("%s", async (_, statements) => {
    const store = memoryStore();
    await commit(store, EXAMPLE);
    for (const [read, expected] of statements) {
      const result = await read(store.read);
      const ids = typeof result === "object" && Symbol.iterator in result ? result.map(toId) : toId(result);
      expect([String(read), ids]).toEqual([String(read), expected]);
    }
  });

  test.each(Object.entries(LISTS))(
    "sorts %s from newest to oldest, then by id in code point order, page by page",
    async (_, read) => {
      const store = memoryStore();
      for (const id of SORTED_IDS.toReversed()) await commit(store, listed(id));
      const readIds = async (page: PageRequest): Promise<readonly unknown[]> =>
        (await read(store.read, page)).map(toId);
      expect(await readIds(ALL)).toEqual(SORTED_IDS);
      for (const [index, id] of SORTED_IDS.entries()) {
        const page = await readIds({ limit: 2, after: { createdAt: timeOf(id), id } });
        expect(page).toEqual(SORTED_IDS.slice(index + 1, index + 3));
      }
    },
  );

  test("counts groups with usage other than 0 by account, meter and day", async () => {
    const store = memoryStore();
    const used = ["x", "y", "z"].map((text) => groupCell([text], "a", "m", TODAY, "1"));
    const others = [groupCell(["x"], "a", "n", TODAY, "2"), groupCell(["x"], "b", "m", TODAY, "-3")];
    await commit(store, { usage: [...used, ...others] });
    await commit(store, { usage: [groupCell(["y"], "a", "m", TODAY, "-1"), cell("a", "m", TODAY + 1, "5")] });
    const requests = ["a m 1", "a m 0", "b m 0", "a n 0", "b n 0", "a m 0"].map((text) => {
      const [accountId = "", meterId = "", day] = text.split(" ");
      return { accountId, meterId, day: TODAY + Number(day), exactAbove: 0 };
    });
    expect(await store.read.groupCounts(requests)).toEqual([0, 2, 1, 1, 0, 2]);
    expect(await store.read.groupCounts([])).toEqual([]);
  });

  test("keeps invoices with the former customer of an account", async () => {
    const store = memoryStore();
    await commit(store, { accounts: [account("a")], invoices: [cycle("month", MARCH, 31)] });
    await commit(store, { accounts: [account("a", { customerId: "c.two" })] });
    expect((await store.read.invoiceList({ customerId: "c.one" }, ALL)).map(toId)).toEqual(["month"]);
    expect(await store.read.invoiceList({ customerId: "c.two" }, ALL)).toEqual([]);
  });

  test.each(Object.keys(EXAMPLE).filter((kind) => kind !== "configurationRevision"))(
    "writes nothing if a commit fails at its last record of %s, and can repeat it",
    async (kind) => {
      const [store, other] = [memoryStore(), memoryStore()];
      const empty = store.snapshot();
      const changes = endUnreadable(EXAMPLE, kind as keyof Omit<Changes, "configurationRevision">);
      const failing = store.transact(createScope([]), async () => ({ result: undefined, changes }));
      await expect(failing).rejects.toThrow("this record cannot be read");
      expect(store.snapshot()).toBe(empty);
      for (const each of [store, other]) await commit(each, EXAMPLE);
      expect(store.snapshot()).toBe(other.snapshot());
    },
  );

  test("rejects a new event with an existing reference id", async () => {
    const store = memoryStore();
    await commit(store, { events: [event("a", 1)] });
    const again = newEvent(event("b", 1, { referenceId: "ref.a.000001", eventId: "other" }));
    await expect(commit(store, { newEvents: [again] })).rejects.toMatchObject({
      code: "ERR_TAKEN",
      message: 'the reference id "ref.a.000001" is taken: the id source returned it twice',
      details: { resource: "event", id: "ref.a.000001" },
    });
  });
});
