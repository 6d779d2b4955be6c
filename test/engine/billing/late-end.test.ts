/**
 * A plan that ends at the end of a cycle whose invoice is already final: charges that it did not contain are not lost.
 */
import { expect, test } from "vitest";

import type { Invoice, InvoiceLine } from "../../../src/index.ts";
import { parseBook, preview } from "../../../src/index.ts";
import { verify } from "../../../src/verify.ts";
import { perUnit, planOfMonths } from "../../book/builder.ts";
import { exportParts } from "../../cli/export/read-export.ts";
import { type EngineUnderTest, engineAt } from "../support.ts";

/**
 * A prorated fee of 91.00 for three months, an unprorated one of 7.00 for three months, quarterly overage, and at least
 * 40.00 a month.
 */
const BOOK = {
  eventSchemas: [{ name: "chat", attributes: [{ name: "n" }], status: "ACTIVE" as const }],
  features: [{ id: "tokens", name: "Tokens", schemaAssociations: [{ schemaName: "chat", attributeName: "n" }] }],
  addOns: [
    { id: "fee", name: "Fee", type: "FIXED_FEE" as const },
    { id: "support", name: "Support", type: "FIXED_FEE" as const },
  ],
  pricePlans: [
    planOfMonths("quarters", {
      fixedFeeRateCards: [
        {
          id: "fee",
          recurrenceConfig: { interval: 3 },
          enableProration: true,
          rateValues: [{ currency: "USD", rate: 91 }],
        },
        { id: "support", recurrenceConfig: { interval: 3 }, rateValues: [{ currency: "USD", rate: 7 }] },
      ],
      entitlementOverageRateCards: [{ featureId: "tokens", billingConfig: { interval: 3 }, ...perUnit(2) }],
      minimumCommitment: { rateValues: [{ currency: "USD", rate: 40 }] },
    }),
    planOfMonths("other", { entitlementOverageRateCards: [{ featureId: "tokens", ...perUnit(5) }] }),
  ],
  customers: [{ id: "acme", name: "Acme" }],
  accounts: [
    {
      id: "a",
      name: "Acme a",
      customerId: "acme",
      pricePlans: [{ pricePlanId: "quarters", effectiveFrom: "2024-01-01" }],
    },
  ],
};
const chatEvent = (id: string, timestamp: string, n: number) => ({
  schemaName: "chat",
  id,
  accountId: "a",
  timestamp,
  attributes: [{ name: "n", value: n }],
});

/** An account of the book with 10 tokens used in January; the clock is in the morning after it. */
async function quarterly(): Promise<EngineUnderTest> {
  const underTest = engineAt("2023-12-31");
  await underTest.engine.load(BOOK);
  await underTest.at("2024-01-05T10:00:00Z").ingest([chatEvent("e1", "2024-01-05T10:00:00Z", 10)]);
  underTest.at("2024-02-01T09:00:00Z");
  return underTest;
}

async function listAllInvoices({ engine }: Pick<EngineUnderTest, "engine">): Promise<readonly Invoice[]> {
  const { items } = await engine.invoices.list({ page: { limit: 100 } });
  return items.map(({ invoice }) => invoice);
}

/** `kind, days, date: cards; total`. */
function describeInvoice({ invoiceType, startDate, endDate, invoiceDate, status, revenueInfo }: Invoice): string {
  const lines = (line: InvoiceLine): readonly InvoiceLine[] => [line, ...(line.lineItems ?? []).flatMap(lines)];
  const cards = lines(revenueInfo).filter(({ id, type }) => id !== undefined && !type.includes("_SLAB_"));
  const [from, until, date] = [startDate, endDate, invoiceDate].map((each) => each.slice(5, 10));
  const cardTexts = cards.map(({ id, value }) => `${id ?? ""} ${value.toFixed(2)}`).join(", ");
  return `${invoiceType} ${from ?? ""}/${until ?? ""} of ${date ?? ""}, ${status}: ${cardTexts}; ${revenueInfo.value.toFixed(2)}`;
}

