/** The invoices that an engine stores over time equal those that a preview shows at once, for every golden book (S13.5). */
import { expect, test } from "vitest";

import { DAY_MS, toInstant } from "../../../src/calendar/instant.ts";
import { preview } from "../../../src/ledger/preview/preview.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { catalogBook } from "../../book/catalog-book.ts";
import { goldenCases } from "../../support/golden.ts";
import { allPages } from "../support.ts";
import { headOf, loadedWith, normalizeInvoices } from "./law.ts";

test.each(goldenCases().map((golden) => [golden.it, golden] as const))("S13.5 %s", async (_it, golden) => {
  const pricePlans = (golden.book["pricePlans"] as readonly object[]).map((plan) => ({ ...plan, status: "ACTIVE" }));
  const book = catalogBook({ ...golden.book, pricePlans });
  const events = golden.events as readonly EventInput[];
  const expected = preview(book, events, { ...golden.options, explain: true }).invoices;
  const { engine, at, sendEvent } = await loadedWith(book, memoryStore(), toInstant("1990-01-01"));
  for (const event of events) await sendEvent(event);
  // Every invoice is final, with the grace of its cycle.
  at(
    Math.min(Math.max(0, ...expected.map(({ endDate }) => toInstant(endDate))) + 70 * DAY_MS, toInstant("9998-12-31")),
  );
  const heads = new Set(expected.map(headOf));
  const stored = await allPages((page) => engine.invoices.list({ page }), 1000);
  const finals = stored.map(({ invoice }) => invoice).filter((invoice) => heads.has(headOf(invoice)));
  expect(normalizeInvoices(finals)).toEqual(normalizeInvoices(expected));
});
