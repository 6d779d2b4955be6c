/** Lists of final invoices and draft index entries: order, filters, and replacement of an account's entries. */
import assert from "node:assert/strict";

import { formatInstant, parseInstant, addDays } from "../../calendar/instant.ts";
import type { AccountRecord, DraftIndexEntry, InvoiceRecord } from "../../ledger/records.ts";
import type { DraftListFilter, InvoiceListFilter } from "../../ledger/view.ts";
import type { Store } from "../store.ts";
import { commit, type ConformanceCase, defineCase } from "./case.ts";
import { account, invoice, NOON } from "./samples.ts";

/** A final invoice with a billing period of some days from an instant. */
export function invoiceFrom(
  id: string,
  start: number,
  days = 31,
  more: Partial<InvoiceRecord["invoice"]> = {},
): InvoiceRecord {
  const record = invoice(more.accountId ?? "a", id);
  const period = { startDate: formatInstant(start), endDate: formatInstant(addDays(start, days)) };
  return { ...record, invoice: { ...record.invoice, ...period, ...more } };
}

/** The index entry of a draft that is listed at the start of its billing period. */
export function draftFrom(id: string, start: number, days = 31, more: Partial<DraftIndexEntry> = {}): DraftIndexEntry {
  const end = addDays(start, days);
  return { id, listedAt: start, start, end, finalAt: end, ...more };
}

/** An account with draft index entries. */
export function accountWithDrafts(
  id: string,
  places: readonly DraftIndexEntry[],
  more: Partial<AccountRecord> = {},
): AccountRecord {
  return account(id, { drafts: { until: addDays(NOON, 99), places, credits: [] }, ...more });
}

const toMidnight = (date: string): number => parseInstant(`${date}T00:00:00.000Z`);
const [FEBRUARY, MARCH, APRIL] = [toMidnight("2026-02-01"), toMidnight("2026-03-01"), toMidnight("2026-04-01")];
const within = (from: number, until: number): { period: { from: number; until: number } } => ({
  period: { from, until },
});

/** Billing periods: id, start and number of days. */
const PERIODS: readonly (readonly [string, number, number])[] = [
  ["year", toMidnight("2025-06-01"), 365],
  ["quarter", toMidnight("2026-01-01"), 90],
  ["month", MARCH, 31],
  ["week", toMidnight("2026-03-09"), 7],
  ["day", toMidnight("2026-03-31"), 1],
];
/** The date of an AD_HOC invoice for the quarter. */
const AD_HOC_DATE = toMidnight("2026-03-20");

/** Ranges `[from, until)`, and which of {@link PERIODS} and the AD_HOC invoice overlap each, in list order. */
const IDS_BY_PERIOD: readonly (readonly [number, number, readonly string[]])[] = [
  [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, ["day", "adhoc", "week", "month", "quarter", "year"]],
  [FEBRUARY, MARCH, ["adhoc", "quarter", "year"]],
  [MARCH, APRIL, ["day", "adhoc", "week", "month", "quarter", "year"]],
  [toMidnight("2026-03-16"), toMidnight("2026-03-17"), ["adhoc", "month", "quarter", "year"]],
  [APRIL, toMidnight("2026-04-02"), ["year"]],
  [toMidnight("2026-06-01"), toMidnight("2027-01-01"), []],
  [toMidnight("2024-01-01"), toMidnight("2025-06-01"), []],
  [toMidnight("2024-01-01"), toMidnight("2025-06-02"), ["year"]],
];

const INVOICE_FILTERS: readonly (readonly [InvoiceListFilter, readonly string[]])[] = [
  [{}, ["z", "x", "y", "w"]],
  [{ accountId: "a" }, ["z", "x"]],
  [{ accountId: "nobody" }, []],
  [{ customerId: "c.two" }, ["y", "w"]],
  [{ status: "DUE" }, ["z", "w"]],
  [{ status: "PAID", accountId: "a" }, ["x"]],
  [{ status: "MERGED" }, ["y"]],
  [{ customerId: "c.two", status: "DUE", ...within(FEBRUARY, MARCH) }, ["w"]],
  [{ accountId: "b", ...within(APRIL, toMidnight("2026-05-01")) }, []],
];

