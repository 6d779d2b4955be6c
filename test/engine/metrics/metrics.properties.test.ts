/** Series over time: points of any length add up to the same sum, and revenue to what is invoiced. */
import fc from "fast-check";
import { expect, test } from "vitest";

import { DAY_MS, formatInstant, parseInstant } from "../../../src/calendar/instant.ts";
import { readEvents } from "../../../src/engine/metrics/metric-counts.ts";
import { type Engine, readBook } from "../../../src/index.ts";
import { createCatalog } from "../../../src/ledger/catalog.ts";
import { createPeriods } from "../../../src/ledger/metrics/metric-series.ts";
import type { LedgerView } from "../../../src/ledger/view.ts";
import { sum, formatDecimal } from "../../../src/numbers/decimal.ts";
import {
  decimalCardArbitrary,
  hundredthsArbitrary,
  pricingModelArbitrary,
} from "../../../src/testing/price-arbitrary.ts";
import { monthlyWithGrace, planOfMonths } from "../../book/builder.ts";
import { createSlabPricing } from "../../rating/cards.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { runs } from "../../support/runs.ts";
import { engineAt } from "../support.ts";
import { countEvent, teamBook } from "../team-book.ts";

/** Twelve days, two months, two weeks: 288 hours. */
const RANGE = { startTime: "2024-02-20", endTime: "2024-03-03" };
const START = parseInstant("2024-02-20T00:00:00Z");
const LENGTH = 12 * DAY_MS;

interface Used {
  readonly offset: number;
  readonly quantity: string;
  readonly undone: boolean;
}

const usageEvents: fc.Arbitrary<readonly Used[]> = fc.array(
  fc.record({
    // Often at a boundary of hours and days, where errors would be likely.
    offset: fc.oneof(
      fc.integer({ min: 0, max: LENGTH - 1 }),
      fc.integer({ min: 0, max: 287 }).map((hour) => hour * (DAY_MS / 24)),
    ),
    quantity: hundredthsArbitrary(10_000),
    undone: fc.boolean(),
  }),
  { maxLength: 6 },
);

/** An engine of two accounts that used some of a card's meter, one of them on the plan of the card. */
async function withUsage(pricing: object, effectiveFrom: string, events: readonly Used[]): Promise<Engine> {
  const { at } = engineAt("2024-02-01");
  const usageRateCards = [{ usageMeterId: "um.calls", ...pricing }];
  const plan = planOfMonths("pp.random", { ...monthlyWithGrace(5), usageRateCards });
  await at("2024-02-01").load(teamBook([{ pricePlanId: "pp.random", effectiveFrom }], [plan]));
  const engine = at("2024-03-03");
  for (const [index, { offset, quantity, undone }] of events.entries()) {
    const timestamp = formatInstant(START + offset);
    await engine.ingest([
      countEvent(`e${index}`, timestamp, quantity),
      countEvent(`i${index}`, timestamp, 1, "save", "idle"),
    ]);
    if (undone) await engine.undo({ account: "prod", eventId: `e${index}` });
  }
  return engine;
}

/** The sum of a metric's points, by group, for each length of a point. */
async function sumMetric(
  engine: Engine,
  query: Pick<Parameters<Engine["metrics"]>[0]["metricQueries"][number], "name" | "groupBy" | "filters">,
): Promise<readonly (readonly string[])[]> {
  const periods = ["HOUR", "DAY", "WEEK", "MONTH"] as const;
  const metricQueries = periods.map((aggregationPeriod) => ({ ...query, id: aggregationPeriod, aggregationPeriod }));
  const results = await engine.metrics({ ...RANGE, metricQueries });
  return results.map(({ series }) =>
    series.map(({ group, points }) => `${group ?? "all"} ${formatDecimal(sum(points.map(({ value }) => value)))}`),
  );
}

test("S5.3 usage by hour, which is computed from events, adds up to usage by day, week and month", async () => {
  await fc.assert(
    fc.asyncProperty(
      usageEvents,
      fc.constantFrom(undefined, "ACCOUNT_ID" as const, "USAGE_METER_ID" as const, "SCHEMA_NAME" as const),
      async (events, groupBy) => {
        const engine = await withUsage(createSlabPricing("TIERED", [{ after: 0, rate: 1 }]), "2024-02-01", events);
        // A group with a sum of zero may be shown by one source and not by the other.
        const sumsByGroup = (await sumMetric(engine, { name: "USAGE", groupBy })).map((sums) =>
          sums.filter((text) => groupBy === undefined || !text.endsWith(" 0")),
        );
        expect(sumsByGroup).toEqual(sumsByGroup.map(() => sumsByGroup[0]));
        const [, byStatus] = await sumMetric(engine, { name: "EVENTS", groupBy: "EVENT_STATUS" });
        const undoneCount = events.filter(({ undone }) => undone).length;
        expect(byStatus?.filter((text) => text.startsWith("REVERTED"))).toEqual(
          undoneCount === 0 ? [] : [`REVERTED ${undoneCount}`],
        );
      },
    ),
    { numRuns: runs(40) },
  );
});

