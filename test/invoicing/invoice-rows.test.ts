import { describe, expect, test } from "vitest";

import { preview, parseBook } from "../../src/index.ts";
import { invoiceRows } from "../../src/invoicing/invoice-rows.ts";
import { formatRuleLinks } from "../../src/rulebook.ts";

/** Usage and licenses of the account, and whether invoices explain themselves. */
interface Input {
  readonly calls?: string | number;
  /** The numbers of seats, and the days of October 2026 on which they begin. */
  readonly seats?: readonly (readonly [day: number, quantity: number])[];
  readonly explain?: boolean;
}

/**
 * The printed lines of an account on a monthly plan since 12 October 2026, with this many calls on that day. Cells are
 * separated by `|`; the rules of a note are in parentheses, without their page.
 */
function printLines(prices: object, { calls = 1, seats = [], explain = true }: Input = {}): readonly string[] {
  const book = parseBook({
    eventSchemas: [{ name: "call", attributes: ["n"] }],
    usageMeters: [{ id: "um.calls", name: "Calls", schema: "call", sum: "n" }],
    pricePlans: [{ id: "pp", currencies: ["USD"], cycle: "MONTHLY", ...prices }],
    accounts: [
      {
        id: "prod",
        pricePlans: [{ pricePlanId: "pp", effectiveFrom: "2026-10-12" }],
        licenseUpdates: seats.map(([day, quantity]) => ({
          licenseId: "addon.seats",
          effectiveFrom: `2026-10-${day}`,
          quantity,
        })),
      },
    ],
  });
  const event = { schemaName: "call", id: "e1", accountId: "prod", timestamp: "2026-10-12T00:00:00Z" };
  const { invoices } = preview(book, [{ ...event, attributes: { n: calls } }], { explain });
  return invoices.flatMap((invoice) =>
    invoiceRows(invoice).map((row) => {
      if (row.kind === "rule") return "";
      const indent = "  ".repeat(row.depth);
      if (row.kind === "line") return indent + row.cells.join(" | ");
      return `${indent}${row.text} (${formatRuleLinks(row.rules).replace(/^[^#]*/, "")})`;
    }),
  );
}

/** The rows that begin with one of a text. */
function rowsFrom(rows: readonly string[], text: string, count: number, before = 0): readonly string[] {
  const at = rows.findIndex((row) => row.startsWith(text));
  return rows.slice(at - before, at - before + count);
}

describe("S13.6 notes below a line add what quantities and rates don't show", () => {
  const tiers = [
    { upTo: 100, rate: "0.10" },
    { upTo: 1000, rate: "7.77", package: 250 },
    { rate: "0.013", minimum: 5, maximum: 2000, flat: "1.11" },
  ];
  const usage = [{ meter: "um.calls", tiers }];

  // 100 × 0.10; ceil(900 / 250) × 7.77; 234.5 × 0.013 + 1.11 = 4.1585, at least 5.
  const rows = [
    "Calls | 1,234.5 |  | 46.08",
    "  usage in the billing period (#s7.2, #s7.3)",
    "  above 0 to 100, per unit | 100 | 0.1 | 10.00",
    "  above 100 to 1,000, per package of 250 | 900 | 7.77 | 31.08",
    "    4 packages (#s7.3)",
    "  above 1,000, per unit | 234.5 | 0.013 | 5.00",
    "    plus 1.11, at least 5, at most 2,000 (#s7.4)",
    "",
    "Sub-total |  |  | 46.08",
    "",
    "Total |  | USD | 46.08",
  ];

  test("S7.3, S7.4 the number of packages, the flat rate, and the bounds", () => {
    expect(printLines({ usage }, { calls: "1234.5" })).toEqual(rows);
  });

  test("nothing if the invoice has no explanations", () => {
    expect(printLines({ usage }, { calls: "1234.5", explain: false })).toEqual(
      rows.filter((row) => !row.endsWith(")")),
    );
  });

  test.each([
    // 1 × 2; 31 × 20 ÷ 31 = 20.
    [{ minimum: 31 }, 1, "  adjustment to the minimum or maximum price |  |  | 18.00", "at least 31"],
    // 50 × 2; 62 × 20 ÷ 31 = 40.
    [{ maximum: 62 }, 50, "  adjustment to the minimum or maximum price |  |  | -60.00", "at most 62"],
  ])("S7.4, S8.1 the card's prorated bound: %j", (bounds, calls, line, limit) => {
    const bounded = { usage: [{ meter: "um.calls", rate: 2, ...bounds }] };
    expect(printLines(bounded, { calls }).slice(3, 5)).toEqual([line, `    ${limit} × 20/31 days (#s7.4)`]);
  });
});

