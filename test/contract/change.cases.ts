/** Changes of event schemas and migrations of price plans, field by field. */
import { expect } from "vitest";

import { type ApiAnswer, type Api, type Json, uniqueText, unique } from "./api.ts";
import { type Case, expectRefused, ruleCases } from "./case.ts";
import { aMigration, refusedMigrations } from "./holdings.cases.ts";
import { figureIn, type Row } from "./reference.ts";
import { anAccount, MONTHLY } from "./resources.ts";
import { listMismatches, parseType, listUnseen, valuesIn } from "./types.ts";

async function aDraft(api: Api): Promise<string> {
  const body = { name: unique("schema"), attributes: [{ name: "count" }], dimensions: [{ name: "region" }] };
  return (await api.callOk("POST /event_schema", body)).name;
}

const patchSchema = async (api: Api, name: string, body: Json): Promise<ApiAnswer> =>
  api.ask(`PATCH /event_schema/${name}`, { body });

/** Answers show the field as patched. */
const isKept =
  (field: string, value: Json) =>
  async (api: Api, { type }: Row): Promise<void> => {
    expect(listMismatches(parseType(type), value, field)).toEqual([]);
    const name = await aDraft(api);
    expect((await patchSchema(api, name, { [field]: value })).json[field]).toEqual(value);
    expect((await api.callOk(`GET /event_schema/${name}`))[field]).toEqual(value);
  };

const DOUBLE = '{"*":[{"var":"attribute.count"},{"var":"dependencies.rates"}]}';

/** A schema with enrichments: an attribute computed from a setting, and a dimension from that attribute. */
async function enrichments(api: Api): Promise<Json> {
  const id = unique("rates");
  const { id: key } = await api.callOk("POST /settings", {
    id,
    namespace: "USER",
    name: "Rates",
    dataType: "JSON",
    value: "3",
  });
  return {
    dependencies: [{ type: "SETTING", key, name: "rates" }],
    fields: [
      {
        name: "size",
        type: "DIMENSION",
        enrichmentType: "JSON_LOGIC",
        value: '{"if":[{">":[{"var":"attribute.all"},10]},"big","small"]}',
        order: 2,
      },
      { name: "all", type: "ATTRIBUTE", enrichmentType: "JSON_LOGIC", value: DOUBLE, order: 1 },
    ],
  };
}

const checkEnrichment =
  (part: "dependencies" | "fields") =>
  async (api: Api, { type }: Row): Promise<void> => {
    const enrichmentInput = await enrichments(api);
    const name = await aDraft(api);
    const { json } = await patchSchema(api, name, { enrichments: enrichmentInput });
    expect(listUnseen(parseType(type), [enrichmentInput[part]], part)).toEqual([]);
    expect(listMismatches(parseType(type), enrichmentInput[part], part)).toEqual([]);
    expect(json.enrichments[part]).toHaveLength(enrichmentInput[part].length);
    // Rules read earlier enrichments by order, and the setting by name: 5 × 3 = 15.
    await api.callOk(`POST /event_schema/${name}/activate`);
    const accountId = await anAccount(api);
    const event = { id: unique("e"), schemaName: name, accountId, timestamp: "2024-06-15T11:00:00Z" };
    const attributes = [{ name: "count", value: 5 }];
    await api.callOk("POST /ingest", { event: { ...event, attributes, dimensions: { region: "eu" } } });
    const { events } = await api.callOk(`GET /events/${event.id}`);
    expect([events[0].enrichedAttributes, events[0].enrichedDimensions]).toEqual([
      [{ name: "all", value: 15 }],
      { size: "big" },
    ]);
    const wrong = { ...enrichmentInput, [part]: [{ ...enrichmentInput[part][0], type: "NO_SUCH_TYPE" }] };
    await expectRefused(patchSchema(api, await aDraft(api), { enrichments: wrong }), `${part}[0].type`);
  };

const SCHEMA_CASES: readonly Case[] = ruleCases("Update event schema", {
  description: isKept("description", "Another"),
  status: async (api, { type }) => {
    const name = await aDraft(api);
    const states = valuesIn(type);
    expect(parseType(type).kind).toBe("string");
    expect(states).toEqual(["DRAFT", "ACTIVE", "INACTIVE", "ARCHIVED"]);
    // Each is the next state after the one before; the first has none.
    for (const status of states) expect((await patchSchema(api, name, { status })).json.status).toBe(status);
    await expectRefused(patchSchema(api, await aDraft(api), { status: "DELETED" }), "status");
  },
  attributes: isKept("attributes", [{ name: "count" }, { name: "more" }]),
  dimensions: isKept("dimensions", [{ name: "zone" }]),
  enrichments: async (api) => {
    const enrichmentInput = await enrichments(api);
    const { json } = await patchSchema(api, await aDraft(api), { enrichments: enrichmentInput });
    expect(Object.keys(json.enrichments).toSorted()).toEqual(["dependencies", "fields"]);
  },
  dependencies: checkEnrichment("dependencies"),
  fields: checkEnrichment("fields"),
});

