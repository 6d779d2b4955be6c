import { describe, expect, test } from "vitest";

import type { Changes } from "../../src/ledger/decision.ts";
import type { LedgerView } from "../../src/ledger/view.ts";
import { storeConformance } from "../../src/store/conformance.ts";
import { endUnreadable } from "../../src/store/conformance/random-steps.ts";
import {
  account,
  billedUsage,
  cell,
  credit,
  document,
  entry,
  event,
  invoice,
  newEvent,
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

function commit(store: Store, changes: Changes): Promise<void> {
  const scope = { configuration: "exclusive", accountIds: ["a", "b"], eventIds: [] } as const;
  return store.transact(scope, async () => ({ result: undefined, changes }));
}

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

  test("S14.1 the event ingested last reserves a reused id, until it is undone or deleted; usage stays", async () => {
    const store = memoryStore();
    const [first, last] = [event("b", 1, { eventId: "same" }), event("a", 9, { eventId: "same" })];
    const readHolders = async (): Promise<readonly string[]> =>
      (await store.read.acceptedIds(["same"])).map(({ referenceId }) => referenceId);
    await commit(store, { events: [first], usage: [cell("b", "m", 0, "2")] });
    await commit(store, { events: [last] });
    expect(await readHolders()).toEqual([last.referenceId]);
    await commit(store, { events: [{ ...last, reverted: true }] });
    expect(await readHolders()).toEqual([first.referenceId]);
    await commit(store, { removedEvents: [first, { referenceId: "none", eventId: "none" }] });
    expect(await readHolders()).toEqual([]);
    expect(await store.read.events({}, { limit: 9 })).toEqual([{ ...last, reverted: true }]);
    expect(await store.read.usage(["b"], 0, 1)).toHaveLength(1);
  });

  test("rejects a new event with an existing reference id, and writes nothing", async () => {
    const store = memoryStore();
    const first = event("a", 1);
    await commit(store, { events: [first] });
    const { referenceId } = first;
    const again = newEvent(event("b", 1, { referenceId, eventId: "other" }));
    await expect(commit(store, { newEvents: [again], usage: [cell("a", "m", 0, "1")] })).rejects.toMatchObject({
      code: "ERR_TAKEN",
      message: `the reference id "${referenceId}" is taken: the id source returned it twice`,
      details: { resource: "event", id: referenceId },
    });
    expect(await store.read.events({}, { limit: 9 })).toEqual([first]);
    expect(await store.read.acceptedIds(["other"])).toEqual([]);
    expect(await store.read.usage(["a"], 0, 1)).toEqual([]);
  });

  test.each([
    "documents",
    "accounts",
    "newEvents",
    "events",
    "usage",
    "overage",
    "entries",
    "credits",
    "invoices",
  ] as const)("writes nothing if a commit fails at its last record of %s, which can be repeated", async (kind) => {
    const store = memoryStore();
    const empty = store.snapshot();
    const everything = {
      documents: [document("setting", "s.one")],
      accounts: [account("a")],
      newEvents: [newEvent(event("a", 2))],
      events: [event("a", 1)],
      usage: [cell("a", "um.tokens", 0, "1")],
      overage: [cell("a", "f.one", 0, "1")],
      entries: [entry("a", "e.one")],
      credits: [credit("a", "c.one")],
      invoices: [invoice("a", "i.one")],
      billedUsage: [billedUsage("a", "i.one", 0, 1)],
    };
    await expect(commit(store, endUnreadable(everything, kind))).rejects.toThrow("this record cannot be read");
    expect(store.snapshot()).toBe(empty);
    await commit(store, everything);
    const { read } = store;
    const lists = await Promise.all([
      read.allDocuments("setting"),
      read.accounts(["a"]),
      read.events({}, { limit: 9 }),
      read.usage(["a"], 0, 1),
      read.overage(["a"], 0, 1),
      read.entries(["a"]),
      read.credits(["a"]),
      read.invoices(["a"], -Infinity),
      read.billedUsage(["a"], 0, 1),
    ]);
    expect(lists.map((list) => list.length)).toEqual([1, 1, 2, 1, 1, 1, 1, 1, 1]);
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
