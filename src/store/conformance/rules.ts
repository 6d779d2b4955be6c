/** Rules of commits that random histories do not reach: large sums, odd groups, numbers of events, taken ids. */
import assert from "node:assert/strict";

import type { NewEvent, UsageDelta } from "../../ledger/records.ts";
import type { LedgerView, PageRequest } from "../../ledger/view.ts";
import { formatDecimal } from "../../numbers/decimal.ts";
import { commit, type ConformanceCase, defineCase } from "./case.ts";
import { cell, event, groupCell, newEvent, ODD_TEXTS, TODAY } from "./samples.ts";

const ALL: PageRequest = { limit: 99 };

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

  defineCase("changing an event object after the commit has no effect", async (store) => {
    const row = newEvent(event("a", 1));
    await commit(store, { newEvents: [row] });
    const attributes = row.sent.attributes as { name: string; value: unknown }[];
    attributes.push({ name: "more", value: 1 });
    Object.assign(attributes[0] ?? {}, { value: 99 });
    Object.assign(row.sent.dimensions ?? {}, { region: "moon" });
    assert.deepEqual((await store.read.events({}, ALL))[0]?.payload, event("a", 1).payload);
  }),
];
