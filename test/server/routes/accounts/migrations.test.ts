/** Migrations over HTTP: their list, and the wire format of requests (S16.5); test/contract tests each field and mode. */
import { beforeEach, expect, test } from "vitest";

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

beforeEach(async () => {
  api = await startApi();
  source = await activePlan(call, { ...DETAILS, pricingCycleConfig: FIFTH }, "Source");
  target = await activePlan(call, { ...DETAILS, pricingCycleConfig: TENTH }, "Target");
});

test("a migration is listed with its counts, and null in a request counts as omitted", async () => {
  await call("POST /customers", { body: { id: "plain", name: "Plain", primaryEmail: "pay@acme.test" } });
  await call("POST /accounts/plain/price_plans", { body: { pricePlanId: source, effectiveFrom: "2024-06-05" } });
  const nothing = { retainStartOffsets: null, pricePlanDetailsOverride: null };
  expect(await answerTo("POST /migrations/price_plan", request(nothing))).toEqual([200, { success: true }]);
  const schedules = (await call("GET /accounts/plain/pricing_schedules")).json.data;
  expect(schedules[1]).toMatchObject({ pricePlanId: target, startDate: "2024-06-15T00:00:00.000Z" });
  expect(schedules[1].pricePlanDetails.pricingCycleConfig.startOffset.dayOffset).toBe("10");
  const { json } = await call("GET /migrations");
  expect(json).toEqual({
    data: [
      {
        migrationId: expect.stringMatching(/^mig\./),
        id: json.data[0].migrationId,
        status: "COMPLETED",
        type: "PRICE_PLAN",
        updatedAt: "2024-06-15T12:00:00.000Z",
        totalEntries: 1,
        movedEntries: 1,
        skippedEntries: 0,
      },
    ],
    nextToken: null,
    context: { pageSize: 20 },
  });
});

test("a cycle configuration that is invalid is a 400 that names its field, and nothing is recorded", async () => {
  const pricingCycleConfig = { interval: "MONTHLY", startOffset: { dayOffset: "32" } };
  const answer = await answerTo(
    "POST /migrations/price_plan",
    request({ pricePlanDetailsOverride: { pricingCycleConfig } }),
  );
  const message = /^pricePlanDetailsOverride\.pricingCycleConfig\.startOffset\.dayOffset: /;
  expect(answer).toEqual([400, expect.stringMatching(message)]);
  expect((await call("GET /migrations")).json.data).toEqual([]);
});
