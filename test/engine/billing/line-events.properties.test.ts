/** The events behind a line add up to what it charges. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { type Engine, type EventLineType, type Invoice, readBook } from "../../../src/index.ts";
import { add, Decimal, formatDecimal, ZERO } from "../../../src/numbers/decimal.ts";
import { historyArbitrary, startHistory } from "../../../src/testing.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { runs } from "../../support/runs.ts";
import { allPages } from "../support.ts";

const DAY_MS = 86_400_000;

const usage = ["um", "peak"].map((meter) => ({ meter, rate: 3 }));
const cycle = { interval: "MONTHLY", gracePeriod: 40 } as const;
const overages = [{ feature: "ft", rate: 2 }];
/** Every event is both metered and consumes a feature; one plan grants some of it and both allow overage. */
const BOOK = readBook({
  eventSchemas: [{ name: "chat", attributes: ["tokens"] }],
  features: [{ id: "ft", name: "Chats", schemaAssociations: ["chat"] }],
  usageMeters: [
    { id: "um", schema: "chat", sum: "tokens" },
    { id: "peak", schema: "chat", max: "tokens" },
  ],
  pricePlans: [
    { id: "plain", cycle, usage, overages: [{ feature: "ft", rate: 2, everyCycles: 2 }] },
    { id: "granting", cycle, usage, overages, entitlements: [{ feature: "ft", quantity: 20, for: "P1M", rate: 0 }] },
  ],
  accounts: [
    { id: "one", plan: "plain", from: "2024-01-15" },
    { id: "two", plan: "granting", from: "2024-01-15" },
  ],
});

interface NamedLine {
  readonly type: EventLineType;
  readonly id: string;
  readonly quantity: Decimal;
}

/** The lines of usage and overage, without those of cards that charge nothing. */
function linesWithEvents(invoice: Invoice): readonly NamedLine[] {
  const cards = (["USAGE_RATE_CARD_AMOUNT", "ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT"] as const).flatMap((type) =>
    linesOfType(invoice, type).map(({ id = "", quantity = ZERO }) => ({ type, id, quantity })),
  );
  return [...(invoice.usageInfo?.lineItems ?? []), ...cards];
}

function sumQuantities(parts: readonly { readonly quantity: Decimal }[]): string {
  return formatDecimal(parts.reduce((sum, { quantity }) => add(sum, quantity), ZERO));
}

/** Everything behind a line, read two events a page. */
async function allBehind(engine: Engine, invoiceId: string, { id: lineId, type }: NamedLine) {
  const key = { invoiceId, lineId, type };
  const { items: _, ...about } = await engine.invoices.lineEvents(key, { page: { limit: 2 } });
  const events = await allPages((page) => engine.invoices.lineEvents(key, { page }), 2);
  return { ...about, events };
}

test("S13.6 S19.3 days add up to the line's quantity, and so do the events of a sum; of a peak one is the quantity, in drafts and final invoices", async () => {
  const countsByKind = new Map<string, number>();
  const law = fc.asyncProperty(historyArbitrary(BOOK), fc.boolean(), async (steps, isFinalized) => {
    const history = await startHistory(BOOK, Date.parse("2024-02-20T12:00:00Z"));
    for (const step of steps) await history.play(step);
    if (isFinalized) {
      history.waitUntil(Date.parse("2024-06-15"));
      await history.engine.finalize();
    }
    const { items } = await history.engine.invoices.list({ page: { limit: 1000 } });
    for (const { id, invoice } of items) {
      for (const line of linesWithEvents(invoice)) {
        const behind = await allBehind(history.engine, id, line);
        const kind = `${invoice.status === "DRAFT" ? "draft" : "final"} ${line.type}`;
        if (behind.events.length > 0) countsByKind.set(kind, (countsByKind.get(kind) ?? 0) + 1);
        expect(formatDecimal(behind.quantity)).toBe(formatDecimal(line.quantity));
        expect(sumQuantities(behind.days)).toBe(formatDecimal(line.quantity));
        expect(new Set(behind.events.map(({ event }) => event.referenceId)).size).toBe(behind.events.length);
        if (line.id === "peak") {
          const largest = Decimal.max(0, ...behind.events.map(({ quantity }) => quantity));
          expect(formatDecimal(largest)).toBe(formatDecimal(line.quantity));
          continue;
        }
        expect(sumQuantities(behind.events)).toBe(formatDecimal(line.quantity));
        for (const day of behind.days) {
          const own = behind.events.filter(({ event }) => event.timestamp >= Date.parse(day.date));
          const dayEnd = Date.parse(day.date) + DAY_MS;
          expect(sumQuantities(own.filter(({ event }) => event.timestamp < dayEnd))).toBe(formatDecimal(day.quantity));
        }
      }
    }
  });
  await fc.assert(law, { numRuns: runs(60) });
  // Each kind of line must occur in the test, on drafts and on final invoices.
  for (const type of ["USAGE_METER_USAGE", "USAGE_RATE_CARD_AMOUNT", "ENTITLEMENT_OVERAGE_RATE_CARD_AMOUNT"])
    for (const kind of [`draft ${type}`, `final ${type}`]) expect(countsByKind.get(kind)).toBeGreaterThan(0);
});
