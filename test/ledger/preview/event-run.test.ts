import { describe, expect, test } from "vitest";

import type { Book } from "../../../src/book/resources/book.ts";
import { parseInstant } from "../../../src/calendar/instant.ts";
import { type IngestOutcome, isCompleted } from "../../../src/ledger/outcome.ts";
import { rememberIds } from "../../../src/ledger/preview/accepted-ids.ts";
import { type EventRun, startEventRun } from "../../../src/ledger/preview/preview-run.ts";
import { contosoAccount, bookWithParts, type BookParts, europeMeter, requestEvent, requestSchema } from "../support.ts";

/** A run with deduplication of ids. */
function startRememberingRun(book: Book): EventRun {
  return startEventRun(book, { ids: rememberIds() });
}

/** The outcome of the last of these events. */
function lastOutcome(parts: BookParts, ...events: readonly unknown[]): IngestOutcome {
  const run = startRememberingRun(bookWithParts(parts));
  return events.map((event) => run.add(event)).at(-1) ?? { status: "INGESTION_REFUSED", description: "no event" };
}

const instant = parseInstant;

/** A plan with these details, by default monthly. */
const planWith = (details: object = {}): unknown => ({
  id: "plan",
  name: "Plan",
  pricePlanDetails: {
    supportedCurrencies: ["USD"],
    pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" }, gracePeriod: 10 },
    ...details,
  },
});
/** The account on that plan in March 2024, and on none at any other time. */
const inMarch = (more: Readonly<Record<string, unknown>> = {}): unknown =>
  contosoAccount("prod", {
    pricePlans: [{ pricePlanId: "plan", effectiveFrom: "2024-03-01", effectiveUntil: "2024-04-01" }],
    ...more,
  });
const march: BookParts = { pricePlans: [planWith()], accounts: [inMarch()] };

const schemaWithField = (value: unknown, type = "ATTRIBUTE"): unknown => ({
  ...requestSchema,
  enrichments: { dependencies: [], fields: [{ name: "made", type, value, order: 1 }] },
});
const feature = {
  features: [
    { id: "f.tokens", name: "Tokens", schemaAssociations: [{ schemaName: "request", attributeName: "tokens" }] },
  ],
};
const sums = (computation: unknown): unknown => ({ ...europeMeter, computations: [{ order: 1, computation }] });
const grantTokens = (quantity: number): Readonly<Record<string, unknown>> => ({
  featureCredits: [
    { featureId: "f.tokens", granted: quantity, effectiveFrom: "2024-01-01", effectiveUntil: "2025-01-01" },
  ],
});

const METERED = "COMPLETED_EVENT_METERED: The event was metered.";
const rows: Readonly<Record<string, readonly [parts: BookParts, event: object]>> = {
  'FAILED_ACCOUNT_NOT_FOUND: No account has the id or alias "p-1".': [
    { accounts: [contosoAccount("prod", { status: "ARCHIVED", aliases: ["p-1"] })] },
    { accountId: "p-1" },
  ],
  'FAILED_SCHEMA_NOT_DEFINED: No event schema "request" is active.': [
    { eventSchemas: [{ ...requestSchema, status: "INACTIVE" }], usageMeters: [] },
    {},
  ],
  'FAILED: The attribute "tokens" is missing; the event schema "request" requires it.': [{}, { attributes: [] }],
  'FAILED_ENRICHMENT_FAILED: The field "made" cannot be computed: division by zero.': [
    { eventSchemas: [schemaWithField({ "/": [1, { var: "attribute.tokens" }] })] },
    { attributes: { tokens: 0 } },
  ],
  'FAILED_ENRICHMENT_FAILED: The rule of the field "made" must return a decimal but returned "eu".': [
    { eventSchemas: [schemaWithField({ var: "dimension.region" })] },
    {},
  ],
  'FAILED_ENRICHMENT_FAILED: The rule of the field "made" must return a string but returned null.': [
    { eventSchemas: [schemaWithField({ if: [false, 1] }, "DIMENSION")] },
    {},
  ],
  'FAILED_UNITS_INVALID: The meter "eu" cannot measure the event: "eu" (dimension.region) is not a decimal in "+".': [
    { usageMeters: [sums({ "+": [{ var: "dimension.region" }, 1] })] },
    {},
  ],
  'FAILED_UNITS_INVALID: The meter "eu" cannot measure the event: its computation must return a decimal but returned true.':
    [{ usageMeters: [sums({ "==": [1, 1] })] }, {}],
};

