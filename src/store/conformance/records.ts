/** Accounts, entries, credits and invoices are read as written. */
import assert from "node:assert/strict";

import type { AccountRecord, CreditRecord, EntryRecord } from "../../ledger/records.ts";
import { Decimal } from "../../numbers/decimal.ts";
import { commit, type ConformanceCase, defineCase } from "./case.ts";
import { account, credit, entry, invoice, billedUsage, LONG, NOON, ODD_TEXTS, TODAY, withOddKeys } from "./samples.ts";

const RATE = {
  currency: "USD",
  slabRates: [{ order: 1, rate: LONG }],
};

/** An account with every field. */
const FULL_ACCOUNT: AccountRecord = account("a", {
  aliases: [{ alias: "#1", createdAt: NOON }],
  pastAliases: [{ alias: "#1", createdAt: NOON, removedAt: NOON + 1 }],
  invoiceGroupId: "g.one",
  invoiceGroupFrom: NOON,
  pastInvoiceGroups: [{ invoiceGroupId: "#g", from: -1, until: NOON }],
  netTermDays: 0,
  primaryEmail: "",
  metadata: { ...withOddKeys(), texts: ODD_TEXTS, deep: [{ a: [1, 0.5, null, false] }], long: LONG },
  tags: ODD_TEXTS,
  associations: [
    {
      id: "as.1",
      plan: {
        planId: "pp.one",
        version: 2,
        cycleConfig: { interval: "MONTHLY", dayOffset: "LAST", monthOffset: "NIL" } as never,
        override: { usageRateCards: [{ rateValues: [RATE] }] } as never,
      },
      from: NOON,
      until: 253_370_764_800_000,
      decidedAt: NOON,
    },
    { id: "as.2", from: NOON, until: NOON, decidedAt: NOON },
  ],
  licenseUpdates: [
    {
      id: "lu.1",
      licenseId: "l.one",
      updateType: "RELATIVE",
      quantity: LONG.neg(),
      effectiveFrom: NOON,
      fromArrival: true,
      createdAt: NOON,
      idempotencyKey: "key",
    },
  ],
  caughtUpTo: -Infinity,
  nextDueAt: Infinity,
  closedCycles: { until: NOON, at: NOON + 1 },
  drafts: {
    until: Infinity,
    places: [{ id: "inv.1", listedAt: NOON, start: NOON - 1, end: NOON + 9, finalAt: Infinity }],
    credits: [{ id: "credit.1", createdAt: NOON }],
  },
});

const FULL_ENTRY: EntryRecord = entry("a", "e.full", {
  source: "PURCHASE",
  granted: LONG,
  balance: new Decimal("0.00000000000000000001"),
  voided: true,
  idempotencyKey: "#key",
});

const FULL_CREDIT: CreditRecord = credit("a", "c.full", {
  kind: "NEGATIVE_INVOICE",
  purpose: ODD_TEXTS.join(),
  creditAmount: LONG,
  consumedAmount: new Decimal("0.01"),
  priority: 0,
  effectiveUntil: NOON + 1,
  applicableEntityIds: [],
  cause: "card|1",
  voided: true,
  idempotencyKey: "",
  transactions: [{ invoiceId: "i.one", amount: LONG.neg(), at: NOON }],
});

