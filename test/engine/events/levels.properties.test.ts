/** Levels that are carried over give the invoices of a preview, whenever accounts are caught up and old events are deleted. */
import fc from "fast-check";
import { expect, test } from "vitest";

import type { ShortBookInput } from "../../../src/book/resources/book.ts";
import { DAY_MS, formatDate, formatInstant } from "../../../src/calendar/instant.ts";
import { createEngine } from "../../../src/engine/engine.ts";
import { preview } from "../../../src/index.ts";
import type { Invoice } from "../../../src/invoicing/invoice.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import type { GeneratedEvent } from "../../../src/testing/events-arbitrary.ts";
import { runs } from "../../support/runs.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const LAST_DAY = 400;
const dateOf = (day: number): string => formatDate(START + day * DAY_MS);

const plan = fc.record({
  from: fc.integer({ min: 1, max: 200 }),
  days: fc.integer({ min: 1, max: 120 }),
  name: fc.constantFrom("weekly", "monthly", "patient"),
});
const cases = fc.record({
  plans: fc.array(plan, { minLength: 1, maxLength: 4 }),
  daily: fc.boolean(),
  samples: fc.array(
    fc.record({
      hour: fc.integer({ min: 0, max: 230 * 24 }),
      value: fc.integer({ min: 0, max: 9 }),
      region: fc.constantFrom("eu", "us", "asia"),
      /** Undone at once. */
      isUndone: fc.boolean(),
    }),
    { maxLength: 25 },
  ),
  /** When accounts are caught up, in days. */
  billRuns: fc.array(fc.integer({ min: 0, max: LAST_DAY }), { maxLength: 12 }),
  keepsEvents: fc.boolean(),
});
type Case = typeof cases extends fc.Arbitrary<infer Value> ? Value : never;

function bookOf({ plans, daily }: Case, gracePeriod?: number): ShortBookInput {
  const meters = ["level", "change", "latest"] as const;
  const usage = meters.map((meter) => ({ meter, rateTable: { rows: [{ rate: 1 }] } }));
  const grace = gracePeriod === undefined ? {} : { gracePeriod };
  const ends = new Map(plans.map(({ from, days }) => [from, from + days]));
  const ordered = plans.filter((each) => ends.get(each.from) === each.from + each.days);
  return {
    eventSchemas: [{ name: "sample", attributes: ["value"], dimensions: ["region"] }],
    usageMeters: meters.map((id) => ({
      id,
      schema: "sample",
      [id]: "value",
      groupBy: ["region"],
      ...(id === "latest" ? { carryOver: true } : { daily }),
    })),
    pricePlans: [
      { id: "weekly", cycle: { interval: "WEEKLY", ...grace }, usage },
      { id: "monthly", cycle: { interval: "MONTHLY", ...grace }, usage },
      { id: "patient", cycle: { interval: "MONTHLY", gracePeriod: 40, ...grace }, usage },
    ],
    accounts: [
      {
        id: "contoso",
        plans: ordered
          .toSorted((a, b) => a.from - b.from)
          .map(({ from, days, name }) => ({
            plan: name,
            from: dateOf(from),
            until: dateOf(from + days),
            decidedAt: dateOf(0),
          })),
      },
    ],
  };
}

const eventsOf = ({ samples }: Case): readonly GeneratedEvent[] =>
  samples.map(({ hour, value, region }, index) => ({
    schemaName: "sample",
    id: `e${index}`,
    accountId: "contoso",
    timestamp: formatInstant(START + (hour * DAY_MS) / 24),
    attributes: [{ name: "value", value }],
    dimensions: { region },
  }));

/** The ids of the events that are undone. */
const undoneOf = ({ samples }: Case): ReadonlySet<string> =>
  new Set(samples.flatMap(({ isUndone }, index) => (isUndone ? [`e${index}`] : [])));

const describeInvoices = (invoices: readonly Invoice[]): readonly string[] =>
  invoices
    .flatMap(({ startDate, revenueInfo, usageInfo }) => {
      const usage = (usageInfo?.lineItems ?? []).map(({ id, quantity }) => `${id} ${quantity.toFixed()}`);
      return usage.length === 0 ? [] : [`${startDate}: ${revenueInfo.value.toFixed()} for ${usage.join()}`];
    })
    .toSorted();

/** Runs steps in the order of time, each with the clock at its time in milliseconds. */
async function play(
  each: Case,
  book: ShortBookInput,
  steps: readonly (readonly [number, GeneratedEvent | undefined])[],
) {
  let now = START;
  const engine = createEngine({
    store: memoryStore(),
    clock: () => now,
    ...(!each.keepsEvents && { keepEventsMs: 45 * DAY_MS }),
  });
  await engine.load(book);
  const undone = undoneOf(each);
  for (const [at, event] of steps.toSorted(([a], [b]) => a - b)) {
    now = Math.max(now, at);
    if (event === undefined) {
      await engine.finalize();
      await engine.pruneEvents();
      continue;
    }
    const [answer] = await engine.ingest([event]);
    expect(answer?.status).toMatch(/^INGESTION_COMPLETED/);
    if (undone.has(event.id)) await engine.undo({ account: "contoso", eventId: event.id });
  }
  now = Math.max(now, START + LAST_DAY * DAY_MS);
  const { items } = await engine.invoices.list({ page: { limit: 100 } });
  return describeInvoices(items.map(({ invoice }) => invoice));
}

function previewOf(each: Case, book: ShortBookInput): readonly string[] {
  const undone = undoneOf(each);
  const events = eventsOf(each).filter(({ id }) => !undone.has(id));
  const { invoices } = preview(book, events, { from: dateOf(0), until: dateOf(LAST_DAY) });
  return describeInvoices(invoices);
}

test("S13.5 S15.4 S19 an engine has the invoices of a preview, caught up at any times, with and without old events", async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (each) => {
      const book = bookOf(each);
      const steps = [
        ...eventsOf(each).map((event) => [Date.parse(event.timestamp), event] as const),
        ...each.billRuns.map((day) => [START + day * DAY_MS, undefined] as const),
      ];
      expect(await play(each, book, steps)).toEqual(previewOf(each, book));
    }),
    { numRuns: runs(150, 20) },
  );
});

test("S14.4 S19 levels do not depend on the order in which events arrive while their cycles are open", async () => {
  await fc.assert(
    fc.asyncProperty(cases, fc.infiniteStream(fc.nat(200)), async (each, days) => {
      const book = bookOf(each, 400);
      const steps = [
        ...eventsOf(each).map((event) => {
          const at = Date.parse(event.timestamp) + (days.next().value ?? 0) * DAY_MS;
          return [at, event] as const;
        }),
        ...each.billRuns.map((day) => [START + day * DAY_MS, undefined] as const),
      ];
      expect(await play(each, book, steps)).toEqual(previewOf(each, book));
    }),
    { numRuns: runs(150, 20) },
  );
});
