/** A revenue calculation and a preview of the same inputs give the same result (S13.5). */
import fc from "fast-check";
import { expect, test } from "vitest";

import { hasKeys } from "../../../src/book/resources/event-schema.ts";
import { preview, readBook } from "../../../src/index.ts";
import type { Invoice, InvoiceLine } from "../../../src/invoicing/invoice.ts";
import { bookArbitrary } from "../../../src/testing/book-arbitrary.ts";
import { CATALOG, planArbitrary } from "../../../src/testing/plan-arbitrary.ts";
import {
  decimalCardArbitrary,
  hundredthsArbitrary,
  pricingModelArbitrary,
} from "../../../src/testing/price-arbitrary.ts";
import { planOfMonths } from "../../book/builder.ts";
import { createSlabPricing } from "../../rating/cards.ts";
import { engineAt } from "../support.ts";
import { countEvent, teamBook } from "../team-book.ts";

const USED = hundredthsArbitrary(20_000).filter((quantity) => quantity !== "0");

test("S13.5 the usage of an account in a whole cycle costs the same as in the preview of the cycle", async () => {
  await fc.assert(
    fc.asyncProperty(
      pricingModelArbitrary(),
      decimalCardArbitrary(),
      fc.array(USED, { maxLength: 3 }),
      async (model, card, quantities) => {
        const { at } = engineAt("2024-01-01");
        // Only the first slab may be charged at zero.
        const rows = card.rows.map((row, order) => (order === 0 ? row : { ...row, chargeAtZero: false }));
        const pricing = createSlabPricing(model, rows, card.bounds);
        const plan = planOfMonths("pp.random", { usageRateCards: [{ usageMeterId: "um.calls", ...pricing }] });
        const association = { pricePlanId: "pp.random", effectiveFrom: "2024-01-01" };
        await at("2024-01-01").load(teamBook([association], [plan]));
        const days = ["2024-02-01", "2024-02-14", "2024-02-29"];
        const events = quantities.map((quantity, index) =>
          countEvent(`e${index}`, `${days[index]}T06:00:00Z`, quantity),
        );
        const later = at("2024-02-29T12:00:00Z");
        await later.ingest(events);
        const { invoices } = await later.preview({ accountIds: ["prod"], from: "2024-02-01", until: "2024-03-01" });
        const answer = await later.calculateRevenue({
          pricePlanDetailsConfig: { mode: "ACCOUNT", accountId: "prod" },
          usageConfig: { mode: "LOOKUP_CYCLE" },
          explain: true,
        });
        expect(invoices).toHaveLength(answer.invoices.length);
        expect(invoices.map(({ invoice }) => invoice)).toMatchObject(answer.invoices);
      },
    ),
    { numRuns: 30 },
  );
});

/**
 * A line without what a calculation does not know: the ids of credits, which belong to no account, and the explanations
 * of meters with keys, whose values it does not have.
 */
function toComparable({ id, lineItems, explanation, ...line }: InvoiceLine, keyedMeters: ReadonlySet<string>): object {
  const isKeyed = line.type === "USAGE_RATE_CARD_AMOUNT" && keyedMeters.has(id ?? "");
  return {
    ...line,
    ...(line.type !== "SUB_CREDITS" && { id }),
    ...(!isKeyed && { explanation }),
    ...(lineItems && { lineItems: lineItems.map((each) => toComparable(each, keyedMeters)) }),
  };
}

test("S13.5 the first cycle of any plan costs the same, line by line, as in the preview of a book with one account", async () => {
  const day = fc.constantFrom("2024-01-01", "2024-01-03", "2024-01-07");
  const seats = fc.array(fc.record({ quantity: fc.nat(30), effectiveFrom: day }), { maxLength: 3 });
  // The events of another meter consume a feature, so its usage has no rows; rows of meters with keys have other quantities.
  const usedMeters = ["um.units", "um.cubes"];
  const quantities = fc.record(Object.fromEntries(usedMeters.map((id) => [id, hundredthsArbitrary(20_000)])));
  await fc.assert(
    fc.asyncProperty(
      bookArbitrary({ groups: {} }),
      planArbitrary({ groups: {} }),
      seats,
      quantities,
      async (base, plan, changes, usageMap) => {
        const pricePlans = [{ pricePlanId: plan.id, effectiveFrom: "2024-01-01" }];
        const licenseUpdates = changes.map((change) => ({ licenseId: CATALOG.seats, ...change }));
        const account = { id: "prod", name: "Prod", customerId: "customer", invoiceCurrency: "USD" };
        const book = { ...base, pricePlans: [plan], accounts: [{ ...account, pricePlans, licenseUpdates }] };
        const { at } = engineAt("2024-01-01");
        await at("2024-01-01").load(book);
        const answer = await at("2024-01-01").calculateRevenue({
          pricePlanDetailsConfig: { mode: "ACCOUNT", accountId: "prod" },
          usageConfig: { mode: "CUSTOM", usageMap },
          ...(changes.length > 0 && { licenseEntriesConfig: { [CATALOG.seats]: changes } }),
          explain: true,
        });
        const usage = usedMeters.map((meterId) => ({
          accountId: "prod",
          meterId,
          date: "2024-01-01",
          quantity: usageMap[meterId] ?? 0,
          ...(meterId === "um.cubes" && { group: { region: "eu" } }),
        }));
        const range = { from: answer.cycle.start, until: answer.cycle.end };
        const { invoices } = preview(book, { usage }, { ...range, explain: true });
        const keyedMeters = new Set(readBook(book).usageMeters.flatMap((meter) => (hasKeys(meter) ? [meter.id] : [])));
        const toLines = (list: readonly Pick<Invoice, "revenueInfo">[]): readonly object[] =>
          list.map((invoice) => ({ ...invoice, revenueInfo: toComparable(invoice.revenueInfo, keyedMeters) }));
        expect(toLines(invoices)).toMatchObject(toLines(answer.invoices));
      },
    ),
    { numRuns: 60 },
  );
});
