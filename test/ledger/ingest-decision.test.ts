import { describe, expect, test } from "vitest";

import { toInstant } from "../../src/calendar/instant.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import { sumMeter } from "../book/builder.ts";
import {
  accountBeforeMarch,
  tokenBook,
  createCall,
  granting,
  MARCH,
  NOON,
  onPlan,
  openEvents,
  requestOf,
  shop,
} from "./event-harness.ts";

describe("each event gets one outcome, checked in order (S14.1)", () => {
  const LATER = "2030-01-01T00:00:00Z";
  const METERED = "COMPLETED_EVENT_METERED: The event was metered.";
  const rows: readonly [because: string, event: object, outcome: string][] = [
    ["malformed", createCall({ id: 7 }), "REFUSED: Field id: expected a string, got a number."],
    [
      "a reserved id",
      createCall({ id: "held", accountId: "nobody" }),
      'FAILED_DUPLICATE_EVENT: An event with the id "held" was accepted before.',
    ],
    [
      "no account",
      createCall({ accountId: "nobody", schemaName: "?" }),
      'FAILED_ACCOUNT_NOT_FOUND: No account has the id or alias "nobody".',
    ],
    [
      "archived",
      createCall({ accountId: "gone", schemaName: "?" }),
      'FAILED_ACCOUNT_NOT_FOUND: The account "gone" is archived.',
    ],
    [
      "no schema",
      createCall({ schemaName: "?", timestamp: LATER }),
      'FAILED_SCHEMA_NOT_DEFINED: No event schema "?" is active.',
    ],
    [
      "a missing field",
      createCall({ dimensions: {}, timestamp: LATER }),
      'FAILED: The dimension "region" is missing; the event schema "call" requires it.',
    ],
    [
      "no decimal",
      createCall({ attributes: { tokens: "1,000" } }),
      'FAILED: The attribute "tokens" has an invalid value: "1,000" is not a decimal.',
    ],
    [
      "more than a day ahead (S6.6)",
      createCall({ timestamp: "2024-03-06T12:00:00.001Z" }),
      "FAILED: The timestamp 2024-03-06T12:00:00.001Z is too far in the future; the event was ingested at 2024-03-05T12:00:00.000Z.",
    ],
    [
      "a meter that measures too many digits (S1.6)",
      createCall({ schemaName: "huge" }),
      `FAILED_UNITS_INVALID: For the meter "huge" the event would count "1${"0".repeat(59)}…", which has more than 40 digits before or after the point.`,
    ],
    [
      "below 0 of a feature (S11.3)",
      requestOf("e1", -1, NOON),
      'FAILED_UNITS_INVALID: The event would consume -1 of the feature "f.tokens"; the quantity must be 0 or more.',
    ],
    [
      "more than the entries hold (S11.3)",
      requestOf("e1", 11, NOON),
      'FAILED_INSUFFICIENT_CREDITS: The event needs 11 of the feature "f.tokens"; the account has 10 left.',
    ],
    [
      "nothing that could count it",
      createCall({ schemaName: "ping", attributes: null }),
      "COMPLETED_NO_MATCHING_METERS: The event's schema has no active meter and no feature.",
    ],
    [
      "nothing that matches",
      createCall({ dimensions: { region: "lab" } }),
      "COMPLETED_EVENT_NOT_METERED: The event matches no meter of its schema and consumed no feature credits.",
    ],
    [
      "no plan in force",
      createCall({ accountId: "free" }),
      "COMPLETED_EVENT_NOT_BILLED: The event was metered, but no price plan is in force at its timestamp.",
    ],
    ["by an alias", createCall({ accountId: "ally" }), METERED],
    ["exactly a day ahead (S6.6)", createCall({ timestamp: "2024-03-06T12:00:00Z" }), METERED],
    ["all that the entries hold", requestOf("e1", 10, NOON), METERED],
  ];

  const tokens = { var: "attribute.tokens" };
  /** 10 to the 64th. */
  const huge = { "*": Array.from({ length: 64 }, () => tokens) };
  const book = tokenBook(granting(10));
  const [call] = book.eventSchemas.filter(({ name }) => name === "call");
  const [meter] = book.usageMeters.filter(({ id }) => id === "um.tokens");
  if (call === undefined || meter === undefined) throw new Error("the book has calls and their meter");
  const computations = [{ order: 1, computation: huge }];
  const withHuge = {
    ...book,
    eventSchemas: [...book.eventSchemas, { ...call, name: "huge" }],
    usageMeters: [
      ...book.usageMeters,
      { ...meter, id: "um.huge", name: "huge", eventSchemaName: "huge", computations },
    ],
  };

  test.each(rows)("S14.1 %s", async (_, event, outcome) => {
    const records = [
      { ...onPlan("a"), aliases: [{ alias: "ally", createdAt: MARCH }] },
      accountBeforeMarch("free"),
      accountBeforeMarch("gone", { status: "ARCHIVED" }),
    ];
    const ledger = openEvents(withHuge, records);
    await ledger.ingest([createCall({ id: "held" })], NOON);
    const [result] = await ledger.ingest([event], NOON);
    const { status = "", description } = result ?? {};
    expect(`${status}: ${description}`).toBe(`INGESTION_${outcome}`);
    const storedEvent = ledger.events().filter(({ referenceId }) => referenceId === result?.referenceId);
    if (status === "INGESTION_REFUSED") expect(result?.referenceId).toBeUndefined();
    else if (status === "INGESTION_FAILED_DUPLICATE_EVENT")
      expect(storedEvent).toMatchObject([{ eventId: "held", number: 1 }]);
    else expect(storedEvent).toMatchObject([{ status, description, reverted: false }]);
  });

  test("S14.1 an enrichment that needs a setting that is missing", async () => {
    const fields = [{ name: "made", type: "ATTRIBUTE", value: { var: "dependencies.rate" }, order: 1 }];
    const dependencies = [{ key: "rate", name: "rate" }];
    const eventSchemas = [{ name: "call", attributes: [], enrichments: { dependencies, fields } }];
    const ofRich = { entityType: "ACCOUNT", entityId: "rich", namespace: "user" };
    const settings = [{ id: "rate", name: "Rate", dataType: "NUMERIC", value: "2", ...ofRich }];
    const usageMeters = [sumMeter("um.made", "call", "made")];
    const accounts = [{ id: "rich", name: "Rich", customerId: "ann" }];
    const book = tokenBook({}, 0, { eventSchemas, settings, usageMeters, features: [], accounts });
    const ledger = openEvents(book, [accountBeforeMarch("a"), accountBeforeMarch("rich")]);
    const event = createCall({ attributes: [] });
    const [poor, rich] = await ledger.ingest([event, { ...event, accountId: "rich" }], NOON);
    expect(poor).toMatchObject({
      status: "INGESTION_FAILED_ENRICHMENT_FAILED",
      description: 'The setting "setting.user.rate" is missing for the account "a".',
    });
    expect(rich).toMatchObject({ status: "INGESTION_COMPLETED_EVENT_NOT_BILLED" });
    const [, secondEvent] = ledger.events();
    expect(secondEvent?.enriched.attributes.map(({ name, value }) => [name, formatDecimal(value)])).toEqual([
      ["made", "2"],
    ]);
    expect(ledger.totals("rich").usage).toEqual({ "um.made": "2" });
  });
});

describe("the record of an event", () => {
  test("S4.1, S11.4 has its payload as sent, its metered units and its consumption", async () => {
    const ledger = shop();
    const attributes = [
      { name: "tokens", value: "2.50", unit: "tok" },
      { name: "other", value: 3 },
    ];
    await ledger.ingest(
      [requestOf("e1", 0, NOON, { attributes, accountId: "ally", dimensions: { ["__proto__"]: "x", n: 1.5, t: "2" } })],
      NOON,
    );
    const [event] = ledger.events();
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
    const ledger = shop();
    await ledger.ingest([requestOf("e1", "many", NOON), requestOf("e2", 2 ** 60, NOON)], NOON);
    expect(ledger.events().map(({ payload }) => payload.attributes[0]?.value)).toEqual(["many", "1152921504606847000"]);
  });

  test("S14.2 has no account if the account is unknown", async () => {
    const ledger = shop();
    await ledger.ingest([createCall({ accountId: "nobody" })], NOON);
    expect(ledger.events()).toMatchObject([{ accountId: "", customerId: "", payload: { accountId: "nobody" } }]);
  });
});
