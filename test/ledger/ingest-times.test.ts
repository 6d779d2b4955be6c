import { describe, expect, test } from "vitest";

import { formatInstant, toInstant } from "../../src/calendar/instant.ts";
import type { InvoiceRecord } from "../../src/ledger/records.ts";
import { parseDecimal, formatDecimal } from "../../src/numbers/decimal.ts";
import {
  accountBeforeMarch,
  tokenBook,
  createCall,
  granting,
  NOON,
  onPlan,
  openEvents,
  tokenOverage,
  requestOf,
  shop,
} from "./event-harness.ts";

describe("late events (S6.5)", () => {
  const january = toInstant("2024-01-01");
  const creation = toInstant("2024-03-05T12:00:00Z");
  const rows: readonly [because: string, timestamp: string, now: string, status: string][] = [
    ["the last instant of grace", "2024-03-31T23:59:59Z", "2024-04-02T23:59:59.999Z", "COMPLETED_EVENT_METERED"],
    ["the end of grace", "2024-03-31T23:59:59Z", "2024-04-03T00:00:00Z", "FAILED_PAST_GRACE_PERIOD"],
    ["history, before the least grace is over", "2024-01-05", "2024-03-07T11:59:59Z", "COMPLETED_EVENT_METERED"],
    ["history, after it", "2024-01-05", "2024-03-07T12:00:00Z", "FAILED_PAST_GRACE_PERIOD"],
    ["before the first association, never too late", "2020-01-05", "2024-05-01", "COMPLETED_EVENT_NOT_BILLED"],
  ];
  test.each(rows)("S6.5 %s", async (_, timestamp, now, status) => {
    const ledger = openEvents(tokenBook({}, 2), [onPlan("a", january, creation)]);
    const [result] = await ledger.ingest([createCall({ timestamp: formatInstant(toInstant(timestamp)) })], now);
    expect(result?.status).toBe(`INGESTION_${status}`);
  });

  test("S6.5 history can be loaded for at least the configured number of days", async () => {
    const ledger = openEvents(tokenBook(), [onPlan("a", january, creation)], { graceAfterAssociationDays: 3 });
    const [last] = await ledger.ingest([createCall({ timestamp: "2024-01-05T00:00:00Z" })], "2024-03-08T11:59:59Z");
    const [late] = await ledger.ingest(
      [createCall({ id: "e2", timestamp: "2024-01-05T00:00:00Z" })],
      "2024-03-08T12:00:00Z",
    );
    expect(last?.status).toBe("INGESTION_COMPLETED_EVENT_METERED");
    expect(late?.description).toBe(
      "The billing period of 2024-01-05T00:00:00.000Z closed on 2024-03-08T12:00:00.000Z.",
    );
  });

  test("S16.7 the grace of the account's invoice group takes precedence over the plan's", async () => {
    const accounts = [{ id: "x", name: "Account x", customerId: "ann" }];
    const invoiceGroups = [{ id: "g", name: "Group", gracePeriod: 5, accountIds: ["x"] }];
    const book = tokenBook({}, 2, { accounts, invoiceGroups });
    const ledger = openEvents(book, [{ ...onPlan("a"), invoiceGroupId: "g" }, onPlan("b")]);
    const inputs = [createCall(), createCall({ id: "e2", accountId: "b" })];
    const statuses = (await ledger.ingest(inputs, "2024-04-05T23:59:59.999Z")).map(({ status }) => status);
    expect(statuses).toEqual(["INGESTION_COMPLETED_EVENT_METERED", "INGESTION_FAILED_PAST_GRACE_PERIOD"]);
    const [late] = await ledger.ingest([createCall({ id: "e3" })], "2024-04-06T00:00:00Z");
    expect(late?.status).toBe("INGESTION_FAILED_PAST_GRACE_PERIOD");
  });

  test("S6.5 a cycle with a final invoice accepts nothing, even during its grace or after the clock was set back", async () => {
    const ledger = shop({}, 5);
    await ledger.ingest([createCall()], "2024-04-02T00:00:00Z");
    ledger.put(finalInvoice("2024-03-01", "2024-04-01"));
    const [invoiced] = await ledger.ingest([createCall({ id: "e2" })], "2024-04-03T00:00:00Z");
    expect(invoiced).toMatchObject({
      status: "INGESTION_FAILED_PAST_GRACE_PERIOD",
      description: "The invoice for the billing period of 2024-03-05T12:00:00.000Z is final.",
    });
    const [back] = await ledger.ingest([createCall({ id: "e3" })], "2024-03-20T00:00:00Z");
    expect(back?.status).toBe("INGESTION_FAILED_PAST_GRACE_PERIOD");
  });
});

