/** S13.6 for all figures calculated by hand: recomputes each line from its explanation alone. */
import { describe, expect, test } from "vitest";

import { type Invoice, preview } from "../../src/index.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { catalogBook } from "../book/catalog-book.ts";
import { exampleEvents, previewExample, traceEvents } from "../support/examples.ts";
import { goldenCases } from "../support/golden.ts";
import { flattenLines } from "../support/invoice-lines.ts";
import { recomputeTree } from "../support/recompute-invoice.ts";

/** Recomputes all lines. @returns how many */
function recomputeAll(invoices: readonly Invoice[]): number {
  return invoices.map(({ revenueInfo }) => recomputeTree(revenueInfo)).reduce((total, count) => total + count, 0);
}

function countLines(invoices: readonly Invoice[]): number {
  return invoices.flatMap(({ revenueInfo }) => flattenLines(revenueInfo)).length;
}

describe("every line can be explained", () => {
  test("S13.6 the model API example is recomputed from its explanations", () => {
    const events = [...traceEvents("code", "contoso-code"), ...traceEvents("conv", "contoso-chat")];
    const { invoices } = previewExample("llm-api", events, { explain: true });
    expect(recomputeAll(invoices)).toBe(countLines(invoices));
    expect(invoices).toHaveLength(4);
  });

  test.each(["cloud-storage", "seats-and-usage"])(
    "S13.6 the example %s is recomputed from its explanations",
    (name) => {
      const { invoices } = previewExample(name, exampleEvents(name, "events.ndjson"), { explain: true });
      expect(recomputeAll(invoices)).toBe(countLines(invoices));
      expect(invoices).not.toHaveLength(0);
    },
  );

  test.each(goldenCases())("S13.6 explained: $it", (golden) => {
    const { invoices } = preview(catalogBook(golden.book), golden.events as Iterable<EventInput>, {
      ...golden.options,
      explain: true,
    });
    expect(recomputeAll(invoices)).toBe(countLines(invoices));
  });

  test("S13.6 a wrong value is detected", () => {
    const golden = goldenCases().find(({ it }) => it.startsWith("S7.2 TIERED"));
    if (golden === undefined) throw new Error("the golden cases have S7.2");
    const [invoice] = preview(catalogBook(golden.book), golden.events as Iterable<EventInput>, {
      ...golden.options,
      explain: true,
    }).invoices;
    const tree = JSON.stringify(invoice?.revenueInfo);
    expect(() => recomputeTree(JSON.parse(tree.replace('"rate":"2"', '"rate":"3"')))).toThrow(/slab 1/);
    expect(() => recomputeTree(JSON.parse(tree.replace('"value":"50"', '"value":"51"')))).toThrow(
      /USAGE_RATE_CARD_SLAB_AMOUNT/,
    );
  });
});
