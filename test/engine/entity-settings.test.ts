/** Settings that are created with a customer or an account, in one commit (S4.2). */
import { describe, expect, test } from "vitest";

import { callEvent, engineAt, describeRefusal } from "./support.ts";

const limit = (value: string) => ({
  id: "limit",
  namespace: "USER",
  name: "Limit",
  dataType: "NUMERIC" as const,
  value,
});
const TIER = { id: "tier", namespace: "user", name: "Tier", dataType: "STRING" as const, value: "gold" };

describe("settings created with their owner", () => {
  test("S4.2 a customer and its account are created with their settings, and events use the account's first", async () => {
    const { engine } = engineAt("2024-03-01");
    await engine.settings.create(limit("1"));
    await engine.customers.create({
      id: "acme",
      name: "Acme",
      settings: [limit("2"), TIER],
      account: { id: "prod", name: "Acme prod", settings: [limit("3")] },
    });
    await engine.accounts.create({ id: "test", name: "Acme test", customerId: "acme" });
    const own = await engine.settings.of("ACCOUNT", ["prod", "test", "nobody"]);
    expect([...own.keys()]).toEqual(["prod"]);
    expect(own.get("prod")?.map(({ item }) => [item.id, item.value, item.entityId])).toEqual([["limit", "3", "prod"]]);
    const customers = await engine.settings.of("CUSTOMER", ["acme"]);
    expect(customers.get("acme")?.map(({ item }) => item.value)).toEqual(["2", "gold"]);

    const limitField = { name: "limit", type: "ATTRIBUTE", enrichmentType: "JSON_LOGIC", order: 1 } as const;
    await engine.eventSchemas.create({
      name: "call",
      attributes: [{ name: "count" }],
      dimensions: [{ name: "region" }],
      enrichments: {
        dependencies: [{ type: "SETTING", key: "setting.user.limit", name: "limit" }],
        fields: [{ ...limitField, value: '{"var":"dependencies.limit"}' }],
      },
    });
    await engine.eventSchemas.activate("call");
    await engine.ingest([callEvent("e1", "2024-03-01T00:00:00Z"), callEvent("e2", "2024-03-01T00:00:00Z", 1, "test")]);
    const events = [...(await engine.events.get("e1")), ...(await engine.events.get("e2"))];
    const values = events.map(({ enriched }) => enriched.attributes[0]?.value);
    expect(values.map(String)).toEqual(["3", "2"]);
  });

  test.each([
    ["a value that is not a number", [limit("much")], /^ERR_INPUT_INVALID settings\[0\]\.value: /],
    [
      "a duplicate setting",
      [limit("1"), { ...limit("2"), namespace: "user" }],
      'ERR_INPUT_INVALID settings[1].id: the setting "limit" is repeated',
    ],
    [
      "eleven settings",
      Array.from({ length: 11 }, (_, at) => ({ ...limit("5"), id: `s${at}` })),
      /^ERR_INPUT_INVALID settings: expected at most 10/,
    ],
  ])("%s is rejected, and neither account nor setting is created", async (_, settings, sentence) => {
    const { engine, store } = engineAt("2024-03-01");
    await engine.customers.create({ id: "acme", name: "Acme" });
    const before = store.snapshot();
    const account = { id: "prod", name: "Acme prod", settings };
    expect(await describeRefusal(engine.accounts.create({ ...account, customerId: "acme" }))).toMatch(sentence);
    const path = await describeRefusal(engine.customers.create({ id: "globex", name: "Globex", account }));
    expect(path).toContain("account.settings");
    expect(store.snapshot()).toBe(before);
  });

  test("an account id in use is reported before problems of its settings", async () => {
    const { engine } = engineAt("2024-03-01");
    const account = { id: "prod", name: "Prod", settings: [TIER] };
    await engine.customers.create({ id: "acme", name: "Acme", account });
    const again = engine.accounts.create({ ...account, customerId: "acme" });
    expect(await describeRefusal(again)).toBe('ERR_TAKEN the account id "prod" is taken');
  });
});
