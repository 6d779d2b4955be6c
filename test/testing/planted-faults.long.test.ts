/** Laws of a book catch faults planted in the program itself. */
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";

import type * as PreviewModule from "../../src/ledger/preview/preview.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { orderOfEventsDoesNotMatter, previewMatchesInvoices } from "../../src/testing.ts";
import { monthlyWithGrace, perUnit, planOfMonths, sumMeter } from "../book/builder.ts";

type Fault = "none" | "drops events out of order" | "counts a repeated id again" | "drops the last event";
const injection = vi.hoisted(() => ({ fault: "none" as string }));

/** The preview with the current fault. */
vi.mock(import("../../src/ledger/preview/preview.ts"), async (original) => {
  const module: typeof PreviewModule = await original();
  const faultyPreview: typeof module.preview = (book, input, options) => {
    const events = [...(input as Iterable<EventInput>)];
    switch (injection.fault as Fault) {
      case "none":
        return module.preview(book, events, options);
      case "drops events out of order":
        return module.preview(
          book,
          events.filter((each, at) => at === 0 || each.timestamp >= (events[at - 1]?.timestamp ?? "")),
          options,
        );
      case "counts a repeated id again":
        return module.preview(book, events, { ...options, ids: false });
      case "drops the last event":
        return module.preview(book, events.slice(0, -1), options);
    }
  };
  return { ...module, preview: faultyPreview };
});

const BOOK = {
  eventSchemas: [{ name: "call", attributes: [{ name: "units" }], status: "ACTIVE" as const }],
  usageMeters: [sumMeter("um.units", "call", "units")],
  pricePlans: [
    planOfMonths("pp", { ...monthlyWithGrace(3), usageRateCards: [{ usageMeterId: "um.units", ...perUnit(3) }] }),
  ],
  customers: [{ id: "contoso", name: "Contoso" }],
  accounts: [
    {
      id: "prod",
      name: "Production",
      customerId: "contoso",
      pricePlans: [{ pricePlanId: "pp", effectiveFrom: "2026-01-01" }],
    },
  ],
};

/** The message of a failed run below its smallest case. */
function sentenceOf<Values>(run: fc.RunDetails<Values>): string {
  return run.failed && run.errorInstance instanceof Error ? run.errorInstance.message : "the law holds";
}

afterEach(() => {
  injection.fault = "none";
});

describe("a law of a book", () => {
  test.each<Fault>(["drops events out of order", "counts a repeated id again"])(
    "S14.4 orderOfEventsDoesNotMatter finds a preview that %s",
    (fault) => {
      injection.fault = fault;
      const run = fc.check(orderOfEventsDoesNotMatter(BOOK), { seed: 1, numRuns: 200 });
      expect(sentenceOf(run)).toMatch(/^the invoices differ: in order\n[^]*out of order\n/);
      // Shrunk: a few events show it.
      expect(run.counterexample?.[0].events.length).toBeLessThanOrEqual(3);
    },
  );

  test("S13.5 previewMatchesInvoices finds a preview that drops an event", async () => {
    injection.fault = "drops the last event";
    const run = await fc.check(previewMatchesInvoices(BOOK), { seed: 1, numRuns: 100 });
    expect(sentenceOf(run)).toMatch(/^the invoices differ: in the preview\n[^]*as final invoices\nprod STANDARD /);
    expect(run.counterexample?.[0].events).toHaveLength(1);
  });

  test("finds nothing without a fault", async () => {
    fc.assert(orderOfEventsDoesNotMatter(BOOK), { numRuns: 50 });
    await fc.assert(previewMatchesInvoices(BOOK), { numRuns: 10 });
  });
});
