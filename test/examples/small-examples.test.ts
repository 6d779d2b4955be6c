/** The two small examples, against figures calculated by hand. */
import { describe, expect, test } from "vitest";

import { exampleEvents, previewExample } from "../support/examples.ts";
import { compactLines, headOf } from "../support/invoice-lines.ts";

function previewOf(example: string): ReturnType<typeof previewExample> {
  return previewExample(example, exampleEvents(example, "events.ndjson"));
}

describe("the example of cloud storage", () => {
  const { invoices, events, problems } = previewOf("cloud-storage");

  test("accepts every event; the one before the plan is metered and not billed", () => {
    expect(events).toEqual({
      read: 13,
      INGESTION_COMPLETED_EVENT_METERED: 12,
      INGESTION_COMPLETED_EVENT_NOT_BILLED: 1,
    });
    expect(problems).toEqual([]);
  });

  // (480 + 720 + 600) GB × 240 h ÷ 720 = 600 GB-months × 0.02; 3 packages × 0.05; 15 × 0.004;
  // 100 × 0 + 900 × 0.09 + 250.25 × 0.07 = 98.5175, whose missing cent goes to the largest remainder; the fee of 20.
  test("totals 130.73 dollars: VOLUME storage, packages of requests, tiers of egress", () => {
    const [dollars] = invoices;
    expect(dollars && [headOf(dollars), ...compactLines(dollars)]).toEqual([
      "STANDARD 2024-06-01/2024-07-01 on 2024-07-01",
      "USAGE_RATE_CARD_AMOUNT um.storage: 600 = 12",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.storage: 600 at 0.02 = 12",
      "CUSTOM_TAG Requests = 0.21",
      "  USAGE_RATE_CARD_AMOUNT um.writes: 21001 = 0.15",
      "    USAGE_RATE_CARD_SLAB_AMOUNT um.writes: 21001 at 0.05 = 0.15",
      "  USAGE_RATE_CARD_AMOUNT um.reads: 150000 = 0.06",
      "    USAGE_RATE_CARD_SLAB_AMOUNT um.reads: 150000 at 0.004 = 0.06",
      "USAGE_RATE_CARD_AMOUNT um.egress: 1250.25 = 98.52 (exactly 98.5175)",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.egress: 100 at 0 = 0",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.egress: 900 at 0.09 = 81",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.egress: 250.25 at 0.07 = 17.52 (exactly 17.5175)",
      "FIXED_FEE_RATE_CARD_AMOUNT addon.support = 20",
      "SUB_TOTAL_AMOUNT = 130.73",
      "TOTAL_AMOUNT = 130.73",
    ]);
  });

  // 54 GB × 480 h ÷ 720 = 36 × 3.5 = 126, at least 300 × 20/30 = 200; 7.5; 2 × 0.6; 30.5 × 13.5 = 411.75; 3,000 × 20/30.
  test("totals 2,621 yen for 20 of 30 days, due 30 days after its date", () => {
    const [, yen] = invoices;
    expect(yen?.dueDate).toBe("2024-07-31T00:00:00.000Z");
    expect(yen && [headOf(yen), ...compactLines(yen)]).toEqual([
      "STANDARD 2024-06-11/2024-07-01 on 2024-07-01",
      "USAGE_RATE_CARD_AMOUNT um.storage: 36 = 200",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.storage: 36 at 3.5 = 126",
      "  RATE_CONFIG_ADJUSTMENT_AMOUNT um.storage = 74",
      "CUSTOM_TAG Requests = 9",
      "  USAGE_RATE_CARD_AMOUNT um.writes: 10000 = 8 (exactly 7.5)",
      "    USAGE_RATE_CARD_SLAB_AMOUNT um.writes: 10000 at 7.5 = 8 (exactly 7.5)",
      "  USAGE_RATE_CARD_AMOUNT um.reads: 10001 = 1 (exactly 1.2)",
      "    USAGE_RATE_CARD_SLAB_AMOUNT um.reads: 10001 at 0.6 = 1 (exactly 1.2)",
      "USAGE_RATE_CARD_AMOUNT um.egress: 130.5 = 412 (exactly 411.75)",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.egress: 100 at 0 = 0",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.egress: 30.5 at 13.5 = 412 (exactly 411.75)",
      "FIXED_FEE_RATE_CARD_AMOUNT addon.support = 2000",
      "SUB_TOTAL_AMOUNT = 2621",
      "TOTAL_AMOUNT = 2621",
    ]);
  });
});

