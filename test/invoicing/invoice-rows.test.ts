import { describe, expect, test } from "vitest";

import { preview, parseBook } from "../../src/index.ts";
import { invoiceRows } from "../../src/invoicing/invoice-rows.ts";
import { formatRuleLinks } from "../../src/rulebook.ts";
import { sumMeter } from "../book/builder.ts";

const USD = "USD";

/** A tiered usage card of the meter `um.calls`. */
function callsCard(slabs: readonly object[], slabRates: readonly object[], rateConfig: object = {}): object {
  return {
    usageMeterId: "um.calls",
    displayName: "Calls",
    ratePlan: { pricingModel: "TIERED", slabs: slabs.map((slab, index) => ({ order: index + 1, ...slab })) },
    rateValues: [
      { currency: USD, slabRates: slabRates.map((rate, index) => ({ order: index + 1, ...rate })), rateConfig },
    ],
  };
}

/** The printed lines of an account on a monthly plan since 12 October 2026, with this many calls on that day. */
function printLines(
  details: object,
  {
    calls = 1,
    licenseUpdates = [],
    explain = true,
  }: { calls?: string | number; licenseUpdates?: readonly object[]; explain?: boolean } = {},
): readonly (readonly string[])[] {
  const book = parseBook({
    eventSchemas: [{ name: "call", attributes: [{ name: "n" }] }],
    usageMeters: [sumMeter("um.calls", "call", "n")],
    addOns: [
      { id: "addon.fee", name: "Platform", type: "FIXED_FEE" },
      { id: "addon.seats", name: "Seats", type: "LICENSE" },
    ],
    pricePlans: [
      {
        id: "pp",
        name: "Plan",
        status: "ACTIVE",
        pricePlanDetails: {
          supportedCurrencies: [USD],
          pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" } },
          ...details,
        },
      },
    ],
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [
      {
        id: "prod",
        name: "Production",
        customerId: "acme",
        pricePlans: [{ pricePlanId: "pp", effectiveFrom: "2026-10-12" }],
        licenseUpdates,
      },
    ],
  });
  const event = { schemaName: "call", id: "e1", accountId: "prod", timestamp: "2026-10-12T00:00:00Z" };
  const { invoices } = preview(book, [{ ...event, attributes: [{ name: "n", value: calls }] }], { explain });
  return invoices.flatMap((invoice) =>
    invoiceRows(invoice).map((row) => {
      if (row.kind === "rule") return [];
      const indent = "  ".repeat(row.depth);
      return row.kind === "text"
        ? [`${indent}${row.text}`, formatRuleLinks(row.rules)]
        : row.cells.map((cell, column) => (column === 0 ? indent + cell : cell));
    }),
  );
}

describe("S13.6 notes below a line add what quantities and rates don't show", () => {
  const card = callsCard(
    [
      { startAfter: 0, priceType: "PER_UNIT" },
      { startAfter: 100, priceType: "PACKAGE", slabConfig: { packageSize: 250 } },
      { startAfter: 1000, priceType: "PER_UNIT" },
    ],
    [
      { rate: "0.10" },
      { rate: "7.77" },
      { rate: "0.013", slabRateConfig: { minimumRate: 5, maximumRate: 2000, flatRate: "1.11" } },
    ],
  );

  test("S7.3, S7.4 the number of packages, the flat rate, and the bounds", () => {
    // 100 × 0.10; ceil(900 / 250) × 7.77; 234.5 × 0.013 + 1.11 = 4.1585, at least 5.
    expect(printLines({ usageRateCards: [card] }, { calls: "1234.5" })).toEqual([
      ["Calls", "1,234.5", "", "46.08"],
      ["  usage in the billing period", "node_modules/ratebook/docs/reference/semantics.md#s7.2, #s7.3"],
      ["  above 0 to 100, per unit", "100", "0.1", "10.00"],
      ["  above 100 to 1,000, per package of 250", "900", "7.77", "31.08"],
      ["    4 packages", "node_modules/ratebook/docs/reference/semantics.md#s7.3"],
      ["  above 1,000, per unit", "234.5", "0.013", "5.00"],
      ["    plus 1.11, at least 5, at most 2,000", "node_modules/ratebook/docs/reference/semantics.md#s7.4"],
      [],
      ["Sub-total", "", "", "46.08"],
      [],
      ["Total", "", "USD", "46.08"],
    ]);
  });

  test("nothing if the invoice has no explanations", () => {
    expect(printLines({ usageRateCards: [card] }, { calls: "1234.5", explain: false })).toEqual([
      ["Calls", "1,234.5", "", "46.08"],
      ["  above 0 to 100, per unit", "100", "0.1", "10.00"],
      ["  above 100 to 1,000, per package of 250", "900", "7.77", "31.08"],
      ["  above 1,000, per unit", "234.5", "0.013", "5.00"],
      [],
      ["Sub-total", "", "", "46.08"],
      [],
      ["Total", "", "USD", "46.08"],
    ]);
  });

  test.each([
    // 1 × 2; 31 × 20 ÷ 31 = 20.
    [{ minimumRate: 31 }, 1, ["  adjustment to the minimum or maximum price", "", "", "18.00"], "at least 31"],
    // 50 × 2; 62 × 20 ÷ 31 = 40.
    [{ maximumRate: 62 }, 50, ["  adjustment to the minimum or maximum price", "", "", "-60.00"], "at most 62"],
  ])("S7.4, S8.1 the card's prorated bound: %j", (rateConfig, calls, line, limit) => {
    const bounded = callsCard([{ startAfter: 0, priceType: "PER_UNIT" }], [{ rate: 2 }], rateConfig);
    const rows = printLines({ usageRateCards: [bounded] }, { calls });
    expect(rows.slice(3, 5)).toEqual([
      line,
      [`    ${limit} × 20/31 days`, "node_modules/ratebook/docs/reference/semantics.md#s7.4"],
    ]);
  });
});

