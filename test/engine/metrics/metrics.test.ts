/** Series of usage, events and revenue over time. Figures are calculated by hand. */
import { beforeAll, describe, expect, test } from "vitest";

import type { Engine, MetricSeries } from "../../../src/index.ts";
import type { EventInput } from "../../../src/metering/event-envelope.ts";
import { planOfMonths, slabs } from "../../book/builder.ts";
import { engineAt, describeRefusal } from "../support.ts";
import { CALLS, countEvent, teamBook } from "../team-book.ts";

type Query = Parameters<Engine["metrics"]>[0]["metricQueries"][number];

/** The series of one query: `group currency: values`. */
async function series(engine: Engine, range: readonly [string, string], query: Omit<Query, "id">): Promise<string[]> {
  const [startTime, endTime] = range;
  const [result] = await engine.metrics({ startTime, endTime, metricQueries: [{ id: "q", ...query }] });
  return (result?.series ?? []).map(formatSeries);
}

function formatSeries({ group, currency, points }: MetricSeries): string {
  const name = [group, currency].filter((part) => part !== undefined).join(" ");
  return `${name === "" ? "all" : name}: ${points.map(({ value }) => String(value)).join(" ")}`;
}

/** An engine on a later day, whose account is on a plan with one card for calls. */
async function onCard(card: object, effectiveFrom: string, now: string, ...events: EventInput[]): Promise<Engine> {
  const { at } = engineAt("2024-01-01");
  const plan = planOfMonths("pp.card", { usageRateCards: [{ usageMeterId: "um.calls", ...card }] });
  await at("2024-01-01").load(teamBook([{ pricePlanId: "pp.card", effectiveFrom }], [plan]));
  await at(now).ingest(events);
  return at(now);
}

/** The dollar rates of each slab, and the bounds of the card. */
function bounded(card: ReturnType<typeof slabs>, rateConfig: object): object {
  return { ...card, rateValues: card.rateValues.map((rates) => ({ ...rates, rateConfig })) };
}

