import { describe, expect, test } from "vitest";

import { listDrafts } from "../../../src/ledger/account/invoices.ts";
import {
  addToGroup,
  compositeLines,
  consolidate,
  findDueByDay,
  type InvoiceGroupTerms,
  readComposite,
  removeFromGroup,
} from "../../../src/ledger/commands/groups.ts";
import type { DocumentRecord } from "../../../src/ledger/decision.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";
/** Invoice groups: their terms, and their invoices as one (S16.7). */
import { runToCompletion } from "../../../src/numbers/steps.ts";
import { calls, planOfMonths } from "../../book/builder.ts";
import { bookWithPlans } from "../../book/catalog-book.ts";
import { toTime, finals, headOf, type Ledger, newAccount, openLedger } from "../account-harness.ts";

const cycle = { interval: "MONTHLY", startOffset: { dayOffset: "1" }, gracePeriod: 3 };
const customers = [{ id: "ann", name: "Ann" }];
const seed = [{ id: "seed", name: "Seed", customerId: "ann" }];
const groupOf = (id: string, more: object): object => ({ id, name: id, accountIds: [], ...more });
const book = bookWithPlans([planOfMonths("p", { ...calls(1), pricingCycleConfig: cycle })], {
  customers,
  accounts: seed,
  invoiceGroups: [
    groupOf("slow", { gracePeriod: 10, netTermDays: 30, dailyInvoiceConsolidation: true, accountIds: ["seed"] }),
    groupOf("fast", { gracePeriod: 0 }),
    groupOf("late", { netTermDays: 36_500, dailyInvoiceConsolidation: true }),
  ],
});
const slow = { id: "slow", invoiceCurrency: "USD", dailyInvoiceConsolidation: true };
const fast = { id: "fast", invoiceCurrency: "USD", dailyInvoiceConsolidation: false };

/** Accounts `a` and `b` with 10 and 20 calls in January. */
function openWithUsage(): Ledger {
  const ledger = openLedger(book, [newAccount("a"), newAccount("b"), newAccount("euro", { invoiceCurrency: "EUR" })]);
  for (const [id, quantity] of Object.entries({ a: 10, b: 20 })) {
    ledger.associate("p", "2024-01-01", "2024-01-01", {}, id);
    ledger.use(quantity, "2024-01-10T00:00:00Z", "2024-01-10T00:00:00Z", id);
  }
  return ledger;
}

function addAccounts(ledger: Ledger, group: typeof slow, ids: readonly string[], now: string): void {
  const catalogs = { before: ledger.catalog, after: ledger.catalog };
  ledger.runAll(ids, (works) => runToCompletion(addToGroup(catalogs, group, works, toTime(now))));
}

function remove(ledger: Ledger, groupId: string, ids: readonly string[], now: string): void {
  const catalogs = { before: ledger.catalog, after: ledger.catalog };
  ledger.runAll(ids, (works) => runToCompletion(removeFromGroup(catalogs, groupId, works, toTime(now))));
}

/** The composite invoices of a group's accounts. */
function consolidateAccounts(
  ledger: Ledger,
  ids: readonly string[],
  now: string,
  { group = slow, behind }: { readonly group?: InvoiceGroupTerms; readonly behind?: ReadonlySet<string> } = {},
): readonly DocumentRecord[] {
  const { catalog } = ledger;
  return ledger.runAll(ids, (works) =>
    consolidate(catalog, group, runToCompletion(findDueByDay(catalog, group, works, toTime(now), behind))),
  );
}

describe("terms", () => {
  test("S16.7 the group's grace and net terms take precedence over the plan's and the account's", () => {
    const ledger = openWithUsage();
    addAccounts(ledger, slow, ["a"], "2024-01-20");
    ledger.until("2024-02-10T23:59:59Z");
    expect(finals(ledger)).toEqual([]);
    ledger.until("2024-02-11");
    expect(finals(ledger)).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DUE 10"]);
    expect(ledger.parts().invoices[0]?.invoice.dueDate).toBe("2024-03-02T00:00:00.000Z");
  });

  test("S16.7 a cycle that the new terms close is final from the change on", () => {
    const ledger = openWithUsage();
    addAccounts(ledger, fast, ["a"], "2024-02-02T09:00:00Z");
    expect(finals(ledger)).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DUE 10"]);
    expect(ledger.parts().invoices[0]?.finalizedAt).toBe(toTime("2024-02-02T09:00:00Z"));
  });

  test("S16.7 a cycle that the new terms leave open stays a draft", () => {
    const ledger = openWithUsage();
    addAccounts(ledger, slow, ["a"], "2024-02-03");
    ledger.until("2024-02-05");
    const drafts = ledger.run((work) => runToCompletion(listDrafts(ledger.catalog, work, toTime("2024-02-05"))));
    expect(drafts.map(({ invoice }) => headOf(invoice))).toEqual([
      "STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DRAFT 10",
    ]);
    remove(ledger, "slow", ["a"], "2024-02-06");
    expect(finals(ledger)).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DUE 10"]);
    expect(ledger.parts().record.invoiceGroupId).toBeUndefined();
  });

  test("S6.5 S16.7 a closed cycle stays closed, even if nothing in it was invoiced", () => {
    const ledger = openLedger(book, [newAccount("a")]);
    ledger.associate("p", "2024-01-01");
    addAccounts(ledger, slow, ["a"], "2024-03-04");
    // The plan's three days of grace closed January and February, on 4 February and 4 March.
    const now = "2024-03-05T00:00:00Z";
    expect(["2024-01-10", "2024-02-10", "2024-03-02"].map((day) => ledger.use(1, `${day}T00:00:00Z`, now))).toEqual([
      false,
      false,
      true,
    ]);
  });

  test("S16.7 adding an account of the group has no effect, nor does removing one that is not in it", () => {
    const ledger = openWithUsage();
    addAccounts(ledger, slow, ["a"], "2024-01-20");
    const before = ledger.parts();
    addAccounts(ledger, slow, ["a"], "2024-01-20");
    remove(ledger, "fast", ["a"], "2024-01-20");
    expect(ledger.parts()).toEqual(before);
  });

  const refusals: readonly (readonly [string, readonly string[], string])[] = [
    [
      "another currency",
      ["a", "euro"],
      'the account "euro" is invoiced in EUR, but the invoice group "slow" is in USD',
    ],
    ["an account of another group", ["a", "b"], 'the account "b" is already in the invoice group "fast"'],
  ];

  test.each(refusals)("S16.7 rejects %s, and adds none", (_because, ids, message) => {
    const ledger = openWithUsage();
    addAccounts(ledger, fast, ["b"], "2024-01-20");
    expect(() => addAccounts(ledger, slow, ids, "2024-01-21")).toThrow(message);
    expect(ledger.parts("a").record.invoiceGroupId).toBeUndefined();
  });
});