// 91 × 31 ÷ 91 days, 7 unprorated, 10 × 2; the 40.00 of January were invoiced before.
const LATE = "AD_HOC 01-01/02-01 of 02-01, DUE: fee 31.00, support 7.00, tokens 20.00; 58.00";
const JANUARY = "STANDARD 01-01/02-01 of 02-01, DUE: ; 40.00";

test("S9.3 with another plan from that day on, the charges are invoiced at once; the final true-up is unchanged", async () => {
  const underTest = await quarterly();
  await underTest.engine.associate("a", { pricePlanId: "other", effectiveFrom: "2024-02-01" });
  await underTest.at("2024-02-03").ingest([chatEvent("e2", "2024-02-03T00:00:00Z", 4)]);
  underTest.at("2024-03-15");
  const invoices = await listAllInvoices(underTest);
  const STANDARD = "STANDARD 02-01/03-01 of 03-01, DUE: tokens 20.00; 20.00";
  expect(invoices.map(describeInvoice).toSorted()).toEqual([LATE, JANUARY, STANDARD]);
  const report = verify({ invoices: JSON.parse(JSON.stringify(invoices)) as unknown });
  expect(report.differences).toEqual([]);
  expect(report.amounts.verified).toBe(report.amounts.total);
  const { differences, notes } = await exportParts({ engine: underTest.engine, now: () => Date.parse("2024-03-15") });
  expect({ differences, notes }).toEqual({ differences: [], notes: [] });
});

test("S9.3 without a new plan, they are invoiced at once", async () => {
  const underTest = await quarterly();
  await underTest.engine.dissociate("a", { effectiveFrom: "2024-02-01" });
  underTest.at("2024-05-01");
  expect((await listAllInvoices(underTest)).map(describeInvoice).toSorted()).toEqual([LATE, JANUARY]);
});

test("S9.1 with the same plan again, nothing is charged twice: the next part of the quarter has its own days", async () => {
  const underTest = await quarterly();
  await underTest.engine.associate("a", { pricePlanId: "quarters", effectiveFrom: "2024-02-01" });
  await underTest.at("2024-02-03").ingest([chatEvent("e2", "2024-02-03T00:00:00Z", 4)]);
  underTest.at("2024-04-02");
  // 60 of 91 days; 4 × 2.
  expect((await listAllInvoices(underTest)).map(describeInvoice).toSorted()).toEqual([
    LATE,
    JANUARY,
    "STANDARD 02-01/03-01 of 03-01, DUE: ; 40.00",
    "STANDARD 03-01/04-01 of 04-01, DUE: fee 60.00, tokens 8.00; 68.00",
    "STANDARD 04-01/05-01 of 05-01, DRAFT: ; 40.00",
  ]);
});

test("S9.3 if decided in the night before, they are on the STANDARD invoice and count for its commitment", async () => {
  const before = engineAt("2023-12-31");
  await before.engine.load(BOOK);
  await before.at("2024-01-05T10:00:00Z").ingest([chatEvent("e1", "2024-01-05T10:00:00Z", 10)]);
  await before.at("2024-01-31T23:00:00Z").associate("a", { pricePlanId: "other", effectiveFrom: "2024-02-01" });
  before.at("2024-02-02");
  expect((await listAllInvoices(before)).map(describeInvoice)).toContain(
    "STANDARD 01-01/02-01 of 02-01, DUE: fee 31.00, support 7.00, tokens 20.00; 58.00",
  );
});

test("S13.5 a book that contains the decision time gives the same in a preview", () => {
  const [account] = BOOK.accounts;
  const [current] = account?.pricePlans ?? [];
  const later = { pricePlanId: "other", effectiveFrom: "2024-02-01", decidedAt: "2024-02-01T09:00:00Z" };
  const book = parseBook({ ...BOOK, accounts: [{ ...account, pricePlans: [current, later] }] });
  const { invoices } = preview(book, [chatEvent("e1", "2024-01-05T10:00:00Z", 10)], {
    from: "2024-01-01",
    until: "2024-02-01",
  });
  expect(invoices.map(describeInvoice).toSorted()).toEqual([LATE, JANUARY].map((each) => each.replace("DUE", "DRAFT")));
});
