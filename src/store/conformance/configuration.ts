/** Documents, the lock of the configuration, and its revision. */
import assert from "node:assert/strict";

import { DOCUMENT_KINDS } from "../../ledger/decision.ts";
import type { Scope } from "../store.ts";
import { sleep } from "../yielder.ts";
import { commit, type ConformanceCase, createGate, defineCase, createScope } from "./case.ts";
import { document, NOON, ODD_TEXTS, withOddKeys } from "./samples.ts";

/** A revision that a store must return exactly. */
const REVISION_MAX = Number.MAX_SAFE_INTEGER;

const EXCLUSIVE: Scope = { configuration: "exclusive", accountIds: [], eventIds: [] };

export const configurationCases: readonly ConformanceCase[] = [
  defineCase("documents of different kinds can have the same id", async (store) => {
    const documents = DOCUMENT_KINDS.map((kind) => document(kind, "same", { kind }));
    await commit(store, { documents });
    for (const kind of DOCUMENT_KINDS) {
      assert.deepEqual(await store.read.document(kind, "same"), document(kind, "same", { kind }));
      assert.deepEqual(await store.read.allDocuments(kind), [document(kind, "same", { kind })]);
    }
  }),

  defineCase("a document is read as it was written, whatever text it contains", async (store) => {
    const body = {
      texts: ODD_TEXTS,
      nested: { ...withOddKeys(), list: [1, 0.5, -1e-7, true, null, []] },
      keys: withOddKeys(),
    };
    const documents = ODD_TEXTS.map((id) => document("feature", id, { ...body, id }));
    await commit(store, { documents });
    for (const expected of documents) assert.deepEqual(await store.read.document("feature", expected.id), expected);
    assert.equal((await store.read.documentsOf("feature", ODD_TEXTS)).length, ODD_TEXTS.length);
  }),

  defineCase("a document replaces the one with its id, and a removed document is not found", async (store) => {
    await commit(store, { documents: [document("alias", "x", { old: true }), document("alias", "y")] });
    const replacement = { ...document("alias", "x", { is: "new" }), updatedAt: NOON + 5 };
    await commit(store, { documents: [replacement], removedDocuments: [{ kind: "alias", id: "y" }] });
    assert.deepEqual(await store.read.allDocuments("alias"), [replacement]);
    assert.equal(await store.read.document("alias", "y"), undefined);
    await commit(store, { removedDocuments: [{ kind: "alias", id: "never was" }] });
    await commit(store, { documents: [document("alias", "y", { again: true })] });
    assert.deepEqual(await store.read.document("alias", "y"), document("alias", "y", { again: true }));
  }),

  defineCase("missing records are read as undefined or an empty list", async ({ read }) => {
    assert.equal(await read.document("organization", "none"), undefined);
    assert.deepEqual(await read.documentsOf("customer", ["none", ""]), []);
    assert.deepEqual(await read.documentsOf("customer", []), []);
    assert.deepEqual(await read.allDocuments("pricePlan"), []);
    assert.deepEqual(await read.accounts(["none"]), []);
    assert.deepEqual(await read.accountsBehind(Infinity, 10), []);
    assert.deepEqual(await read.acceptedIds(["none"]), []);
    assert.deepEqual(await read.eventsToUndo("none", {}), []);
    assert.deepEqual(await read.usage(["none"], -Infinity, Infinity), []);
    assert.deepEqual(await read.entries([]), []);
    assert.equal(await read.lastSpent("none", "none"), undefined);
    assert.equal(await read.credit("none"), undefined);
    assert.equal(await read.invoice("none"), undefined);
  }),

  defineCase("all documents of a kind are sorted from oldest to newest, then by id", async (store) => {
    const expected = [
      document("addOn", "b", {}, NOON - 1),
      document("addOn", "a", {}, NOON),
      document("addOn", "c", {}, NOON),
    ];
    await commit(store, { documents: expected.toReversed() });
    assert.deepEqual(await store.read.allDocuments("addOn"), expected);
  }),

  defineCase("the revision is the last one that a commit set, initially 0", async (store) => {
    await commit(store, { documents: [document("setting", "s")] });
    assert.equal(await store.read.configurationRevision(), 0);
    await commit(store, { documents: [document("setting", "s")], configurationRevision: 16_777_216 });
    assert.equal(await store.read.configurationRevision(), 16_777_216);
    await commit(store, { configurationRevision: REVISION_MAX });
    await commit(store, { documents: [document("setting", "t")] });
    assert.equal(await store.read.configurationRevision(), REVISION_MAX);
  }),

  defineCase("an exclusive lock on the configuration makes all others wait", async (store) => {
    const started = createGate();
    const changing = store.transact(EXCLUSIVE, async () => {
      started.open();
      await sleep(20);
      return { result: undefined, changes: { documents: [document("setting", "s")], configurationRevision: 1 } };
    });
    await started.opened;
    const readValues = await store.transact(createScope(["a"]), async (view) => {
      const document = await view.document("setting", "s");
      return { result: [document?.id, await view.configurationRevision()], changes: {} };
    });
    await changing;
    assert.deepEqual(readValues, ["s", await store.read.configurationRevision()]);
  }),

  defineCase("the configuration does not change while it is locked as shared", async (store) => {
    const started = createGate();
    const reading = store.transact(createScope(["a"]), async (view) => {
      const before = await view.configurationRevision();
      started.open();
      await sleep(20);
      return { result: [before, await view.configurationRevision()], changes: {} };
    });
    await started.opened;
    const changing = store.transact(EXCLUSIVE, async () => ({
      result: undefined,
      changes: { configurationRevision: 1 },
    }));
    const [[before, after]] = await Promise.all([reading, changing]);
    assert.equal(after, before);
  }),

  defineCase("changes to the configuration run one after another", async (store) => {
    const increment = (): Promise<void> =>
      store.transact(EXCLUSIVE, async (view) => {
        const { count = 0 } = (await view.document("setting", "s"))?.body ?? {};
        await sleep(1);
        const documents = [document("setting", "s", { count: Number(count) + 1 })];
        return { result: undefined, changes: { documents, configurationRevision: 2 } };
      });
    await Promise.all(Array.from({ length: 10 }, increment));
    assert.deepEqual((await store.read.document("setting", "s"))?.body, { count: 10 });
  }),
];