const DRAFT_FILTERS: readonly (readonly [DraftListFilter, readonly string[]])[] = [
  [{}, ["later", "b.now", "a.now", "a.before"]],
  [{ id: "b.now" }, ["b.now"]],
  [{ id: "nothing" }, []],
  [{ id: "b.now", customerId: "c.one" }, []],
  [{ accountId: "a" }, ["a.now", "a.before"]],
  [{ customerId: "c.two" }, ["later", "b.now"]],
  [{ begunBy: MARCH }, ["b.now", "a.now", "a.before"]],
  [{ begunBy: MARCH - 1 }, ["a.before"]],
  [{ final: { from: Number.NEGATIVE_INFINITY, until: APRIL } }, ["a.before"]],
  [{ final: { from: APRIL, until: Number.POSITIVE_INFINITY }, begunBy: MARCH }, ["b.now", "a.now"]],
  [within(toMidnight("2026-02-10"), toMidnight("2026-02-11")), ["a.before"]],
];

async function collectIds(items: Promise<readonly { readonly id: string }[]>): Promise<readonly string[]> {
  return (await items).map(({ id }) => id);
}

/** Checks a complete list and its pages. */
async function checkPages(
  read: Store["read"],
  [list, filter]: readonly ["invoiceList", InvoiceListFilter] | readonly ["draftList", DraftListFilter],
  expected: readonly string[],
): Promise<void> {
  const message = JSON.stringify(filter);
  assert.deepEqual(await collectIds(read[list](filter, { limit: 99 })), expected, message);
  const listedIds: string[] = [];
  for (let after: { createdAt: number; id: string } | undefined; ;) {
    const page = after === undefined ? { limit: 1 } : { limit: 1, after };
    const [item] =
      list === "draftList"
        ? await read.draftList(filter, page)
        : (await read.invoiceList(filter, page)).map(({ id, invoice: { invoiceType, invoiceDate, startDate } }) => ({
            id,
            listedAt: parseInstant(invoiceType === "AD_HOC" ? invoiceDate : startDate),
          }));
    if (item === undefined) break;
    listedIds.push(item.id);
    after = { createdAt: item.listedAt, id: item.id };
  }
  assert.deepEqual(listedIds, expected, message);
}

