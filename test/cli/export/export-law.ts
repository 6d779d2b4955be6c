/** The law of exports: the files of a database lead to its own invoices. */
import fc from "fast-check";
import { expect } from "vitest";

import { instantOf } from "../../../src/calendar/instant.ts";
import type { Store } from "../../../src/store/store.ts";
import { bookArbitrary, historyFor } from "../../../src/testing.ts";
import { startHistoryIn } from "../../../src/testing/history.ts";
import { exportedOf } from "./exported.ts";

const DAY_MS = 86_400_000;

/** What the law was tried on. */
export interface Tried {
  invoices: number;
  /** Exports whose files lead to every invoice. */
  same: number;
  runs: number;
}

/**
 * Whatever happened to the accounts (late and repeated events, undos, changes of plans, time), each invoice comes out of the
 * files; but where a plan was taken from an account, which no book says, and the export says so.
 */
export function exportLaw(makeStore: () => Promise<Store>, tried: Tried): fc.IAsyncProperty<[unknown]> {
  const cases = bookArbitrary().chain((book) => historyFor(book).map((steps) => ({ book, steps })));
  return fc.asyncProperty(cases, async ({ book, steps }) => {
    const history = await startHistoryIn(await makeStore(), book, instantOf("2024-03-01"));
    for (const step of steps) await history.play(step);
    history.waitUntil(history.now() + 20 * DAY_MS);
    const { differences, notes, invoices } = await exportedOf(history);
    const taken = steps.some((step) => step.kind === "plan" && step.pricePlanId === undefined);
    if (!taken) expect(notes).toEqual([]);
    const told = notes.flatMap((note) => /^account ("[^"]+"): its plan was taken/.exec(note)?.[1] ?? []);
    for (const difference of differences) expect(told).toContain(/^account ("[^"]+")/.exec(difference)?.[1]);
    tried.runs++;
    tried.invoices += invoices.length;
    if (differences.length === 0) tried.same++;
  });
}
