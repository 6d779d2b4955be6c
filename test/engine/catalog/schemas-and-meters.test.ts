/** Event schemas and usage meters: their state changes, and every rejection by code and message (S4.4, S5.4). */
import { describe, expect, test } from "vitest";

import type { EventSchemaPatch, EventSchemaInput } from "../../../src/book/resources/event-schema.ts";
import { activeSchema, callEvent, customerWith, engineAt, monthly, describeRefusal, sumMeter } from "../support.ts";

describe("event schemas", () => {
  test("S4.4 a request that changes nothing makes no version", async () => {
    const { engine, store } = engineAt("2024-03-01");
    await activeSchema(engine);
    const before = store.snapshot();
    const same = await engine.eventSchemas.update("call", { attributes: [{ name: "count" }], status: "ACTIVE" });
    expect(same.item.version).toBe(1);
    expect(store.snapshot()).toBe(before);
  });

  test("S4.4 an enrichment field is added, then replaced; events record the version that processed them", async () => {
    const { engine, at } = engineAt("2024-03-01");
    await activeSchema(engine);
    await customerWith(engine);
    const field = { name: "doubled", type: "ATTRIBUTE", order: 1 } as const;
    const multiplyBy = (by: number): EventSchemaInput["enrichments"] => ({
      fields: [{ ...field, value: `{"*":[{"var":"attribute.count"},${by}]}` }],
    });
    await engine.eventSchemas.update("call", { enrichments: multiplyBy(2) });
    const third = await engine.eventSchemas.update("call", { enrichments: multiplyBy(3) });
    expect(third.item.version).toBe(3);
    await at("2024-03-02").ingest([callEvent("e1", "2024-03-01T10:00:00Z", 7)]);
    const [event] = await engine.events.get("e1");
    expect([event?.schemaVersion, event?.enriched.attributes.map(({ value }) => String(value))]).toEqual([3, ["21"]]);
  });

  test.each([
    [
      "an attribute changed",
      { attributes: [{ name: "count", defaultUnit: "calls" }] },
      'ERR_REFUSED attributes: "count" exists and cannot be changed',
    ],
    [
      "another field",
      { eventLevelRevenue: true },
      "ERR_REFUSED eventLevelRevenue: in an active event schema only description, allowUnmetered, attributes, dimensions and enrichments can change",
    ],
    ["a new name", { name: "other" }, "ERR_INPUT_INVALID name: remove it; it can't be set here"],
    ["an invalid state", { status: "GONE" }, "ERR_INPUT_INVALID status: expected ACTIVE, INACTIVE or ARCHIVED"],
    [
      "archived while ACTIVE",
      { status: "ARCHIVED" },
      'ERR_REFUSED the event schema "call" is active; it must be a draft or inactive to become archived',
    ],
  ])("S4.4 an ACTIVE schema rejects %s", async (_, patch, sentence) => {
    const { engine } = engineAt("2024-03-01");
    await activeSchema(engine);
    expect(await describeRefusal(engine.eventSchemas.update("call", patch as EventSchemaPatch))).toBe(sentence);
  });

  test("S4.4 a schema that an ACTIVE meter uses stays ACTIVE; otherwise it can be deactivated and accepts no events", async () => {
    const { engine } = engineAt("2024-03-01T12:00:00Z");
    await activeSchema(engine);
    await customerWith(engine);
    const meterId = await sumMeter(engine);
    await engine.usageMeters.activate(meterId);
    expect(await describeRefusal(engine.eventSchemas.deactivate("call"))).toBe(
      `ERR_REFUSED the event schema "call" is used by the active usage meter "${meterId}"`,
    );
    await engine.usageMeters.deactivate(meterId);
    expect((await engine.eventSchemas.deactivate("call")).item.status).toBe("INACTIVE");
    expect(await describeRefusal(engine.eventSchemas.update("call", { description: "x" }))).toBe(
      'ERR_REFUSED the event schema "call" is inactive and cannot be changed',
    );
    const [result] = await engine.ingest([callEvent("e1", "2024-03-01T11:00:00Z")]);
    expect(result?.status).toBe("INGESTION_FAILED_SCHEMA_NOT_DEFINED");
    await engine.eventSchemas.archive("call");
    const again = await engine.eventSchemas.create({ name: "call", attributes: [{ name: "count" }] });
    expect([again.item.version, again.item.status]).toEqual([2, "DRAFT"]);
  });
});

describe("usage meters", () => {
  test("S5.4 a meter in the current plan of an account can't be deactivated", async () => {
    const { engine } = engineAt("2024-03-01");
    await activeSchema(engine);
    await customerWith(engine);
    const id = await sumMeter(engine);
    await engine.usageMeters.activate(id);
    const plan = await engine.pricePlans.create({ name: "Team", pricePlanDetails: monthly(id) });
    await engine.pricePlans.activate(plan.item.id);
    await engine.associate("prod", { pricePlanId: plan.item.id, effectiveFrom: "2024-03-01" });
    expect(await describeRefusal(engine.usageMeters.deactivate(id))).toBe(
      `ERR_REFUSED the usage meter "${id}" is in the current price plan of the account "prod"`,
    );
    await engine.dissociate("prod", { effectiveFrom: "2024-03-01" });
    expect((await engine.usageMeters.deactivate(id)).item.status).toBe("INACTIVE");
    expect((await engine.usageMeters.activate(id)).item.status).toBe("ACTIVE");
  });

  test("S5.3 a meter counts events that arrive while it is ACTIVE, and none retroactively", async () => {
    const { engine, at } = engineAt("2024-03-01");
    await activeSchema(engine);
    await customerWith(engine);
    const id = await sumMeter(engine);
    await at("2024-03-02").ingest([callEvent("e1", "2024-03-01T10:00:00Z", 5)]);
    await engine.usageMeters.activate(id);
    await engine.ingest([callEvent("e2", "2024-03-01T10:00:00Z", 7)]);
    const usage = await engine.usage({
      accountIds: ["prod"],
      from: "2024-03-01T00:00:00Z",
      until: "2024-03-03T00:00:00Z",
    });
    expect(usage.map(({ quantity }) => String(quantity))).toEqual(["7"]);
  });

  test("S3.6 a meter with an unknown variable is rejected", async () => {
    const { engine } = engineAt("2024-03-01");
    await activeSchema(engine);
    const computations = [{ order: 1, computation: { var: "attribute.size" } }];
    const meter = { name: "calls", aggregation: "SUM", eventSchemaName: "call", computations } as const;
    expect(await describeRefusal(engine.usageMeters.create(meter))).toMatch(
      /^ERR_INPUT_INVALID computations\[0\]\.computation: /,
    );
  });
});
