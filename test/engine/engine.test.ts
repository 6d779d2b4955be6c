/** Creating an engine, and the store that it shares with a server over it. */
import { describe, expect, test } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import { activeSchema, engineAt } from "./support.ts";

describe("an engine", () => {
  test.each([[undefined], [null], [{}], [{ store: null }], [{ store: {} }]])(
    "is rejected without a store: %j",
    (options) => {
      expect(() => createEngine(options as never)).toThrow(
        expect.objectContaining({
          code: "ERR_OPTION_INVALID",
          message: "store: missing: expected a store, such as memoryStore() or await postgresStore(client)",
          details: { option: "store" },
        }),
      );
    },
  );

  test("shares its store with a server, whose own documents are not part of the configuration", async () => {
    const { engine, store } = engineAt("2024-03-01");
    expect(engine.store).toBe(store);
    await activeSchema(engine);
    const revision = await store.read.configurationRevision();
    const own = (["apiKey", "serverSecret"] as const).map((kind) => ({
      kind,
      id: "one",
      createdAt: 1,
      updatedAt: 1,
      body: { name: "One" },
    }));
    const scope = { configuration: "exclusive", accountIds: [], eventIds: [] } as const;
    await engine.store.transact(scope, async () => ({ result: undefined, changes: { documents: own } }));
    expect(await engine.store.read.documents("apiKey", { limit: 9 })).toEqual([own[0]]);
    expect(await engine.store.read.document("serverSecret", "one")).toEqual(own[1]);
    expect(await store.read.configurationRevision()).toBe(revision);
    expect((await engine.eventSchemas.list()).items).toHaveLength(1);
  });
});
