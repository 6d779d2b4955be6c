/**
 * Event schemas, usage meters, features and price plans: their state changes, every rejection by code and message, and
 * that sending them again as they were sent changes nothing (S4.4, S5.4, S11.2, S16.4).
 */
import { describe, expect, test } from "vitest";

import type { ComputationInput, EventSchemaPatch } from "../../../src/book/resources/event-schema.ts";
import {
  activeSchema,
  callEvent,
  collectStatuses,
  customerWith,
  describeRefusal,
  engineAt,
  listUsage,
  monthly,
  sumMeter,
} from "../support.ts";

const COUNT = { var: "attribute.count" };
const FIELD = { name: "doubled", type: "ATTRIBUTE", enrichmentType: "JSON_LOGIC", order: 1 } as const;
const dependencies = [{ key: "Factor", name: "factor" }];

describe("event schemas", () => {
  test("S4.4 an enrichment field is added, then replaced; events record the version that processed them", async () => {
    const { engine, at } = engineAt("2024-03-01");
    await activeSchema(engine);
    await customerWith(engine);
    for (const factor of [2, 3]) {
      const enrichments = { fields: [{ ...FIELD, value: JSON.stringify({ "*": [COUNT, factor] }) }] };
      expect((await engine.eventSchemas.update("call", { enrichments })).item.version).toBe(factor);
    }
    await at("2024-03-02").ingest([callEvent("e1", "2024-03-01T10:00:00Z", 7)]);
    const [event] = await engine.events.get("e1");
    expect([event?.schemaVersion, event?.enriched.attributes.map(({ value }) => String(value))]).toEqual([3, ["21"]]);
  });

  test("S4.4 enrichments in an equivalent form make no new version: a rule as text, a setting by either of its names", async () => {
    const { engine, store } = engineAt("2024-03-01");
    await engine.settings.create({ id: "factor", namespace: "USER", value: "2" });
    await activeSchema(engine);
    const value = { "*": [COUNT, 2] };
    await engine.eventSchemas.update("call", { enrichments: { fields: [{ ...FIELD, value }], dependencies } });
    const before = store.snapshot();
    const { enrichmentType: _, ...untyped } = FIELD;
    for (const patch of [
      { attributes: [{ name: "count" }], status: "ACTIVE" as const },
      { enrichments: { fields: [{ ...FIELD, value: JSON.stringify(value) }], dependencies } },
      { enrichments: { dependencies: [{ type: "SETTING" as const, key: "setting.user.factor", name: "factor" }] } },
      { enrichments: { fields: [{ ...untyped, value: `{ "*": [{"var":"attribute.count"}, 2] }` }] } },
      { enrichments: { fields: null } },
    ]) {
      expect((await engine.eventSchemas.update("call", patch)).item.version).toBe(2);
    }
    expect(store.snapshot()).toBe(before);
    const enrichments = { fields: [{ ...FIELD, value: "3" }] };
    expect((await engine.eventSchemas.update("call", { enrichments })).item.version).toBe(3);
  });

  const refusals: Readonly<Record<string, object>> = {
    'ERR_REFUSED attributes: "count" exists and cannot be changed': {
      attributes: [{ name: "count", defaultUnit: "calls" }],
    },
    "ERR_REFUSED eventLevelRevenue: in an active event schema only description, allowUnmetered, attributes, dimensions and enrichments can change":
      { eventLevelRevenue: true },
    "ERR_INPUT_INVALID name: remove it; it can't be set here": { name: "other" },
    "ERR_INPUT_INVALID status: expected ACTIVE, INACTIVE or ARCHIVED": { status: "GONE" },
    'ERR_REFUSED the event schema "call" is active; it must be a draft or inactive to become archived': {
      status: "ARCHIVED",
    },
    "ERR_REFUSED enrichments: in an active event schema, enrichments can be added or replaced but not removed": {
      enrichments: null,
    },
    'ERR_REFUSED enrichments.dependencies: "factor" exists and cannot be changed': {
      enrichments: { dependencies: [{ key: "other", name: "factor" }] },
    },
  };
  test.each(Object.entries(refusals))("S4.4 of an ACTIVE schema: %s", async (sentence, patch) => {
    const { engine } = engineAt("2024-03-01");
    for (const id of ["factor", "other"]) await engine.settings.create({ id, namespace: "user", value: "2" });
    await activeSchema(engine);
    await engine.eventSchemas.update("call", { enrichments: { dependencies } });
    expect(await describeRefusal(engine.eventSchemas.update("call", patch as EventSchemaPatch))).toBe(sentence);
  });

  test("S4.4 a request that changes fields and the status makes one version, in the new status", async () => {
    const { engine, at } = engineAt("2024-03-01");
    await activeSchema(engine);
    const patch = { attributes: [{ name: "size" }], status: "INACTIVE" } as const;
    const { item } = await at("2024-03-02").eventSchemas.update("call", patch);
    expect(item.attributes.map(({ name }) => name)).toEqual(["count", "size"]);
    const { items } = await engine.eventSchemas.versions("call");
    expect(items.map((each) => `${each.item.version} ${each.item.status}`)).toEqual(["2 INACTIVE", "1 ARCHIVED"]);
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
    expect(await collectStatuses(engine, callEvent("e1", "2024-03-01T11:00:00Z"))).toEqual([
      "INGESTION_FAILED_SCHEMA_NOT_DEFINED",
    ]);
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
    const { item: plan } = await engine.pricePlans.create({ name: "Team", pricePlanDetails: monthly(id) });
    await engine.pricePlans.activate(plan.id);
    await engine.associate("prod", { pricePlanId: plan.id, effectiveFrom: "2024-03-01" });
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
    expect(await listUsage(engine)).toEqual([`${id} 2024-03-01 7`]);
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

  test("S5.4 the groups of a meter change only while it is a DRAFT", async () => {
    const { engine } = engineAt("2024-03-01");
    await engine.eventSchemas.create({ name: "call", dimensions: [{ name: "model" }, { name: "kind" }] });
    await engine.eventSchemas.activate("call");
    const meter = {
      name: "calls",
      aggregation: "COUNT",
      eventSchemaName: "call",
      computations: [{ order: 1 }],
    } as const;
    const { item } = await engine.usageMeters.create({ ...meter, groupBy: ["kind"] });
    const draft = await engine.usageMeters.update(item.id, { groupBy: ["model", "kind"] });
    expect(draft.item.groupBy).toEqual(["model", "kind"]);
    await engine.usageMeters.activate(item.id);
    await engine.usageMeters.update(item.id, { groupBy: ["model", "kind"] });
    for (const groupBy of [["model"], ["kind", "model"], null]) {
      expect(await describeRefusal(engine.usageMeters.update(item.id, { groupBy }))).toBe(
        'ERR_REFUSED groupBy: the usage of the active usage meter "calls" is kept by its groups; create a new usage meter to group it differently',
      );
    }
  });

  test("S5.4 an ACTIVE meter accepts its computations in an equivalent form, and stores them as first sent", async () => {
    const { engine } = engineAt("2024-03-01");
    await activeSchema(engine);
    const step = { id: "a", order: 1, matcher: { "==": [1, 1] }, computation: COUNT };
    const two = { order: 2, computation: "1" };
    const meter = { name: "calls", aggregation: "SUM", eventSchemaName: "call" } as const;
    const { item } = await engine.usageMeters.create({ ...meter, computations: [step, two] });
    await engine.usageMeters.activate(item.id);
    const texts = { ...step, matcher: '{"==":[1,1]}', computation: '{ "var": "attribute.count" }' };
    const same = await engine.usageMeters.update(item.id, { name: "sum of calls", computations: [two, texts] });
    expect(same.input["computations"]).toEqual([step, two]);
    expect(same.item.name).toBe("sum of calls");
    for (const computations of [[step], [step, { ...two, computation: "2" }], [{ ...step, id: "b" }, two], "text"]) {
      const change = engine.usageMeters.update(item.id, { computations: computations as ComputationInput[] });
      expect(await describeRefusal(change)).toBe(
        'ERR_REFUSED computations: in the active usage meter "sum of calls" only name, billableName and description can change',
      );
    }
  });
});

describe("features", () => {
  test("S11.2 a schema serves one feature; an association can be removed and given to another", async () => {
    const { engine } = engineAt("2024-03-01");
    await activeSchema(engine);
    const { item: first } = await engine.features.create({ name: "One", schemaAssocitions: ["call"] });
    expect(await describeRefusal(engine.features.create({ name: "Two", schemaAssociations: ["call"] }))).toBe(
      `ERR_INPUT_INVALID schemaAssociations[0]: the event schema is already used by the feature "${first.id}"`,
    );
    const details = { featureId: first.id, attributeName: "count" };
    expect((await engine.eventSchemas.get("call")).item.featureDetails).toEqual(details);
    await engine.features.update(first.id, { schemaAssocitions: [], name: "Renamed" });
    const { item: second } = await engine.features.create({ name: "Two", schemaAssociations: ["call"] });
    const { item: schema } = await engine.eventSchemas.get("call");
    expect([schema.featureDetails?.featureId, schema.version]).toEqual([second.id, 1]);
    expect((await engine.features.list()).items).toHaveLength(2);
  });

  test("S11.2 a feature that consumes 1 per event still does so when the schema declares attributes later", async () => {
    const { engine } = engineAt("2024-03-01");
    await engine.eventSchemas.create({ name: "call" });
    const { item } = await engine.features.create({ name: "Calls", schemaAssocitions: ["call"] });
    await engine.eventSchemas.activate("call");
    const readAttribute = async () => (await engine.eventSchemas.get("call")).item.featureDetails?.attributeName;
    await engine.eventSchemas.update("call", { attributes: [{ name: "count" }] });
    expect(await readAttribute()).toBe("");
    await engine.features.update(item.id, { schemaAssociations: ["call"] });
    expect(await readAttribute()).toBe("");
    await engine.features.update(item.id, { schemaAssociations: [{ schemaName: "call", attributeName: "count" }] });
    expect(await readAttribute()).toBe("count");
  });
});

describe("price plans", () => {
  test("S16.4 are returned as sent: numbers, texts and nulls unchanged, names as ids, without defaults", async () => {
    const { engine } = engineAt("2024-03-01");
    const fee = (await engine.addOns.create({ name: "Base fee", type: "FIXED_FEE" })).item.id;
    const card = { rateValues: [{ currency: "USD", rate: 9.5 }], recurrenceConfig: { interval: null, offset: null } };
    const details = { ...monthly(), fixedFeeRateCards: [{ id: "Base fee", ...card }], rateDetails: { id: "kept" } };
    const { item } = await engine.pricePlans.create({ name: "Team", pricePlanDetails: details });
    const expected = { ...details, fixedFeeRateCards: [{ id: fee, ...card }] };
    const plan = await engine.pricePlans.get(item.id);
    expect(plan.input["pricePlanDetails"]).toEqual(expected);
    expect(plan.item.pricePlanDetails.fixedFeeRateCards[0]?.type).toBe("RECURRING");
  });

  test("S16.4 an invalid migration mode is rejected for a new version too", async () => {
    const { engine } = engineAt("2024-03-01");
    const { item } = await engine.pricePlans.create({ name: "Team", pricePlanDetails: monthly() });
    await engine.pricePlans.activate(item.id);
    const refusal = await describeRefusal(engine.pricePlans.createVersion(item.id, { mode: "SOMETIMES" as never }));
    expect(refusal).toMatch(/^ERR_INPUT_INVALID .*mode/);
  });
});

test("a list of versioned resources read page by page has each once, also if a version is created in the meantime", async () => {
  const { engine, at } = engineAt("2024-03-01");
  for (const [place, name] of ["a", "b", "c"].entries()) {
    const day = at(`2024-03-0${place + 1}`);
    await activeSchema(day, name);
    const { id } = (await day.pricePlans.create({ name, pricePlanDetails: monthly() })).item;
    await day.pricePlans.activate(id);
  }
  const schemas = await engine.eventSchemas.list({ page: { limit: 1 } });
  const plans = await engine.pricePlans.list({ page: { limit: 1 } });
  await at("2024-03-09").eventSchemas.update("a", { attributes: [{ name: "size" }] });
  const oldest = (await engine.pricePlans.list({ page: { limit: 3 } })).items[2]?.item.id ?? "";
  await engine.pricePlans.createVersion(oldest);
  // Both wait for one compilation of the changed configuration.
  const [moreSchemas, morePlans] = await Promise.all([
    engine.eventSchemas.list({ page: { after: schemas.next } }),
    engine.pricePlans.list({ page: { after: plans.next } }),
  ]);
  for (const items of [
    [...schemas.items, ...moreSchemas.items],
    [...plans.items, ...morePlans.items],
  ]) {
    expect(items.map(({ item }) => `${item.name} ${item.version}`)).toEqual(["c 1", "b 1", "a 2"]);
  }
});
