import { describe, expect, test } from "vitest";

import { parseInstant } from "../../src/calendar/instant.ts";
import type { IngestOutcome } from "../../src/ledger/outcome.ts";
import type { MeteringRunOptions } from "../../src/ledger/preview/metering-run.ts";
import { createMeteringRun } from "../../src/ledger/preview/metering-run.ts";
import { decimalOf as decimal } from "../../src/numbers/decimal.ts";
import { accountOf, bookOf, type BookParts, europeMeter, eventOf, requestSchema } from "./support.ts";

/** The outcome of the last of these events. */
function outcomeOf(parts: BookParts, options: MeteringRunOptions, ...events: readonly unknown[]): IngestOutcome {
  const run = createMeteringRun(bookOf(parts), options);
  return events.map((event) => run.add(event)).at(-1) ?? { status: "INGESTION_REFUSED", description: "no event" };
}

const instant = parseInstant;
/** One monthly cycle of March 2024 with ten days of grace, and no plan at any other time. */
const march: MeteringRunOptions = {
  periodAt: (_, at) =>
    at >= instant("2024-03-01T00:00:00Z") && at < instant("2024-04-01T00:00:00Z")
      ? {
          start: instant("2024-03-01T00:00:00Z"),
          end: instant("2024-04-01T00:00:00Z"),
          openUntil: instant("2024-04-11T00:00:00Z"),
        }
      : { start: at, end: at + 1 },
};

const enriched = (value: unknown, type = "ATTRIBUTE"): unknown => ({
  ...requestSchema,
  enrichments: { dependencies: [], fields: [{ name: "made", type, value, order: 1 }] },
});
const feature = {
  features: [
    { id: "f.tokens", name: "Tokens", schemaAssociations: [{ schemaName: "request", attributeName: "tokens" }] },
  ],
};
const sums = (computation: unknown): unknown => ({ ...europeMeter, computations: [{ order: 1, computation }] });
const bought = (granted: number): unknown =>
  accountOf("prod", {
    featureCredits: [{ featureId: "f.tokens", granted, effectiveFrom: "2024-01-01", effectiveUntil: "2025-01-01" }],
  });

const withoutField = (name: string): unknown => eventOf({ [name]: undefined });

interface Row {
  readonly because: string;
  readonly events: readonly unknown[];
  readonly parts?: BookParts;
  readonly options?: MeteringRunOptions;
  readonly status: string;
  readonly description: string;
}