describe("metrics", () => {
  let engine: Engine;
  beforeAll(async () => {
    const { at } = engineAt("2024-01-01");
    await at("2024-01-01").load(teamBook());
    const january = await at("2024-01-31T23:59:59.999Z").ingest([
      countEvent("e1", "2024-01-30T10:30:00Z", 60),
      countEvent("e2", "2024-01-31T23:59:59.999Z", 60),
      countEvent("s1", "2024-01-31T05:00:00Z", 7, "save"),
    ]);
    const february = await at("2024-02-02T06:00:00Z").ingest([
      countEvent("e3", "2024-02-01T00:00:00Z", 5),
      countEvent("e4", "2024-02-01T12:00:00Z", 3, "call", "idle"),
      countEvent("e5", "2024-02-02T00:00:00Z", 100),
      countEvent("e6", "2024-02-01T13:00:00Z", 1, "call", "nobody"),
    ]);
    expect([...january, ...february].map(({ status }) => status.replace("INGESTION_", ""))).toEqual([
      ...Array.from({ length: 4 }, () => "COMPLETED_EVENT_METERED"),
      "COMPLETED_EVENT_NOT_BILLED",
      "COMPLETED_EVENT_METERED",
      "FAILED_ACCOUNT_NOT_FOUND",
    ]);
    engine = at("2024-02-02T07:00:00Z");
    await engine.undo({ account: "prod", eventId: "e5" });
  });
  const FOUR_DAYS = ["2024-01-30", "2024-02-03"] as const;
  const HOURS = ["2024-01-31T22:00:00Z", "2024-02-01T02:00:00Z"] as const;

  const queryOf =
    (name: Query["name"]) =>
    (aggregationPeriod: Query["aggregationPeriod"], groupBy?: Query["groupBy"], filters?: Query["filters"]) => ({
      name,
      aggregationPeriod,
      ...(groupBy && { groupBy }),
      ...(filters && { filters }),
    });
  const [usage, events, revenue] = [queryOf("USAGE"), queryOf("EVENTS"), queryOf("REVENUE")];
  const only = (fieldName: NonNullable<Query["filters"]>[number]["fieldName"], ...fieldValues: string[]) => ({
    fieldName,
    fieldValues,
  });
  const METERED = "INGESTION_COMPLETED_EVENT_METERED";
  const NOT_BILLED = "INGESTION_COMPLETED_EVENT_NOT_BILLED";
  const JUNE = ["2023-06-01", "2023-06-02"] as const;

  test.each<[readonly [string, string], Omit<Query, "id">, readonly string[]]>([
    [FOUR_DAYS, usage("DAY", "USAGE_METER_ID"), ["um.calls: 60 60 8 0", "um.writes: 0 7 0 0"]],
    // The schema of a meter.
    [FOUR_DAYS, usage("DAY", "SCHEMA_NAME"), ["call: 60 60 8 0", "save: 0 7 0 0"]],
    [FOUR_DAYS, usage("DAY", "ACCOUNT_ID", [only("USAGE_METER_ID", "um.calls")]), ["idle: 0 0 3 0", "prod: 60 60 5 0"]],
    // Computed from events.
    [FOUR_DAYS, usage("DAY", "EVENT_STATUS"), [`${METERED}: 60 67 5 0`, `${NOT_BILLED}: 0 0 3 0`]],
    // Whole days; weeks begin on Monday.
    [["2024-01-30T12:00:00Z", "2024-02-02T01:00:00Z"], usage("MONTH"), ["all: 127 8"]],
    [["2024-01-30", "2024-02-06"], usage("WEEK"), ["all: 135 0"]],
    [HOURS, usage("HOUR", undefined, [only("ACCOUNT_ID", "prod")]), ["all: 0 60 5 0"]],
    // Reverted events have a status of their own; events of no account or meter come last.
    [
      FOUR_DAYS,
      events("DAY", "EVENT_STATUS"),
      [
        `${METERED}: 1 2 1 0`,
        `${NOT_BILLED}: 0 0 1 0`,
        "INGESTION_FAILED_ACCOUNT_NOT_FOUND: 0 0 1 0",
        "REVERTED: 0 0 0 1",
      ],
    ],
    [FOUR_DAYS, events("DAY"), ["all: 1 2 3 1"]],
    [FOUR_DAYS, events("DAY", "ACCOUNT_ID"), ["idle: 0 0 1 0", "prod: 1 2 1 1", "all: 0 0 1 0"]],
    [
      FOUR_DAYS,
      events("DAY", "SCHEMA_NAME", [only("SCHEMA_NAME", "call"), only("EVENT_STATUS", "REVERTED", METERED)]),
      ["call: 1 1 1 1"],
    ],
    [FOUR_DAYS, events("DAY", "USAGE_METER_ID"), ["um.calls: 1 1 2 1", "um.writes: 0 1 0 0", "all: 0 0 1 0"]],
    // 60 × 2; 40 × 2 + 20 × 1; then a new cycle: 5 × 2. Usage without a price or a plan has no revenue.
    [FOUR_DAYS, revenue("DAY"), ["USD: 120 100 10 0"]],
    [["2024-01-31", "2024-02-01"], revenue("DAY", "ACCOUNT_ID"), ["prod USD: 100"]],
    [FOUR_DAYS, revenue("MONTH"), ["USD: 220 10"]],
    [HOURS, revenue("HOUR", "USAGE_METER_ID"), ["um.calls USD: 0 100 10 0"]],
    [FOUR_DAYS, revenue("DAY", undefined, [only("SCHEMA_NAME", "save")]), ["USD: 0 0 0 0"]],
    // Without usage there are no groups; without groups, one series of nothing.
    [JUNE, usage("DAY", "ACCOUNT_ID"), []],
    [JUNE, events("DAY"), ["all: 0"]],
  ])("S5.3 in %j for %j", async (range, query, expected) => {
    expect(await series(engine, range, query)).toEqual(expected);
  });

  test("contain the period of each point, cut to the range, and answer every query by its id", async () => {
    const results = await engine.metrics({
      startTime: "2024-01-30T12:00:00Z",
      endTime: "2024-02-02T01:00:00Z",
      metricQueries: [
        { id: "b", name: "EVENTS", aggregationPeriod: "MONTH" },
        { id: "a", name: "USAGE", aggregationPeriod: "DAY", groupBy: "ACCOUNT_ID" },
      ],
    });
    expect(results.map(({ id, name, groupBy }) => [id, name, groupBy])).toEqual([
      ["b", "EVENTS", undefined],
      ["a", "USAGE", "ACCOUNT_ID"],
    ]);
    const parseDay = (text: string): number => Date.parse(`${text}T00:00:00Z`);
    expect(results[0]?.series[0]?.points.map(({ startTime, endTime }) => [startTime, endTime])).toEqual([
      [parseDay("2024-01-30"), parseDay("2024-02-01")],
      [parseDay("2024-02-01"), parseDay("2024-02-03")],
    ]);
  });

  const query = { id: "q", ...usage("DAY") };
  const filtered = (...only: readonly object[]) => ({ metricQueries: [{ ...query, filters: only }] });
  const revenueWith = (more: object) => ({ metricQueries: [{ ...query, ...revenue("DAY"), ...more }] });
  const filters = "metricQueries[0].filters";
  const noStatus = "revenue cannot be filtered or grouped by this field";
  const refusals: Readonly<Record<string, object>> = {
    "endTime: expected a time after 2024-01-30T00:00:00.000Z, the startTime": { endTime: "2024-01-30" },
    'metricQueries[1].id: duplicate query id "q"': { metricQueries: [query, query] },
    "metricQueries[0].aggregationPeriod: the range has 312 periods by HOUR; use at most 300": {
      endTime: "2024-02-12",
      metricQueries: [{ ...query, aggregationPeriod: "HOUR" }],
    },
    [`${filters}[0].fieldValues[1]: expected the id of an account, got "no"`]: filtered(
      only("ACCOUNT_ID", "prod", "no"),
    ),
    [`${filters}[0].fieldValues[0]: expected the id of a usage meter, got "um.no"`]: filtered(
      only("USAGE_METER_ID", "um.no"),
    ),
    [`${filters}[0].fieldValues[0]: expected the name of an event schema, got "no"`]: filtered(
      only("SCHEMA_NAME", "no"),
    ),
    [`${filters}[0].fieldValues[0]: expected a status of a stored event, got "INGESTION_REFUSED"`]: filtered(
      only("EVENT_STATUS", "INGESTION_REFUSED"),
    ),
    [`${filters}[1].fieldName: expected one filter by ACCOUNT_ID`]: filtered(
      only("ACCOUNT_ID", "prod"),
      only("ACCOUNT_ID", "idle"),
    ),
    [`metricQueries[0].groupBy: ${noStatus}`]: revenueWith({ groupBy: "EVENT_STATUS" }),
    [`${filters}[0].fieldName: ${noStatus}`]: revenueWith({ filters: [only("EVENT_STATUS", "REVERTED")] }),
  };
  test.each(Object.entries(refusals))("are rejected: %s for %j", async (message, wrong) => {
    const request = { startTime: "2024-01-30", endTime: "2024-02-03", metricQueries: [query], ...wrong };
    const refusal = await describeRefusal(engine.metrics(request));
    expect(refusal).toBe(`ERR_INPUT_INVALID ${message}`);
  });
});

