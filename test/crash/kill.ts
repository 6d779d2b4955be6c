/** Kills engines at random instants and checks the database after each kill. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, expect } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import { openPrivateServer } from "../../src/store/embedded/private-server.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { buildProgram, type Program, type RunningProgram } from "../support/programs.ts";
import { BATCH, BOOK, actionAt, endState, live, type StoredEvent, timeOf } from "./story.ts";

/** The maximum number of steps per process, so that the story stays short on a fast machine. */
const DEEDS_MAX = 25;

/** A program of this folder, built before the tests of the calling file, and directories, removed afterwards. */
export function programToKill(
  name: string,
  close: (directory: string) => Promise<void> = async () => {},
): { readonly program: Program; readonly newDirectory: () => Promise<string> } {
  let program: Program;
  const directories: string[] = [];
  beforeAll(() => {
    program = buildProgram(join(import.meta.dirname, name));
  });
  afterAll(async () => {
    program.remove();
    for (const directory of directories) {
      await close(directory);
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    }
  });
  return {
    get program() {
      return program;
    },
    async newDirectory() {
      const directory = await mkdtemp(join(tmpdir(), "ratebook-crash-"));
      directories.push(directory);
      return directory;
    },
  };
}

/** Stops the server of a directory: the last process that uses it does. */
export async function closeServer(directory: string): Promise<void> {
  await (await openPrivateServer(directory)).close();
}

/** How engines are killed. */
export interface Killing {
  readonly program: Program;
  readonly database: string;
  readonly kills: number;
  /** The seed of the random instants. */
  readonly seed: number;
  /** Called at each kill, to kill other processes too. */
  readonly also?: (kill: number) => void;
}

/** The result. */
export interface KillResult {
  /** Kills while the database was being opened, and while steps were done. */
  readonly opening: number;
  readonly doing: number;
  /** Kills after which a step was done but not acknowledged. */
  readonly commits: number;
  /** The number of all steps done. */
  readonly steps: number;
}

interface Life {
  /** The last acknowledged step. */
  readonly lastAnswer: number;
  readonly state: FoundState | undefined;
}

interface FoundState {
  readonly events: readonly StoredEvent[];
  readonly usage: Readonly<Record<string, string>>;
}

/** Kills as often as requested, then lets one engine finish, and compares the result with a run without kills. */
export async function killAndCompare({ program, database, kills, seed, also }: Killing): Promise<KillResult> {
  const random = randomFrom(seed);
  let lastAnswer = -1;
  // The time of the start and of one step on this machine, measured in the previous run.
  let opensMs = 1000;
  let deedMs = 30;
  const counts = { opening: 0, doing: 0, commits: 0 };
  for (let kill = 0; kill < kills; kill++) {
    const running = program.run(database, String(lastAnswer + 1), String(lastAnswer + DEEDS_MAX));
    const began = performance.now();
    const early = random() < 0.2;
    const death = (): void => {
      running.kill();
      also?.(kill);
    };
    if (early) setTimeout(death, random() * opensMs);
    let toDo = Math.floor(random() * 5);
    let before = began;
    const life = await watch(running, lastAnswer, (isOpen) => {
      const took = performance.now() - before;
      before += took;
      if (isOpen) deedMs = took;
      else opensMs = took;
      if (!early && toDo-- === 0) setTimeout(death, random() * 1.5 * deedMs);
    });
    const { code, errors } = await running.end;
    expect({ code, errors }).toEqual({ code: null, errors: "" });
    if (life.state !== undefined && inspect(life.state, lastAnswer)) counts.commits += 1;
    counts[life.state === undefined ? "opening" : "doing"] += 1;
    lastAnswer = life.lastAnswer;
  }
  await finish(program, database, lastAnswer);
  return { ...counts, steps: lastAnswer + 1 };
}

/** Reads the output of an engine to its end. */
async function watch(running: RunningProgram, lastAnswer: number, onLine: (isOpen: boolean) => void): Promise<Life> {
  let last = lastAnswer;
  let state: FoundState | undefined;
  for await (const line of running.lines) {
    const message = line as { done?: number } & Partial<FoundState>;
    onLine(state !== undefined);
    if (message.events !== undefined && message.usage !== undefined) {
      state = { events: message.events, usage: message.usage };
    }
    if (message.done !== undefined) last = message.done;
  }
  return { lastAnswer: last, state };
}

/**
 * Every acknowledged event is stored exactly once, the batch in progress is stored completely or not at all, and the
 * usage matches the events.
 *
 * @returns whether the step in progress was a batch and is stored
 */
function inspect({ events, usage }: FoundState, lastAnswer: number): boolean {
  const byId = new Map<string, number>();
  for (const { eventId, status } of events) {
    expect(status).toBe("INGESTION_COMPLETED_EVENT_METERED");
    byId.set(eventId, (byId.get(eventId) ?? 0) + 1);
  }
  for (let number = 0; number <= lastAnswer; number++) {
    const action = actionAt(number);
    if (action.kind !== "ingest") continue;
    expect(action.batch.map(({ id }) => [id, byId.get(id)])).toEqual(action.batch.map(({ id }) => [id, 1]));
    for (const { id } of action.batch) byId.delete(id);
  }
  const underWay = actionAt(lastAnswer + 1);
  const partCount = underWay.kind === "ingest" ? underWay.batch.filter(({ id }) => byId.get(id) === 1).length : 0;
  expect([0, BATCH]).toContain(partCount);
  expect(byId.size).toBe(partCount);
  const revertedIds = new Set(events.filter((event) => event.reverted).map(({ eventId }) => eventId));
  for (let number = 0; number <= lastAnswer; number++) {
    const action = actionAt(number);
    if (action.kind === "undo") expect(revertedIds).toContain(action.eventId);
  }
  const counts: Record<string, number> = {};
  for (const event of events) {
    if (!event.reverted) counts[event.accountId] = (counts[event.accountId] ?? 0) + Number(event.count);
  }
  expect(usage).toEqual(Object.fromEntries(Object.entries(counts).map(([id, count]) => [id, String(count)])));
  return partCount > 0;
}

/** The story runs to its end, with the same result as without kills, also after every batch is sent again. */
async function finish(program: Program, database: string, lastAnswer: number): Promise<void> {
  // To the next bill run, so that the comparison includes its result.
  const last = lastAnswer + 10 - (lastAnswer % 10) + 9;
  const running = program.run(database, String(lastAnswer + 1), String(last), "finish");
  const output: { end?: unknown; again?: unknown; statuses?: unknown } = {};
  for await (const line of running.lines) Object.assign(output, line);
  expect(await running.end).toEqual({ code: 0, signal: null, errors: "" });
  const expected = await uninterruptedState(last);
  expect(output.end).toEqual(expected);
  expect(output.statuses).toEqual(["INGESTION_FAILED_DUPLICATE_EVENT"]);
  expect(output.again).toEqual(expected);
}

/** The result of the steps up to one without kills. */
async function uninterruptedState(last: number): Promise<unknown> {
  let now = timeOf(-1);
  const engine = createEngine({ store: memoryStore(), clock: () => now, idMemoryMs: 10_000 * 86_400_000 });
  await engine.load(BOOK);
  for (let number = 0; number <= last; number++) {
    now = timeOf(number);
    await live(engine, actionAt(number));
  }
  return endState(engine);
}

/** Pseudo-random numbers from 0 to 1, equal for equal seeds. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
