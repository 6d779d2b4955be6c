/** A plan that ends at the end of a cycle whose invoice was final by then: what it had not charged yet is not lost. */
import { expect, test } from "vitest";

import type { Invoice, InvoiceLine } from "../../../src/index.ts";
import { parseBook, preview } from "../../../src/index.ts";
import { verify } from "../../../src/verify.ts";
import { perUnit, plan } from "../../book/builder.ts";
import { exportedOf } from "../../cli/export/read-export.ts";
import { type EngineUnderTest, engineAt } from "../support.ts";

/** A fee of 91.00 for three months by days, 7.00 for three months whole, overage priced by the quarter, 40.00 a month at least. */
const BOOK = {
  eventSchemas: [{ name: "chat", attributes: [{ name: "n" }], status: "ACTIVE" as const }],
  features: [{ id: "tokens", name: "Tokens", schemaAssociations: [{ schemaName: "chat", attributeName: "n" }] }],
  addOns: [
    { id: "fee", name: "Fee", type: "FIXED_FEE" as const },
    { id: "support", name: "Support", type: "FIXED_FEE" as const },
  ],
  pricePlans: [
    plan("quarters", {
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
    plan("other", { entitlementOverageRateCards: [{ featureId: "tokens", ...perUnit(5) }] }),
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
const use = (id: string, timestamp: string, n: number) => ({
  schemaName: "chat",
  id,
  accountId: "a",
  timestamp,
  attributes: [{ name: "n", value: n }],
});

/** An account of the book with 10 tokens used in January, and its clock in the morning after it. */
async function quarterly(): Promise<EngineUnderTest> {
  const tested = engineAt("2023-12-31");
  await tested.engine.load(BOOK);
  await tested.at("2024-01-05T10:00:00Z").ingest([use("e1", "2024-01-05T10:00:00Z", 10)]);
  tested.at("2024-02-01T09:00:00Z");
  return tested;
}

async function invoicesOf({ engine }: Pick<EngineUnderTest, "engine">): Promise<readonly Invoice[]> {
  const { items } = await engine.invoices.list({ page: { limit: 100 } });
  return items.map(({ invoice }) => invoice);
}

/** `kind, days, date: cards; total`. */
function told({ invoiceType, startDate, endDate, invoiceDate, status, revenueInfo }: Invoice): string {
  const lines = (line: InvoiceLine): readonly InvoiceLine[] => [line, ...(line.lineItems ?? []).flatMap(lines)];
  const cards = lines(revenueInfo).filter(({ id, type }) => id !== undefined && !type.includes("_SLAB_"));
  const [from, until, date] = [startDate, endDate, invoiceDate].map((each) => each.slice(5, 10));
  const shown = cards.map(({ id, value }) => `${id ?? ""} ${value.toFixed(2)}`).join(", ");
  return `${invoiceType} ${from ?? ""}/${until ?? ""} of ${date ?? ""}, ${status}: ${shown}; ${revenueInfo.value.toFixed(2)}`;
}

// 91 × 31 ÷ 91 days, 7 whole, 10 × 2; the 40.00 of January were asked for before.
const LATE = "AD_HOC 01-01/02-01 of 02-01, DUE: fee 31.00, support 7.00, tokens 20.00; 58.00";
const JANUARY = "STANDARD 01-01/02-01 of 02-01, DUE: ; 40.00";

test("S9.3 with another plan from that day on, it is invoiced at once; the true-up that is final stays", async () => {
  const tested = await quarterly();
  await tested.engine.associate("a", { pricePlanId: "other", effectiveFrom: "2024-02-01" });
  await tested.at("2024-02-03").ingest([use("e2", "2024-02-03T00:00:00Z", 4)]);
  tested.at("2024-03-15");
  const invoices = await invoicesOf(tested);
  const STANDARD = "STANDARD 02-01/03-01 of 03-01, DUE: tokens 20.00; 20.00";
  expect(invoices.map(told).toSorted()).toEqual([LATE, JANUARY, STANDARD]);
  const verified = verify({ invoices: JSON.parse(JSON.stringify(invoices)) as unknown });
  expect(verified.differences).toEqual([]);
  expect(verified.amounts.verified).toBe(verified.amounts.total);
  const { differences, notes } = await exportedOf({ engine: tested.engine, now: () => Date.parse("2024-03-15") });
  expect({ differences, notes }).toEqual({ differences: [], notes: [] });
});

test("S9.3 with no plan any more, it is invoiced at once", async () => {
  const tested = await quarterly();
  await tested.engine.dissociate("a", { effectiveFrom: "2024-02-01" });
  tested.at("2024-05-01");
  expect((await invoicesOf(tested)).map(told).toSorted()).toEqual([LATE, JANUARY]);
});

test("S9.1 with the same plan again, nothing is charged twice: the next part of the quarter has its own days", async () => {
  const tested = await quarterly();
  await tested.engine.associate("a", { pricePlanId: "quarters", effectiveFrom: "2024-02-01" });
  await tested.at("2024-02-03").ingest([use("e2", "2024-02-03T00:00:00Z", 4)]);
  tested.at("2024-04-02");
  // 60 of 91 days; 4 × 2.
  expect((await invoicesOf(tested)).map(told).toSorted()).toEqual([
    LATE,
    JANUARY,
    "STANDARD 02-01/03-01 of 03-01, DUE: ; 40.00",
    "STANDARD 03-01/04-01 of 04-01, DUE: fee 60.00, tokens 8.00; 68.00",
    "STANDARD 04-01/05-01 of 05-01, DRAFT: ; 40.00",
  ]);
});

test("S9.3 decided in the night before, it is on the STANDARD invoice, and counts for its commitment", async () => {
  const before = engineAt("2023-12-31");
  await before.engine.load(BOOK);
  await before.at("2024-01-05T10:00:00Z").ingest([use("e1", "2024-01-05T10:00:00Z", 10)]);
  await before.at("2024-01-31T23:00:00Z").associate("a", { pricePlanId: "other", effectiveFrom: "2024-02-01" });
  before.at("2024-02-02");
  expect((await invoicesOf(before)).map(told)).toContain(
    "STANDARD 01-01/02-01 of 02-01, DUE: fee 31.00, support 7.00, tokens 20.00; 58.00",
  );
});

test("S13.5 a book that says when it was decided leads a preview to the same", () => {
  const [account] = BOOK.accounts;
  const [current] = account?.pricePlans ?? [];
  const later = { pricePlanId: "other", effectiveFrom: "2024-02-01", decidedAt: "2024-02-01T09:00:00Z" };
  const book = parseBook({ ...BOOK, accounts: [{ ...account, pricePlans: [current, later] }] });
  const { invoices } = preview(book, [use("e1", "2024-01-05T10:00:00Z", 10)], {
    from: "2024-01-01",
    until: "2024-02-01",
  });
  expect(invoices.map(told).toSorted()).toEqual([LATE, JANUARY].map((each) => each.replace("DUE", "DRAFT")));
});