export const recordCases: readonly ConformanceCase[] = [
  defineCase("an account is read as it was written, without absent fields", async (store) => {
    const plain = account("b");
    await commit(store, { accounts: [FULL_ACCOUNT, plain] });
    assert.deepEqual(await store.read.accounts(["a"]), [FULL_ACCOUNT]);
    assert.deepEqual(await store.read.accounts(["b"]), [plain]);
    assert.deepEqual(await store.read.accountList({}, { limit: 9 }), [FULL_ACCOUNT, plain]);
  }),

  defineCase("an account completely replaces the one with its id", async (store) => {
    await commit(store, { accounts: [FULL_ACCOUNT] });
    const changedAccount = {
      ...FULL_ACCOUNT,
      netTermDays: 4,
      updatedAt: NOON + 9,
      nextDueAt: NOON + 9,
      caughtUpTo: NOON + 8,
    };
    await commit(store, { accounts: [changedAccount] });
    assert.deepEqual(await store.read.accounts(["a"]), [changedAccount]);
    await commit(store, { accounts: [account("a")] });
    assert.deepEqual(await store.read.accounts(["a", "a"]), [account("a")]);
  }),

  defineCase("an entry is read as it was written and completely replaced", async (store) => {
    await commit(store, { entries: [FULL_ENTRY, entry("a", "e.one")] });
    assert.deepEqual(await store.read.entries(["a"]), [FULL_ENTRY, entry("a", "e.one")]);
    const usedEntry = entry("a", "e.full", { balance: new Decimal("0.5"), effectiveUntil: NOON + 5 });
    await commit(store, { entries: [usedEntry] });
    assert.deepEqual(await store.read.entryList("a", "f.one", { limit: 1 }), [usedEntry]);
  }),

  defineCase("a credit is read as it was written and completely replaced", async (store) => {
    await commit(store, { credits: [FULL_CREDIT, credit("a", "c.one")] });
    assert.deepEqual(await store.read.credit("c.full"), FULL_CREDIT);
    assert.deepEqual(await store.read.credits(["a"]), [FULL_CREDIT, credit("a", "c.one")]);
    await commit(store, { credits: [credit("a", "c.full")] });
    assert.deepEqual(await store.read.credit("c.full"), credit("a", "c.full"));
  }),

  defineCase("an invoice is read as it was written and can be merged", async (store) => {
    await commit(store, { invoices: [invoice("a", "i.one")] });
    assert.deepEqual(await store.read.invoice("i.one"), invoice("a", "i.one"));
    const mergedInvoice = { ...invoice("a", "i.one"), mergedInto: "i.all" };
    await commit(store, { invoices: [mergedInvoice] });
    assert.deepEqual(await store.read.invoices(["a"], Number.NEGATIVE_INFINITY), [mergedInvoice]);
  }),

  defineCase("billed usage is found by the days it overlaps, sorted by its first day", async (store) => {
    const first = billedUsage("a", "k.2", TODAY, 31);
    const none = { ...billedUsage("a", "k.1", TODAY + 31, 1), cells: [] };
    const other = billedUsage("b", "k.3", TODAY, 1);
    await commit(store, { billedUsage: [none, other, first] });
    assert.deepEqual(await store.read.billedUsage(["a"], TODAY - 9, TODAY + 99), [first, none]);
    assert.deepEqual(await store.read.billedUsage(["a", "a"], TODAY + 30, TODAY + 31), [first]);
    assert.deepEqual(await store.read.billedUsage(["a"], TODAY + 31, TODAY + 32), [none]);
    assert.deepEqual(await store.read.billedUsage(["a"], TODAY - 9, TODAY), []);
    assert.deepEqual(await store.read.billedUsage(["nobody"], TODAY, TODAY + 99), []);
    assert.deepEqual(await store.read.billedUsage(["b", "a"], TODAY, TODAY + 1), [first, other]);
  }),

  defineCase("records of different ids stay different, whatever they contain", async (store) => {
    const accounts = ODD_TEXTS.map((id) => account(id, { customerId: id, invoiceGroupId: id }));
    const entries = ODD_TEXTS.map((id) => entry(id, id, { featureId: id }));
    const credits = ODD_TEXTS.map((id) => credit(id, id));
    const invoices = ODD_TEXTS.map((id) => invoice(id, id));
    const usages = ODD_TEXTS.map((id) => billedUsage(id, id, TODAY, 1));
    await commit(store, { accounts, entries, credits, invoices, billedUsage: usages });
    for (const [index, id] of ODD_TEXTS.entries()) {
      assert.deepEqual(await store.read.accounts([id]), [accounts[index]]);
      assert.deepEqual(await store.read.accountList({ customerId: id, invoiceGroupId: id }, { limit: 9 }), [
        accounts[index],
      ]);
      assert.deepEqual(await store.read.entries([id], id), [entries[index]]);
      assert.deepEqual(await store.read.credit(id), credits[index]);
      assert.deepEqual(await store.read.creditList({ accountId: id }, { limit: 9 }), [credits[index]]);
      assert.deepEqual(await store.read.invoices([id], Number.NEGATIVE_INFINITY), [invoices[index]]);
      assert.deepEqual(await store.read.billedUsage([id], TODAY, TODAY + 1), [usages[index]]);
    }
    const accountsBehind = await store.read.accountsBehind(Infinity, 99);
    assert.deepEqual(new Set(accountsBehind), new Set(ODD_TEXTS));
  }),
];
