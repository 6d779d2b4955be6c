import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { LedgerView } from "../../src/ledger/view.ts";
import { storeConformance } from "../../src/store/conformance.ts";
import { commit } from "../../src/store/conformance/case.ts";
import {
  account,
  cell,
  consumption,
  event,
  invoice,
  LONG,
  NOON,
  ODD_TEXTS,
} from "../../src/store/conformance/samples.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { createSortedList } from "../../src/store/memory/records.ts";
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
    await commit(store, changes);
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
    await expect(commit(store, {})).rejects.toMatchObject({ code: "ERR_STORE_UNAVAILABLE" });
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
});

interface Item {
  readonly key: number;
}

/** Keys of up to several sorted parts: ascending, descending or mixed. */
const keys = fc
  .tuple(fc.nat(1_500), fc.nat(50_000), fc.constantFrom(1, -1, 7_919))
  .map(([count, start, step]) => Array.from({ length: count }, (_, index) => (start + step * index + 50_021) % 50_021));
const change = fc.record({
  added: keys,
  removed: keys,
  start: fc.nat(50_021),
  limit: fc.integer({ min: 1, max: 100 }),
});

function takeFirst<Value>(values: Iterable<Value>, limit: number): readonly Value[] {
  const first: Value[] = [];
  for (const value of values) {
    if (first.length === limit) break;
    first.push(value);
  }
  return first;
}

test("a sorted list has the items of a sorted array after any additions and removals", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
      const list = createSortedList<Item>((a, b) => a.key - b.key);
      const items = new Map<number, Item>();
      for (const { added, removed, start, limit } of changes) {
        for (const key of added) {
          if (items.has(key)) continue;
          items.set(key, { key });
          list.add(items.get(key) ?? { key });
        }
        for (const key of removed) {
          const item = items.get(key);
          if (item !== undefined) list.remove(item);
          items.delete(key);
        }
        const sorted = [...items.values()].toSorted((a, b) => a.key - b.key);
        const page = takeFirst(
          list.from(({ key }) => key < start),
          limit,
        );
        expect(page).toEqual(sorted.filter((item) => item.key >= start).slice(0, limit));
        expect([...list.from()]).toEqual(sorted);
      }
    }),
    { numRuns: 30 },
  );
});