describe("revenue over time", () => {
  const REVENUE = { name: "REVENUE", aggregationPeriod: "DAY" } as const;

  test("S7.2 falls if the price of all units falls", async () => {
    const events = [countEvent("e1", "2024-01-02T00:00:00Z", 10), countEvent("e2", "2024-01-03T00:00:00Z", 1)];
    const engine = await onCard(slabs("VOLUME", [0, 3], [10, 2.5]), "2024-01-01", "2024-01-05", ...events);
    // 10 × 3, then 11 × 2.5.
    expect(await series(engine, ["2024-01-01", "2024-01-05"], REVENUE)).toEqual(["USD: 0 30 -2.5 0"]);
  });

  test("S7.4 starts a cycle with the card's minimum, prorated in a cut one, and never before the cycle starts", async () => {
    const card = bounded(slabs("TIERED", [0, 1]), { minimumRate: 31 });
    const engine = await onCard(card, "2024-01-16", "2024-02-02", countEvent("e1", "2024-02-02T00:00:00Z", 40));
    // 31 × 16 ÷ 31 days of January; 31 on 1 February, of which the 40 units of the next day make 40; March is not begun.
    const months = ["2024-01-01", "2024-04-01"] as const;
    expect(await series(engine, months, { ...REVENUE, aggregationPeriod: "MONTH" })).toEqual(["USD: 16 40 0"]);
    expect(await series(engine, ["2024-01-15", "2024-01-18"], REVENUE)).toEqual(["USD: 0 16 0"]);
    expect(await series(engine, ["2024-02-01", "2024-02-03"], REVENUE)).toEqual(["USD: 31 9"]);
  });

  test("S8.1 keeps 34 digits of a share of days with endless decimals", async () => {
    const card = bounded(slabs("TIERED", [0, 1]), { minimumRate: 10 });
    const engine = await onCard(card, "2024-01-16", "2024-01-20");
    // 160 ÷ 31.
    expect(await series(engine, ["2024-01-16", "2024-01-18"], REVENUE)).toEqual([
      "USD: 5.161290322580645161290322580645161 0",
    ]);
  });

  test("S18.4 of a price table by day and by hour is what its usage adds to the invoice", async () => {
    const tiers = (first: string, then: string) => [{ upTo: 10, rate: first }, { rate: then }];
    const rows = [
      { when: { model: "a" }, tiers: tiers("0.30", "0.20") },
      { when: { model: "a" }, from: "2026-10-15", tiers: tiers("0.20", "0.10") },
      { when: { model: "b" }, rate: "2" },
    ];
    const { engine, at } = engineAt("2026-10-01");
    await engine.load({
      eventSchemas: [{ name: "call", attributes: ["count"], dimensions: ["model"] }],
      usageMeters: [{ id: "calls", schema: "call", sum: "count", groupBy: ["model"] }],
      pricePlans: [{ id: "pp", cycle: "MONTHLY", usage: [{ meter: "calls", rateTable: { rows } }] }],
      accounts: [{ id: "acme", plan: "pp", from: "2026-10-01" }],
    });
    for (const [model, count, hour] of [
      ["a", 8, "03T08"],
      ["b", 1, "03T09"],
      ["a", 6, "20T08"],
      ["a", -4, "25T08"],
    ] as const) {
      const timestamp = `2026-10-${hour}:30:00Z`;
      await at(timestamp).ingest([{ ...countEvent(hour, timestamp, count, "call", "acme"), dimensions: { model } }]);
    }
    const listRevenue = async (aggregationPeriod: "DAY" | "HOUR", ...range: [string, string]) =>
      (await series(engine, range, { name: "REVENUE", aggregationPeriod })).map((line) =>
        line.replaceAll(/ 0(?= |$)/g, ""),
      );
    // 8 × 0.30 and 1 × 2; 2 × 0.20 and 4 × 0.10; −4 × 0.10.
    expect(await listRevenue("DAY", "2026-10-01", "2026-11-01")).toEqual(["USD: 4.4 0.8 -0.4"]);
    expect(await listRevenue("HOUR", "2026-10-03", "2026-10-04")).toEqual(["USD: 2.4 2"]);
    expect(await listRevenue("HOUR", "2026-10-20", "2026-10-26")).toEqual(["USD: 0.8 -0.4"]);
  });

  test("is not summed over currencies", async () => {
    const { at } = engineAt("2024-01-01");
    const inEuros = { ...CALLS, rateValues: [{ ...CALLS.rateValues[0], currency: "EUR" }] };
    const plan = planOfMonths("pp.euro", { supportedCurrencies: ["EUR"], usageRateCards: [inEuros] });
    const book = teamBook(undefined, [plan]);
    const pricePlans = [{ pricePlanId: "pp.euro", effectiveFrom: "2024-01-01" }];
    const account = { id: "euro", name: "Acme euro", customerId: "acme", invoiceCurrency: "EUR", pricePlans };
    await at("2024-01-01").load({ ...book, accounts: [...(book.accounts ?? []), account] });
    await at("2024-01-03").ingest([
      countEvent("e1", "2024-01-02T00:00:00Z", 1),
      countEvent("e2", "2024-01-02T00:00:00Z", 2, "call", "euro"),
    ]);
    expect(await series(at("2024-01-03"), ["2024-01-02", "2024-01-03"], REVENUE)).toEqual(["EUR: 4", "USD: 2"]);
  });
});

test("more than 100 groups are rejected with a message that suggests a filter", async () => {
  const { at } = engineAt("2024-01-01");
  const book = teamBook();
  const many = Array.from({ length: 101 }, (_, n) => ({ id: `a${n}`, name: `Account ${n}`, customerId: "acme" }));
  await at("2024-01-01").load({ ...book, accounts: [...(book.accounts ?? []), ...many] });
  const engine = at("2024-01-03");
  await engine.ingest(many.map(({ id }) => countEvent(`e-${id}`, "2024-01-02T00:00:00Z", 1, "call", id)));
  const day = ["2024-01-02", "2024-01-03"] as const;
  const query = { name: "USAGE", aggregationPeriod: "DAY", groupBy: "ACCOUNT_ID" } as const;
  expect(await describeRefusal(series(engine, day, query))).toBe(
    "ERR_INPUT_INVALID metricQueries[0].groupBy: more than 100 series; filter by ACCOUNT_ID",
  );
  expect(await series(engine, day, { ...query, groupBy: null })).toEqual(["all: 101"]);
});
