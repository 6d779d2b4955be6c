/** Rules that random histories do not reach: sums, numbers of events, taken ids, sizes of commits and of texts. */
import assert from "node:assert/strict";

import type { UsageGroup } from "../../book/resources/event-schema.ts";
import type { Changes } from "../../ledger/decision.ts";
import type { NewEvent, UsageDelta } from "../../ledger/records.ts";
import type { LedgerView, PageRequest } from "../../ledger/view.ts";
import { formatDecimal } from "../../numbers/decimal.ts";
import { commit, type ConformanceCase, createScope, defineCase } from "./case.ts";
import { createRandom, MAKERS } from "./random-records.ts";
import { account, cell, entry, event, groupCell, newEvent, NOON, ODD_TEXTS, toLedgerCell, TODAY } from "./samples.ts";

const ALL: PageRequest = { limit: 99 };
const BATCH = 1000;
const CELLS = 10_000;

type Kind = keyof typeof MAKERS;
/** How to read a record of each kind if its own id is also that of its account. */
const READ_BACK: { readonly [Part in Kind]: (view: LedgerView, id: string) => Promise<readonly unknown[]> } = {
  documents: async (view, id) =>
    (await Promise.all([view.document("feature", id), view.document("setting", id)])).filter((found) => found),
  accounts: (view, id) => view.accounts([id]),
  events: (view, id) => view.events({ accountId: id, eventId: id, referenceId: id }, ALL),
  entries: (view, id) => view.entries([id]),
  credits: (view, id) => view.creditList({ accountId: id }, ALL),
  invoices: (view, id) => view.invoiceList({ accountId: id }, ALL),
  billedUsage: (view, id) => view.billedUsage([id], -Infinity, Infinity),
};

/** The cells of account `a` today, as texts. */
async function readSums(view: LedgerView, kind: "usage" | "overage"): Promise<readonly string[]> {
  const cells = await view[kind](["a"], TODAY, TODAY + 1);
  return cells.map((each) => `${each.meterOrFeatureId} ${formatDecimal(each.quantity)}`).toSorted();
}