describe("S13.6 a share is noted once, with the whole that it refers to", () => {
  test("S9.2 a fee for the days served", () => {
    const fee = { id: "addon.fee", enableProration: true, rateValues: [{ currency: USD, rate: "99.99" }] };
    // 99.99 × 20 ÷ 31 = 64.509…
    expect(printLines({ fixedFeeRateCards: [fee] }).slice(0, 2)).toEqual([
      ["Platform", "", "", "64.51"],
      ["  prorated fee: 99.99 × 20/31 days", "node_modules/ratebook/docs/reference/semantics.md#s8.1, #s9.2"],
    ]);
  });

  test("S1.5 a full fee notes its rate only if it was rounded", () => {
    const fees = (rate: string): readonly object[] => [{ id: "addon.fee", rateValues: [{ currency: USD, rate }] }];
    expect(printLines({ fixedFeeRateCards: fees("8.325") }).slice(0, 2)).toEqual([
      ["Platform", "", "", "8.33"],
      ["  full fee: 8.325", "node_modules/ratebook/docs/reference/semantics.md#s9.1"],
    ]);
    expect(printLines({ fixedFeeRateCards: fees("8.320") })[1]).toEqual([
      "  full fee",
      "node_modules/ratebook/docs/reference/semantics.md#s9.1",
    ]);
  });

  const seats = {
    id: "addon.seats",
    enableProration: true,
    ratePlan: { pricingModel: "VOLUME", slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] },
    rateValues: [{ currency: USD, slabRates: [{ order: 1, rate: 10 }] }],
  };
  const licenseUpdates = [
    { licenseId: "addon.seats", effectiveFrom: "2026-10-12", quantity: 4 },
    { licenseId: "addon.seats", effectiveFrom: "2026-10-25", quantity: 7 },
  ];

  test("S10.2 each quantity of a license has its days and price", () => {
    // 40 × 13 ÷ 31 + 70 × 7 ÷ 31 = 1010 ÷ 31 = 32.580…
    expect(printLines({ licenseRateCards: [seats] }, { licenseUpdates }).slice(0, 3)).toEqual([
      ["Seats", "7", "", "32.58"],
      [
        "  quantity 4 for 13 of 31 days: 40 × 13/31 days",
        "node_modules/ratebook/docs/reference/semantics.md#s7.2, #s7.3, #s8.1, #s10.2",
      ],
      [
        "  quantity 7 for 7 of 31 days: 70 × 7/31 days",
        "node_modules/ratebook/docs/reference/semantics.md#s7.2, #s7.3, #s8.1, #s10.2",
      ],
    ]);
  });

  test("S10.3 an increase in full notes both prices, limited by the card's bounds", () => {
    const card = { ...seats, enableProration: false, invoiceTiming: "IN_ADVANCE" };
    const cappedCard = { ...card, rateValues: [{ ...seats.rateValues[0], rateConfig: { maximumRate: 65 } }] };
    const rows = printLines({ licenseRateCards: [cappedCard] }, { licenseUpdates });
    // The second invoice: 65 less 40, in full.
    expect(
      rows.filter(([, rules]) =>
        rules?.startsWith("node_modules/ratebook/docs/reference/semantics.md#s7.2, #s7.3, #s7.4"),
      ),
    ).toEqual([
      ["  quantity 4, not prorated", "node_modules/ratebook/docs/reference/semantics.md#s7.2, #s7.3, #s7.4, #s10.3"],
      ["  quantity 7: 65", "node_modules/ratebook/docs/reference/semantics.md#s7.2, #s7.3, #s7.4, #s10.3"],
      [
        "  less quantity 4 already charged: 40",
        "node_modules/ratebook/docs/reference/semantics.md#s7.2, #s7.3, #s7.4, #s10.3",
      ],
    ]);
  });

  test("S10.3 an increase that would cost less than what is paid notes that it costs nothing", () => {
    const ratePlan = {
      pricingModel: "VOLUME",
      slabs: [
        { order: 1, startAfter: 0, priceType: "PER_UNIT" },
        { order: 2, startAfter: 5, priceType: "PER_UNIT" },
      ],
    };
    const slabRates = [
      { order: 1, rate: 10 },
      { order: 2, rate: 5 },
    ];
    const card = {
      id: "addon.seats",
      invoiceTiming: "IN_ADVANCE",
      ratePlan,
      rateValues: [{ currency: USD, slabRates }],
    };
    const rows = printLines({ licenseRateCards: [card] }, { licenseUpdates });
    // 7 × 5 is 5 less than 4 × 10.
    const at = rows.findIndex(([text]) => text === "  quantity 7: 35");
    expect(rows.slice(at - 1, at + 3).map(([text]) => text)).toEqual([
      "Seats",
      "  quantity 7: 35",
      "  less quantity 4 already charged: 40",
      "  minimum 0",
    ]);
  });

  test("S10.3 an increase notes what was charged before if less of it was paid for", () => {
    const ratePlan = {
      pricingModel: "VOLUME",
      slabs: [
        { order: 1, startAfter: 0, endAt: 10, priceType: "PER_UNIT" },
        { order: 2, startAfter: 10, priceType: "PER_UNIT" },
      ],
    };
    const slabRates = [
      { order: 1, rate: 10 },
      { order: 2, rate: 4 },
    ];
    const card = {
      id: "addon.seats",
      invoiceTiming: "IN_ADVANCE",
      ratePlan,
      rateValues: [{ currency: USD, slabRates }],
    };
    const updates = [10, 12, 30].map((quantity, index) => ({
      licenseId: "addon.seats",
      effectiveFrom: `2026-10-${12 + index}`,
      quantity,
    }));
    const rows = printLines({ licenseRateCards: [card] }, { licenseUpdates: updates });
    // 10 cost 100, 12 only 48; 30 cost 120, which is 20 more for 18 more seats than 12.
    const at = rows.findIndex(([text]) => text === "  quantity 30: 120");
    expect(rows.slice(at - 1, at + 3)).toEqual([
      ["Seats", "18", "", "20.00"],
      ["  quantity 30: 120", "node_modules/ratebook/docs/reference/semantics.md#s7.2, #s7.3, #s10.3"],
      [
        "  less quantity 10 already charged: 100",
        "node_modules/ratebook/docs/reference/semantics.md#s7.2, #s7.3, #s10.3",
      ],
      [
        "  12 already charged; the quantity is the increase above that",
        "node_modules/ratebook/docs/reference/semantics.md#s7.2, #s7.3, #s10.3",
      ],
    ]);
  });

  test("S13.3 a true-up notes the commitment and what is subtracted from it", () => {
    const minimumCommitment = { displayName: "Commitment", rateValues: [{ currency: USD, rate: 500 }] };
    const usageRateCards = [callsCard([{ startAfter: 0, priceType: "PER_UNIT" }], [{ rate: 2 }])];
    // 500 × 20 ÷ 31 − 20 = 302.580…
    const rows = printLines({ minimumCommitment, usageRateCards }, { calls: 10 });
    const at = rows.findIndex(([text]) => text === "True-up: Commitment");
    expect(rows.slice(at, at + 3)).toEqual([
      ["True-up: Commitment", "", "", "302.58"],
      [
        "  minimum commitment of the billing period: 500 × 20/31 days",
        "node_modules/ratebook/docs/reference/semantics.md#s8.1, #s13.3",
      ],
      ["  already charged: 20", "node_modules/ratebook/docs/reference/semantics.md#s8.1, #s13.3"],
    ]);
  });
});
