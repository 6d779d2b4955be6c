/** The cumulative charge of a line by day, up to the exact amount of the line. */
import { describe, expect, test } from "vitest";

import { computeDailyCharges, type ChargedDay } from "../../src/analysis/daily-charges.ts";
import { resolveAccountPlans, type AccountPlans, createBookPlanSource } from "../../src/analysis/diff/account-plans.ts";
import { parseBook } from "../../src/book/book.ts";
import type { Book } from "../../src/book/resources/book.ts";
import { NO_GROUP } from "../../src/book/resources/event-schema.ts";
import { type Day, dayOf, formatDate, DAY_MS } from "../../src/calendar/instant.ts";
import type { Invoice, InvoiceLine } from "../../src/invoicing/invoice.ts";
import { createPreview } from "../../src/ledger/preview/preview.ts";
import { add, Decimal, formatDecimal, ZERO } from "../../src/numbers/decimal.ts";
import { compareFractions, formatFraction } from "../../src/numbers/fraction.ts";
import { createTableFinder } from "../../src/rating/rated-table.ts";
import { catalogBook } from "../book/catalog-book.ts";
import { SMALL_BOOK } from "../cli/fake-io.ts";
import { goldenCases } from "../support/golden.ts";
import { tableBook } from "../support/table-book.ts";

function usageLines(line: InvoiceLine): readonly InvoiceLine[] {
  return line.type === "USAGE_RATE_CARD_AMOUNT" ? [line] : (line.lineItems ?? []).flatMap(usageLines);
}

const small = parseBook(SMALL_BOOK);
const plansOf = (book: Book, invoice: Invoice): AccountPlans =>
  resolveAccountPlans(createBookPlanSource(book), invoice.accountId, [invoice]);

interface ChargeLine {
  readonly invoice: Invoice;
  readonly line: InvoiceLine;
  readonly days: readonly ChargedDay[] | undefined;
}

/** Every usage line of a preview, with its days. */
function listChargeLines(book: Book, events: Iterable<unknown>, options: object): readonly ChargeLine[] {
  const run = createPreview(book, { ...options, explain: true });
  for (const event of events) run.add(event as Parameters<typeof run.add>[0]);
  return run.finish().invoices.flatMap((invoice) => {
    const cells = [...run.cellsOf(invoice.accountId)];
    return usageLines(invoice.revenueInfo).map((line) => {
      const lineCells = cells.filter(({ meterId }) => meterId === line.id);
      const usage = new Map<Day, Decimal>();
      for (const { day, quantity } of lineCells) usage.set(day, add(usage.get(day) ?? ZERO, quantity));
      const groups = lineCells.map(({ group = NO_GROUP, day, quantity }) => ({ group, day, quantity }));
      const findTable = createTableFinder(new Map(book.usageMeters.map(({ id, groupBy = [] }) => [id, groupBy])));
      return {
        invoice,
        line,
        days: computeDailyCharges(plansOf(book, invoice), invoice, line, usage, { groups, findTable }),
      };
    });
  });
}

/** A call on a day of June 2024, with all attributes and dimensions of both books. */
const callOnDay = (id: string, day: string, value: number, model = "large"): object => ({
  schemaName: "call",
  id,
  timestamp: `2024-06-${day}T12:00:00Z`,
  accountId: "prod",
  attributes: { units: value, tokens: value },
  dimensions: { region: "eu", model },
});

describe("the charge of a card by day", () => {
  test("60 units at 2, then 60 more: 40 of them at 2 and 20 at 1, in the second slab from that day on", () => {
    const [{ days = [] } = { days: undefined }] = listChargeLines(
      small,
      [callOnDay("a", "03", 60), callOnDay("b", "20", 60)],
      {},
    );
    expect(days).toHaveLength(30);
    const rows = days.map(({ day, quantitySoFar, amountSoFar, slab }) =>
      [formatDate(day * DAY_MS), formatDecimal(quantitySoFar), formatFraction(amountSoFar), slab].join(" "),
    );
    expect(rows.slice(1, 3)).toEqual(["2024-06-02 0 0 ", "2024-06-03 60 120 1"]);
    expect(rows.slice(18, 20)).toEqual(["2024-06-19 60 120 1", "2024-06-20 120 220 2"]);
    expect(rows.at(-1)).toBe("2024-06-30 120 220 2");
  });

  test("a price table: free units first, then each model at its rate, a tier by its own units", () => {
    const table = tableBook(
      ["model"],
      {
        allowance: { quantity: 10 },
        rows: [
          { when: { model: "large" }, rate: 2 },
          { when: { model: "mini" }, tiers: [{ upTo: 5, rate: 1 }, { rate: "0.5" }] },
        ],
      },
      { id: "prod", from: "2024-06-01" },
    );
    const [{ days = [] } = { days: undefined }] = listChargeLines(
      parseBook(table),
      [
        callOnDay("a", "02", 8, "large"),
        callOnDay("b", "02", 3, "mini"),
        callOnDay("c", "05", 4, "large"),
        callOnDay("d", "07", 4, "mini"),
      ],
      {},
    );
    // The first row takes the free units first. On the 2nd: 8 of 8 free, (3 - 2) × 1. On the 5th: (12 - 10) × 2 + 3 × 1.
    // On the 7th: 2 × 2 + 5 × 1 + 2 × 0.5.
    const amounts = days.map(({ amountSoFar }) => formatFraction(amountSoFar));
    expect(days).toHaveLength(30);
    expect([amounts[0], amounts[1], amounts[4], amounts[6], amounts.at(-1)]).toEqual(["0", "1", "7", "10", "10"]);
  });

  test("omits lines whose usage was not passed in", () => {
    const [found] = listChargeLines(small, [callOnDay("a", "03", 60)], {});
    if (found === undefined) throw new TypeError("expected a line");
    expect(computeDailyCharges(plansOf(small, found.invoice), found.invoice, found.line, new Map())).toBeUndefined();
    const other = new Map([[dayOf(Date.UTC(2024, 5, 3)), new Decimal(61)]]);
    expect(computeDailyCharges(plansOf(small, found.invoice), found.invoice, found.line, other)).toBeUndefined();
  });

  test("ends at the line's exact amount and quantity on its last day, in every golden case", () => {
    const chargeLines = goldenCases().flatMap(({ book, events, options }) =>
      listChargeLines(catalogBook(book), events as Iterable<unknown>, options ?? {}),
    );
    const withDays = chargeLines.filter(({ days }) => days !== undefined);
    expect(withDays.length).toBeGreaterThan(chargeLines.length / 2);
    for (const { line, days = [] } of withDays) {
      const { explanation, quantity } = line;
      const last = days.at(-1);
      if (last === undefined || explanation?.of !== "CARD") throw new TypeError("expected days and an explanation");
      expect(compareFractions(last.amountSoFar, explanation.exact)).toBe(0);
      expect(formatDecimal(last.quantitySoFar)).toBe(quantity && formatDecimal(quantity));
    }
  });
});