export const ruleCases: readonly ConformanceCase[] = [
  ...(["usage", "overage"] as const).map((kind) =>
    defineCase(`sums of ${kind} are exact up to 100 digits; longer ones are rejected`, async (store) => {
      const put = (...deltas: readonly UsageDelta[]): Promise<void> => commit(store, { [kind]: deltas });
      const [whole, fraction] = ["9".repeat(60), "0".repeat(39)];
      await put(cell("a", "m", TODAY, whole));
      await put(cell("a", "m", TODAY, `0.${fraction}3`));
      const expectedError = { code: "ERR_ARITHMETIC" };
      await assert.rejects(put(cell("a", "m", TODAY, `0.${fraction}01`)), expectedError);
      await assert.rejects(put(cell("a", "n", TODAY, "5"), cell("a", "m", TODAY, "1")), expectedError);
      assert.deepEqual(await readSums(store.read, kind), [`m ${whole}.${fraction}3`]);
      await put(cell("a", "m", TODAY, `-${whole}`), cell("a", "n", TODAY, "1e1000"));
      assert.deepEqual(await readSums(store.read, kind), [`m 0.${fraction}3`, `n 1${"0".repeat(1000)}`]);
      await assert.rejects(put(cell("a", "n", TODAY, "9e1000")), expectedError);
    }),
  ),

  defineCase("usage is added by group, and separate from usage without one", async (store) => {
    const put = (...usage: readonly UsageDelta[]): Promise<void> => commit(store, { usage });
    const long = ["x".repeat(512), "🧾".repeat(256), "\u0000", "half \ud83d"];
    const longest = ["a", "b"].map((end) => ["w", "x", "y", "z"].map((text) => text.repeat(511) + end));
    const odd = ODD_TEXTS.map((text) => ["nova", text]);
    const groups = [...odd, long, [...long.slice(0, 3), "half \ud83e"], ...longest, ["nova"]];
    const changes = groups.map((group) => groupCell(group, "a", "m", TODAY, "1.5"));
    await put(...changes, ...changes, cell("a", "m", TODAY, "7"));
    await put(...changes, groupCell(["nova"], "a", "m", TODAY + 1, "1"));
    const cells = await store.read.usage(["a"], TODAY, TODAY + 1);
    const listedCells = cells.map(({ group, quantity }) => `${JSON.stringify(group)} ${formatDecimal(quantity)}`);
    const expected = groups.map((group) => `${JSON.stringify(group)} 4.5`);
    assert.deepEqual(listedCells.toSorted(), [...expected, "undefined 7"].toSorted());
  }),

  defineCase("new events get the next numbers, in their order; a changed event keeps its number", async (store) => {
    const place = (accountId: string, number: number): NewEvent => newEvent(event(accountId, number));
    await commit(store, { events: [event("a", 1)] });
    await commit(store, { newEvents: [place("a", 9), place("a", 2), place("b", 1), place("a", 5)] });
    await commit(store, { newEvents: [place("a", 3), place("a", 8)] });
    const events = await store.read.eventsToUndo("a", {});
    assert.deepEqual(
      events.map((each) => each.eventId),
      [1, 9, 2, 5, 3, 8].map((number) => `event.a.${number}`),
    );
    for (const [index, { number }] of events.entries())
      assert.ok(Number.isSafeInteger(number) && number > (events[index - 1]?.number ?? 0), `numbers ascend: ${number}`);
    const changedEvents = events.map((each) => ({ ...each, customerId: "changed" }));
    await commit(store, { events: changedEvents });
    assert.deepEqual(await store.read.eventsToUndo("a", {}), changedEvents);
  }),

  defineCase(
    "a commit is rejected if an id of its new events is taken, but an event id can be reused",
    async (store) => {
      const [first, second] = [newEvent(event("a", 1)), newEvent(event("a", 2))];
      await commit(store, { newEvents: [first, second] });
      const [third, fourth] = [newEvent(event("a", 3)), newEvent(event("a", 4))];
      const takenIds: readonly (readonly NewEvent[])[] = [
        [{ ...third, referenceId: first.referenceId }],
        [{ ...third, referenceId: first.referenceId, eventId: second.eventId }],
        [third, { ...fourth, referenceId: third.referenceId }],
        [third, { ...fourth, eventId: third.eventId }],
      ];
      for (const newEvents of takenIds) {
        const changes = { newEvents, usage: [cell("a", "m", TODAY, "1")] };
        await assert.rejects(commit(store, changes), { code: "ERR_TAKEN" });
      }
      assert.deepEqual(await readSums(store.read, "usage"), []);
      await commit(store, { newEvents: [{ ...third, eventId: first.eventId }] });
      const events = await store.read.eventsToUndo("a", {});
      assert.deepEqual(
        events.map(({ referenceId }) => referenceId),
        [first, second, third].map(({ referenceId }) => referenceId),
      );
    },
  ),

  defineCase("drafts follow an account to its next customer", async (store) => {
    const places = [{ id: "draft", listedAt: NOON, start: NOON, end: NOON + 1, finalAt: NOON + 1 }];
    await commit(store, { accounts: [account("a", { drafts: { until: NOON, places } })] });
    await store.transact(createScope(["a"]), async (view) => {
      const accounts = (await view.accounts(["a"])).map((each) => ({ ...each, customerId: "c.two" }));
      return { result: undefined, changes: { accounts } };
    });
    for (const [customerId, expected] of Object.entries({ "c.one": [], "c.two": ["draft"] })) {
      const drafts = await store.read.draftList({ customerId }, ALL);
      assert.deepEqual(
        drafts.map(({ id }) => id),
        expected,
      );
    }
  }),

  defineCase("changing an event object after the commit has no effect", async (store) => {
    const row = newEvent(event("a", 1));
    await commit(store, { newEvents: [row] });
    const attributes = row.sent.attributes as { name: string; value: unknown }[];
    attributes.push({ name: "more", value: 1 });
    Object.assign(attributes[0] ?? {}, { value: 99 });
    Object.assign(row.sent.dimensions ?? {}, { region: "moon" });
    assert.deepEqual((await store.read.events({}, ALL))[0]?.payload, event("a", 1).payload);
  }),

  defineCase(`a commit can have ${BATCH} events of as many accounts`, async (store) => {
    const ids = Array.from({ length: BATCH }, (_, index) => `account.${String(index).padStart(3, "0")}`);
    const events = ids.map((id) => event(id, 1, { createdAt: NOON }));
    const entries = ids.map((id) => entry(id, `e.${id}`));
    await commit(store, { accounts: ids.map((id) => account(id)), events, entries });
    const page = await store.read.events({}, { limit: 600 });
    const after = { id: page.at(-1)?.referenceId ?? "", createdAt: NOON };
    assert.deepEqual([...page, ...(await store.read.events({}, { limit: 600, after }))], events);
    assert.equal((await store.read.acceptedIds(ids.map((id) => `event.${id}.1`))).length, BATCH);
    assert.equal((await store.read.accounts(ids)).length, BATCH);
    assert.equal((await store.read.entries(ids)).length, BATCH);
  }),

  defineCase(`a commit can have ${CELLS} cells`, async (store) => {
    const changes = Array.from({ length: CELLS }, (_, index) =>
      cell(`a${index % 100}`, `m${Math.floor(index / 100) % 10}`, TODAY + Math.floor(index / 1000), "0.1"),
    );
    await commit(store, { usage: changes });
    await commit(store, { usage: changes.toReversed() });
    const ids = Array.from({ length: 100 }, (_, index) => `a${index}`);
    const cells = await store.read.usage(ids, TODAY, TODAY + 10);
    assert.equal(cells.length, CELLS);
    assert.deepEqual(new Set(cells.map(({ quantity }) => quantity.toFixed())), new Set(["0.2"]));
  }),

  defineCase("thousands of values of a day are counted after each commit, exactly above a number", async (store) => {
    const valueOf = (index: number): UsageGroup => ["eu", JSON.stringify([NOON + index, `event.${index}`, "1.5"])];
    const of = { accountId: "a", meterId: "m", day: TODAY };
    const rightCounts = async (right: number): Promise<void> => {
      assert.deepEqual(await store.read.groupCounts([{ ...of, exactAbove: right - 1 }]), [right]);
      const [bound = Number.NaN] = await store.read.groupCounts([{ ...of, exactAbove: 5_000 }]);
      assert.ok(bound >= right && bound <= 5_000, `${bound} is from ${right} to 5,000`);
    };
    // In each step some values are new, some are there, and the counts of some become 0.
    const steps: readonly (readonly [from: number, until: number, quantity: string, after: number])[] = [
      [0, 1_200, "1", 1_200],
      [600, 2_400, "1", 2_400],
      [0, 900, "-1", 1_800],
      [300, 600, "1", 2_100],
      [2_400, 3_000, "2", 2_700],
      [600, 3_000, "-1", 1_200],
    ];
    for (const [from, until, quantity, after] of steps) {
      const usage = Array.from({ length: until - from }, (_, index) =>
        groupCell(valueOf(from + index), "a", "m", TODAY, quantity),
      );
      await store.transact(createScope(["a"]), async (view) => {
        // Commits that read the number first, and one that doesn't.
        if (from !== 2_400) await view.groupCounts([{ ...of, exactAbove: 5_000 }]);
        return { result: undefined, changes: { usage } };
      });
      await rightCounts(after);
    }
    const cells = await store.read.usage(["a"], TODAY, TODAY + 1);
    assert.equal(cells.length, 1_200);
    assert.deepEqual(new Set(cells.map(({ quantity }) => formatDecimal(quantity))), new Set(["1"]));
  }),

  defineCase(
    "records are read as written, with ids of any text, of up to 512 characters, and with a text of a million bytes",
    async (store) => {
      const ids = [...ODD_TEXTS, "x".repeat(512), "漢".repeat(511) + "a", "漢".repeat(511) + "b"];
      const cells = ids.map((id) => cell(id, id, TODAY, "1"));
      const random = createRandom(1);
      const records = Object.entries(MAKERS).map(
        ([kind, make]) => [kind as Kind, ids.map((id, number) => make(random, number, id, id))] as const,
      );
      const large = account("large", { name: "漢".repeat(1_000_000 / 3) });
      await commit(store, { accounts: [large] });
      assert.deepEqual(await store.read.accounts(["large"]), [large]);
      await commit(store, { ...(Object.fromEntries(records) as Changes), usage: cells });
      for (const [kind, expected] of records) {
        for (const [number, id] of ids.entries())
          assert.deepEqual(await READ_BACK[kind](store.read, id), [expected[number]]);
      }
      for (const [number, id] of ids.entries())
        assert.deepEqual(
          await store.read.usage([id], TODAY, TODAY + 1),
          cells.slice(number, number + 1).map(toLedgerCell),
        );
    },
  ),
];
