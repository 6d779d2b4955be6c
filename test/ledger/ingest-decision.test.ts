/** The outcome of an event by the checks of a decision, in their order, and what is stored of it (S14.1, S14.2). */
import { describe, expect, test } from "vitest";

import { toInstant } from "../../src/calendar/instant.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import {
  accountOf,
  createCall,
  granting,
  MARCH_ACCOUNTS,
  NOON,
  openEvents,
  requestOf,
  shop,
  tokenBook,
} from "./event-harness.ts";

describe("each event gets one outcome, checked in order (S14.1, S1.6, S6.6, S11.3)", () => {
  const schemaName = "?";
  const timestamp = "2030-01-01T00:00:00Z";
  const rows: Readonly<Record<string, object>> = {
    "REFUSED: Field id: expected a string, got a number.": createCall({ id: 7 }),
    'FAILED_DUPLICATE_EVENT: An event with the id "held" was accepted before.': createCall({
      id: "held",
      accountId: "nobody",
    }),
    'FAILED_ACCOUNT_NOT_FOUND: No account has the id or alias "nobody".': createCall({
      accountId: "nobody",
      schemaName,
    }),
    'FAILED_ACCOUNT_NOT_FOUND: The account "gone" is archived.': createCall({ accountId: "gone", schemaName }),
    'FAILED_SCHEMA_NOT_DEFINED: No event schema "?" is active.': createCall({ schemaName, timestamp }),
    'FAILED: The dimension "region" is missing; the event schema "call" requires it.': createCall({
      dimensions: {},
      timestamp,
    }),
    'FAILED: The attribute "tokens" has an invalid value: "1,000" is not a decimal.': createCall({
      attributes: { tokens: "1,000" },
    }),
    "FAILED: The timestamp 2024-03-06T12:00:00.001Z is too far in the future; the event was ingested at 2024-03-05T12:00:00.000Z.":
      createCall({ timestamp: "2024-03-06T12:00:00.001Z" }),
    [`FAILED_UNITS_INVALID: For the meter "huge" the event would count "1${"0".repeat(59)}…", which has more than 40 digits before or after the point.`]:
      createCall({ schemaName: "huge" }),
    'FAILED_UNITS_INVALID: The event would consume -1 of the feature "f.tokens"; the quantity must be 0 or more.':
      requestOf("e1", -1, NOON),
    'FAILED_INSUFFICIENT_CREDITS: The event needs 11 of the feature "f.tokens"; the account has 10 left.': requestOf(
      "e1",
      11,
      NOON,
    ),
    "COMPLETED_NO_MATCHING_METERS: The event's schema has no active meter and no feature.": createCall({
      schemaName: "ping",
      attributes: null,
    }),
    "COMPLETED_EVENT_NOT_METERED: The event matches no meter of its schema and consumed no feature credits.":
      createCall({ dimensions: { region: "lab" } }),
    "COMPLETED_EVENT_NOT_BILLED: The event was metered, but no price plan is in force at its timestamp.": createCall({
      accountId: "free",
    }),
  };
  const METERED = "COMPLETED_EVENT_METERED: The event was metered.";

  /** 10 to the 64th. */
  const computation = { "*": Array.from({ length: 64 }, () => ({ var: "attribute.tokens" })) };
  const base = tokenBook(granting(10), 0, { accounts: MARCH_ACCOUNTS }) as Readonly<Record<string, readonly object[]>>;
  const withHuge = {
    ...base,
    eventSchemas: [...(base["eventSchemas"] ?? []), { name: "huge", attributes: ["tokens"], dimensions: ["region"] }],
    usageMeters: [...(base["usageMeters"] ?? []), { id: "um.huge", name: "huge", schema: "huge", sum: computation }],
  };

  test.each([
    ...Object.entries(rows),
    [METERED, createCall({ accountId: "ally" })],
    // Exactly a day ahead.
    [METERED, createCall({ timestamp: "2024-03-06T12:00:00Z" })],
    [METERED, requestOf("e1", 10, NOON)],
  ] as const)("S14.1 %s", async (outcome, event) => {
    const ledger = await openEvents(withHuge);
    await ledger.ingest([createCall({ id: "held" })], NOON);
    const [result] = await ledger.ingest([event], NOON);
    const { status = "", description } = result ?? {};
    expect(`${status}: ${description}`).toBe(`INGESTION_${outcome}`);
    const stored = (await ledger.events()).filter(({ referenceId }) => referenceId === result?.referenceId);
    if (status === "INGESTION_REFUSED") expect(result?.referenceId).toBeUndefined();
    else if (status === "INGESTION_FAILED_DUPLICATE_EVENT")
      expect(stored).toMatchObject([{ eventId: "held", number: 1 }]);
    else expect(stored).toMatchObject([{ status, description, reverted: false }]);
  });

  test("S14.1 an enrichment that needs a setting that is missing", async () => {
    const fields = [{ name: "made", type: "ATTRIBUTE", value: { var: "dependencies.rate" }, order: 1 }];
    const dependencies = [{ key: "rate", name: "rate" }];
    const ledger = await openEvents({
      eventSchemas: [{ name: "call", enrichments: { dependencies, fields } }],
      settings: [{ id: "rate", dataType: "NUMERIC", value: "2", entityType: "ACCOUNT", entityId: "rich" }],
      customers: [{ id: "ann", name: "Ann" }],
      usageMeters: [{ id: "um.made", name: "made", schema: "call", sum: "made" }],
      accounts: [accountOf("a", {}), accountOf("rich", {})],
    });
    const event = createCall({ attributes: [] });
    const [poor, rich] = await ledger.ingest([event, { ...event, accountId: "rich" }], NOON);
    expect(poor).toMatchObject({
      status: "INGESTION_FAILED_ENRICHMENT_FAILED",
      description: 'The setting "setting.user.rate" is missing for the account "a".',
    });
    expect(rich).toMatchObject({ status: "INGESTION_COMPLETED_EVENT_NOT_BILLED" });
    const [, second] = await ledger.events();
    const made = second?.enriched.attributes.map(({ name, value }) => [name, formatDecimal(value)]);
    expect(made).toEqual([["made", "2"]]);
    expect((await ledger.totals("rich")).usage).toEqual({ "um.made": "2" });
  });
});

