/**
 * The invoices that an engine stores over time equal those that a preview shows at once for the same facts (S13.5):
 * every golden book is run decision by decision and event by event, and its final invoices are compared with the
 * preview's.
 */
import { describe, expect, test } from "vitest";

import type { Account } from "../../src/book/resources/account.ts";
import { DAY_MS, type Instant, toInstant } from "../../src/calendar/instant.ts";
import { type Book, type Invoice, type InvoiceLine, preview } from "../../src/index.ts";
import { NO_END } from "../../src/invoicing/timeline.ts";
import { toDecisions } from "../../src/ledger/account/account-plan.ts";
import { catchUp } from "../../src/ledger/account/catch-up.ts";
import { findPlanIn } from "../../src/ledger/catalog.ts";
import { recordPlanDecision } from "../../src/ledger/commands/associate.ts";
import { updateLicense } from "../../src/ledger/commands/licenses.ts";
import { decideIngest } from "../../src/ledger/events/ingest.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { formatDecimal, ZERO } from "../../src/numbers/decimal.ts";
import { runToCompletion } from "../../src/numbers/steps.ts";
import { catalogBook } from "../book/catalog-book.ts";
import { type Golden, goldenCases } from "../support/golden.ts";
import { type Ledger, newAccount, openLedger } from "./account-harness.ts";
import { readBatch } from "./read-batch.ts";

interface Moment {
  readonly at: Instant;
  readonly happens: () => unknown;
}

const LONG_AGO = toInstant("1990-01-01");

/** An account before any decision, with its initial data. */
function initialAccount(account: Account, book: Book): ReturnType<typeof newAccount> {
  const group = book.invoiceGroups.find(({ accountIds }) => accountIds.includes(account.id));
  const { record, ...parts } = newAccount(account.id, {
    caughtUpTo: LONG_AGO,
    customerId: account.customerId,
    invoiceCurrency: account.invoiceCurrency,
    ...(group === undefined ? {} : { invoiceGroupId: group.id }),
    ...(typeof account.netTermDays === "number" ? { netTermDays: account.netTermDays } : {}),
  });
  return {
    ...parts,
    record,
    credits: account.credits.map((credit, index) => ({
      id: credit.id,
      accountId: account.id,
      customerId: account.customerId,
      kind: "MANUAL",
      purpose: credit.purpose,
      creditAmount: credit.creditAmount,
      consumedAmount: ZERO,
      currency: account.invoiceCurrency,
      priority: credit.priority,
      effectiveFrom: credit.effectiveFrom,
      effectiveUntil: credit.effectiveUntil ?? NO_END,
      ...(credit.applicableEntityIds ? { applicableEntityIds: credit.applicableEntityIds } : {}),
      voided: false,
      createdAt: LONG_AGO + index,
      transactions: [],
    })),
    entries: account.featureCredits.map((entry, index) => ({
      ...entry,
      accountId: account.id,
      source: "PURCHASE" as const,
      balance: entry.granted,
      createdAt: LONG_AGO + index,
      voided: false,
    })),
  };
}

/** Plans and licenses: each is decided at its decidedAt, those without one right before they take effect. */
function decisionsAbout(ledger: Ledger, book: Book, account: Account): readonly Moment[] {
  const { id } = account;
  const plans = toDecisions(account, findPlanIn(book.pricePlans)).map(({ from, until, decidedAt, plan }, index) => {
    const at = index > 0 && decidedAt % DAY_MS === 0 ? decidedAt - 1 : decidedAt;
    if (plan === null) return { at, happens: () => undefined };
    const override = account.pricePlans[index]?.pricePlanDetailsOverride ?? undefined;
    const { planId, version, cycleConfig } = plan;
    const association = {
      id: ledger.ids("as"),
      plan: { planId, version, cycleConfig, ...(override === undefined ? {} : { override }) },
      from,
      until,
    };
    return {
      at,
      happens: () =>
        ledger.run((work) => {
          catchUp(ledger.catalog, work, at);
          recordPlanDecision(ledger.catalog, work, association, at);
        }, id),
    };
  });
  const licenses = account.licenseUpdates.map(({ licenseId, updateType, quantity, effectiveFrom }) => {
    // Before the plans of that day, so that each is known by its instant, however many there are.
    const at = effectiveFrom - 1000;
    const update = { licenseId, updateType, quantity, effectiveFrom };
    return {
      at,
      happens: () => ledger.run((work) => updateLicense(ledger.catalog, work, update, at, ledger.ids), id),
    };
  });
  return [...plans, ...licenses];
}