describe("the example of seats and usage", () => {
  const { invoices } = previewOf("seats-and-usage");
  const totalsOf = (account: string): readonly string[] =>
    invoices
      .filter(({ accountId }) => accountId === account)
      .map((invoice) => `${headOf(invoice)}: ${invoice.revenueInfo.value.toFixed(2)}`);

  // June: 100 × 15/30 + 160 × 15/30 = 130, and 3 packages. July: 160 × 10/31 = 51.61, and 1 package; 93 × 21/31 = 63,
  // less 30 × 21/31 = 20.32 of the fee of Team; 240 × 21/31 = 162.58, and 1,000 × 0.002 + 200 × 0.001.
  test("S9.5 refunds the unserved days of a fee in advance if the plan change was not known", () => {
    expect(totalsOf("acme-main")).toEqual([
      "STANDARD_ADVANCED 2024-06-01/2024-07-01 on 2024-06-01: 30.00",
      "STANDARD 2024-06-01/2024-07-01 on 2024-07-01: 133.00",
      "STANDARD_ADVANCED 2024-07-01/2024-08-01 on 2024-07-01: 30.00",
      "STANDARD 2024-07-01/2024-07-11 on 2024-07-11: 52.61",
      "STANDARD_ADVANCED 2024-07-11/2024-08-01 on 2024-07-11: 42.68",
      "STANDARD 2024-07-11/2024-08-01 on 2024-08-01: 164.78",
    ]);
  });

  // 30 × 10/31 = 9.68; 50 × 10/31 = 16.13; 93 × 21/31 = 63; 75 × 21/31 = 50.81.
  test("S9.2 charges a fee in advance only for the days known to be served", () => {
    expect(totalsOf("initech-main")).toEqual([
      "STANDARD_ADVANCED 2024-06-01/2024-07-01 on 2024-06-01: 30.00",
      "STANDARD 2024-06-01/2024-07-01 on 2024-07-01: 50.00",
      "STANDARD_ADVANCED 2024-07-01/2024-07-11 on 2024-07-01: 9.68",
      "STANDARD 2024-07-01/2024-07-11 on 2024-07-11: 16.13",
      "STANDARD_ADVANCED 2024-07-11/2024-08-01 on 2024-07-11: 63.00",
      "STANDARD 2024-07-11/2024-08-01 on 2024-08-01: 50.81",
    ]);
  });

  // 100 + 50; 60 × 15/30; 25 less 40 × 10/30 = 13.33; 120 × 15/31 = 58.06, and 75.
  test("S10.3 charges seats in advance, increases at once, and refunds decreases", () => {
    expect(totalsOf("globex-main")).toEqual([
      "STANDARD_ADVANCED 2024-06-01/2024-07-01 on 2024-06-01: 150.00",
      "AD_HOC 2024-06-01/2024-07-01 on 2024-06-16: 30.00",
      "AD_HOC 2024-06-01/2024-07-01 on 2024-06-21: 11.67",
      "STANDARD_ADVANCED 2024-07-01/2024-07-16 on 2024-07-01: 133.06",
    ]);
  });

  test("S10.2 the acme account's June is 130 for its seats and 3 for its calls", () => {
    const june = invoices.find((invoice) => headOf(invoice) === "STANDARD 2024-06-01/2024-07-01 on 2024-07-01");
    expect(june && compactLines(june)).toEqual([
      "USAGE_RATE_CARD_AMOUNT um.calls: 2500 = 3",
      "  USAGE_RATE_CARD_SLAB_AMOUNT um.calls: 2500 at 1 = 3",
      "LICENSE_RATE_CARD_AMOUNT addon.seats: 16 = 130",
      "  LICENSE_RATE_CARD_SLAB_AMOUNT addon.seats: 16 at 10 = 130",
      "SUB_TOTAL_AMOUNT = 133",
      "TOTAL_AMOUNT = 133",
    ]);
  });
});
