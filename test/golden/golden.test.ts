/**
 * Golden invoices: every figure in the JSON files beside this test was calculated by hand, as `because` explains,
 * before any program computed it. Add a case by adding an object: fields that its plans, account and events omit are in
 * `catalog.json`.
 */
import { describe, expect, test } from "vitest";

import { preview } from "../../src/index.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { catalogBook } from "../book/catalog-book.ts";
import { goldenFiles } from "../support/golden.ts";
import { compactLines, headOf } from "../support/invoice-lines.ts";

describe.each(goldenFiles())("golden invoices of $file", ({ cases }) => {
  test.each(cases)("$it", (golden) => {
    const { invoices, events, problems } = preview(
      catalogBook(golden.book),
      golden.events as Iterable<EventInput>,
      golden.options,
    );
    const got = invoices.map((invoice, index) => ({
      invoice: headOf(invoice),
      lines: compactLines(invoice),
      ...(golden.invoices[index]?.due === undefined ? {} : { due: invoice.dueDate.slice(0, 10) }),
      ...(invoice.notices.length === 0 ? {} : { notices: invoice.notices }),
    }));
    const { because } = golden;
    expect({ because, invoices: got }).toEqual({ because, invoices: golden.invoices });
    if (golden.counts === undefined) expect(problems).toEqual([]);
    else expect(events).toEqual(golden.counts);
  });
});