function ingests(ledger: Ledger, book: Book, events: readonly unknown[]): readonly Moment[] {
  const names = new Map(
    book.accounts.flatMap(({ id, aliases }) => [id, ...aliases].map((name) => [name, id] as const)),
  );
  return (events as readonly { readonly timestamp: string }[]).map((event) => ({
    at: toInstant(event.timestamp),
    happens: () => {
      const read = { accounts: book.accounts.map(({ id }) => ledger.parts(id)), names, acceptedIds: [], holders: [] };
      const batch = readBatch([event]);
      const { changes } = runToCompletion(
        decideIngest(ledger.catalog, read, batch, toInstant(event.timestamp), ledger.ids),
      );
      ledger.apply(changes);
    },
  }));
}

/** Runs everything in a case, and long enough after it. */
function livedThrough(golden: Golden, expectedFinals: readonly Invoice[]): Ledger {
  const book = catalogBook(golden.book);
  const ledger = openLedger(
    book,
    book.accounts.map((account) => initialAccount(account, book)),
  );
  const decisions = book.accounts.flatMap((account) => decisionsAbout(ledger, book, account));
  const moments = [...decisions, ...ingests(ledger, book, golden.events)].toSorted((a, b) => a.at - b.at);
  for (const { happens } of moments) happens();
  const end =
    Math.max(moments.at(-1)?.at ?? 0, ...expectedFinals.map(({ endDate }) => toInstant(endDate))) + 70 * DAY_MS;
  for (const { id } of book.accounts) ledger.until(Math.min(end, toInstant("9998-12-31")), id);
  return ledger;
}

/** Invoices by what they are about; equal ones in their order. */
function nameInvoices(invoices: readonly Invoice[]): ReadonlyMap<string, Invoice> {
  const byName = new Map<string, Invoice>();
  for (const invoice of invoices) {
    const { accountId, invoiceType, startDate, endDate, invoiceDate } = invoice;
    let name = [accountId, invoiceType, startDate, endDate, invoiceDate].join(" ");
    while (byName.has(name)) name += " again";
    byName.set(name, invoice);
  }
  return byName;
}

/** Every line, without the ids of credits, which the ledger generates. */
function formatLines(line: InvoiceLine, depth = 0): readonly string[] {
  const id = line.type === "SUB_CREDITS" ? "" : (line.id ?? "");
  const below = (line.lineItems ?? []).flatMap((each) => formatLines(each, depth + 1));
  return [`${" ".repeat(depth)}${line.type} ${id} ${formatDecimal(line.value)}`, ...below];
}

describe("a golden book, run over time", () => {
  test.each(goldenCases().map((golden) => [golden.it, golden] as const))("S13.5 %s", (_it, golden) => {
    const { invoices } = preview(catalogBook(golden.book), golden.events as Iterable<EventInput>, golden.options);
    const ledger = livedThrough(golden, invoices);
    const records = [...new Set(invoices.map(({ accountId }) => accountId))].flatMap((id) => ledger.parts(id).invoices);
    const finals = nameInvoices(
      records.toSorted((a, b) => a.finalizedAt - b.finalizedAt).map(({ invoice }) => invoice),
    );
    for (const [name, expectedFinals] of nameInvoices(invoices)) {
      const final = finals.get(name);
      expect([name, final && formatLines(final.revenueInfo)]).toEqual([name, formatLines(expectedFinals.revenueInfo)]);
      const { notices, dueDate, usageInfo } = expectedFinals;
      expect(final).toMatchObject({ notices, dueDate, ...(usageInfo === undefined ? {} : { usageInfo }) });
    }
  });
});
