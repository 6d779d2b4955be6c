/** S17.1: invoices from usage cells equal those from the events that the cells were computed from. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { readBook } from "../../../src/book/book.ts";
import { meter } from "../../../src/ledger/preview/preview-run.ts";
import { createPreview, preview } from "../../../src/ledger/preview/preview.ts";
import type { UsageRow } from "../../../src/metering/usage-rows.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";
import { stringifyJson } from "../../../src/numbers/json.ts";
import { accountOn, feeCards, planOfMonths, slabs } from "../../book/builder.ts";
import { runs } from "../../support/runs.ts";

const RANGE = { from: "2024-01-01", until: "2024-07-01", explain: true };

const units = { var: "attribute.units" };
const pricedBook = (pricings: readonly object[]) =>
  readBook({
    eventSchemas: [{ name: "call", attributes: ["units"], dimensions: ["region"] }],
    usageMeters: [
      { id: "um.units", name: "units", schema: "call", sum: "units" },
      // The product of two event values with 20 + 20 digits: wider than a safe integer.
      { id: "um.wide", name: "wide", schema: "call", sum: { "*": [units, units] } },
      { id: "um.calls", name: "calls", schema: "call", count: true, where: { region: "eu" } },
    ],
    addOns: [{ id: "addon.fee", name: "Fee", type: "FIXED_FEE" }],
    pricePlans: pricings.map((details, index) => planOfMonths(`pp.${index}`, details)),
    customers: [{ id: "ann", name: "Ann" }],
    accounts: [
      { ...accountOn("a", "ann", "pp.0", "2024-01-10"), aliases: ["alias-a"] },
      {
        ...accountOn("b", "ann"),
        pricePlans: [
          { pricePlanId: "pp.0", effectiveFrom: "2024-01-01", effectiveUntil: "2024-03-16" },
          { pricePlanId: "pp.1", effectiveFrom: "2024-03-16" },
        ],
        credits: [{ purpose: "welcome", creditAmount: 25, effectiveFrom: "2024-02-01" }],
      },
      accountOn("bare", "ann"),
    ],
  });

/** Some of 40 digits: multiplied by a quantity of 80 digits, the bill can't be calculated. */
const rate = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 900 }).map((thousandths) => `${thousandths}e-3`) },
  { weight: 1, arbitrary: fc.constant(`${"7".repeat(20)}.${"7".repeat(20)}`) },
);
const pricing = fc
  .record({
    model: fc.constantFrom<"TIERED" | "VOLUME">("TIERED", "VOLUME"),
    edge: fc.integer({ min: 1, max: 50 }),
    rates: fc.tuple(rate, rate),
    commitment: fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined }),
    interval: fc.constantFrom("MONTHLY", "QUARTERLY"),
  })
  .map(({ model, edge, rates: [first, second], commitment, interval }) => ({
    ...feeCards(7),
    pricingCycleConfig: {
      interval,
      startOffset: { dayOffset: "5", monthOffset: interval === "MONTHLY" ? "NIL" : "1" },
      gracePeriod: 3,
    },
    usageRateCards: ["um.units", "um.wide", "um.calls"].map((usageMeterId) => ({
      usageMeterId,
      ...slabs(model, [0, first], [edge, second]),
    })),
    ...(commitment === undefined ? {} : { minimumCommitment: { rateValues: [{ currency: "USD", rate: commitment }] } }),
  }));

const batches = fc
  .array(
    fc.record({
      id: fc.nat(60),
      accountId: fc.constantFrom("a", "alias-a", "b", "b", "bare", "nobody"),
      at: fc.integer({ min: 0, max: 181 * 24 - 1 }),
      units: fc.constantFrom<string | number>(
        1,
        2.5,
        0,
        -3,
        "0.000001",
        "99.9",
        "9".repeat(20),
        ...Array.from({ length: 2 }, () => `${"9".repeat(20)}.${"9".repeat(20)}`),
        "x",
      ),
      region: fc.constantFrom("eu", "us"),
    }),
    { maxLength: 25 },
  )
  .map((rows) =>
    rows
      .toSorted((a, b) => a.at - b.at)
      .map(({ id, accountId, at, units: value, region }) => ({
        schemaName: "call",
        id: `e-${id}`,
        accountId,
        timestamp: new Date(Date.parse("2024-01-01T00:00:00Z") + at * 3_600_000).toISOString(),
        attributes: [{ name: "units", value }],
        dimensions: { region },
      })),
  );

