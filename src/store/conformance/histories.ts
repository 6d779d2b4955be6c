/**
 * Random changes and reads, whose results must be those of the memory store. A failure reports the fewest steps that
 * still fail.
 */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";

import { memoryStore } from "../memory/memory.ts";
import { type ConformanceCase, type OpenStore, withStore } from "./case.ts";
import { type Random, type Step, createRandom, print } from "./random-records.ts";
import { randomCommit, randomRead } from "./random-steps.ts";

const HISTORIES = 6;
const COMMITS = 50;
const READS_PER_COMMIT = 3;
const LAST_READS = 200;
/** The time to find a shorter history, in milliseconds: test runners have time limits. */
const SHRINK_MS = 2000;

/** The step at which two stores differ, and what they returned. */
interface Difference {
  readonly at: number;
  readonly expected: Outcome;
  readonly actual: Outcome;
}

export const historyCases: readonly ConformanceCase[] = Array.from({ length: HISTORIES }, (_, index) => ({
  name: `random changes and reads have the results of the memory store (${index + 1} of ${HISTORIES})`,
  run: (open: OpenStore) => checkHistory(open, index + 1),
}));

async function checkHistory(open: OpenStore, seed: number): Promise<void> {
  const history = createHistory(createRandom(seed));
  const found = await compareStores(open, history);
  if (found === undefined) return;
  const { steps, expected, actual } = await shrink(open, history, found);
  const message = [
    `The last of these steps has another result than in the memory store (seed ${seed}):`,
    ...steps.map(({ describe }, index) => `${index + 1}. ${describe()}`),
    `expected: ${print(expected)}`,
    `actual: ${print(actual)}`,
  ];
  assert.fail(message.join("\n"));
}

function createHistory(random: Random): readonly Step[] {
  const numbers = { events: 0, revision: 0 };
  const reads = (length: number): readonly Step[] => Array.from({ length }, () => randomRead(random));
  const commits = Array.from({ length: COMMITS }, () => [randomCommit(random, numbers), ...reads(READS_PER_COMMIT)]);
  return [...commits.flat(), ...reads(LAST_READS)];
}

/** Applies the steps to an empty store and to the memory store, up to the first difference. */
function compareStores(open: OpenStore, steps: readonly Step[]): Promise<Difference | undefined> {
  return withStore(open, "random changes and reads", async (store) => {
    const oracle = memoryStore();
    for (const [at, { run }] of steps.entries()) {
      const [expected, actual] = [await settle(run(oracle)), await settle(run(store))];
      if (!isDeepStrictEqual(withCode(actual), withCode(expected))) return { at, expected, actual };
    }
    return undefined;
  });
}

type Outcome = { readonly result: unknown } | { readonly error: unknown };

function settle(result: Promise<unknown>): Promise<Outcome> {
  return result.then(
    (value) => ({ result: value }),
    (error: unknown) => ({ error }),
  );
}

/** What must be equal: a result, or the code of an error. */
function withCode(outcome: Outcome): Outcome {
  return "error" in outcome ? { error: (outcome.error as { readonly code?: unknown } | undefined)?.code } : outcome;
}

/** Leaves out steps, half of them first and one by one last, then records of commits, as long as the stores differ. */
async function shrink(
  open: OpenStore,
  history: readonly Step[],
  found: Difference,
): Promise<Difference & { readonly steps: readonly Step[] }> {
  let [steps, difference] = [history.slice(0, found.at + 1), found];
  const end = performance.now() + SHRINK_MS;
  const isShorter = async (fewer: readonly Step[]): Promise<boolean> => {
    const next = performance.now() > end ? undefined : await compareStores(open, fewer);
    if (next !== undefined) [steps, difference] = [fewer.slice(0, next.at + 1), next];
    return next !== undefined;
  };
  for (let size = steps.length; size >= 1; size = Math.floor(size / 2)) {
    for (let start = 0; start < steps.length - 1;) {
      const isDropped = await isShorter(steps.toSpliced(start, Math.min(size, steps.length - 1 - start)));
      if (!isDropped) start += size;
    }
  }
  for (let at = 0; at < steps.length;) {
    let isSmaller = false;
    for (const step of steps[at]?.smaller() ?? []) isSmaller ||= await isShorter(steps.with(at, step));
    if (!isSmaller) at += 1;
  }
  return { ...difference, steps };
}