// The checks in their order are in test/ledger/ingest-decision.test.ts.
test.each<readonly [outcome: string, readonly [parts: BookParts, event: object]]>([
  ...Object.entries(rows),
  // A matching meter counted 0, or no meter matched, but feature credits were consumed.
  [METERED, [march, { attributes: { tokens: 0 } }]],
  [METERED, [{ ...feature, ...march, accounts: [inMarch(grantTokens(10))] }, { dimensions: { region: "us" } }]],
])("S3.2 S4.1 S4.3 S4.4 S5.2 S14.1 %s", (expected, [parts, event]) => {
  const { problem, ...outcome } = lastOutcome(parts, requestEvent({ ...event }));
  expect(`${outcome.status}: ${outcome.description}`).toBe(`INGESTION_${expected}`);
  expect(problem?.message).toBe(isCompleted(outcome.status) ? undefined : outcome.description);
});

describe("S1.6 the units of an event have at most 40 digits before the point and 40 after it", () => {
  const tokens = { var: "attribute.tokens" };
  const [large, small] = ["9".repeat(20), `0.${"0".repeat(19)}1`];
  const measuring = (computation: unknown, value: string): IngestOutcome =>
    lastOutcome({ usageMeters: [sums(computation)] }, requestEvent({ attributes: { tokens: value } }));

  test.each([
    ["40 digits before the point", { "*": [tokens, tokens] }, large],
    ["40 digits after the point", { "*": [tokens, tokens] }, small],
    ["40 digits below 0", { "-": [0, { "*": [tokens, tokens] }] }, large],
    // (10^20 - 1)^2 * 10^20 has 60 digits, a fraction of 10^-20 of it has 40 again.
    ["zeros after the point that say nothing", { "*": [tokens, tokens, { "*": [small, "1e20"] }] }, large],
  ])("%s are measured", (_, computation, value) => {
    expect(measuring(computation, value).status).toBe("INGESTION_COMPLETED_EVENT_NOT_BILLED");
  });

  test.each([
    ["41 digits before the point", { "*": [tokens, tokens, 10] }, large, "99999999999999999998"],
    ["41 digits after the point", { "*": [tokens, tokens, 0.1] }, small, "0.000"],
    ["41 digits below 0", { "*": [tokens, tokens, -10] }, large, "-9999999999999999999"],
  ])("%s fail the event, which counts nothing", (_, computation, value, begins) => {
    const { status, description } = measuring(computation, value);
    expect(status).toBe("INGESTION_FAILED_UNITS_INVALID");
    expect(description).toContain(`For the meter "eu" the event would count "${begins}`);
    expect(description).toMatch(/, which has more than 40 digits before or after the point\.$/);
  });

  test("also the units of a feature, and an event that fails for one of its meters counts in none", () => {
    const run = startRememberingRun(
      bookWithParts({
        eventSchemas: [schemaWithField({ "*": [tokens, tokens, 10] })],
        usageMeters: [europeMeter],
        features: [
          { id: "f.made", name: "Made", schemaAssociations: [{ schemaName: "request", attributeName: "made" }] },
        ],
      }),
    );
    expect(run.add(requestEvent({ attributes: { tokens: large } }))).toMatchObject({
      status: "INGESTION_FAILED_UNITS_INVALID",
      description: expect.stringContaining('For the feature "f.made" the event would count ') as string,
    });
    expect([...run.usage.cells()]).toEqual([]);
  });

  test("does not apply to sums: a thousand of the largest and a thousand of the finest add up exactly", () => {
    const square = { "*": [tokens, tokens] };
    const run = startRememberingRun(bookWithParts({ usageMeters: [sums(square)] }));
    for (let place = 0; place < 1000; place++) {
      run.add(requestEvent({ id: `large ${place}`, attributes: { tokens: large } }));
      run.add(requestEvent({ id: `small ${place}`, attributes: { tokens: small } }));
    }
    // 1000 * (10^20 - 1)^2 and 1000 * 10^-40
    expect(run.usage.between("prod", "um.eu", 19_787, 19_788).toFixed()).toBe(
      `${"9".repeat(19)}8${"0".repeat(19)}1000.${"0".repeat(36)}1`,
    );
  });
});

