/**
 * Pages of invoices, compared with all invoices of all accounts computed individually and sorted as a whole (S13.4).
 */
import { describe, expect, test } from "vitest";

import type { InvoiceFilter, InvoiceSnapshot } from "../../../src/engine/billing/invoices.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { runs } from "../../support/runs.ts";
import { allPages, checkedAsTimePasses, DAY, toDayText } from "./account-steps.ts";

function pages(engine: Engine, filter: InvoiceFilter, limit: number): Promise<readonly InvoiceSnapshot[]> {
  return allPages((page) => engine.invoices.list({ filter, page }), limit);
}

function placeOf({ invoice }: InvoiceSnapshot): number {
  return Date.parse(invoice.invoiceType === "AD_HOC" ? invoice.invoiceDate : invoice.startDate);
}

describe("pages of invoices", () => {
  test("S13.4 contain the invoices of each account, final ones and drafts, whichever accounts are up to date, with every filter", async () => {
    await checkedAsTimePasses(runs(25), async ({ engine, now }, limit) => {
      const { invoices } = await engine.preview();
      const all = invoices.toSorted((a, b) => placeOf(b) - placeOf(a) || (a.id < b.id ? -1 : 1));
      const day = toDayText(now - 20 * DAY);
      const filters: readonly (readonly [InvoiceFilter, (snapshot: InvoiceSnapshot) => boolean])[] = [
        [{}, () => true],
        [{ status: "DRAFT" }, ({ invoice }) => invoice.status === "DRAFT"],
        [{ status: "DUE" }, ({ invoice }) => invoice.status === "DUE"],
        [{ customerId: "acme" }, ({ invoice }) => invoice.customerId === "acme"],
        [{ accountId: "prod" }, ({ invoice }) => invoice.accountId === "prod"],
        [{ from: day }, ({ invoice }) => Date.parse(invoice.endDate) > Date.parse(day)],
        [{ until: day }, ({ invoice }) => Date.parse(invoice.startDate) < Date.parse(day)],
      ];
      for (const [filter, isAsked] of filters) {
        expect([filter, await pages(engine, filter, limit)]).toEqual([filter, all.filter(isAsked)]);
      }
      for (const snapshot of all) expect(await engine.invoices.get(snapshot.id)).toEqual(snapshot);
    });
  });
});