describe("ids (S14.1, S14.2)", () => {
  test("S14.3 the second event with an id in a batch is a duplicate of the first", async () => {
    const [first, second] = await shop().ingest(
      [createCall(), createCall({ timestamp: "2024-03-04T00:00:00Z" })],
      NOON,
    );
    expect(second).toMatchObject({ status: "INGESTION_FAILED_DUPLICATE_EVENT", referenceId: first?.referenceId });
  });

  test("S14.2 a failed event does not block its id", async () => {
    const ledger = shop();
    const inputs = [requestOf("e1", 11, NOON), requestOf("e1", 10, NOON), requestOf("e1", 1, NOON)];
    const statuses = (await ledger.ingest(inputs, NOON)).map(({ status }) => status);
    expect(statuses).toEqual([
      "INGESTION_FAILED_INSUFFICIENT_CREDITS",
      "INGESTION_COMPLETED_EVENT_METERED",
      "INGESTION_FAILED_DUPLICATE_EVENT",
    ]);
    expect(ledger.events().map(({ number }) => number)).toEqual([1, 2]);
  });

  test("S14.1 an id is reserved for 45 days after its ingest", async () => {
    const ledger = shop();
    await ledger.ingest([createCall()], NOON);
    const again = createCall({ timestamp: "2024-04-19T00:00:00Z" });
    const [last] = await ledger.ingest([again], "2024-04-19T11:59:59.999Z");
    const [free] = await ledger.ingest([again], "2024-04-19T12:00:00Z");
    expect(last?.status).toBe("INGESTION_FAILED_DUPLICATE_EVENT");
    expect(free?.status).toBe("INGESTION_COMPLETED_EVENT_METERED");
  });

  test("S14.1 an id is reserved while its event's cycle is open, for all accounts", async () => {
    const ledger = openEvents(tokenBook({}, 60), [onPlan("a"), onPlan("b")]);
    await ledger.ingest([createCall()], NOON);
    const again = createCall({ accountId: "b", timestamp: "2024-05-30T00:00:00Z" });
    const [open] = await ledger.ingest([again], "2024-05-30T23:59:59.999Z");
    const [lateResult] = await ledger.ingest([again], "2024-05-31T00:00:00Z");
    expect(open?.status).toBe("INGESTION_FAILED_DUPLICATE_EVENT");
    expect(lateResult?.status).toBe("INGESTION_COMPLETED_EVENT_METERED");
  });

  test("S14.1 the number of days can be configured", async () => {
    const ledger = openEvents(tokenBook(), [accountBeforeMarch("a")], { idMemoryMs: 0 });
    const results = [...(await ledger.ingest([createCall()], NOON)), ...(await ledger.ingest([createCall()], NOON))];
    expect(results.map(({ status }) => status)).toEqual(Array(2).fill("INGESTION_COMPLETED_EVENT_NOT_BILLED"));
  });

  test.each([
    ["graceAfterAssociationDays", 0],
    ["futureMs", -1],
    ["idMemoryMs", 1.5],
  ])("an option %s of %d is rejected", (option, value) => {
    const refusal = expect.objectContaining({ code: "ERR_OPTION_INVALID", details: { option } });
    expect(() => openEvents(tokenBook(), [], { [option]: value })).toThrow(refusal);
  });
});

