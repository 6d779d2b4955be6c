/** What accounts have: feature credits, credits, aliases, migrations; and the bodies that all answers share. */
import { expect } from "vitest";

import { type Api, type Json, oncePerServer, uniqueText, unique } from "./api.ts";
import { type Case, expectRefused, ruleCases, tableCases } from "./case.ts";
import { figureIn } from "./reference.ts";
import { aFeature, anAccount, aPlan, aSchema } from "./resources.ts";

/** An account with a purchased entry of a feature. */
export async function anEntry(api: Api): Promise<Json> {
  const accountId = await anAccount(api);
  const schema = await aSchema(api);
  const featureId = await aFeature(api, schema);
  const path = `/accounts/${accountId}/features/${featureId}/entries`;
  const entry = await api.callOk(`POST ${path}`, {
    granted: 12.5,
    effectiveFrom: "2024-06-01",
    effectiveUntil: "2024-07-01",
  });
  return { accountId, schema, featureId, path, entry };
}

/** A credit of a separate account. */
export async function aCredit(api: Api): Promise<Json> {
  const accountId = await anAccount(api);
  const request = { accountId, purpose: "Welcome", creditAmount: 20.5, priority: 1, effectiveFrom: "2024-06-01" };
  const { credits } = await api.callOk("POST /credits", {
    creditRequests: [{ ...request, effectiveUntil: "2025-01-01" }],
  });
  return credits[0];
}

/** Two plans with the same cycles, and an account on the first. */
export async function aMigration(api: Api, target: Json = {}): Promise<Json> {
  const accountId = await anAccount(api);
  // It has a price, so that each cycle has an invoice.
  const minimumCommitment = { displayName: "At least", rateValues: [{ currency: "USD", rate: 10 }] };
  const sourceId = await aPlan(api, { minimumCommitment });
  const targetId = await aPlan(api, { minimumCommitment, ...target });
  await api.callOk(`POST /accounts/${accountId}/price_plans`, { pricePlanId: sourceId, effectiveFrom: "2024-06-01" });
  const body = {
    sourceId,
    sourceVersion: 1,
    targetId,
    targetVersion: 1,
    migrationMode: "IMMEDIATE",
    retainStartOffsets: false,
  };
  return { accountId, body };
}

/** Migrations that would retain start offsets: of other intervals, and with a next cycle without a plan. */
export async function refusedMigrations(api: Api): Promise<readonly [intervals: Json, noPlan: Json]> {
  const yearly = await aMigration(api, { pricingCycleConfig: { interval: "ANNUALLY", anniversaryCycle: true } });
  const { accountId, body } = await aMigration(api);
  await api.callOk(`POST /accounts/${accountId}/price_plans`, { mode: "DISASSOCIATE", effectiveFrom: "2024-07-01" });
  const retained = { retainStartOffsets: true };
  return [
    { ...yearly.body, ...retained },
    { ...body, migrationMode: "NEXT_CYCLE", ...retained },
  ];
}

/** A list accepts pages up to a size, and has a default. */
export async function expectPageSizes(api: Api, path: string, most: number, usual: number): Promise<void> {
  const listWith = async (pageSize: number) => api.ask(`GET ${path}`, { query: { pageSize: String(pageSize) } });
  expect((await api.callOk(`GET ${path}`)).context.pageSize).toBe(usual);
  expect((await listWith(most)).json.context.pageSize).toBe(most);
  await expectRefused(listWith(most + 1), "pageSize");
}

