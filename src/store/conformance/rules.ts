/** The rules of each read, as statements about one example: what is found, in which order, and where ranges end. */
import assert from "node:assert/strict";

import { addDays, DAY_MS, formatInstant, parseDate } from "../../calendar/instant.ts";
import type { Changes } from "../../ledger/decision.ts";
import type { NewEvent } from "../../ledger/records.ts";
import type { AccountRecord, DraftIndexEntry, EventRecord, InvoiceRecord, UsageDelta } from "../../ledger/records.ts";
import type { LedgerView, PageRequest } from "../../ledger/view.ts";
import { Decimal, formatDecimal } from "../../numbers/decimal.ts";
import { commit, type ConformanceCase, createScope, defineCase } from "./case.ts";
import { account, billedUsage, cell, consumption, credit, document, entry, event, groupCell } from "./samples.ts";
import { invoice, LONG, newEvent, NOON, ODD_TEXTS, TODAY } from "./samples.ts";

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

export const ruleCases: readonly ConformanceCase[] = [
  ...Object.entries(STATEMENTS).map(([name, statements]) =>
    defineCase(name, async (store) => {
      await commit(store, EXAMPLE);
      for (const [read, expected] of statements) {
        const result = await read(store.read);
        const ids = typeof result === "object" && Symbol.iterator in result ? result.map(toId) : toId(result);
        assert.deepEqual(ids, expected, String(read));
      }
    }),
  ),

  defineCase("lists are sorted from newest to oldest, then by id in code point order, page by page", async (store) => {
    for (const id of SORTED_IDS.toReversed()) await commit(store, listed(id));
    for (const [name, read] of Object.entries(LISTS)) {
      const readIds = async (page: PageRequest): Promise<readonly unknown[]> =>
        (await read(store.read, page)).map(toId);
      assert.deepEqual(await readIds(ALL), SORTED_IDS, name);
      for (const [index, id] of SORTED_IDS.entries()) {
        const page = await readIds({ limit: 2, after: { createdAt: timeOf(id), id } });
        assert.deepEqual(page, SORTED_IDS.slice(index + 1, index + 3), name);
      }
    }
  }),

  ...(["usage", "overage"] as const).map((kind) =>
    defineCase(`sums of ${kind} are exact up to 100 digits; longer ones are rejected`, async (store) => {
      const put = (...deltas: readonly UsageDelta[]): Promise<void> => commit(store, { [kind]: deltas });
      const [whole, fraction] = ["9".repeat(60), "0".repeat(39)];
      await put(cell("a", "m", TODAY, whole));
      await put(cell("a", "m", TODAY, `0.${fraction}3`));
      const expectedError = { code: "ERR_ARITHMETIC" };
      await assert.rejects(put(cell("a", "m", TODAY, `0.${fraction}01`)), expectedError);
      await assert.rejects(put(cell("a", "n", TODAY, "5"), cell("a", "m", TODAY, "1")), expectedError);
      assert.deepEqual(await readSums(store.read, kind), [`a m 0 ${whole}.${fraction}3`]);
      await put(cell("a", "m", TODAY, `-${whole}`), cell("a", "n", TODAY, "1e1000"));
      assert.deepEqual(await readSums(store.read, kind), [`a m 0 0.${fraction}3`, `a n 0 1${"0".repeat(1000)}`]);
      await assert.rejects(put(cell("a", "n", TODAY, "9e1000")), expectedError);
    }),
  ),

  defineCase("usage is added by group, and separate from usage without one", async (store) => {
    const put = (...usage: readonly UsageDelta[]): Promise<void> => commit(store, { usage });
    const long = ["x".repeat(512), "🧾".repeat(256), "\u0000", "half \ud83d"];
    const longest = ["a", "b"].map((end) => ["w", "x", "y", "z"].map((text) => text.repeat(511) + end));
    const odd = ODD_TEXTS.map((text) => ["nova", text]);
    const groups = [...odd, long, [...long.slice(0, 3), "half \ud83e"], ...longest, ["nova"]];
    const changes = groups.map((group) => groupCell(group, "a", "m", TODAY, "1.5"));
    await put(...changes, ...changes, cell("a", "m", TODAY, "7"));
    await put(...changes, groupCell(["nova"], "a", "m", TODAY + 1, "1"));
    const cells = await store.read.usage(["a"], TODAY, TODAY + 1);
    const listedCells = cells.map(({ group, quantity }) => `${JSON.stringify(group)} ${formatDecimal(quantity)}`);
    const expected = groups.map((group) => `${JSON.stringify(group)} 4.5`);
    assert.deepEqual(listedCells.toSorted(), [...expected, "undefined 7"].toSorted());
  }),

  defineCase("groups with usage other than 0 are counted by account, meter and day", async (store) => {
    const put = (...usage: readonly UsageDelta[]): Promise<void> => commit(store, { usage });
    const used = ["x", "y", "z"].map((text) => groupCell([text], "a", "m", TODAY, "1"));
    await put(...used, groupCell(["x"], "a", "n", TODAY, "2"), groupCell(["x"], "b", "m", TODAY, "-3"));
    await put(groupCell(["y"], "a", "m", TODAY, "-1"), cell("a", "m", TODAY + 1, "5"));
    const of = [
      { accountId: "a", meterId: "m", day: TODAY + 1 },
      { accountId: "a", meterId: "m", day: TODAY },
      { accountId: "b", meterId: "m", day: TODAY },
      { accountId: "a", meterId: "n", day: TODAY },
      { accountId: "b", meterId: "n", day: TODAY },
      { accountId: "a", meterId: "m", day: TODAY },
    ];
    const requests = of.map((each) => ({ ...each, exactAbove: 0 }));
    assert.deepEqual(await store.read.groupCounts(requests), [0, 2, 1, 1, 0, 2]);
    assert.deepEqual(await store.read.groupCounts([]), []);
  }),

  defineCase("new events get the next numbers, in their order; a changed event keeps its number", async (store) => {
    const place = (accountId: string, number: number): NewEvent => newEvent(event(accountId, number));
    await commit(store, { events: [event("a", 1)] });
    await commit(store, { newEvents: [place("a", 9), place("a", 2), place("b", 1), place("a", 5)] });
    await commit(store, { newEvents: [place("a", 3), place("a", 8)] });
    const events = await store.read.eventsToUndo("a", {});
    assert.deepEqual(
      events.map((each) => each.eventId),
      [1, 9, 2, 5, 3, 8].map((number) => `event.a.${number}`),
    );
    for (const [index, { number }] of events.entries())
      assert.ok(Number.isSafeInteger(number) && number > (events[index - 1]?.number ?? 0), `numbers ascend: ${number}`);
    const changedEvents = events.map((each) => ({ ...each, customerId: "changed" }));
    await commit(store, { events: changedEvents });
    assert.deepEqual(await store.read.eventsToUndo("a", {}), changedEvents);
  }),

  defineCase("if the first of two events with the same id is deleted, the id belongs to the second", async (store) => {
    const sameId = (number: number): EventRecord => event("a", number, { eventId: "same" });
    const [first, second, third] = [sameId(1), sameId(2), sameId(3)];
    for (const each of [first, second]) await commit(store, { events: [each] });
    await commit(store, { removedEvents: [first] });
    await store.transact(createScope(["a"], ["same"]), async (view) => {
      const isFree = (await view.acceptedIds(["same"])).length === 0;
      return { result: undefined, changes: isFree ? { newEvents: [newEvent(third)] } : {} };
    });
    assert.deepEqual((await store.read.events({ eventId: "same" }, ALL)).map(toId), [second.referenceId]);
  }),

  defineCase(
    "a commit is rejected if an id of its new events is taken, but an event id can be reused",
    async (store) => {
      const [first, second] = [newEvent(event("a", 1)), newEvent(event("a", 2))];
      await commit(store, { newEvents: [first, second] });
      const [third, fourth] = [newEvent(event("a", 3)), newEvent(event("a", 4))];
      const takenIds: readonly (readonly NewEvent[])[] = [
        [{ ...third, referenceId: first.referenceId }],
        [{ ...third, referenceId: first.referenceId, eventId: second.eventId }],
        [third, { ...fourth, referenceId: third.referenceId }],
        [third, { ...fourth, eventId: third.eventId }],
      ];
      for (const newEvents of takenIds) {
        const changes = { newEvents, usage: [cell("a", "m", TODAY, "1")] };
        await assert.rejects(commit(store, changes), { code: "ERR_TAKEN" });
      }
      assert.deepEqual(await readSums(store.read, "usage"), []);
      await commit(store, { newEvents: [{ ...third, eventId: first.eventId }] });
      const events = await store.read.eventsToUndo("a", {});
      assert.deepEqual(events.map(toId), [first, second, third].map(toId));
    },
  ),

  defineCase("invoices stay with the former customer of an account, and drafts follow the account", async (store) => {
    await commit(store, {
      accounts: [dueAccount("a", NOON, "soon", draft("draft", MARCH, 31))],
      invoices: [cycle("month", MARCH, 31)],
    });
    await store.transact(createScope(["a"]), async (view) => {
      const accounts = (await view.accounts(["a"])).map((record) => ({ ...record, customerId: "c.two" }));
      return { result: undefined, changes: { accounts } };
    });
    const readIds = async (customerId: string): Promise<readonly unknown[]> => {
      const lists = [store.read.invoiceList({ customerId }, ALL), store.read.draftList({ customerId }, ALL)];
      return (await Promise.all(lists)).map((list) => list.map(toId));
    };
    assert.deepEqual(await readIds("c.one"), [["month"], []]);
    assert.deepEqual(await readIds("c.two"), [[], ["draft"]]);
  }),

  defineCase("changing an event object after the commit has no effect", async (store) => {
    const row = newEvent(event("a", 1));
    await commit(store, { newEvents: [row] });
    const attributes = row.sent.attributes as { name: string; value: unknown }[];
    attributes.push({ name: "more", value: 1 });
    Object.assign(attributes[0] ?? {}, { value: 99 });
    Object.assign(row.sent.dimensions ?? {}, { region: "moon" });
    assert.deepEqual((await store.read.events({}, ALL))[0]?.payload, event("a", 1).payload);
  }),
];
