import { describe, expect, test } from "vitest";

import type { LedgerView } from "../../src/ledger/view.ts";
import { storeConformance } from "../../src/store/conformance.ts";
import {
  account,
  cell,
  event,
  invoice,
  LONG,
  NOON,
  ODD_TEXTS,
  consumption,
} from "../../src/store/conformance/samples.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import type { Store } from "../../src/store/store.ts";

describe("the storage port: memory", () => {
  for (const { name, run } of storeConformance) {
    test(name, () => run(async () => memoryStore()));
  }
});

/** A memory store whose readers use another store restored from its snapshot. */
function readThroughSnapshots(): Store {
  const store = memoryStore();
  const read = new Proxy<LedgerView>(store.read, {
    get: (_, name) => Reflect.get(memoryStore({ snapshot: store.snapshot() }).read, name) as unknown,
  });
  return { ...store, read };
}

describe("the storage port: memory, read through snapshots", () => {
  for (const { name, run } of storeConformance) {
    test(name, () => run(async () => readThroughSnapshots()));
  }
});

describe("a memory store", () => {
  test("gives the same snapshot after it was restored from one", async () => {
    const store = memoryStore();
    const changes = {
      documents: [{ kind: "setting", id: "#", createdAt: NOON, updatedAt: NOON, body: { texts: ODD_TEXTS } }],
      accounts: [account("a", { nextDueAt: Infinity, metadata: { long: LONG } })],
      events: [event("a", 1, { feature: consumption("f.one", 2) })],
      invoices: [invoice("a", "i.one")],
      configurationRevision: 7,
    } as const;
    await store.transact({ configuration: "exclusive", accountIds: ["a"], eventIds: [] }, async () => ({
      result: undefined,
      changes,
    }));
    const snapshot = store.snapshot();
    const copy = memoryStore({ snapshot });
    expect(copy.snapshot()).toBe(snapshot);
    expect(await copy.read.accounts(["a"])).toEqual(changes.accounts);
    expect(await copy.read.configurationRevision()).toBe(await store.read.configurationRevision());
  });

  test.each([
    "",
    "{",
    "null",
    "[]",
    "1",
    '{"format":"something else"}',
    '{"format":"ratebook memory store","version":2}',
  ])("rejects %j as a snapshot", (snapshot) => {
    expect(() => memoryStore({ snapshot })).toThrow(expect.objectContaining({ code: "ERR_JSON_INVALID" }));
  });

  test("is not available once it is closed", async () => {
    const store = memoryStore();
    await store.close();
    const scope = { configuration: "shared", accountIds: [], eventIds: [] } as const;
    await expect(store.transact(scope, async () => ({ result: 1, changes: {} }))).rejects.toMatchObject({
      code: "ERR_STORE_UNAVAILABLE",
    });
  });

  test("S1.4 rejects a sum beyond 100 digits and changes nothing", async () => {
    const store = memoryStore();
    const scope = { configuration: "shared", accountIds: ["a"], eventIds: [] } as const;
    const addCells = (usage: string, overage: string): Promise<void> =>
      store.transact(scope, async () => ({
        result: undefined,
        changes: {
          usage: [cell("a", "m", 0, usage)],
          overage: [cell("a", "f", 0, overage)],
        },
      }));
    await addCells("1", "1e90");
    await expect(addCells("1", "1e-20")).rejects.toMatchObject({ code: "ERR_ARITHMETIC" });
    expect((await store.read.usage(["a"], 0, 1)).map(({ quantity }) => quantity.toFixed())).toEqual(["1"]);
  });
});
