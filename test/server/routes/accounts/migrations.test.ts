/** Migrations over HTTP: every field, mode and rule of the reference's "Migrate price plan" and its list (S16.5). */
import { beforeEach, describe, expect, test } from "vitest";

import { activePlan, DETAILS, MONTHLY } from "../../catalog-requests.ts";
import { bindCalls, startApi, type TestApi } from "../../support.ts";

let api: TestApi;
/** The source and the target. */
let source: string;
let target: string;

const { call, answerTo } = bindCalls(() => api);
const FIFTH = { ...MONTHLY, startOffset: { dayOffset: "5", monthOffset: "NIL" } };
const TENTH = { ...MONTHLY, startOffset: { dayOffset: "10", monthOffset: "NIL" } };

/** A migration from version 1 of the source to version 1 of the target. */
function request(parts: object = {}): { readonly body: object } {
  return {
    body: {
      sourceId: source,
      sourceVersion: 1,
      targetId: target,
      targetVersion: 1,
      migrationMode: "IMMEDIATE",
      ...parts,
    },
  };
}

/** Creates an account on the source from 2024-06-05 on. */
async function createAccount(id: string, parts: object = {}): Promise<void> {
  await call("POST /customers", { body: { id, name: `Account ${id}`, primaryEmail: "pay@acme.test" } });
  const body = { pricePlanId: source, effectiveFrom: "2024-06-05", ...parts };
  expect((await call(`POST /accounts/${id}/price_plans`, { body })).status).toBe(200);
}

/** The plans of an account and their dates. */
async function listSchedules(id: string): Promise<readonly (readonly string[])[]> {
  const schedules = await api.engine.accounts.pricingSchedules(id);
  return schedules.map(({ pricePlanId, from }) => [
    pricePlanId === source ? "source" : "target",
    new Date(from).toISOString().slice(0, 10),
  ]);
}

beforeEach(async () => {
  api = await startApi();
  source = await activePlan(call, { ...DETAILS, pricingCycleConfig: FIFTH }, "Source");
  target = await activePlan(call, { ...DETAILS, pricingCycleConfig: TENTH }, "Target");
});

describe("migrating a price plan", () => {
  const fee = { id: "", rateValues: [{ currency: "USD", rate: 1 }] };

  beforeEach(async () => {
    await createAccount("plain");
    fee.id = (await call("POST /addons", { body: { name: "Fee", type: "FIXED_FEE" } })).json.id;
    await createAccount("special", { pricePlanDetailsOverride: { fixedFeeRateCards: [fee] } });
  });

  test.each([
    ["IMMEDIATE", ["2024-06-15"], undefined],
    ["IMMEDIATE_IGNORE_OVERRIDE", ["2024-06-15"], "2024-06-15"],
    ["NEXT_CYCLE", ["2024-07-05"], undefined],
    ["NEXT_CYCLE_IGNORE_OVERRIDE", ["2024-07-05"], "2024-07-05"],
  ])(
    "migrationMode %s moves on %j, and accounts with overrides on %s",
    async (migrationMode, [plain = ""], special) => {
      expect(await answerTo("POST /migrations/price_plan", request({ migrationMode }))).toEqual([
        200,
        { success: true },
      ]);
      const before = ["source", "2024-06-05"];
      expect(await listSchedules("plain")).toEqual([before, ["target", plain]]);
      expect(await listSchedules("special")).toEqual(special === undefined ? [before] : [before, ["target", special]]);
      const moves = special === undefined ? 1 : 2;
      const { json } = await call("GET /migrations");
      expect(json).toEqual({
        data: [
          {
            migrationId: expect.stringMatching(/^mig\./),
            id: json.data[0].migrationId,
            status: "COMPLETED",
            type: "PRICE_PLAN",
            updatedAt: "2024-06-15T12:00:00.000Z",
            totalEntries: 2,
            movedEntries: moves,
            skippedEntries: 2 - moves,
          },
        ],
        nextToken: null,
        context: { pageSize: 20 },
      });
    },
  );
});