describe("consolidation", () => {
  test("S16.7 invoices due on the same day become one composite invoice when the day is over", () => {
    const ledger = openWithUsage();
    addAccounts(ledger, slow, ["a", "b"], "2024-01-20");
    expect(consolidateAccounts(ledger, ["a", "b"], "2024-02-11T23:59:59Z")).toEqual([]);
    expect(finals(ledger)).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DUE 10"]);
    const [document, ...others] = consolidateAccounts(ledger, ["a", "b"], "2024-02-20");
    expect(others).toEqual([]);
    const composite = readComposite(document as DocumentRecord);
    expect([composite.invoiceDate, composite.dueDate, formatDecimal(composite.total)]).toEqual([
      toTime("2024-02-11"),
      toTime("2024-03-12"),
      "30",
    ]);
    const lines = compositeLines(composite);
    expect([
      lines.type,
      ...(lines.lineItems ?? []).map((line) => `${line.type} ${line.description} ${formatDecimal(line.value)}`),
    ]).toEqual(["GRAND_TOTAL_AMOUNT", "TOTAL_AMOUNT a 10", "TOTAL_AMOUNT b 20"]);
    expect(document?.createdAt).toBe(toTime("2024-02-12"));
    for (const id of ["a", "b"]) {
      expect(ledger.parts(id).invoices.map(({ invoice, mergedInto }) => [invoice.status, mergedInto])).toEqual([
        ["MERGED", composite.id],
      ]);
    }
  });

  test("S16.7 repeating it, also later, has no effect", () => {
    const ledger = openWithUsage();
    addAccounts(ledger, slow, ["a", "b"], "2024-01-20");
    const late = openWithUsage();
    addAccounts(late, slow, ["a", "b"], "2024-01-20");
    const documents = consolidateAccounts(ledger, ["a", "b"], "2024-02-12");
    expect(consolidateAccounts(ledger, ["a", "b"], "2024-02-28")).toEqual([]);
    expect(consolidateAccounts(late, ["a", "b"], "2024-02-28")).toEqual(documents);
    expect(late.parts("a").invoices).toEqual(ledger.parts("a").invoices);
  });

  test("S16.7 a composite invoice is never due after the last date, like a single one", () => {
    const late = { ...slow, id: "late" };
    const ledger = openLedger(book, [
      newAccount("a", { createdAt: toTime("9990-01-01"), caughtUpTo: toTime("9990-01-01") }),
    ]);
    ledger.associate("p", "9990-01-01");
    ledger.use(10, "9990-01-10T00:00:00Z", "9990-01-10T00:00:00Z");
    addAccounts(ledger, late, ["a"], "9990-01-20");
    const consolidation = consolidateAccounts(ledger, ["a"], "9990-02-20", { group: late });
    const composites = consolidation.map(readComposite).map(({ invoiceDate, dueDate }) => [invoiceDate, dueDate]);
    expect(composites).toEqual([[toTime("9990-02-04"), toTime("9999-01-01")]]);
    expect(ledger.parts().invoices[0]?.invoice.dueDate).toBe("9999-01-01T00:00:00.000Z");
  });

  test("S16.7 a day waits for an account whose due work failed; earlier days do not", () => {
    const ledger = openWithUsage();
    addAccounts(ledger, slow, ["a", "b"], "2024-01-20");
    const [whole, waiting] = [openWithUsage(), openWithUsage()];
    for (const each of [whole, waiting]) addAccounts(each, slow, ["a", "b"], "2024-01-20");
    const behind = (now: string): readonly DocumentRecord[] =>
      consolidateAccounts(waiting, ["a", "b"], now, { behind: new Set(["b"]) });
    expect(behind("2024-02-20")).toEqual([]);
    expect(consolidateAccounts(waiting, ["a", "b"], "2024-02-21")).toEqual(
      consolidateAccounts(whole, ["a", "b"], "2024-02-12"),
    );
    waiting.until("2024-03-20", "a");
    waiting.until("2024-03-01", "b");
    expect(behind("2024-03-20")).toEqual([]);
  });

  test("S16.7 an invoice of a day that ended before the account was in the group stays single", () => {
    const ledger = openWithUsage();
    ledger.until("2024-02-04");
    addAccounts(ledger, slow, ["a"], "2024-02-05T00:00:00Z");
    expect(consolidateAccounts(ledger, ["a"], "2024-03-01")).toEqual([]);
    expect(finals(ledger)).toEqual(["STANDARD 2024-01-01..2024-02-01 of 2024-02-01 DUE 10"]);
  });
});
