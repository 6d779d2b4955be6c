/** The events behind the lines of a preview add up to what each line charges. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { hasKeys } from "../../../src/book/resources/event-schema.ts";
import { type EventLineType, preview, readBook } from "../../../src/index.ts";
import { add, type Decimal, formatDecimal, ZERO } from "../../../src/numbers/decimal.ts";
import { bookArbitrary, eventsArbitrary } from "../../../src/testing.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { runs } from "../../support/runs.ts";

function sumQuantities(parts: readonly { readonly quantity: Decimal }[]): string {
  return formatDecimal(parts.reduce((sum, { quantity }) => add(sum, quantity), ZERO));
}

const RANGE = { from: "2023-06-01", until: "2026-06-01" };

describe("the events behind the lines of a preview", () => {
  test("S13.6 add up by day to the line's quantity for any book, and no line is without a trace", () => {
    const types = new Set<EventLineType>();
    const cases = bookArbitrary().chain((book) => eventsArbitrary(book).map((events) => ({ book, events })));
    const law = fc.property(cases, ({ book, events }) => {
      const read = readBook(book);
      for (const { id } of [...read.usageMeters, ...read.features]) {
        const { invoices, traces = [] } = preview(read, events, { trace: id });
        const cardEvents = invoices.flatMap((invoice) => {
          const usageLines = (invoice.usageInfo?.lineItems ?? []).filter((line) => line.id === id);
          const over = linesOfType(invoice, "ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT").filter((line) => line.id === id);
          return [...usageLines, ...over].map(({ quantity = ZERO }) => formatDecimal(quantity));
        });
        expect(
          traces.filter(({ type }) => type !== "USAGE_RATE_CARD_AMOUNT").map(({ quantity }) => formatDecimal(quantity)),
        ).toEqual(cardEvents);
        for (const trace of traces) {
          if (trace.events.length > 0) types.add(trace.type);
          expect(sumQuantities(trace.days)).toBe(formatDecimal(trace.quantity));
          const meter = read.usageMeters.find((each) => each.id === id);
          // The events of a meter with keys have values, which do not add up (S19.2).
          if (meter !== undefined && hasKeys(meter)) continue;
          expect(sumQuantities(trace.events)).toBe(formatDecimal(trace.quantity));
          for (const { date, quantity } of trace.days) {
            const dayEvents = trace.events.filter(({ timestamp }) =>
              new Date(timestamp).toISOString().startsWith(date),
            );
            expect(sumQuantities(dayEvents)).toBe(formatDecimal(quantity));
          }
        }
      }
    });
    fc.assert(law, { numRuns: runs(60) });
    expect(types).toContain("USAGE_METER_USAGE");
    expect(types).toContain("ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT");
  });

  const BOOK = {
    eventSchemas: [{ name: "chat", attributes: ["tokens"] }],
    features: [{ id: "ft", name: "Chats", schemaAssociations: ["chat"] }],
    usageMeters: [{ id: "um", schema: "chat", sum: "tokens" }],
    pricePlans: [
      {
        id: "granting",
        cycle: { interval: "MONTHLY", gracePeriod: 40 },
        usage: [{ meter: "um", rate: 3 }],
        entitlements: [{ feature: "ft", quantity: 20, for: "P1M", rate: 0 }],
        overages: [{ feature: "ft", rate: 2 }],
      },
    ],
    // Decided on the 20th for the 1st: usage before it is first overage, then moved to the grant (S11.5).
    accounts: [{ id: "one", plans: [{ plan: "granting", from: "2024-01-01", decidedAt: "2024-01-20T00:00:00Z" }] }],
  } as const;
  const chat = (id: string, timestamp: string, tokens: number) => {
    const event = { schemaName: "chat", id, accountId: "one", attributes: { tokens } };
    return { ...event, timestamp: `2024-01-${timestamp}T00:00:00Z` };
  };

  test("S11.5 exclude overage that moved to a retroactive grant, except for the rest", () => {
    // 15 and 15 come before the plan is decided; the grant of 20 covers the first and 5 of the second; the third is
    // overage.
    const events = [chat("a", "05", 15), chat("b", "06", 15), chat("c", "25", 4)];
    const { traces = [] } = preview(readBook(BOOK), events, { ...RANGE, trace: "ft" });
    const behind = traces.flatMap(({ quantity, events: dayEvents }) =>
      dayEvents.length === 0
        ? []
        : [[formatDecimal(quantity), dayEvents.map((each) => `${each.id} ${formatDecimal(each.quantity)}`)]],
    );
    expect(behind).toEqual([["14", ["b 10", "c 4"]]]);
  });

  test("S11.5 count a repeated id without deduplication as another event: the overage of both moves", () => {
    // 15 and 15 again; the grant of 20 covers the first and 5 of the second, 10 × 2 are left.
    const events = [chat("a", "05", 15), chat("a", "06", 15), chat("c", "25", 4)];
    const { invoices, traces = [] } = preview(readBook(BOOK), events, { ...RANGE, trace: "ft", ids: false });
    const [line] = invoices.flatMap((each) => linesOfType(each, "ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT"));
    expect([line?.quantity, line?.value].map(String)).toEqual(["14", "28"]);
    const behind = traces.flatMap(({ events: dayEvents }) =>
      dayEvents.map((each) => `${each.id} ${formatDecimal(each.quantity)}`),
    );
    expect(behind).toEqual(["a 10", "c 4"]);
  });

  test("reject an id that is neither a meter nor a feature", () => {
    expect(() => preview(readBook(BOOK), [], { ...RANGE, trace: "fx" })).toThrow(
      'no usage meter and no feature has the id "fx"',
    );
  });
});