const rows: readonly Row[] = [
  {
    because: "no schemaName",
    events: [withoutField("schemaName")],
    status: "INGESTION_REFUSED",
    description: "Field schemaName is missing.",
  },
  {
    because: "an id that is no text",
    events: [eventOf({ id: 7 })],
    status: "INGESTION_REFUSED",
    description: "Field id: expected a text, got a number.",
  },
  {
    because: "no account",
    events: [eventOf({ accountId: null })],
    status: "INGESTION_REFUSED",
    description: "Field accountId is missing.",
  },
  {
    because: "a timestamp without a zone",
    events: [eventOf({ timestamp: "2024-03-05T10:00:00" })],
    status: "INGESTION_REFUSED",
    description:
      'Field timestamp: "2024-03-05T10:00:00" is no date-time: it has no zone, expected Z or an offset such as +05:30 at its end.',
  },
  {
    because: "a repeated attribute",
    events: [
      eventOf({
        attributes: [
          { name: "tokens", value: 1 },
          { name: "tokens", value: 1 },
        ],
      }),
    ],
    status: "INGESTION_REFUSED",
    description: 'Field attributes: the name "tokens" is repeated.',
  },
  {
    because: "an id that was accepted before, whatever else is wrong",
    events: [eventOf(), eventOf({ accountId: "nobody" })],
    status: "INGESTION_FAILED_DUPLICATE_EVENT",
    description: 'An event with the id "e1" was accepted before.',
  },
  {
    because: "no such account",
    events: [eventOf({ accountId: "nobody", schemaName: "nothing" })],
    status: "INGESTION_FAILED_ACCOUNT_NOT_FOUND",
    description: 'No account has the id or alias "nobody".',
  },
  {
    because: "an archived account",
    events: [eventOf()],
    parts: { accounts: [accountOf("prod", { status: "ARCHIVED" })] },
    status: "INGESTION_FAILED_ACCOUNT_NOT_FOUND",
    description: 'The account "prod" is archived.',
  },
  {
    because: "the alias of an archived account",
    events: [eventOf({ accountId: "p-1" })],
    parts: { accounts: [accountOf("prod", { status: "ARCHIVED", aliases: ["p-1"] })] },
    status: "INGESTION_FAILED_ACCOUNT_NOT_FOUND",
    description: 'No account has the id or alias "p-1".',
  },
  {
    because: "no such schema",
    events: [eventOf({ schemaName: "nothing", attributes: [{ name: "tokens", value: "abc" }] })],
    status: "INGESTION_FAILED_SCHEMA_NOT_DEFINED",
    description: 'No event schema "nothing" is active.',
  },
  {
    because: "a schema that is not active (S4.4)",
    events: [eventOf()],
    parts: { eventSchemas: [{ ...requestSchema, status: "INACTIVE" }], usageMeters: [] },
    status: "INGESTION_FAILED_SCHEMA_NOT_DEFINED",
    description: 'No event schema "request" is active.',
  },
  {
    because: "a declared attribute is missing (S4.1)",
    events: [eventOf({ attributes: [] })],
    status: "INGESTION_FAILED",
    description: 'The attribute "tokens" is missing: the event schema "request" declares it.',
  },
  {
    because: "a declared dimension is missing (S4.1)",
    events: [eventOf({ dimensions: null })],
    status: "INGESTION_FAILED",
    description: 'The dimension "region" is missing: the event schema "request" declares it.',
  },
  {
    because: "a value that is no decimal",
    events: [eventOf({ attributes: [{ name: "tokens", value: "1,000" }] })],
    status: "INGESTION_FAILED",
    description: 'The attribute "tokens" is unfit: "1,000" is not a decimal.',
  },
  {
    because: "more than a day ahead (S6.6)",
    events: [eventOf({ timestamp: "2024-03-05T10:00:00.001Z" })],
    options: { now: instant("2024-03-04T10:00:00Z") },
    status: "INGESTION_FAILED",
    description:
      "The timestamp 2024-03-05T10:00:00.001Z is too far after the time of ingest, 2024-03-04T10:00:00.000Z.",
  },
  {
    because: "the grace period is over (S6.5)",
    events: [eventOf()],
    parts: { eventSchemas: [enriched({ "+": ["abc", 1] })] },
    options: { ...march, now: instant("2024-04-11T00:00:00Z") },
    status: "INGESTION_FAILED_PAST_GRACE_PERIOD",
    description: "The pricing cycle of 2024-03-05T10:00:00.000Z took events until 2024-04-11T00:00:00.000Z.",
  },
  {
    because: "an enrichment divides by zero (S3.2)",
    events: [eventOf({ attributes: [{ name: "tokens", value: 0 }] })],
    parts: { eventSchemas: [enriched({ "/": [1, { var: "attribute.tokens" }] })] },
    status: "INGESTION_FAILED_ENRICHMENT_FAILED",
    description: 'The field "made" cannot be computed: division by zero.',
  },
  {
    because: "an enriched attribute is no decimal (S4.3)",
    events: [eventOf()],
    parts: { eventSchemas: [enriched({ var: "dimension.region" })] },
    status: "INGESTION_FAILED_ENRICHMENT_FAILED",
    description: 'The field "made" must come out as a decimal but came out as "eu".',
  },
  {
    because: "an enriched dimension is null (S4.3)",
    events: [eventOf()],
    parts: { eventSchemas: [enriched({ if: [false, 1] }, "DIMENSION")] },
    status: "INGESTION_FAILED_ENRICHMENT_FAILED",
    description: 'The field "made" must come out as text but came out as null.',
  },
  {
    because: "a meter's rule cannot answer (S5.2)",
    events: [eventOf()],
    parts: { usageMeters: [sums({ "+": [{ var: "dimension.region" }, 1] })] },
    status: "INGESTION_FAILED_UNITS_INVALID",
    description: 'The meter "eu" cannot measure the event: "eu" (dimension.region) is not a decimal in "+".',
  },
  {
    because: "a meter's result is no decimal (S5.2)",
    events: [eventOf()],
    parts: { usageMeters: [sums({ "==": [1, 1] })] },
    status: "INGESTION_FAILED_UNITS_INVALID",
    description:
      'The meter "eu" cannot measure the event: its computation must come out as a decimal but came out as true.',
  },
  {
    because: "a negative feature quantity (S11.3)",
    events: [eventOf({ attributes: [{ name: "tokens", value: -1 }] })],
    parts: feature,
    status: "INGESTION_FAILED_UNITS_INVALID",
    description: 'The event would consume -1 of the feature "f.tokens": expected 0 or more.',
  },
  {
    because: "more than the feature credits hold (S11.3)",
    events: [eventOf()],
    parts: { ...feature, accounts: [bought(7)] },
    status: "INGESTION_FAILED_INSUFFICIENT_CREDITS",
    description: 'The event needs 10 of the feature "f.tokens": 7 are left.',
  },
  {
    because: "neither a meter nor a feature",
    events: [eventOf()],
    parts: { usageMeters: [{ ...europeMeter, status: "DRAFT" }] },
    status: "INGESTION_COMPLETED_NO_MATCHING_METERS",
    description: "The event's schema has no active meter and no feature.",
  },
  {
    because: "no matcher fits",
    events: [eventOf({ dimensions: { region: "us" } })],
    options: march,
    status: "INGESTION_COMPLETED_EVENT_NOT_METERED",
    description: "The event matches no meter of its schema and consumed no feature credits.",
  },
  {
    because: "no plan is in force at its timestamp",
    events: [eventOf({ timestamp: "2024-04-01T00:00:00Z" })],
    options: march,
    status: "INGESTION_COMPLETED_EVENT_NOT_BILLED",
    description: "The event was metered, but no price plan is in force at its timestamp.",
  },
  {
    because: "all is well",
    events: [eventOf()],
    options: march,
    status: "INGESTION_COMPLETED_EVENT_METERED",
    description: "The event was metered.",
  },
  {
    because: "a matching meter counted 0",
    events: [eventOf({ attributes: [{ name: "tokens", value: 0 }] })],
    options: march,
    status: "INGESTION_COMPLETED_EVENT_METERED",
    description: "The event was metered.",
  },
  {
    because: "no meter matched, but feature credits were consumed",
    events: [eventOf({ dimensions: { region: "us" } })],
    parts: { ...feature, accounts: [bought(10)] },
    options: march,
    status: "INGESTION_COMPLETED_EVENT_METERED",
    description: "The event was metered.",
  },
];

