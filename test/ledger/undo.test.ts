import { describe, expect, test } from "vitest";

import { toInstant } from "../../src/calendar/instant.ts";
import { type UndoFilter, parseUndoFilter } from "../../src/ledger/events/undo.ts";
import type { EventRecord } from "../../src/ledger/records.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import { storeCountingEvents } from "../support/stores.ts";
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

/** Ingests requests of these tokens at noon, as e1, e2 and so on. */
async function requests(ledger: EventLedger, ...tokens: readonly number[]): Promise<void> {
  await ledger.ingest(
    tokens.map((each, index) => requestOf(`e${index + 1}`, each, NOON)),
    NOON,
  );
}

const listEventIds = (events: readonly { readonly event: EventRecord }[]): readonly string[] =>
  events.map(({ event }) => event.eventId);
const overages = async (ledger: EventLedger): Promise<readonly string[]> =>
  (await ledger.events()).flatMap(({ feature }) => (feature === undefined ? [] : [formatDecimal(feature.overage)]));

describe("filters (S15.1)", () => {
  const second = { from: toInstant(NOON), until: toInstant(NOON) + 1000 };
  const instant = { from: toInstant(NOON) + 250, until: toInstant(NOON) + 251 };
  const fraction = "2024-03-05T12:00:00.250Z";
  const rows: readonly [query: object, events: object][] = [
    [{}, {}],
    [{ referenceId: "ev.1" }, { referenceId: "ev.1" }],
    [{ eventId: "e1" }, { eventId: "e1" }],
    [{ timestamp: NOON }, { timestamp: second }],
    [{ timestamp: fraction }, { timestamp: instant }],
    [
      { eventId: "e1", createdAt: NOON },
      { eventId: "e1", createdAt: second },
    ],
    [
      { createdAt: fraction, eventId: "e1" },
      { eventId: "e1", createdAt: instant },
    ],
    [
      { eventId: "e1", timestamp: NOON },
      { eventId: "e1", timestamp: second },
    ],
  ];
  test.each(rows)("S15.1 accepts an account with %j", (query, events) => {
    expect(parseUndoFilter({ account: "a", ...query })).toEqual({ account: "a", events });
  });

  const combinations =
    "use account alone, or with referenceId, eventId, timestamp, eventId and createdAt, or eventId and timestamp";
  const refusals: readonly [query: Readonly<Record<string, unknown>>, message: string][] = [
    [{}, "account: missing: expected the id or alias of an account"],
    [{ eventId: "e1" }, "account: missing: expected the id or alias of an account"],
    [{ account: "" }, "account: expected a string that is not empty"],
    [{ account: ["a", "b"] }, "account: expected a string that is not empty"],
    [
      { account: "a", eventid: "e1" },
      "eventid: unknown field; use account, referenceId, eventId, timestamp, createdAt",
    ],
    [{ account: "a", createdAt: "March" }, 'createdAt: expected a date-time with its zone, got "March"'],
    [
      { account: "a", eventId: "e1", timestamp: "2024-03-05" },
      'timestamp: expected a date-time with its zone, got "2024-03-05"',
    ],
    [{ account: "a", createdAt: NOON }, `createdAt: ${combinations}`],
    [{ account: "a", referenceId: "ev.1", eventId: "e1" }, `referenceId with eventId: ${combinations}`],
    [
      { account: "a", eventId: "e1", timestamp: NOON, createdAt: NOON },
      `eventId with timestamp with createdAt: ${combinations}`,
    ],
  ];
  test.each(refusals)("S15.1 rejects %j", (query, message) => {
    expect(() => parseUndoFilter(query as unknown as UndoFilter)).toThrow(
      expect.objectContaining({ code: "ERR_INPUT_INVALID", message }),
    );
  });

  test("S15.1 each filter finds its events, by the account's id or an alias", async () => {
    const ledger = await shop(granting(100));
    await ledger.ingest(
      [requestOf("e1", 1, "2024-03-04T00:00:00.500Z"), requestOf("e2", 1, "2024-03-04T00:00:01Z")],
      NOON,
    );
    await ledger.ingest([requestOf("e3", 1, "2024-03-04T00:00:00Z")], "2024-03-05T13:00:00Z");
    const [first] = await ledger.events();
    const now = "2024-03-06T00:00:00Z";
    expect(
      listEventIds(await ledger.undo({ account: "ally", eventId: "e1", createdAt: "2024-03-05T13:00:00Z" }, now)),
    ).toEqual([]);
    expect(listEventIds(await ledger.undo({ account: "a", timestamp: "2024-03-04T00:00:00Z" }, now))).toEqual([
      "e1",
      "e3",
    ]);
    expect(listEventIds(await ledger.undo({ account: "a", referenceId: first?.referenceId ?? "" }, now))).toEqual([]);
    expect(listEventIds(await ledger.undo({ account: "ally", eventId: "e2", createdAt: NOON }, now))).toEqual(["e2"]);
  });
});