const asText = (rows: readonly UsageRow[]) => rows.map((row) => ({ ...row, quantity: formatDecimal(row.quantity) }));

describe("S17.1 invoices from cells", () => {
  let withoutBill = 0;
  test("equal those from their events, for any order of rows, and with cells split into several rows", () => {
    fc.assert(
      fc.property(fc.tuple(pricing, pricing), batches, fc.infiniteStream(fc.nat(2)), (pricings, events, picks) => {
        const book = pricedBook(pricings);
        const metering = meter(book, events);
        const expected = preview(book, events, RANGE);
        expect(metering.events).toEqual(expected.events);
        expect(metering.problems).toEqual(expected.problems);
        const pick = (): number => picks.next().value ?? 0;
        const parts = asText(metering.usage).flatMap((row) =>
          // 7 − 7 adds two rows to a cell without changing it.
          pick() === 0 ? [{ ...row, quantity: 7 }, row, { ...row, quantity: "-7" }] : [row],
        );
        const shuffledParts = parts
          .map((row) => [pick(), row] as const)
          .toSorted(([a], [b]) => a - b)
          .map(([, row]) => row);
        const result = preview(book, { usage: shuffledParts }, RANGE);
        expect(stringifyJson(result.invoices)).toBe(stringifyJson(expected.invoices));
        expect(result.skipped).toEqual(expected.skipped);
        if (expected.skipped !== undefined) withoutBill++;
      }),
      { numRuns: runs(150) },
    );
    expect(withoutBill).toBeGreaterThan(0);
  });

  test("equal those from events if cells replace some of the events", () => {
    fc.assert(
      fc.property(pricing, batches, fc.nat(25), (terms, drawnRows, cut) => {
        const book = pricedBook([terms, terms]);
        const events = drawnRows.map((event, index) => ({ ...event, id: `e-${index}` }));
        const { usage } = meter(book, events.slice(0, cut));
        const result = preview(book, { usage, events: events.slice(cut) }, RANGE);
        expect(stringifyJson(result.invoices)).toBe(stringifyJson(preview(book, events, RANGE).invoices));
      }),
      { numRuns: runs(60) },
    );
  });

  test("start a draft plan like the first event, for accounts without a plan", () => {
    fc.assert(
      fc.property(pricing, batches, (terms, drawnRows) => {
        const book = pricedBook([terms, terms]);
        // An event that is not metered has no cell, but would start a plan.
        const events = drawnRows.map((event, index) => ({ ...event, id: `e-${index}`, accountId: "bare" }));
        const draft = book.pricePlans[0];
        const { usage } = meter(book, events);
        const options = { ...RANGE, plan: draft };
        expect(stringifyJson(preview(book, { usage }, options).invoices)).toBe(
          stringifyJson(preview(book, events, options).invoices),
        );
      }),
      { numRuns: runs(60) },
    );
  });
});

