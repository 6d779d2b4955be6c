/** Resources are returned as they were sent, and sending them again changes nothing (S4.4, S5.4, S11.2, S16.4). */
import { describe, expect, test } from "vitest";

import type { ComputationInput } from "../../../src/book/resources/event-schema.ts";
import { activeSchema, engineAt, monthly, describeRefusal } from "../support.ts";

describe("resending event schemas", () => {
  const DOUBLED = { "*": [{ var: "attribute.count" }, 2] };
  const FIELD = { name: "doubled", type: "ATTRIBUTE", enrichmentType: "JSON_LOGIC", order: 1 } as const;
  const dependencies = [{ key: "Factor", name: "factor" }];

  test("S4.4 enrichments in an equivalent form make no new version: a rule as text, a setting by either of its names", async () => {
    const { engine, store } = engineAt("2024-03-01");
    await engine.settings.create({ id: "factor", namespace: "USER", value: "2" });
    await activeSchema(engine);
    await engine.eventSchemas.update("call", { enrichments: { fields: [{ ...FIELD, value: DOUBLED }], dependencies } });
    const before = store.snapshot();
    for (const enrichments of [
      { fields: [{ ...FIELD, value: JSON.stringify(DOUBLED) }], dependencies },
      { dependencies: [{ type: "SETTING", key: "setting.user.factor", name: "factor" } as const] },
      {
        fields: [
          { name: "doubled", type: "ATTRIBUTE" as const, order: 1, value: `{ "*": [{"var":"attribute.count"}, 2] }` },
        ],
      },
      { fields: null },
    ]) {
      expect((await engine.eventSchemas.update("call", { enrichments })).item.version).toBe(2);
    }
    expect(store.snapshot()).toBe(before);
    const updatedSchema = await engine.eventSchemas.update("call", {
      enrichments: { fields: [{ ...FIELD, value: "3" }] },
    });
    expect(updatedSchema.item.version).toBe(3);
  });

  test("S4.4 enrichments of an ACTIVE schema can't be removed, nor their dependencies changed", async () => {
    const { engine } = engineAt("2024-03-01");
    for (const id of ["factor", "other"]) await engine.settings.create({ id, namespace: "user", value: "2" });
    await activeSchema(engine);
    await engine.eventSchemas.update("call", { enrichments: { dependencies } });
    expect(await describeRefusal(engine.eventSchemas.update("call", { enrichments: null }))).toBe(
      "ERR_REFUSED enrichments: in an active event schema, enrichments can be added or replaced but not removed",
    );
    const other = { dependencies: [{ key: "other", name: "factor" }] };
    expect(await describeRefusal(engine.eventSchemas.update("call", { enrichments: other }))).toBe(
      'ERR_REFUSED enrichments.dependencies: "factor" exists and cannot be changed',
    );
  });
});

describe("resending usage meters", () => {
  test("S5.4 the groups of a meter change only while it is a DRAFT", async () => {
    const { engine } = engineAt("2024-03-01");
    await engine.eventSchemas.create({ name: "call", dimensions: [{ name: "model" }, { name: "kind" }] });
    await engine.eventSchemas.activate("call");
    const { item } = await engine.usageMeters.create({
      name: "calls",
      aggregation: "COUNT",
      eventSchemaName: "call",
      computations: [{ order: 1 }],
      groupBy: ["kind"],
    });
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
    const step = { id: "a", order: 1, matcher: { "==": [1, 1] }, computation: { var: "attribute.count" } };
    const two = { order: 2, computation: "1" };
    const { item } = await engine.usageMeters.create({
      name: "calls",
      aggregation: "SUM",
      eventSchemaName: "call",
      computations: [step, two],
    });
    await engine.usageMeters.activate(item.id);
    const texts = { ...step, matcher: '{"==":[1,1]}', computation: '{ "var": "attribute.count" }' };
    const same = await engine.usageMeters.update(item.id, { name: "sum of calls", computations: [two, texts] });
    expect(same.input["computations"]).toEqual([step, two]);
    expect(same.item.name).toBe("sum of calls");
    for (const computations of [[step], [step, { ...two, computation: "2" }], [{ ...step, id: "b" }, two], "text"]) {
      expect(
        await describeRefusal(engine.usageMeters.update(item.id, { computations: computations as ComputationInput[] })),
      ).toBe(
        'ERR_REFUSED computations: in the active usage meter "sum of calls" only name, billableName and description can change',
      );
    }
  });
});

describe("resending features", () => {
  test("S11.2 a feature that consumes 1 per event still does so when the schema declares attributes later", async () => {
    const { engine } = engineAt("2024-03-01");
    await engine.eventSchemas.create({ name: "call" });
    const { item } = await engine.features.create({ name: "Calls", schemaAssocitions: ["call"] });
    await engine.eventSchemas.activate("call");
    await engine.eventSchemas.update("call", { attributes: [{ name: "count" }] });
    const expected = { featureId: item.id, attributeName: "" };
    expect((await engine.eventSchemas.get("call")).item.featureDetails).toEqual(expected);
    await engine.features.update(item.id, { schemaAssociations: ["call"] });
    expect((await engine.eventSchemas.get("call")).item.featureDetails).toEqual(expected);
    await engine.features.update(item.id, { schemaAssociations: [{ schemaName: "call", attributeName: "count" }] });
    expect((await engine.eventSchemas.get("call")).item.featureDetails?.attributeName).toBe("count");
  });
});

describe("price plans as sent", () => {
  test("S16.4 are returned as sent: numbers, texts and nulls unchanged, names as ids, without defaults", async () => {
    const { engine } = engineAt("2024-03-01");
    const fee = (await engine.addOns.create({ name: "Base fee", type: "FIXED_FEE" })).item.id;
    const card = { rateValues: [{ currency: "USD", rate: 9.5 }], recurrenceConfig: { interval: null, offset: null } };
    const details = { ...monthly(), fixedFeeRateCards: [{ id: "Base fee", ...card }], rateDetails: { id: "kept" } };
    const { item } = await engine.pricePlans.create({ name: "Team", pricePlanDetails: details });
    const expected = { ...details, fixedFeeRateCards: [{ id: fee, ...card }] };
    expect((await engine.pricePlans.get(item.id)).input["pricePlanDetails"]).toEqual(expected);
    expect((await engine.pricePlans.get(item.id)).item.pricePlanDetails.fixedFeeRateCards[0]?.type).toBe("RECURRING");
  });
});

describe("lists of versioned resources", () => {
  test("a list read page by page has each schema and plan once, also if a version is created in the meantime", async () => {
    const { engine, at } = engineAt("2024-03-01");
    const names = ["a", "b", "c"];
    for (const [place, name] of names.entries()) {
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
    const [moreSchemas, morePlans] = await Promise.all([
      engine.eventSchemas.list({ page: { after: schemas.next } }),
      engine.pricePlans.list({ page: { after: plans.next } }),
    ]);
    for (const [first, more] of [
      [schemas, moreSchemas],
      [plans, morePlans],
    ] as const) {
      expect([...first.items, ...more.items].map(({ item }) => [item.name, item.version])).toEqual([
        ["c", 1],
        ["b", 1],
        ["a", 2],
      ]);
    }
  });
});