describe("S14.1 an event gets exactly one outcome", () => {
  test.each(rows)("$status: $because", ({ events, parts = {}, options = {}, status, description }) => {
    expect(outcomeOf(parts, options, ...events)).toEqual({ status, description });
  });
});

describe("S14.1 ids", () => {
  const at = (timestamp: string): unknown => eventOf({ timestamp });
  test.each([
    ["for 45 days", {}, "2024-04-19T09:59:59.999Z", "INGESTION_FAILED_DUPLICATE_EVENT"],
    ["and not longer", {}, "2024-04-19T10:00:00Z", "INGESTION_COMPLETED_EVENT_NOT_BILLED"],
  ])("an accepted id blocks another %s", (_, options, timestamp, status) => {
    expect(outcomeOf({}, options, at("2024-03-05T10:00:00Z"), at(timestamp)).status).toBe(status);
  });

  test("an accepted id blocks another while the first one's cycle is open", () => {
    const year: MeteringRunOptions = {
      periodAt: () => ({
        start: instant("2024-01-01T00:00:00Z"),
        end: instant("2025-01-01T00:00:00Z"),
        openUntil: instant("2025-01-06T00:00:00Z"),
      }),
    };
    const first = at("2024-03-05T10:00:00Z");
    expect(outcomeOf({}, year, first, at("2025-01-05T23:59:59Z")).status).toBe("INGESTION_FAILED_DUPLICATE_EVENT");
    expect(outcomeOf({}, year, first, at("2025-01-06T00:00:00Z")).status).toBe("INGESTION_COMPLETED_EVENT_METERED");
  });

  test("S14.2 a failed event does not block its id, one without enough credits neither", () => {
    const failed = eventOf({ attributes: [] });
    expect(outcomeOf({}, march, failed, eventOf()).status).toBe("INGESTION_COMPLETED_EVENT_METERED");
    const tooMuch = eventOf({ attributes: [{ name: "tokens", value: 11 }] });
    const parts = { ...feature, accounts: [bought(10)] };
    expect(outcomeOf(parts, march, tooMuch, eventOf()).status).toBe("INGESTION_COMPLETED_EVENT_METERED");
  });

  test("without a memory of ids every event counts", () => {
    const run = createMeteringRun(bookOf({}), { ids: false });
    run.add(eventOf());
    run.add(eventOf());
    expect(run.usage.between("prod", "um.eu", 19_787, 19_788).toNumber()).toBe(20);
  });
});

