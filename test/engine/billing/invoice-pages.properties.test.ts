/** Pages of invoices against all invoices of all accounts, computed account by account and sorted whole (S13.4). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { InvoiceFilter, InvoiceShown } from "../../../src/engine/billing/invoices.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { allPages, DAY, dateOf, opened, step, take } from "./account-steps.ts";

function pages(engine: Engine, filter: InvoiceFilter, limit: number): Promise<readonly InvoiceShown[]> {
  return allPages((page) => engine.invoices.list({ filter, page }), limit);
}

function placeOf({ invoice }: InvoiceShown): number {
  return Date.parse(invoice.invoiceType === "AD_HOC" ? invoice.invoiceDate : invoice.startDate);
}

describe("pages of invoices", () => {
  test("S13.4 are the invoices of each account, final ones and drafts, whoever was caught up with, by every filter", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 3, maxLength: 25 }),
        fc.integer({ min: 1, max: 4 }),
        async (steps, limit) => {
          const world = await opened();
          const { engine } = world;
          for (const each of steps) {
            await take(world, each);
            if (each.do !== "wait") continue;
            const { invoices } = await engine.preview();
            const all = invoices.toSorted((a, b) => placeOf(b) - placeOf(a) || (a.id < b.id ? -1 : 1));
            const day = dateOf(world.now - 20 * DAY);
            const filters: readonly (readonly [InvoiceFilter, (shown: InvoiceShown) => boolean])[] = [
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
            for (const shown of all) expect(await engine.invoices.get(shown.id)).toEqual(shown);
          }
        },
      ),
      { numRuns: 12 },
    );
  });
});
