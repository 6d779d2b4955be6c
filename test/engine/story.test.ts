/** From an empty store to a final invoice, as in a billing server. */
import { describe, expect, test } from "vitest";

import type { Engine } from "../../src/index.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { monthlyWithGrace, perUnit } from "../book/builder.ts";
import { engineAt } from "./support.ts";

/** The ids that the engine generated in the story. */
interface Sale {
  readonly meterId: string;
  readonly planId: string;
  readonly featureId: string;
  readonly seatsId: string;
}

/** Calls at 0.01 each, 100 of them a month covered by feature credits, and seats at 10 a month. */
async function sell(engine: Engine): Promise<Sale> {
  await engine.eventSchemas.create({ name: "call", attributes: [{ name: "count" }], dimensions: [{ name: "region" }] });
  await engine.eventSchemas.activate("call");
  const meter = await engine.usageMeters.create({
    name: "calls",
    aggregation: "SUM",
    eventSchemaName: "call",
    computations: [{ order: 1, computation: '{"var":"attribute.count"}' }],
  });
  const meterId = meter.item.id;
  await engine.usageMeters.activate(meterId);
  const feature = await engine.features.create({ name: "Calls", schemaAssociations: ["call"] });
  const seats = await engine.addOns.create({ name: "Seats", type: "LICENSE" });
  const [featureId, seatsId] = [feature.item.id, seats.item.id];
  const plan = await engine.pricePlans.create({
    name: "Team",
    pricePlanDetails: {
      ...monthlyWithGrace(2),
      usageRateCards: [{ usageMeterId: meterId, ...perUnit(0.01) }],
      licenseRateCards: [{ id: seatsId, enableProration: false, ...perUnit(10) }],
      billingEntitlementRateCards: [
        { featureId, featureConfigs: [{ featureCreditLimit: 100, effectiveUntil: "P1M" }], ...perUnit(0) },
      ],
      entitlementOverageRateCards: [{ featureId, ...perUnit(1), maxQuantity: 50 }],
    },
  });
  const planId = plan.item.id;
  await engine.pricePlans.activate(planId);
  return { meterId, planId, featureId, seatsId };
}

function storyCall(id: string, timestamp: string, count: number, accountId = "acme-prod"): EventInput {
  return {
    schemaName: "call",
    id,
    accountId,
    timestamp,
    attributes: [{ name: "count", value: count }],
    dimensions: { region: "eu" },
  };
}

describe("from an empty store to a final invoice", () => {
  test("every resource is created, events are rated, an undo reverts one, and the invoice becomes final", async () => {
    const { engine, at } = engineAt("2024-03-01T08:00:00Z");
    const { meterId, planId, featureId, seatsId } = await sell(engine);
    await engine.customers.create({ id: "acme", name: "Acme" });
    await engine.accounts.create({ id: "acme-prod", name: "Acme prod", customerId: "acme", aliases: ["prod"] });
    const schedules = await engine.associate("acme-prod", { pricePlanId: planId, effectiveFrom: "2024-03-01" });
    expect(schedules).toMatchObject([{ pricePlanId: planId, version: 1 }]);
    await engine.licenses.update("acme-prod", { licenseId: seatsId, updateType: "ABSOLUTE", quantity: 3 });

    // 90 + 30 calls: 100 covered by the credits of the month, 20 beyond them.
    const first = await at("2024-03-10T09:00:00Z").ingest([
      storyCall("e1", "2024-03-10T08:00:00Z", 90),
      storyCall("e2", "2024-03-10T08:30:00Z", 30, "prod"),
      storyCall("e2", "2024-03-10T08:30:00Z", 30),
      storyCall("e3", "2024-03-10T08:40:00Z", 31),
    ]);
    expect(first.map(({ status }) => status)).toEqual([
      "INGESTION_COMPLETED_EVENT_METERED",
      "INGESTION_COMPLETED_EVENT_METERED",
      "INGESTION_FAILED_DUPLICATE_EVENT",
      "INGESTION_FAILED_INSUFFICIENT_CREDITS",
    ]);
    const of = { accountId: "acme-prod", featureId };
    const balance = await engine.entries.balance(of);
    expect([balance.granted, balance.balance, balance.usedOverage, balance.overageLimit].map(String)).toEqual([
      "100",
      "0",
      "20",
      "50",
    ]);

    // Undoing the 90 frees 90: the overage of the 30 moves to the entry (S11.5), and 70 are left.
    const undone = await engine.undo({ account: "prod", eventId: "e1" });
    expect(undone.map(({ status, event }) => [status, event.eventId])).toEqual([["REVERTED", "e1"]]);
    const after = await engine.entries.balance(of);
    expect([after.balance, after.usedOverage].map(String)).toEqual(["70", "0"]);

    await engine.credits.create([
      { accountId: "acme-prod", purpose: "welcome", creditAmount: 5, priority: 1, effectiveFrom: "2024-03-01" },
    ]);
    const usage = await engine.usage({
      accountIds: ["acme-prod"],
      from: "2024-03-01T00:00:00Z",
      until: "2024-04-01T00:00:00Z",
    });
    expect(usage.map(({ meterId, quantity }) => [meterId, String(quantity)])).toEqual([[meterId, "30"]]);

    // 30 calls at 0.01, 3 seats at 10, less 5 of credit.
    const [draft] = (await engine.invoices.list({ filter: { accountId: "acme-prod" } })).items;
    expect([draft?.invoice.status, draft?.invoice.revenueInfo.value.toFixed()]).toEqual(["DRAFT", "25.3"]);
    expect(
      (await engine.credits.list({ filter: { accountId: "acme-prod" } })).items.map(({ holdAmount }) =>
        String(holdAmount),
      ),
    ).toEqual(["5"]);

    const before = await at("2024-04-02T23:59:59.999Z").finalize();
    expect(before.finalized).toBe(0);
    expect(await at("2024-04-03").finalize()).toEqual({ finalized: 1, skipped: 0, consolidated: 0 });
    const final = await engine.invoices.get(draft?.id ?? "");
    expect([final.invoice.status, final.invoice.revenueInfo.value.toFixed()]).toEqual(["DUE", "25.3"]);
    expect((await engine.credits.list()).items.map(({ status }) => status)).toEqual(["CONSUMED"]);

    const late = await engine.ingest([storyCall("e9", "2024-03-31T23:00:00Z", 1)]);
    expect(late.map(({ status }) => status)).toEqual(["INGESTION_FAILED_PAST_GRACE_PERIOD"]);
    expect((await engine.undo({ account: "acme-prod", eventId: "e2" })).map(({ status }) => status)).toEqual([
      "FAILED",
    ]);
  });
});