test("the run counts outcomes and knows what time accepted events span", () => {
  const run = createMeteringRun(bookOf({}), march);
  expect(run.span()).toBeUndefined();
  for (const event of [eventOf(), eventOf(), null, eventOf({ id: "e2", timestamp: "2024-03-07T00:00:00Z" })])
    run.add(event);
  const counts = Object.entries(run.counts()).filter(([, count]) => count > 0);
  expect(counts).toEqual([
    ["INGESTION_REFUSED", 1],
    ["INGESTION_FAILED_DUPLICATE_EVENT", 1],
    ["INGESTION_COMPLETED_EVENT_METERED", 2],
  ]);
  expect(run.span()).toEqual({ first: instant("2024-03-05T10:00:00Z"), last: instant("2024-03-07T00:00:00Z") });
});

describe("S16.6 aliases", () => {
  test("an alias stands for its account", () => {
    const run = createMeteringRun(bookOf({ accounts: [accountOf("prod", { aliases: ["p-1"] })] }));
    run.add(eventOf({ accountId: "p-1" }));
    expect(run.usage.between("prod", "um.eu", 19_787, 19_788).toNumber()).toBe(10);
  });
});

describe("S11 feature credits and overage of events", () => {
  const overage = (maxQuantity?: number): MeteringRunOptions => ({
    ...march,
    overageAt: (_, featureId) => ({
      window: { start: instant("2024-03-01T00:00:00Z"), end: instant("2024-04-01T00:00:00Z") },
      ...(featureId === "f.tokens" && maxQuantity !== undefined ? { maxQuantity: decimal(maxQuantity) } : {}),
    }),
  });

  test("S11.3 what entries do not cover is overage, up to its maximum per billing window", () => {
    const run = createMeteringRun(bookOf({ ...feature, accounts: [bought(15)] }), overage(12));
    const statuses = [1, 2, 3, 4].map((day) =>
      run.add(eventOf({ id: `e${day}`, timestamp: `2024-03-0${day}T00:00:00Z` })),
    );
    // 10 of 15; 5 and 5 over; 10 over would make 15 of 12.
    expect(statuses.map(({ status }) => status)).toEqual([
      "INGESTION_COMPLETED_EVENT_METERED",
      "INGESTION_COMPLETED_EVENT_METERED",
      "INGESTION_FAILED_INSUFFICIENT_CREDITS",
      "INGESTION_FAILED_INSUFFICIENT_CREDITS",
    ]);
    expect(run.overage.between("prod", "f.tokens", 19_784, 19_785).toNumber()).toBe(5);
    expect(run.features.entriesOf("prod", "f.tokens").map(({ balance }) => balance)).toEqual([0]);
  });

  test("S2.4 grants fall due before the event, and each is asked for once", () => {
    const asked: string[] = [];
    const grant = { featureId: "f.tokens", granted: 10, balance: 10, createdAt: 0, voided: false };
    const run = createMeteringRun(bookOf(feature), {
      ...march,
      grantsDue: (accountId, upTo) => {
        asked.push(`${accountId} ${new Date(upTo).toISOString().slice(0, 10)}`);
        if (asked.length > 1) return [];
        return [{ ...grant, id: "g1", effectiveFrom: upTo, effectiveUntil: instant("2024-04-01T00:00:00Z") }];
      },
    });
    const outcomes = ["e1", "e2"].map((id) => run.add(eventOf({ id })).status);
    run.add(eventOf({ id: "e3", timestamp: "2024-03-06T00:00:00Z" }));
    expect(outcomes).toEqual(["INGESTION_COMPLETED_EVENT_METERED", "INGESTION_FAILED_INSUFFICIENT_CREDITS"]);
    expect(asked).toEqual(["prod 2024-03-05", "prod 2024-03-06"]);
  });
});