describe("S14.1 ids", () => {
  const eventAt = (timestamp: string): unknown => requestEvent({ timestamp });

  test("an accepted id blocks another while the first one's cycle is open", () => {
    const yearly = { interval: "ANNUALLY", startOffset: { dayOffset: "1", monthOffset: "FIRST" }, gracePeriod: 5 };
    const parts = {
      pricePlans: [planWith({ pricingCycleConfig: yearly })],
      accounts: [contosoAccount("prod", { pricePlans: [{ pricePlanId: "plan", effectiveFrom: "2024-01-01" }] })],
    };
    const first = eventAt("2024-03-05T10:00:00Z");
    expect(lastOutcome(parts, first, eventAt("2025-01-05T23:59:59Z")).status).toBe("INGESTION_FAILED_DUPLICATE_EVENT");
    expect(lastOutcome(parts, first, eventAt("2025-01-06T00:00:00Z")).status).toBe("INGESTION_COMPLETED_EVENT_METERED");
  });

  test("a malformed event is rejected whatever its id, and blocks none", () => {
    const repeat = requestEvent({ attributes: ["tokens", "tokens"].map((name) => ({ name, value: 1 })) });
    expect(lastOutcome({}, requestEvent(), repeat).status).toBe("INGESTION_REFUSED");
    expect(lastOutcome({}, repeat, requestEvent()).status).toBe("INGESTION_COMPLETED_EVENT_NOT_BILLED");
  });
});

test("S13.5 the run counts outcomes and the time span of accepted events", () => {
  const run = startRememberingRun(bookWithParts(march));
  expect(run.span()).toBeUndefined();
  const last = requestEvent({ id: "e2", timestamp: "2024-03-07T00:00:00Z" });
  for (const event of [requestEvent(), requestEvent(), null, last]) run.add(event);
  const counts = Object.entries(run.counts()).filter(([, count]) => count > 0);
  expect(counts).toEqual([
    ["INGESTION_REFUSED", 1],
    ["INGESTION_FAILED_DUPLICATE_EVENT", 1],
    ["INGESTION_COMPLETED_EVENT_METERED", 2],
  ]);
  expect(run.span()).toEqual({
    first: { name: `event "e1"`, timestamp: instant("2024-03-05T10:00:00Z") },
    last: { name: `event "e2"`, timestamp: instant("2024-03-07T00:00:00Z") },
  });
});

describe("S16.6 account names", () => {
  test("an alias refers to its account", () => {
    const run = startRememberingRun(bookWithParts({ accounts: [contosoAccount("prod", { aliases: ["p-1"] })] }));
    run.add(requestEvent({ accountId: "p-1" }));
    expect(run.usage.between("prod", "um.eu", 19_787, 19_788).toNumber()).toBe(10);
  });

  test("hundreds with the same ending are distinguished, repeatedly", () => {
    const names = Array.from(
      { length: 300 },
      (_, index) => `${String.fromCharCode(97 + (index % 26))}${index >> 4}-end`,
    );
    const accounts = [...new Set(names)].map((name) => contosoAccount(name, { aliases: [`also.${name}`] }));
    const { findByName } = startRememberingRun(bookWithParts({ accounts })).accounts;
    for (let round = 0; round < 3; round++) {
      for (const name of names) {
        expect(findByName(name)?.state.id).toBe(name);
        expect(findByName(`also.${name}`)?.state.id).toBe(name);
        expect(findByName(`no.${name}`)).toBeUndefined();
      }
    }
  });

  test("no account has an empty or unusual name, and a book without accounts has none", () => {
    for (const accounts of [[], [contosoAccount("prod")]]) {
      const { findByName } = startRememberingRun(bookWithParts({ accounts })).accounts;
      for (const name of ["", "x", "__proto__", "constructor", "\u{1f600}"]) expect(findByName(name)).toBeUndefined();
    }
  });
});