describe("grants and overage (S2.4, S11)", () => {
  test("S2.4 an event on the first instant of a cycle has the cycle's entry", async () => {
    const ledger = shop();
    const [first] = await ledger.ingest([requestOf("e1", 10, "2024-04-01T00:00:00Z")], "2024-04-01T00:00:00Z");
    expect(first?.status).toBe("INGESTION_COMPLETED_EVENT_METERED");
    expect(ledger.totals()).toMatchObject({ granted: "20", balance: "10" });
  });

  test("S2.4 an event in the future has the entry of its own cycle, which is created once", async () => {
    const ledger = shop();
    const now = "2024-03-31T12:00:00Z";
    const results = await ledger.ingest(
      [requestOf("e1", 4, "2024-04-01T06:00:00Z"), requestOf("e2", 7, "2024-04-01T07:00:00Z")],
      now,
    );
    expect(results.map(({ status }) => status)).toEqual([
      "INGESTION_COMPLETED_EVENT_METERED",
      "INGESTION_FAILED_INSUFFICIENT_CREDITS",
    ]);
    await ledger.ingest([requestOf("e3", 6, "2024-04-01T08:00:00Z")], "2024-04-01T08:00:00Z");
    expect(ledger.totals()).toMatchObject({ granted: "20", balance: "10", consumed: "10" });
  });

  test("S11.3 overage is allowed up to its maximum in a billing window, all or nothing", async () => {
    const ledger = shop({ ...granting(10), ...tokenOverage(5) });
    const inputs = [
      requestOf("e1", 12, NOON),
      requestOf("e2", 4, NOON),
      requestOf("e3", 3, NOON),
      requestOf("e4", 1, NOON),
    ];
    const statuses = (await ledger.ingest(inputs, NOON)).map(({ status }) => status);
    expect(statuses).toEqual([
      "INGESTION_COMPLETED_EVENT_METERED",
      "INGESTION_FAILED_INSUFFICIENT_CREDITS",
      "INGESTION_COMPLETED_EVENT_METERED",
      "INGESTION_FAILED_INSUFFICIENT_CREDITS",
    ]);
    expect(ledger.totals()).toMatchObject({ balance: "0", overage: "5", consumed: "15" });
    const [april] = await ledger.ingest([requestOf("e5", 15, "2024-04-01T00:00:00Z")], "2024-04-01T00:00:00Z");
    expect(april?.status).toBe("INGESTION_COMPLETED_EVENT_METERED");
  });

  test("S11.3 without an overage card in force at its timestamp an event has no overage", async () => {
    const ledger = shop({ ...granting(10), ...tokenOverage() });
    const [before] = await ledger.ingest([requestOf("e1", 1, "2024-02-29T23:59:59Z")], NOON);
    const [within] = await ledger.ingest([requestOf("e2", 11, "2024-03-01T00:00:00Z")], NOON);
    expect(before?.status).toBe("INGESTION_FAILED_INSUFFICIENT_CREDITS");
    expect(within?.status).toBe("INGESTION_COMPLETED_EVENT_METERED");
  });

  test("S11.2 entries are consumed by end, then start, then creation", async () => {
    const ledger = shop({});
    const bounds = [
      ["2024-03-01", "2024-05-01"],
      ["2024-03-02", "2024-04-01"],
      ["2024-03-01", "2024-04-01"],
      ["2024-03-01", "2024-04-01"],
    ] as const;
    for (const [index, [from, until]] of bounds.entries()) await ledger.grant(10, from, until, toInstant(NOON) + index);
    await ledger.ingest([requestOf("e1", 35, NOON)], "2024-03-06T00:00:00Z");
    const [use] = ledger.events().flatMap(({ feature }) => feature ?? []);
    const order = use?.allocations.map(({ entryId }) => ledger.entries().findIndex(({ id }) => id === entryId));
    expect(order).toEqual([2, 3, 1, 0]);
  });

  test("S11.2 a late event consumes the entry that covered it", async () => {
    const ledger = shop(granting(10), 5);
    await ledger.ingest([requestOf("e1", 7, "2024-03-31T00:00:00Z")], "2024-04-03T00:00:00Z");
    const balances = ledger.entries().map(({ balance }) => formatDecimal(balance));
    expect(balances).toEqual(["3", "10"]);
  });
});

function finalInvoice(from: string, until: string): InvoiceRecord {
  const zero = parseDecimal(0);
  return {
    id: "inv",
    accountId: "a",
    finalizedAt: toInstant(until),
    invoice: {
      accountId: "a",
      customerId: "ann",
      invoiceType: "STANDARD",
      status: "PAID",
      currency: "USD",
      pricePlanId: "plan",
      pricePlanVersion: 1,
      startDate: `${from}T00:00:00.000Z`,
      endDate: `${until}T00:00:00.000Z`,
      invoiceDate: `${until}T00:00:00.000Z`,
      dueDate: `${until}T00:00:00.000Z`,
      revenueInfo: { type: "TOTAL_AMOUNT", value: zero },
      notices: [],
    },
  };
}