describe("cycles after a migration", () => {
  beforeEach(() => createAccount("plain"));

  test("without retainStartOffsets the account has the cycles of the target", async () => {
    await call("POST /migrations/price_plan", request({ retainStartOffsets: false }));
    expect((await scheduleShown()).pricingCycleConfig.startOffset.dayOffset).toBe("10");
    await expectNextCycle("2024-07-10");
  });

  test("with retainStartOffsets true the account keeps its current pricing cycles", async () => {
    await call("POST /migrations/price_plan", request({ retainStartOffsets: true }));
    await expectNextCycle("2024-07-05");
  });

  test.each([true, false])(
    "pricePlanDetailsOverride takes precedence, retainStartOffsets %s",
    async (retainStartOffsets) => {
      const pricingCycleConfig = { ...MONTHLY, startOffset: { dayOffset: "20", monthOffset: "NIL" } };
      const override = { retainStartOffsets, pricePlanDetailsOverride: { pricingCycleConfig } };
      expect((await call("POST /migrations/price_plan", request(override))).status).toBe(200);
      await expectNextCycle("2024-06-20");
    },
  );

  test("null in a request counts as omitted", async () => {
    const nothing = { retainStartOffsets: null, pricePlanDetailsOverride: null };
    expect((await call("POST /migrations/price_plan", request(nothing))).status).toBe(200);
    await expectNextCycle("2024-07-10");
  });

  test("rule 1: with retainStartOffsets true, different intervals are a 400, no account moves, and nothing is recorded", async () => {
    const details = { ...DETAILS, pricingCycleConfig: { interval: "WEEKLY", startOffset: { dayOffset: "1" } } };
    const weekly = await activePlan(call, details, "Weekly");
    const parts = { targetId: weekly, retainStartOffsets: true };
    expect(await answerTo("POST /migrations/price_plan", request(parts))).toEqual([
      400,
      '1 of 1 accounts cannot be moved; "plain": retainStartOffsets needs equal intervals: MONTHLY before, WEEKLY now',
    ]);
    expect(await listSchedules("plain")).toEqual([["source", "2024-06-05"]]);
    expect((await call("GET /migrations")).json.data).toEqual([]);
    const { status } = await call("POST /migrations/price_plan", request({ targetId: weekly }));
    expect(status).toBe(200);
  });

  test("rule 2: with retainStartOffsets true, no plan in force on the date of association is a 400", async () => {
    await createAccount("other");
    await call("POST /accounts/plain/price_plans", { body: { mode: "DISASSOCIATE", effectiveFrom: "2024-07-01" } });
    const none = (day: string) => `no price plan is in force on ${day}, so there are no start offsets to retain`;
    const parts = { migrationMode: "NEXT_CYCLE", retainStartOffsets: true };
    expect(await answerTo("POST /migrations/price_plan", request(parts))).toEqual([
      400,
      `1 of 2 accounts cannot be moved; "plain": ${none("2024-07-01")}`,
    ]);
    expect([await listSchedules("plain"), await listSchedules("other")]).toEqual([
      [["source", "2024-06-05"]],
      [["source", "2024-06-05"]],
    ]);
    expect((await call("GET /migrations")).json.data).toEqual([]);
    // The same for an account that gets the target after a gap.
    const body = { pricePlanId: target, effectiveFrom: "2024-07-02", retainStartOffsets: true };
    expect(await answerTo("POST /accounts/plain/price_plans", { body })).toEqual([400, none("2024-07-02")]);
    // Without it the account stays until its plan ends, also if another plan follows.
    expect((await call("POST /migrations/price_plan", request({ ...parts, retainStartOffsets: false }))).status).toBe(
      200,
    );
    expect(await listSchedules("plain")).toEqual([["source", "2024-06-05"]]);
    const another = await activePlan(call, DETAILS, "Another");
    const next = { pricePlanId: another, effectiveFrom: "2024-07-01" };
    await call("POST /accounts/plain/price_plans", { body: next });
    expect((await call("POST /migrations/price_plan", request(parts))).status).toBe(200);
    const skips = (await call("GET /migrations")).json.data.map(
      (each: { skippedEntries: number }) => each.skippedEntries,
    );
    // "other" moves in the first one, and is skipped in the second: it leaves the source on 5 July.
    expect(skips.toSorted()).toEqual([1, 2]);
  });

  /** The details of the current plan of the account, as returned. */
  async function scheduleShown(): Promise<{ readonly pricingCycleConfig: typeof MONTHLY }> {
    const { json } = await call("GET /accounts/plain/pricing_schedules");
    return json.data.at(-1).pricePlanDetails;
  }

  /** The account has the target from today on, and its next cycle begins on this day. */
  async function expectNextCycle(day: string): Promise<void> {
    expect(await listSchedules("plain")).toEqual([
      ["source", "2024-06-05"],
      ["target", "2024-06-15"],
    ]);
    expect(await nextMigrationDay()).toBe(day);
  }

  /** When the account would leave the target: at its next cycle. */
  async function nextMigrationDay(): Promise<string> {
    const last = await activePlan(call, DETAILS, "Last");
    const body = {
      sourceId: target,
      sourceVersion: 1,
      targetId: last,
      targetVersion: 1,
      migrationMode: "NEXT_CYCLE_IGNORE_OVERRIDE",
    };
    expect((await call("POST /migrations/price_plan", { body })).status).toBe(200);
    const schedules = await api.engine.accounts.pricingSchedules("plain");
    return new Date(schedules.at(-1)?.from ?? 0).toISOString().slice(0, 10);
  }
});