describe("the record of an event", () => {
  test("S4.1, S11.4 has its payload as sent, its metered units and its consumption", async () => {
    const ledger = await shop();
    const attributes = [
      { name: "tokens", value: "2.50", unit: "tok" },
      { name: "other", value: 3 },
    ];
    await ledger.ingest(
      [requestOf("e1", 0, NOON, { attributes, accountId: "ally", dimensions: { ["__proto__"]: "x", n: 1.5, t: "2" } })],
      NOON,
    );
    const [event] = await ledger.events();
    expect(event).toMatchObject({
      accountId: "a",
      customerId: "ann",
      number: 1,
      eventId: "e1",
      schemaName: "request",
      schemaVersion: 1,
      timestamp: toInstant(NOON),
      createdAt: toInstant(NOON),
      payload: { accountId: "ally" },
    });
    expect(event?.payload.attributes.map(({ name, value, unit }) => [name, String(value), unit])).toEqual([
      ["tokens", "2.5", "tok"],
      ["other", "3", undefined],
    ]);
    expect(Object.entries(event?.payload.dimensions ?? {})).toEqual([
      ["__proto__", "x"],
      ["n", "1.5"],
      ["t", "2"],
    ]);
    expect(event?.payload.numericDimensions).toEqual(["n"]);
    expect(event?.units.map(({ meterId, quantity }) => [meterId, formatDecimal(quantity)])).toEqual([
      ["um.requests", "1"],
    ]);
    expect(event?.feature?.allocations.map(({ quantity }) => formatDecimal(quantity))).toEqual(["2.5"]);
  });

  test("S14.2 has a value that is not a decimal as it was sent", async () => {
    const ledger = await shop();
    await ledger.ingest([requestOf("e1", "many", NOON), requestOf("e2", 2 ** 60, NOON)], NOON);
    expect((await ledger.events()).map(({ payload }) => payload.attributes[0]?.value)).toEqual([
      "many",
      "1152921504606847000",
    ]);
  });

  test("S14.2 has no account if the account is unknown", async () => {
    const ledger = await shop();
    await ledger.ingest([createCall({ accountId: "nobody" })], NOON);
    expect(await ledger.events()).toMatchObject([{ accountId: "", customerId: "", payload: { accountId: "nobody" } }]);
  });
});