const migrate = async (api: Api, body: Json): Promise<ApiAnswer> => api.ask("POST /migrations/price_plan", { body });

/** The id of a source or target plan: an unknown one and one that is too long are a 400. */
const checkPlanId =
  (name: string) =>
  async (api: Api, { type, notes }: Row): Promise<void> => {
    const { accountId, body } = await aMigration(api);
    expect(listMismatches(parseType(type), body[name], name)).toEqual([]);
    const most = figureIn(notes);
    await expectRefused(
      migrate(api, { ...body, [name]: uniqueText(most + 1) }),
      `${name}: expected at most ${most} characters`,
    );
    await expectRefused(migrate(api, { ...body, [name]: uniqueText(most) }), "no price plan");
    expect((await migrate(api, body)).json).toEqual({ success: true });
    const { data } = await api.callOk(`GET /accounts/${accountId}/pricing_schedules`);
    expect(data.at(-1).pricePlanId).toBe(body.targetId);
  };

const version =
  (name: string) =>
  async (api: Api, { type }: Row): Promise<void> => {
    const { body } = await aMigration(api);
    expect(listMismatches(parseType(type), body[name], name)).toEqual([]);
    for (const wrong of [0, 1.5, "1", 2]) expect((await migrate(api, { ...body, [name]: wrong })).status).toBe(400);
    expect((await migrate(api, { ...body, [name]: 1 })).status).toBe(200);
  };

const onDay = (dayOffset: string): Json => ({ ...MONTHLY, startOffset: { dayOffset, monthOffset: "NIL" } });

/** The end of the current cycle after a migration from cycles of the first to those of the fifteenth. */
async function endAfter(api: Api, fields: Json): Promise<string> {
  const { accountId, body } = await aMigration(api, { pricingCycleConfig: onDay("15") });
  await api.callOk("POST /migrations/price_plan", { ...body, ...fields });
  const { data } = await api.callOk(`GET /invoices?account_id=${accountId}`);
  return data[0].endDate.slice(0, 10);
}

const MIGRATION_CASES: readonly Case[] = ruleCases("Migrate price plan", {
  sourceId: checkPlanId("sourceId"),
  sourceVersion: version("sourceVersion"),
  targetId: checkPlanId("targetId"),
  targetVersion: version("targetVersion"),
  migrationMode: async (api, { type, notes }) => {
    expect(parseType(type).kind).toBe("string");
    const modes = valuesIn(notes);
    expect(modes).toHaveLength(4);
    for (const migrationMode of modes) {
      const { accountId, body } = await aMigration(api);
      expect((await migrate(api, { ...body, migrationMode })).json).toEqual({ success: true });
      const { data } = await api.callOk(`GET /accounts/${accountId}/pricing_schedules`);
      const begin = migrationMode.startsWith("NEXT") ? "2024-07-01" : "2024-06-15";
      expect([migrationMode, data.at(-1).startDate.slice(0, 10)]).toEqual([migrationMode, begin]);
    }
    const { body } = await aMigration(api);
    await expectRefused(migrate(api, { ...body, migrationMode: "LATER" }), "migrationMode");
  },
  retainStartOffsets: async (api, { type }) => {
    expect(parseType(type).kind).toBe("boolean");
    expect(await endAfter(api, { retainStartOffsets: false })).toBe("2024-07-15");
    expect(await endAfter(api, { retainStartOffsets: true })).toBe("2024-07-01");
    const override = { pricePlanDetailsOverride: { pricingCycleConfig: onDay("20") } };
    expect(await endAfter(api, { retainStartOffsets: false, ...override })).toBe("2024-06-20");
    const { body } = await aMigration(api);
    await expectRefused(migrate(api, { ...body, retainStartOffsets: "true" }), "retainStartOffsets");
  },
  "rule 1": async (api, { type }) => {
    expect(type).toMatch(/ 400\.$/);
    const [body] = await refusedMigrations(api);
    await expectRefused(migrate(api, body), "interval");
    expect((await migrate(api, { ...body, retainStartOffsets: false })).status).toBe(200);
  },
  "rule 2": async (api, { type }) => {
    expect(type).toMatch(/ 400\.$/);
    const [, body] = await refusedMigrations(api);
    await expectRefused(migrate(api, body), "start offsets");
    expect((await migrate(api, { ...body, retainStartOffsets: false })).status).toBe(200);
  },
  "rule 3": async (api) => {
    const { body } = await aMigration(api);
    expect((await migrate(api, body)).json).toEqual({ success: true });
  },
});

/** Cases of changes. */
export const CHANGE_CASES: readonly Case[] = [...SCHEMA_CASES, ...MIGRATION_CASES];