describe("the events of an undo (S15.1, S15.2)", () => {
  test("S15.1 are at most five, earliest ingested first, until all are reverted", async () => {
    const ledger = await shop(granting(100));
    await requests(ledger, 1, 1, 1, 1, 1, 1, 1);
    expect(listEventIds(await ledger.undo({ account: "a" }, NOON))).toEqual(["e1", "e2", "e3", "e4", "e5"]);
    expect(listEventIds(await ledger.undo({ account: "a" }, NOON))).toEqual(["e6", "e7"]);
    expect(await ledger.undo({ account: "a" }, NOON)).toEqual([]);
    expect(await ledger.totals()).toEqual({ usage: {}, granted: "100", balance: "100", overage: "0", consumed: "0" });
  });

  test("S15.1 are first those that can be reverted, then others up to five", async () => {
    const ledger = await shop(granting(2));
    // The first six fail, the last two are accepted.
    await requests(ledger, 3, 3, 3, 3, 3, 3, 1, 1);
    const undone = await ledger.undo({ account: "a" }, NOON);
    expect(listEventIds(undone)).toEqual(["e7", "e8", "e1", "e2", "e3"]);
    expect(undone.map(({ status }) => status)).toEqual(["REVERTED", "REVERTED", "FAILED", "FAILED", "FAILED"]);
    expect(undone[2]?.reason).toBe("Event was not accepted when it was ingested, so there is nothing to undo");
    expect(undone[0]?.reason).toBe("Event was reverted; its usage and feature credits were returned");
  });

  test("S15.2 an event of a cycle past its grace period is not reverted", async () => {
    const ledger = await shop(granting(10), 2);
    await requests(ledger, 1);
    await ledger.ingest([requestOf("e2", 1, "2024-04-02T00:00:00Z")], "2024-04-02T00:00:00Z");
    const undone = await ledger.undo({ account: "a" }, "2024-04-03T00:00:00Z");
    expect(listEventIds(undone)).toEqual(["e2", "e1"]);
    expect(undone[1]).toMatchObject({
      status: "FAILED",
      reason: "The billing period is closed; the event can't be undone",
      event: { reverted: false },
    });
    expect(await ledger.totals()).toMatchObject({ usage: { "um.requests": "1" }, consumed: "1" });
  });

  test("S15.2 on the last instant of grace an event is still reverted", async () => {
    const ledger = await shop(granting(10), 2);
    await requests(ledger, 1);
    const [undone] = await ledger.undo({ account: "a" }, "2024-04-02T23:59:59.999Z");
    expect(undone?.status).toBe("REVERTED");
  });

  test("S15.1 only a few of three thousand events are read", async () => {
    const { store, eventsRead } = storeCountingEvents();
    const ledger = await openEvents(tokenBook(tokenOverage()), { store });
    const events = Array.from({ length: 3000 }, (_, index) => requestOf(`e${index}`, 1, NOON));
    await ledger.ingest(events, NOON);
    await ledger.grant(0, "2024-03-01", "2024-04-01", NOON);
    const before = eventsRead();
    await ledger.undo({ account: "a", eventId: "e2999" }, NOON);
    await ledger.undo({ account: "a" }, NOON);
    await ledger.grant(5, "2024-03-01", "2024-04-01", NOON);
    expect(eventsRead() - before).toBeLessThan(200);
    expect(await ledger.totals()).toMatchObject({ balance: "0", overage: "2989" });
  });
});

describe("what an undo reverts (S15.3, S11.5)", () => {
  test("S15.3 a reverted event's id may be sent again", async () => {
    const ledger = await shop();
    await requests(ledger, 4);
    await ledger.undo({ account: "a", eventId: "e1" }, NOON);
    await requests(ledger, 6);
    expect(await ledger.totals()).toMatchObject({ usage: { "um.requests": "1" }, balance: "4", consumed: "6" });
  });

  test("S11.5 overage moves to freed units, events earliest ingested first", async () => {
    const ledger = await shop({ ...granting(10), ...tokenOverage() });
    await requests(ledger, 10, 6, 7);
    expect(await ledger.totals()).toMatchObject({ balance: "0", overage: "13" });
    await ledger.undo({ account: "a", eventId: "e1" }, NOON);
    expect(await overages(ledger)).toEqual(["0", "0", "3"]);
    expect(await ledger.totals()).toMatchObject({ balance: "0", overage: "3", consumed: "13" });
  });

  test("S11.5 overage of a closed cycle does not move", async () => {
    const ledger = await shop(tokenOverage(), 0);
    await requests(ledger, 5);
    await ledger.grant(5, "2024-03-01", "2024-06-01", "2024-04-01T00:00:00Z");
    expect(await ledger.totals()).toMatchObject({ balance: "5", overage: "5" });
  });

  test("S11.5 a voided entry gets its balance back and stays voided", async () => {
    const ledger = await shop({});
    const { id } = await ledger.grant(10, "2024-03-01", "2024-04-01", NOON);
    await requests(ledger, 4);
    await ledger.voidEntry(id, NOON);
    await ledger.undo({ account: "a", eventId: "e1" }, NOON);
    expect(await ledger.entries()).toMatchObject([{ voided: true }]);
    expect(await ledger.totals()).toMatchObject({ granted: "10", balance: "10", consumed: "0" });
  });

  test("S11.5 undoing two events, one of whose overage moved to the other's credits, leaves nothing", async () => {
    const ledger = await shop({ ...granting(10), ...tokenOverage() });
    await requests(ledger, 10, 6);
    await ledger.undo({ account: "a" }, NOON);
    expect(await ledger.totals()).toMatchObject({ balance: "10", overage: "0", consumed: "0" });
  });

  test("S15.4 an undo for an account without a plan reverts its usage", async () => {
    const ledger = await openEvents(tokenBook({}, 0, { accounts: [accountOf("a", {})] }));
    await ledger.ingest([createCall({ attributes: { tokens: "0.1" } })], NOON);
    const [undone] = await ledger.undo({ account: "a", eventId: "e1" }, "2030-01-01T00:00:00Z");
    expect(undone).toMatchObject({ status: "REVERTED", event: { status: "INGESTION_COMPLETED_EVENT_NOT_BILLED" } });
    expect((await ledger.totals()).usage).toEqual({});
  });
});
