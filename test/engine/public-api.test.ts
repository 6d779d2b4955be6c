/** Times in the engine API: milliseconds for instants, texts for days. */
import { expect, test } from "vitest";

import { activeSchema, callEvent, customerWith, engineAt, monthly, sumMeter } from "./support.ts";

const JUNE = Date.parse("2024-06-01T00:00:00Z");
const AUGUST = Date.parse("2024-08-01T00:00:00Z");

async function sellTeamPlan() {
  const { engine } = engineAt("2024-06-20T12:00:00Z");
  await activeSchema(engine);
  const meterId = await sumMeter(engine);
  await engine.usageMeters.activate(meterId);
  const { item } = await engine.pricePlans.create({ name: "Team", pricePlanDetails: monthly(meterId) });
  await engine.pricePlans.activate(item.id);
  await customerWith(engine);
  return { engine, meterId, pricePlanId: item.id };
}

test("a schedule without an end has no `until`; another one has its exclusive end", async () => {
  const { engine, pricePlanId } = await sellTeamPlan();
  const [open] = await engine.associate("prod", { pricePlanId, effectiveFrom: "2024-06-01" });
  expect(open).toMatchObject({ pricePlanId, from: JUNE });
  expect(Object.keys(open ?? {})).not.toContain("until");
  const [ending] = await engine.dissociate("prod", { effectiveFrom: "2024-08-01" });
  expect(ending).toMatchObject({ from: JUNE, until: AUGUST });
});

test("usage is listed by account, meter and UTC day, with the day as text", async () => {
  const { engine, meterId, pricePlanId } = await sellTeamPlan();
  await engine.associate("prod", { pricePlanId, effectiveFrom: "2024-06-01" });
  const results = await engine.ingest([
    callEvent("late", "2024-06-19T23:59:59.999Z", 2),
    callEvent("early", "2024-06-20T00:00:00Z", 3),
    callEvent("more", "2024-06-20T01:00:00Z", 4),
  ]);
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["INGESTION_COMPLETED_EVENT_METERED"]));
  const usage = await engine.usage({ accountIds: ["prod"], from: JUNE, until: new Date(AUGUST) });
  expect(usage.map(({ quantity, ...of }) => ({ ...of, quantity: quantity.toFixed() }))).toEqual([
    { accountId: "prod", meterId, date: "2024-06-19", quantity: "2" },
    { accountId: "prod", meterId, date: "2024-06-20", quantity: "7" },
  ]);
  // The range is half-open, whichever form its ends have.
  const first = await engine.events.list({
    filter: { timestamp: { from: JUNE, until: new Date("2024-06-20T00:00:00Z") } },
  });
  expect(first.items.map(({ eventId }) => eventId)).toEqual(["late"]);
});
