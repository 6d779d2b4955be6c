/** Events that come late, whose ids are reserved, or that need grants and overage of their time (S2.4, S6.5, S11, S14). */
import { describe, expect, test } from "vitest";

import { toInstant } from "../../src/calendar/instant.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import {
  accountOf,
  createCall,
  type EventLedger,
  granting,
  NOON,
  openEvents,
  requestOf,
  shop,
  tokenBook,
  tokenOverage,
} from "./event-harness.ts";

const METERED = "COMPLETED_EVENT_METERED";
const LATE = "FAILED_PAST_GRACE_PERIOD";
const DUPLICATE = "FAILED_DUPLICATE_EVENT";
const INSUFFICIENT = "FAILED_INSUFFICIENT_CREDITS";
const call = (id: string, timestamp = NOON, accountId = "a"): object => createCall({ id, timestamp, accountId });

describe("late events (S6.5)", () => {
  /** An account whose plan from 1 January on was associated at noon of 5 March. */
  async function withHistory(options: Parameters<typeof openEvents>[1] = {}): Promise<EventLedger> {
    const ledger = await openEvents(tokenBook({}, 2, { accounts: [accountOf("a", {})] }), options);
    await ledger.at(NOON).associate("a", { pricePlanId: "plan", effectiveFrom: "2024-01-01" });
    return ledger;
  }

  test.each([
    ["the last instant of grace", "2024-03-31T23:59:59Z", "2024-04-02T23:59:59.999Z", METERED],
    ["the end of grace", "2024-03-31T23:59:59Z", "2024-04-03T00:00:00Z", LATE],
    ["history, before the least grace is over", "2024-01-05T00:00:00Z", "2024-03-07T11:59:59Z", METERED],
    ["history, after it", "2024-01-05T00:00:00Z", "2024-03-07T12:00:00Z", LATE],
    [
      "before the first association, never too late",
      "2020-01-05T00:00:00Z",
      "2024-05-01",
      "COMPLETED_EVENT_NOT_BILLED",
    ],
  ])("S6.5 %s", async (_, timestamp, now, status) => {
    expect(await (await withHistory()).statuses([call("e1", timestamp)], now)).toEqual([status]);
  });

  test("S6.5 history can be loaded for at least the configured number of days", async () => {
    const ledger = await withHistory({ graceAfterAssociationDays: 3 });
    expect(await ledger.statuses([call("e1", "2024-01-05T00:00:00Z")], "2024-03-08T11:59:59Z")).toEqual([METERED]);
    const [late] = await ledger.ingest([call("e2", "2024-01-05T00:00:00Z")], "2024-03-08T12:00:00Z");
    expect(late?.description).toBe(
      "The billing period of 2024-01-05T00:00:00.000Z closed on 2024-03-08T12:00:00.000Z.",
    );
  });

  test("S16.7 the grace of the account's invoice group takes precedence over the plan's", async () => {
    const accounts = [accountOf("a"), accountOf("b")];
    const ledger = await openEvents(
      tokenBook({}, 2, { accounts, invoiceGroups: [{ id: "g", gracePeriod: 5, accountIds: ["a"] }] }),
    );
    const batch = [call("e1"), call("e2", NOON, "b")];
    expect(await ledger.statuses(batch, "2024-04-05T23:59:59.999Z")).toEqual([METERED, LATE]);
    expect(await ledger.statuses([call("e3")], "2024-04-06T00:00:00Z")).toEqual([LATE]);
  });

  test("S6.5 a cycle with a final invoice accepts nothing, even during its grace or after the clock was set back", async () => {
    const ledger = await shop({}, 5);
    await ledger.ingest([call("e1")], "2024-04-02T00:00:00Z");
    const [draft] = (await ledger.engine.invoices.list()).items;
    if (draft === undefined) throw new Error("S13.1: usage without a price has an invoice");
    const invoices = [{ ...draft, accountId: "a", finalizedAt: toInstant("2024-04-01") }];
    const scope = { configuration: "shared", accountIds: ["a"], eventIds: [] } as const;
    await ledger.store.transact(scope, async () => ({ result: undefined, changes: { invoices } }));
    const [invoiced] = await ledger.ingest([call("e2")], "2024-04-03T00:00:00Z");
    expect(invoiced).toMatchObject({
      status: "INGESTION_FAILED_PAST_GRACE_PERIOD",
      description: "The invoice for the billing period of 2024-03-05T12:00:00.000Z is final.",
    });
    expect(await ledger.statuses([call("e3")], "2024-03-20T00:00:00Z")).toEqual([LATE]);
  });
});

