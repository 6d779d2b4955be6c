/**
 * A bill run processes an account that is decades behind in several commits, and resumes where one was lost (S2.4,
 * S13.4).
 */
import { expect, test } from "vitest";

import type { Changes } from "../../../src/ledger/decision.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import type { Store } from "../../../src/store/store.ts";
import { storeWithHooks } from "../../support/stores.ts";
import { farBehind } from "./overdue-account.ts";

/** A store that counts the invoices of each commit, and loses one commit. */
function failingStore(store: Store, failsAt: number): { readonly store: Store; readonly commits: number[] } {
  const commits: number[] = [];
  const decided = ({ invoices = [] }: Changes): void => {
    if (invoices.length > 0 && commits.push(invoices.length) === failsAt) throw new Error("the process was killed");
  };
  return { store: storeWithHooks({ decided }, store), commits };
}

test("a run that ends between two commits loses and repeats nothing, and lists never show it half done", async () => {
  const [memory, other] = [memoryStore(), memoryStore()];
  const { store, commits } = failingStore(memory, 2);
  const [engine, whole] = [await farBehind(store), await farBehind(other)];
  await expect(engine.finalize()).rejects.toThrow("the process was killed");
  const [first = 0] = commits;
  expect(first).toBeGreaterThan(500);
  expect(first).toBeLessThan(1_100);
  expect(await memory.read.invoices(["prod"], Number.NEGATIVE_INFINITY)).toHaveLength(first);

  // A reader in the meantime continues the work, and sees the account with everything due processed.
  const listRequest = { filter: { accountId: "prod" }, page: { limit: 1_000 } } as const;
  const { items } = await engine.invoices.list(listRequest);
  expect((await whole.finalize()).finalized).toBe(2_967);
  const { items: expected } = await whole.invoices.list(listRequest);
  expect(items).toEqual(expected);

  const [, failsAt = 0] = commits;
  expect(commits.reduce((sum, count) => sum + count, 0) - failsAt).toBe(2_967);
  expect(commits.every((count) => count < 1_100)).toBe(true);
  const readInvoices = async ({ read }: Store): Promise<string> =>
    JSON.stringify(await read.invoices(["prod"], Number.NEGATIVE_INFINITY));
  expect((await readInvoices(memory)) === (await readInvoices(other))).toBe(true);
  expect((await engine.finalize()).finalized).toBe(0);
}, 60_000);

test("a decision on an account that is decades behind follows the due work, which has its own commits", async () => {
  const { store, commits } = failingStore(memoryStore(), 0);
  const engine = await farBehind(store);
  await engine.associate("prod", { pricePlanId: "team", effectiveFrom: "2024-06-20" });
  expect(commits.length).toBeGreaterThan(2);
  expect(commits.reduce((sum, count) => sum + count, 0)).toBe(2_967);
});