describe("rejected migrations", () => {
  test.each([
    [
      "invalid cycles in the override",
      { pricePlanDetailsOverride: { pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "32" } } } },
      expect.stringMatching(/^pricePlanDetailsOverride\.pricingCycleConfig\.startOffset\.dayOffset: /),
    ],
  ])("%s is a 400", async (_, parts, message) => {
    expect(await answerTo("POST /migrations/price_plan", request(parts))).toEqual([400, message]);
    expect((await call("GET /migrations")).json.data).toEqual([]);
  });

  test("S16.5 unknown versions, the source itself and a target that is not ACTIVE are a 400", async () => {
    const refusals = [
      [{ sourceVersion: 7 }, `the price plan "${source}" has no version 7`],
      [{ targetVersion: 7 }, `the price plan "${target}" has no version 7`],
      [{ targetId: source }, `source and target are both version 1 of "${source}"; choose another target version`],
    ] as const;
    for (const [parts, message] of refusals) {
      expect(await answerTo("POST /migrations/price_plan", request(parts))).toEqual([400, message]);
    }
    await call(`POST /price_plans/${target}/versions`);
    expect((await call("POST /migrations/price_plan", request({ targetVersion: 2 }))).status).toBe(400);
  });

  test("S16.5 no matching account is a success with 0", async () => {
    expect(await answerTo("POST /migrations/price_plan", request())).toEqual([200, { success: true }]);
    expect((await call("GET /migrations")).json.data).toMatchObject([
      { totalEntries: 0, movedEntries: 0, skippedEntries: 0 },
    ]);
  });
});

describe("GET /migrations", () => {
  test("lists them newest first in the paged list envelope: data, nextToken, context {pageSize}", async () => {
    for (const second of [0, 1, 2]) {
      api.at(`2024-06-15T12:00:0${second}Z`);
      await call("POST /migrations/price_plan", request());
    }
    const first = await call("GET /migrations?pageSize=2");
    const last = await call(`GET /migrations?nextToken=${first.json.nextToken}`);
    const times = [...first.json.data, ...last.json.data].map(({ updatedAt }) => updatedAt);
    expect(times).toEqual([2, 1, 0].map((second) => `2024-06-15T12:00:0${second}.000Z`));
    expect([first.json.context, last.json.context, last.json.nextToken]).toEqual([
      { pageSize: 2 },
      { pageSize: 2 },
      null,
    ]);
  });
});