test("S7 revenue adds up for any points, and over a cycle to the exact charge of its invoice", async () => {
  await fc.assert(
    fc.asyncProperty(
      pricingModelArbitrary(),
      decimalCardArbitrary(),
      usageEvents,
      fc.boolean(),
      async (model, card, events, isCut) => {
        // Only the first slab may be charged at zero; the bounds of a cut cycle are shares of days with endless
        // decimals.
        const rows = card.rows.map((row, order) => (order === 0 ? row : { ...row, chargeAtZero: false }));
        const pricing = createSlabPricing(model, rows, isCut ? {} : card.bounds);
        const engine = await withUsage(pricing, isCut ? "2024-02-25" : "2024-02-01", events);
        const revenue = await sumMetric(engine, { name: "REVENUE" });
        expect(revenue).toEqual(revenue.map(() => revenue[0]));
        const cycles = { startTime: "2024-02-01", endTime: "2024-04-01" };
        const [result] = await engine.metrics({
          ...cycles,
          metricQueries: [{ id: "q", name: "REVENUE", aggregationPeriod: "MONTH" }],
        });
        const amountsByInvoice = new Map<string, string>();
        const { invoices } = await engine.preview({ accountIds: ["prod"], from: "2024-02-01", until: "2024-04-01" });
        for (const { invoice } of invoices) {
          const [line] = linesOfType(invoice, "USAGE_RATE_CARD_AMOUNT");
          if (line !== undefined)
            amountsByInvoice.set(invoice.startDate.slice(0, 7), line.exactValue ?? formatDecimal(line.value));
        }
        const points = result?.series[0]?.points ?? [];
        expect(points.map(({ value }) => formatDecimal(value))).toEqual(
          ["2024-02", "2024-03"].map((month) => amountsByInvoice.get(month) ?? "0"),
        );
      },
    ),
    { numRuns: runs(40) },
  );
});

test("S14.2 more events than are read at a time are counted once each", async () => {
  const { at } = engineAt("2024-02-01");
  await at("2024-02-01").load(teamBook());
  const engine = at("2024-02-20");
  const start = parseInstant("2024-02-10T00:00:00Z");
  await engine.ingest(
    Array.from({ length: 4100 }, (_, n) => countEvent(`e${n}`, formatInstant(start + n * 60_000), 1)),
  );
  const filters = [{ fieldName: "ACCOUNT_ID" as const, fieldValues: ["prod"] }];
  const results = await engine.metrics({
    startTime: "2024-02-09",
    endTime: "2024-02-19",
    metricQueries: [
      { id: "all", name: "EVENTS", aggregationPeriod: "DAY" },
      { id: "own", name: "EVENTS", aggregationPeriod: "DAY", filters },
      { id: "hours", name: "USAGE", aggregationPeriod: "HOUR", filters },
    ],
  });
  const [all, own, hours] = results.map(({ series }) => series[0]?.points.map(({ value }) => value) ?? []);
  // 1,440 minutes a day: 4,100 = 2 × 1,440 + 1,220.
  const days = "0 1440 1440 1220 0 0 0 0 0 0";
  expect([all?.join(" "), own?.join(" "), formatDecimal(sum(hours ?? []))]).toEqual([days, days, "4100"]);
});

test.each([
  [1, 2_000],
  [10, 2_000],
  [300, 66],
  [30_000, 1],
])("for events that %i meters measure, %i are read at a time: at most 20,000 units", async (unitsMax, limit) => {
  const limits: number[] = [];
  const readNoEvents: LedgerView["events"] = async (_, page) => {
    limits.push(page.limit);
    return [];
  };
  const metric = {
    view: { events: readNoEvents } as LedgerView,
    catalog: createCatalog(readBook(teamBook())),
    schemaOf: new Map(Array.from({ length: unitsMax }, (_, index) => [`um.${index}`, "call"])),
    periods: createPeriods("DAY", 0, DAY_MS),
  };
  for (const selection of [{}, { ACCOUNT_ID: new Set(["prod"]) }])
    expect((await readEvents({ ...metric, selection }, {}).next()).done).toBe(true);
  expect(limits).toEqual([limit, limit]);
});