describe("ids (S14.1, S14.2)", () => {
  test("S14.3 the second event with an id in a batch is a duplicate of the first", async () => {
    const batch = [call("e1"), call("e1", "2024-03-04T00:00:00Z")];
    const [first, second] = await (await shop()).ingest(batch, NOON);
    expect(second).toMatchObject({ status: "INGESTION_FAILED_DUPLICATE_EVENT", referenceId: first?.referenceId });
  });

  test("S14.2 a failed event does not block its id", async () => {
    const ledger = await shop();
    const batch = [11, 10, 1].map((tokens) => requestOf("e1", tokens, NOON));
    expect(await ledger.statuses(batch, NOON)).toEqual([INSUFFICIENT, METERED, DUPLICATE]);
    expect((await ledger.events()).map(({ number }) => number)).toEqual([1, 2]);
  });

  test("S14.1 an id is reserved for 45 days after its ingest", async () => {
    const ledger = await shop();
    await ledger.ingest([call("e1")], NOON);
    const again = [call("e1", "2024-04-19T00:00:00Z")];
    expect(await ledger.statuses(again, "2024-04-19T11:59:59.999Z")).toEqual([DUPLICATE]);
    expect(await ledger.statuses(again, "2024-04-19T12:00:00Z")).toEqual([METERED]);
  });

  test("S14.1 an id is reserved while its event's cycle is open, for all accounts", async () => {
    const ledger = await openEvents(tokenBook({}, 60, { accounts: [accountOf("a"), accountOf("b")] }));
    await ledger.ingest([call("e1")], NOON);
    const again = [call("e1", "2024-05-30T00:00:00Z", "b")];
    expect(await ledger.statuses(again, "2024-05-30T23:59:59.999Z")).toEqual([DUPLICATE]);
    expect(await ledger.statuses(again, "2024-05-31T00:00:00Z")).toEqual([METERED]);
  });

  test("S14.1 the number of days can be configured", async () => {
    const ledger = await openEvents(tokenBook({}, 0, { accounts: [accountOf("a", {})] }), { idMemoryMs: 0 });
    for (let times = 0; times < 2; times++)
      expect(await ledger.statuses([call("e1")], NOON)).toEqual(["COMPLETED_EVENT_NOT_BILLED"]);
  });

  test.each([
    ["graceAfterAssociationDays", 0],
    ["futureMs", -1],
    ["idMemoryMs", 1.5],
  ])("an option %s of %d is rejected", async (option, value) => {
    const refusal = { code: "ERR_OPTION_INVALID", details: { option } };
    await expect(openEvents(tokenBook(), { [option]: value })).rejects.toMatchObject(refusal);
  });
});

describe("grants and overage (S2.4, S11)", () => {
  const requests = (time: string, ...tokens: readonly number[]): readonly object[] =>
    tokens.map((each, index) => requestOf(`${time} ${index}`, each, time));

  test("S2.4 an event on the first instant of a cycle has the cycle's entry", async () => {
    const ledger = await shop();
    const time = "2024-04-01T00:00:00Z";
    expect(await ledger.statuses(requests(time, 10), time)).toEqual([METERED]);
    expect(await ledger.totals()).toMatchObject({ granted: "20", balance: "10" });
  });

  test("S2.4 an event in the future has the entry of its own cycle, which is created once", async () => {
    const ledger = await shop();
    const ahead = requests("2024-04-01T06:00:00Z", 4, 7);
    expect(await ledger.statuses(ahead, "2024-03-31T12:00:00Z")).toEqual([METERED, INSUFFICIENT]);
    await ledger.ingest(requests("2024-04-01T08:00:00Z", 6), "2024-04-01T08:00:00Z");
    expect(await ledger.totals()).toMatchObject({ granted: "20", balance: "10", consumed: "10" });
  });

  test("S11.3 overage is allowed up to its maximum in a billing window, all or nothing", async () => {
    const ledger = await shop({ ...granting(10), ...tokenOverage(5) });
    const expected = [METERED, INSUFFICIENT, METERED, INSUFFICIENT];
    expect(await ledger.statuses(requests(NOON, 12, 4, 3, 1), NOON)).toEqual(expected);
    expect(await ledger.totals()).toMatchObject({ balance: "0", overage: "5", consumed: "15" });
    const april = "2024-04-01T00:00:00Z";
    expect(await ledger.statuses(requests(april, 15), april)).toEqual([METERED]);
  });

  test("S11.3 without an overage card in force at its timestamp an event has no overage", async () => {
    const ledger = await shop({ ...granting(10), ...tokenOverage() });
    expect(await ledger.statuses(requests("2024-02-29T23:59:59Z", 1), NOON)).toEqual([INSUFFICIENT]);
    expect(await ledger.statuses(requests("2024-03-01T00:00:00Z", 11), NOON)).toEqual([METERED]);
  });

  test("S11.2 entries are consumed by end, then start, then creation", async () => {
    const ledger = await shop({});
    const bounds = [
      ["2024-03-01", "2024-05-01"],
      ["2024-03-02", "2024-04-01"],
      ["2024-03-01", "2024-04-01"],
      ["2024-03-01", "2024-04-01"],
    ] as const;
    for (const [index, [from, until]] of bounds.entries()) await ledger.grant(10, from, until, toInstant(NOON) + index);
    await ledger.ingest(requests(NOON, 35), "2024-03-06T00:00:00Z");
    const [use] = (await ledger.events()).flatMap(({ feature }) => feature ?? []);
    const entryIds = (await ledger.entries()).map(({ id }) => id);
    expect(use?.allocations.map(({ entryId }) => entryIds.indexOf(entryId))).toEqual([2, 3, 1, 0]);
  });

  test("S11.2 a late event consumes the entry that covered it", async () => {
    const ledger = await shop(granting(10), 5);
    await ledger.ingest(requests("2024-03-31T00:00:00Z", 7), "2024-04-03T00:00:00Z");
    expect((await ledger.entries()).map(({ balance }) => formatDecimal(balance))).toEqual(["3", "10"]);
  });
});