describe("usage rows", () => {
  const book = pricedBook([{}, {}]);
  const row = { accountId: "a", meterId: "um.units", date: "2024-02-01", quantity: 5 };

  test("two rows of one cell add up: 5 + 0.5", () => {
    const { invoices } = preview(book, { usage: [row, { ...row, quantity: "0.5" }] });
    const quantities = invoices.flatMap(({ usageInfo }) =>
      (usageInfo?.lineItems ?? []).map(({ quantity }) => formatDecimal(quantity)),
    );
    expect(quantities).toEqual(["5.5"]);
  });

  test("of an alias count for its account", () => {
    const run = createPreview(book);
    run.addUsage({ ...row, accountId: "alias-a" });
    expect(run.finish().invoices.map(({ accountId }) => accountId)).toEqual(["a"]);
  });

  test("limit the range like events: from the first day to the last", () => {
    const usage = [row, { ...row, date: "2024-04-01" }];
    expect(preview(book, { usage }).invoices.map(({ startDate }) => startDate.slice(0, 10))).toEqual([
      "2024-02-01",
      "2024-04-01",
    ]);
    expect(() => preview(book, { usage: [row, { ...row, date: "2034-04-01" }] })).toThrow(
      'from 2024-02-01T00:00:00.000Z (usage of "a") to 2034-04-01T00:00:00.000Z (usage of "a")',
    );
  });

  const tooLong = "has more than 60 digits before the point or 40 after it";
  test.each<[string, unknown, string]>([
    ["meterId", "um.unit", 'no usage meter has the id "um.unit": did you mean "um.units"?'],
    ["accountId", "zed", 'no account has the id or alias "zed"'],
    ["date", "2024-02-30", '"2024-02-30" is not a date: 2024-02 has days 01 to 29, not 30'],
    ["date", 1, '"1970-01-01T00:00:00.001Z" is not a date: expected a date, or midnight UTC'],
    ["date", null, "date: expected a date such as 2026-01-31"],
    ["quantity", "1".repeat(61), `the quantity "${"1".repeat(60)}" ${tooLong}`],
    ["quantity", "1e-41", `the quantity "0.${"0".repeat(40)}1" ${tooLong}`],
    ["quantity", "many", '"many" is not a decimal'],
  ])("a row whose %s is %j is rejected, and nothing is priced", (field, value, sentence) => {
    const usage = [row, { ...row, [field]: value }];
    expect(() => preview(book, { usage: usage as never })).toThrow(
      expect.objectContaining({
        code: "ERR_INPUT_INVALID",
        message: `$.usage[1].${field}: ${sentence}`,
        details: { problems: [expect.objectContaining({ path: `$.usage[1].${field}`, message: sentence })] },
      }) as Error,
    );
  });

  test("S1.4 a cell of more than 100 digits is rejected: 60 before the point, then one more, and 40 after it", () => {
    const run = createPreview(book);
    run.addUsage({ ...row, quantity: `${"9".repeat(60)}.${"9".repeat(40)}` });
    expect(() => run.addUsage({ ...row, quantity: "1.1" })).toThrow(
      expect.objectContaining({ code: "ERR_ARITHMETIC" }) as Error,
    );
  });
});

describe("S17.1 a schema that consumes a feature has no cells", () => {
  const bounds = { effectiveFrom: "2024-01-01", effectiveUntil: "2025-01-01" };
  const book = readBook({
    eventSchemas: [
      { name: "call", attributes: ["units"] },
      { name: "chat", attributes: ["tokens"] },
    ],
    usageMeters: [
      { id: "um.units", name: "units", schema: "call", sum: "units" },
      { id: "um.tokens", name: "tokens", schema: "chat", sum: "tokens" },
    ],
    features: [{ id: "feature.t", name: "T", schemaAssociations: [{ schemaName: "chat", attributeName: "tokens" }] }],
    accounts: [{ id: "a", name: "Account a", featureCredits: [{ featureId: "feature.t", granted: 5, ...bounds }] }],
  });
  const eventWith = (schemaName: string, name: string, value: number) => ({
    schemaName,
    id: `${schemaName}-${value}`,
    accountId: "a",
    timestamp: "2024-02-01T12:00:00Z",
    attributes: [{ name, value }],
  });
  const sentence =
    '"chat" can\'t be summed: it consumes credits of the feature "feature.t", which requires events in order; preview its events instead';

  test("its events are rejected when metering to cells; failed events and those of other schemas are not", () => {
    expect(() => meter(book, [eventWith("call", "units", 1), eventWith("chat", "tokens", 5)])).toThrow(
      expect.objectContaining({
        code: "ERR_REFUSED",
        message: sentence,
        details: { rule: "docs/reference/semantics.md#s17.1" },
      }) as Error,
    );
    const { usage, events } = meter(book, [eventWith("call", "units", 1), eventWith("chat", "tokens", 6)]);
    expect(events).toEqual({
      read: 2,
      INGESTION_FAILED_INSUFFICIENT_CREDITS: 1,
      INGESTION_COMPLETED_EVENT_NOT_BILLED: 1,
    });
    expect(asText(usage)).toEqual([{ accountId: "a", meterId: "um.units", date: "2024-02-01", quantity: "1" }]);
  });

  test("rejects cells of its meters", () => {
    const usage = [{ accountId: "a", meterId: "um.tokens", date: "2024-02-01", quantity: 1 }];
    expect(() => preview(book, { usage })).toThrow(`$.usage[0]: ${sentence}`);
  });
});