describe("S13.6 a share is noted once, with the whole that it refers to", () => {
  test.each([
    // 99.99 × 20 ÷ 31 = 64.509…
    ["S9.2 for the days served", "99.99", true, "64.51", "prorated fee: 99.99 × 20/31 days (#s8.1, #s9.2)"],
    ["S1.5 in full, with its rate if it was rounded", "8.325", false, "8.33", "full fee: 8.325 (#s9.1)"],
    ["S1.5 in full, without its rate otherwise", "8.320", false, "8.32", "full fee (#s9.1)"],
  ])("a fee: %s", (_, rate, prorate, amount, note) => {
    const rows = printLines({ fees: [{ id: "addon.fee", name: "Platform", rate, prorate }] });
    expect(rows.slice(0, 2)).toEqual([`Platform |  |  | ${amount}`, `  ${note}`]);
  });

  /** The prices of seats by volume. */
  const seatsAt = (more: object, ...volumeTiers: readonly object[]): object => ({
    licenses: [{ id: "addon.seats", name: "Seats", volumeTiers, ...more }],
  });
  const advance = { timing: "IN_ADVANCE" };
  const seats = [
    [12, 4],
    [25, 7],
  ] as const;

  test("S10.2 each quantity of a license has its days and price", () => {
    // 40 × 13 ÷ 31 + 70 × 7 ÷ 31 = 1010 ÷ 31 = 32.580…
    expect(printLines(seatsAt({ prorate: true }, { rate: 10 }), { seats }).slice(0, 3)).toEqual([
      "Seats | 7 |  | 32.58",
      "  quantity 4 for 13 of 31 days: 40 × 13/31 days (#s7.2, #s7.3, #s8.1, #s10.2)",
      "  quantity 7 for 7 of 31 days: 70 × 7/31 days (#s7.2, #s7.3, #s8.1, #s10.2)",
    ]);
  });

  test("S10.3 an increase in full notes both prices, limited by the card's bounds", () => {
    const rows = printLines(seatsAt({ ...advance, maximum: 65 }, { rate: 10 }), { seats });
    // The second invoice: 65 less 40, in full.
    expect(rows.filter((row) => row.includes("(#s7.2, #s7.3, #s7.4"))).toEqual([
      "  quantity 4, not prorated (#s7.2, #s7.3, #s7.4, #s10.3)",
      "  quantity 7: 65 (#s7.2, #s7.3, #s7.4, #s10.3)",
      "  less quantity 4 already charged: 40 (#s7.2, #s7.3, #s7.4, #s10.3)",
    ]);
  });

  test("S10.3 an increase that would cost less than what is paid notes that it costs nothing", () => {
    const rows = printLines(seatsAt(advance, { upTo: 5, rate: 10 }, { rate: 5 }), { seats });
    // 7 × 5 is 5 less than 4 × 10.
    expect(rowsFrom(rows, "  quantity 7: 35", 4, 1).map((row) => row.replace(/ [(|].*/, ""))).toEqual([
      "Seats",
      "  quantity 7: 35",
      "  less quantity 4 already charged: 40",
      "  minimum 0",
    ]);
  });

  test("S10.3 an increase notes what was charged before if less of it was paid for", () => {
    const growing = [10, 12, 30].map((quantity, index) => [12 + index, quantity] as const);
    const rows = printLines(seatsAt(advance, { upTo: 10, rate: 10 }, { rate: 4 }), { seats: growing });
    // 10 cost 100, 12 only 48; 30 cost 120, which is 20 more for 18 more seats than 12.
    expect(rowsFrom(rows, "  quantity 30: 120", 4, 1)).toEqual([
      "Seats | 18 |  | 20.00",
      "  quantity 30: 120 (#s7.2, #s7.3, #s10.3)",
      "  less quantity 10 already charged: 100 (#s7.2, #s7.3, #s10.3)",
      "  12 already charged; the quantity is the increase above that (#s7.2, #s7.3, #s10.3)",
    ]);
  });

  test("S13.3 a true-up notes the commitment and what is subtracted from it", () => {
    // 500 × 20 ÷ 31 − 20 = 302.580…
    const rows = printLines({ commitment: 500, usage: [{ meter: "um.calls", rate: 2 }] }, { calls: 10 });
    expect(rowsFrom(rows, "True-up", 3)).toEqual([
      "True-up: Minimum commitment |  |  | 302.58",
      "  minimum commitment of the billing period: 500 × 20/31 days (#s8.1, #s13.3)",
      "  already charged: 20 (#s8.1, #s13.3)",
    ]);
  });
});
