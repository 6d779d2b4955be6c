/**
 * A sample engine for `ratebook conformance`: ratebook itself, from its own package, for the kinds that its public API
 * supports.
 */
import { createInterface } from "node:readline";

import { cyclesBetween, preview, priceQuantity } from "ratebook";

/** The fault of this engine, for a test: `price`, `dumb`, `twice`, `text` or none. */
const [fault] = process.argv.slice(2);
const answer = (value) => console.log(JSON.stringify(value));

for await (const line of createInterface({ input: process.stdin })) {
  const { id, kind, input } = JSON.parse(line);
  if (fault === "text") console.log("ready");
  if (kind === "price") {
    const { amount, slabs, adjustment } = priceQuantity(input.ratePlan, input.rateValue, input.quantity);
    const result = {
      amount: fault === "price" ? amount.add("0.01") : amount,
      slabs: slabs.map((slab) => ({ order: slab.order, quantity: slab.quantity, amount: slab.amount })),
      // Numbers are equal to texts, and extra digits do not matter.
      adjustment: adjustment.toNumber(),
    };
    if (fault !== "dumb") answer({ id, result });
    if (fault === "twice") answer({ id, result });
  } else if (kind === "cycles") {
    const cycles = cyclesBetween(input.pricingCycleConfig, input.from, input.until);
    answer({ id, result: { starts: cycles.map(({ start }) => new Date(start).toISOString().slice(0, 10)) } });
  } else if (kind === "invoices") {
    const { invoices } = preview(input.book, input.events);
    answer({ id, result: { invoices: invoices.map(describeInvoice) } });
  } else answer({ id, skipped: true });
}

function describeInvoice({ accountId, startDate, endDate, revenueInfo, unpriced }) {
  return {
    accountId,
    from: startDate.slice(0, 10),
    until: endDate.slice(0, 10),
    value: revenueInfo.value,
    lines: listLines(revenueInfo),
    unpriced,
  };
}

/** The lines other than 0 without lines below them. */
function listLines({ type, id, value, lineItems }) {
  if (lineItems !== undefined) return lineItems.flatMap(listLines);
  return value.isZero() ? [] : [{ type, id, value }];
}
