/** Lists of credits by status, and index entries of due credits. */
import assert from "node:assert/strict";

import type { AccountRecord, CreditIndexEntry } from "../../ledger/records.ts";
import type { CreditListFilter, DueCreditFilter } from "../../ledger/view.ts";
import { Decimal } from "../../numbers/decimal.ts";
import type { Store } from "../store.ts";
import { commit, type ConformanceCase, defineCase } from "./case.ts";
import { account, credit, NOON } from "./samples.ts";

/** An account with index entries of due credits. */
export function accountWithDueCredits(id: string, credits: readonly CreditIndexEntry[]): AccountRecord {
  return account(id, { drafts: { until: Infinity, places: [], credits } });
}

/** Each filter with the credits that it finds. */
const FILTERS: readonly (readonly [CreditListFilter, readonly string[]])[] = [
  [{}, ["endless", "gone", "late", "over", "partly", "spent"]],
  [{ state: "ACTIVE" }, ["endless", "late", "over", "partly"]],
  [{ state: "CONSUMED" }, ["spent"]],
  [{ state: "VOIDED" }, ["gone"]],
  [{ state: "ACTIVE", endsBy: NOON }, ["over"]],
  [{ state: "ACTIVE", endsAfter: NOON }, ["endless", "late", "partly"]],
  [{ endsBy: NOON }, ["over", "spent"]],
  [{ accountId: "b" }, ["late", "spent"]],
  [{ accountId: "b", state: "ACTIVE" }, ["late"]],
  [{ accountId: "b", state: "ACTIVE", endsBy: NOON }, []],
  [{ accountId: "nobody", state: "ACTIVE" }, []],
];

async function listIds(store: Store, filter: CreditListFilter): Promise<readonly string[]> {
  const all = (await store.read.creditList(filter, { limit: 99 })).map(({ id }) => id);
  const ids: string[] = [];
  let [page] = await store.read.creditList(filter, { limit: 1 });
  while (page !== undefined) {
    ids.push(page.id);
    const after = { createdAt: page.createdAt, id: page.id };
    [page] = await store.read.creditList(filter, { limit: 1, after });
  }
  assert.deepEqual(ids, all);
  return ids;
}

export const creditCases: readonly ConformanceCase[] = [
  defineCase("credits are found by state and end date, even after these change", async (store) => {
    await commit(store, {
      credits: [
        credit("a", "endless"),
        credit("a", "gone", { voided: true }),
        credit("b", "late", { effectiveUntil: NOON + 1 }),
        credit("a", "over", { effectiveUntil: NOON }),
        credit("a", "partly", { consumedAmount: new Decimal("9.99") }),
        credit("b", "spent", { consumedAmount: new Decimal(10), effectiveUntil: NOON - 1 }),
      ],
    });
    for (const [filter, expected] of FILTERS) assert.deepEqual(await listIds(store, filter), expected);
    await commit(store, {
      credits: [credit("a", "endless", { voided: true }), credit("a", "partly", { voided: true })],
    });
    assert.deepEqual(await listIds(store, { state: "ACTIVE" }), ["late", "over"]);
    assert.deepEqual(await listIds(store, { state: "VOIDED" }), ["endless", "gone", "partly"]);
  }),

  defineCase("due credits in the index are found by id and due date, with their account", async (store) => {
    const [soon, later] = [
      { id: "soon", createdAt: NOON },
      { id: "later", createdAt: NOON + 1 },
    ];
    await commit(store, {
      accounts: [
        accountWithDueCredits("a", [soon, later]),
        accountWithDueCredits("b", [{ id: "other", createdAt: NOON - 1 }]),
      ],
    });
    const findDue = async (filter: DueCreditFilter): Promise<readonly string[]> =>
      (await store.read.dueCreditList(filter, { limit: 9 })).map(({ id }) => id);
    assert.deepEqual(await findDue({}), ["later", "soon", "other"]);
    assert.deepEqual(await findDue({ dueBy: NOON }), ["soon", "other"]);
    assert.deepEqual(await findDue({ dueBy: NOON - 2 }), []);
    assert.deepEqual(await findDue({ id: "later" }), ["later"]);
    assert.deepEqual(await findDue({ id: "later", dueBy: NOON }), []);
    assert.deepEqual(await findDue({ id: "nothing" }), []);
    assert.deepEqual(await store.read.dueCreditList({ id: "soon" }, { limit: 9 }), [{ ...soon, accountId: "a" }]);
  }),

  defineCase("writing an account replaces its due credits in the index", async (store) => {
    const place = (id: string): CreditIndexEntry => ({ id, createdAt: NOON });
    await commit(store, {
      accounts: [
        accountWithDueCredits("a", [place("one"), place("two")]),
        accountWithDueCredits("b", [place("three")]),
      ],
    });
    await commit(store, { accounts: [accountWithDueCredits("a", [place("two"), place("four")])] });
    const ids = async (): Promise<readonly string[]> =>
      (await store.read.dueCreditList({}, { limit: 9 })).map(({ id }) => id);
    assert.deepEqual(await ids(), ["four", "three", "two"]);
    await commit(store, { accounts: [account("a"), account("b")] });
    assert.deepEqual(await ids(), []);
  }),
];