export const invoiceCases: readonly ConformanceCase[] = [
  defineCase("final invoices are found by any combination of account, customer and status", async (store) => {
    const two = { accountId: "b", customerId: "c.two" };
    await commit(store, {
      accounts: [account("a"), account("b", { customerId: "c.two" })],
      invoices: [
        invoiceFrom("x", MARCH, 31, { status: "PAID" }),
        invoiceFrom("y", FEBRUARY, 28, { ...two, status: "MERGED" }),
        invoiceFrom("z", APRIL, 30),
        invoiceFrom("w", toMidnight("2026-01-15"), 31, two),
      ],
    });
    for (const [filter, expected] of INVOICE_FILTERS) await checkPages(store.read, ["invoiceList", filter], expected);
    await commit(store, { invoices: [invoiceFrom("z", APRIL, 30, { status: "MERGED" })] });
    await checkPages(store.read, ["invoiceList", { status: "MERGED" }], ["z", "y"]);
    await checkPages(store.read, ["invoiceList", { status: "DUE" }], ["w"]);
  }),

  defineCase("final invoices are found by the days they overlap, whether they cover a day or a year", async (store) => {
    const adhoc = invoiceFrom("adhoc", toMidnight("2026-01-01"), 90, {
      invoiceType: "AD_HOC",
      invoiceDate: formatInstant(AD_HOC_DATE),
    });
    const invoices = [adhoc, ...PERIODS.map(([id, start, days]) => invoiceFrom(id, start, days))];
    await commit(store, { accounts: [account("a")], invoices });
    for (const [from, until, expected] of IDS_BY_PERIOD) {
      await checkPages(store.read, ["invoiceList", within(from, until)], expected);
      await checkPages(store.read, ["invoiceList", { ...within(from, until), status: "DUE" }], expected);
    }
  }),

  defineCase(
    "drafts in the index are found by the days they overlap, whether they cover a day or a year",
    async (store) => {
      const adhoc = draftFrom("adhoc", toMidnight("2026-01-01"), 90, { listedAt: AD_HOC_DATE });
      const places = [adhoc, ...PERIODS.map(([id, start, days]) => draftFrom(id, start, days))];
      await commit(store, { accounts: [accountWithDrafts("a", places)] });
      for (const [from, until, expected] of IDS_BY_PERIOD) {
        await checkPages(store.read, ["draftList", within(from, until)], expected);
      }
    },
  ),

  defineCase("drafts in the index are found by each filter and read as they were written", async (store) => {
    const places = { before: draftFrom("a.before", FEBRUARY, 28), now: draftFrom("a.now", MARCH) };
    await commit(store, {
      accounts: [
        accountWithDrafts("a", [places.now, places.before]),
        accountWithDrafts("b", [draftFrom("b.now", MARCH + 1, 31, { start: MARCH }), draftFrom("later", APRIL, 30)], {
          customerId: "c.two",
        }),
      ],
    });
    for (const [filter, expected] of DRAFT_FILTERS) await checkPages(store.read, ["draftList", filter], expected);
    const [draft] = await store.read.draftList({ id: "a.now" }, { limit: 9 });
    assert.deepEqual(draft, { ...places.now, accountId: "a" });
  }),

  defineCase("writing an account replaces its drafts in the index", async (store) => {
    await commit(store, {
      accounts: [accountWithDrafts("a", [draftFrom("one", MARCH), draftFrom("two", FEBRUARY)]), account("b")],
    });
    await commit(store, {
      accounts: [accountWithDrafts("a", [draftFrom("three", APRIL), draftFrom("one", FEBRUARY)])],
    });
    await checkPages(store.read, ["draftList", {}], ["three", "one"]);
    const [record] = await store.read.accounts(["a"]);
    assert.ok(record);
    // A field not in the change is kept.
    await store.transact({ configuration: "shared", accountIds: ["a"], eventIds: [] }, async (view) => {
      const [read] = await view.accounts(["a"]);
      assert.ok(read);
      return { result: undefined, changes: { accounts: [{ ...read, name: "Other" }] } };
    });
    await checkPages(store.read, ["draftList", {}], ["three", "one"]);
    await commit(store, { accounts: [account("a")] });
    await checkPages(store.read, ["draftList", {}], []);
  }),

  defineCase("accounts with a stale draft index are found by instant, sorted by id", async (store) => {
    const until = { b: NOON, a: NOON + 1, d: NOON - 1 };
    const accounts = Object.entries(until).map(([id, knownUntil]) =>
      account(id, { drafts: { until: knownUntil, places: [], credits: [] } }),
    );
    await commit(store, { accounts: [...accounts, account("c")] });
    assert.deepEqual(await store.read.accountsWithStaleDraftIndex(NOON - 2, 9), ["c"]);
    assert.deepEqual(await store.read.accountsWithStaleDraftIndex(NOON, 9), ["b", "c", "d"]);
    assert.deepEqual(await store.read.accountsWithStaleDraftIndex(NOON + 1, 2), ["a", "b"]);
    assert.deepEqual(await store.read.accountsWithStaleDraftIndex(NOON + 1, 2, "b"), ["c", "d"]);
    await commit(store, { accounts: [account("c", { drafts: { until: Infinity, places: [] } })] });
    assert.deepEqual(await store.read.accountsWithStaleDraftIndex(NOON, 9), ["b", "c", "d"]);
    await commit(store, { accounts: [account("c", { drafts: { until: Infinity, places: [], credits: [] } })] });
    assert.deepEqual(await store.read.accountsWithStaleDraftIndex(NOON, 9), ["b", "d"]);
  }),
];
