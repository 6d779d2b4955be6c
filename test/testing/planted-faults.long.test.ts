/** Laws of a book catch faults planted in the program itself. */
import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";

import type { ShortBookInput } from "../../src/book/resources/book.ts";
import type * as PreviewModule from "../../src/ledger/preview/preview.ts";
import type { UsageDelta } from "../../src/ledger/records.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { compareExact } from "../../src/numbers/exact.ts";
import type * as MemoryModule from "../../src/store/memory/memory.ts";
import { orderOfEventsDoesNotMatter, previewMatchesInvoices, undoRestoresUsage } from "../../src/testing.ts";

type Fault =
  | "none"
  | "drops events out of order"
  | "counts a repeated id again"
  | "drops the last event"
  | "takes another value off";
const injection = vi.hoisted(() => ({ fault: "none" as string }));

/** The preview with the current fault. */
vi.mock(import("../../src/ledger/preview/preview.ts"), async (original) => {
  const module: typeof PreviewModule = await original();
  const faultyPreview: typeof module.preview = (book, input, options) => {
    const events = [...(input as Iterable<EventInput>)];
    switch (injection.fault as Fault) {
      case "none":
      case "takes another value off":
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

/** The store, in which an undo may take off the first value of the day instead of that of its event. */
vi.mock(import("../../src/store/memory/memory.ts"), async (original) => {
  const module: typeof MemoryModule = await original();
  const faultyStore: typeof module.memoryStore = (...options) => {
    const store = module.memoryStore(...options);
    if (injection.fault !== "takes another value off") return store;
    return {
      ...store,
      transact: (scope, work) =>
        store.transact(scope, async (view) => {
          const { result, changes } = await work(view);
          const toOther = async (delta: UsageDelta): Promise<UsageDelta> => {
            if (delta.group === undefined || compareExact(delta.quantity, 0) > 0) return delta;
            const cells = await view.usage([delta.accountId], delta.day, delta.day + 1);
            const { group = delta.group } =
              cells.find((cell) => cell.meterOrFeatureId === delta.meterOrFeatureId) ?? {};
            return { ...delta, group };
          };
          return { result, changes: { ...changes, usage: await Promise.all((changes.usage ?? []).map(toOther)) } };
        }),
    };
  };
  return { ...module, memoryStore: faultyStore };
});

const BOOK: ShortBookInput = {
  eventSchemas: [{ name: "call", attributes: ["units"] }],
  usageMeters: [{ id: "units", schema: "call", sum: "units" }],
  pricePlans: [{ id: "pp", cycle: { interval: "MONTHLY", gracePeriod: 3 }, usage: [{ meter: "units", rate: 3 }] }],
  accounts: [{ id: "prod", plan: "pp", from: "2026-01-01" }],
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

  test("S15.4 S19.2 undoRestoresUsage finds an undo that takes off another value", async () => {
    injection.fault = "takes another value off";
    const book = { ...BOOK, usageMeters: [{ id: "units", schema: "call", max: "units" }] };
    const run = await fc.check(undoRestoresUsage(book), { seed: 1, numRuns: 200 });
    expect(sentenceOf(run)).toMatch(
      /^the undo was incomplete: before 1 of units \["\S+"\] of prod on \S+, after 1 of units \["\S+"\] of prod on/,
    );
    injection.fault = "none";
    await fc.assert(undoRestoresUsage(book), { numRuns: 50 });
  });

  test("finds nothing without a fault", async () => {
    fc.assert(orderOfEventsDoesNotMatter(BOOK), { numRuns: 50 });
    await fc.assert(previewMatchesInvoices(BOOK), { numRuns: 10 });
  });
});