/** Rejected requests have one message of bounded length, whatever they contain. */
export async function expectMessages(api: Api, most: number): Promise<void> {
  expect(api.document.components.schemas.Error.properties.message.maxLength).toBe(most);
  const long = uniqueText(4000);
  // Thirty aliases of fifty characters that are all taken, each twice, exceed the length of a message.
  const aliases = Array.from({ length: 30 }, () => ({ value: uniqueText(50) }));
  const answers = [
    await api.ask("POST /customers", { body: { [long]: long } }),
    await api.ask("POST /price_plans", { body: { name: "A plan", pricePlanDetails: { type: long } } }),
    await api.ask(`GET /features/${long}`),
    await api.ask("GET /features", { query: { [long]: long } }),
    await api.ask(`GET /${long}`),
    await api.ask("POST /ingest", { body: { event: { id: long, schemaName: long, [long]: long } } }),
    await api.ask("POST /aliases", { body: { aliases: [...aliases, ...aliases] } }),
    await api.ask("POST /aliases", { body: { [uniqueText(9000)]: 1 } }),
    await api.ask("POST /aliases", { body: { aliases: uniqueText(9000) } }),
  ];
  for (const { status, json } of answers) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(Object.keys(json)).toEqual(["message"]);
    expect(json.message.length).toBeGreaterThan(0);
    expect(json.message.length).toBeLessThanOrEqual(most);
  }
}

/** The migrations of a server, at least one. */
export const migrations = oncePerServer(async (api): Promise<readonly Json[]> => {
  const { body } = await aMigration(api);
  await api.callOk("POST /migrations/price_plan", body);
  return (await api.callOk("GET /migrations")).data;
});

/** Pages of a list with one item per page. */
export async function listPages(api: Api, path: string, query: Readonly<Record<string, string>> = {}): Promise<Json[]> {
  const pages = [(await api.ask(`GET ${path}`, { query: { ...query, pageSize: "1" } })).json];
  while (typeof pages.at(-1).nextToken === "string") {
    pages.push((await api.ask(`GET ${path}`, { query: { nextToken: pages.at(-1).nextToken } })).json);
  }
  return pages;
}

const someFeatures = oncePerServer(async (api) => {
  for (const name of [unique("f"), unique("f"), unique("f")]) await api.callOk("POST /features", { name });
  return listPages(api, "/features");
});

/** Cases of what accounts have. */
export const HOLDING_CASES: readonly Case[] = [
  ...tableCases({
    table: "Feature credit entry",
    component: "FeatureCreditEntry",
    samples: async (api) => {
      const { path, entry } = await anEntry(api);
      const { data } = await api.callOk(`GET ${path}`);
      expect(data).toEqual([entry]);
      return [entry];
    },
  }),
  ...tableCases({
    table: "Credit",
    component: "Credit",
    samples: async (api) => {
      const credit = await aCredit(api);
      const [voided] = await api.callOk(`POST /credits/${credit.id}/void`);
      return [credit, voided];
    },
  }),
  ...tableCases({
    table: "Alias list entry",
    component: "Alias",
    samples: async (api) => {
      await anAccount(api, { aliases: [unique("alias")] });
      return (await api.callOk("GET /aliases")).data;
    },
  }),
  ...tableCases({
    table: "Migration list entry",
    component: "Migration",
    samples: migrations,
  }),
  ...ruleCases("Paged list envelope", {
    data: async (api) => {
      const pages = await someFeatures(api);
      expect(pages.map(({ data }) => data.length)).toEqual(pages.map(() => 1));
    },
    nextToken: async (api) => {
      const tokens = (await someFeatures(api)).map(({ nextToken }) => nextToken);
      expect(tokens.length).toBeGreaterThanOrEqual(3);
      expect(tokens.at(-1)).toBeNull();
      expect(tokens.slice(0, -1).filter((token) => typeof token !== "string")).toEqual([]);
    },
    context: async (api) => {
      for (const page of await someFeatures(api)) expect(page.context).toEqual({ pageSize: 1 });
      await migrations(api);
      expect((await api.callOk("GET /migrations")).context).toEqual({ pageSize: 20 });
    },
  }),
  ...ruleCases("Error body", {
    message: async (api, { notes }) => {
      expect(notes).toContain("required");
      await expectMessages(api, figureIn(notes));
    },
  }),
  ...ruleCases("Base success body", {
    success: async (api) => {
      const id = await anAccount(api);
      expect(await api.callOk(`DELETE /accounts/${id}`)).toEqual({ success: true });
    },
  }),
];
