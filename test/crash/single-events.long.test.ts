/** Two hundred kills of engines and of PostgreSQL processes while thousands of single events share commits. */
import { setTimeout as sleep } from "node:timers/promises";

import { expect, test } from "vitest";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { createGate } from "../../src/store/conformance/case.ts";
import { openPrivateServer } from "../../src/store/embedded/private-server.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import { allPages } from "../engine/support.ts";
import { childrenOf, postmasterOf } from "../support/database-processes.ts";
import { closeServer, programToKill } from "./kill.ts";
import { ACCOUNT_IDS, accountOfNumber, countOf, type Errand, NOW, PER_LIFE } from "./single-events.ts";

const LIVES = 100;
/** Every tenth kill of the database kills all of its processes at once. */
const POSTMASTER_EVERY = 10;
const DAY = 86_400_000;

const toKill = programToKill("single-events.program.ts", closeServer);

/** The sent events, and which of them were acknowledged. */
interface SinglesProgress {
  upTo: number;
  readonly acknowledged: Set<number>;
}

test("S14.3 two hundred kills lose no acknowledged single event, and count none twice", async () => {
  const { program } = toKill;
  const directory = await toKill.newDirectory();
  const server = await openPrivateServer(directory);
  const progress: SinglesProgress = { upTo: 0, acknowledged: new Set() };
  const kills = { engines: 0, databases: 0 };
  // A slow machine gets fewer answers before each kill, and needs more runs.
  for (let life = 0; life < LIVES || progress.acknowledged.size <= PER_LIFE; life++) {
    const running = program.run(directory);
    running.send(errandOf(progress, false));
    const listening = listen(running.lines, progress);
    // A third of the kills come before any answer, a third before the database is back, a third after that.
    await (life % 3 === 0 ? listening.begin : listening.answer());
    await sleep(((life * 37) % 17) * 10);
    if (killDatabase(directory, life)) kills.databases += 1;
    if (life % 3 === 2) await listening.answer();
    await sleep(((life * 53) % 23) * 10);
    running.kill();
    kills.engines += 1;
    await listening.end;
    const { errors } = await running.end;
    expect(errors).toBe("");
  }
  expect(kills.engines).toBeGreaterThanOrEqual(LIVES);
  expect(kills.databases).toBe(kills.engines);
  await inspect(directory, progress);

  const last = program.run(directory);
  last.send(errandOf(progress, true));
  await listen(last.lines, progress).over;
  last.kill();
  expect(progress.acknowledged.size).toBe(progress.upTo);
  await inspect(directory, progress);
  await server.close();
});

function errandOf({ upTo, acknowledged }: SinglesProgress, isLast: boolean): Errand {
  const again = Array.from({ length: upTo }, (_, number) => number).filter((number) => !acknowledged.has(number));
  return { again, first: upTo, isLast };
}

/** The messages of an engine. */
interface Heard {
  /** Resolves when it begins to send. */
  readonly begin: Promise<void>;
  /** Resolves when it has acknowledged more events, or has ended. */
  readonly answer: () => Promise<void>;
  /** Resolves when it has finished. */
  readonly over: Promise<void>;
  /** Resolves when its output ends. */
  readonly end: Promise<void>;
}

/** Records the messages of an engine. */
function listen(lines: AsyncIterable<unknown>, progress: SinglesProgress): Heard {
  const [[begun, begin], [ended, finish]] = [createGate(), createGate()];
  let [answered, answer] = createGate();
  const end = (async () => {
    for await (const line of lines) {
      const {
        upTo,
        acknowledged = [],
        over: isOver,
      } = line as Partial<{
        readonly upTo: number;
        readonly acknowledged: readonly number[];
        readonly over: boolean;
      }>;
      for (const number of acknowledged) progress.acknowledged.add(number);
      if (acknowledged.length > 0) {
        answer();
        [answered, answer] = createGate();
      }
      if (upTo !== undefined) {
        progress.upTo = upTo;
        begin();
      }
      if (isOver === true) finish();
    }
    // An engine that ended before it began is detected by its error output.
    begin();
    answer();
    finish();
  })();
  return { begin: begun, answer: () => answered, over: ended, end };
}

/**
 * Kills a PostgreSQL process.
 *
 * @returns whether there was one
 */
function killDatabase(directory: string, life: number): boolean {
  const postmaster = postmasterOf(directory);
  if (postmaster === undefined) return false;
  const children = childrenOf(postmaster);
  const victim = life % POSTMASTER_EVERY === 0 ? postmaster : children[(life * 31) % children.length];
  if (victim === undefined) return false;
  process.kill(victim, "SIGKILL");
  return true;
}

/** Every acknowledged event is stored once, no other one twice, and the usage matches the events. */
async function inspect(directory: string, progress: SinglesProgress): Promise<void> {
  const store = await openDatabase(directory);
  const engine = createEngine({ store, clock: () => NOW });
  const acceptedIds = await acceptedNumbers(engine);
  const there = new Set(acceptedIds);
  expect(acceptedIds.length).toBe(there.size);
  expect([...progress.acknowledged].filter((number) => !there.has(number))).toEqual([]);
  const countById = new Map<string, number>();
  for (const number of there) {
    countById.set(accountOfNumber(number), (countById.get(accountOfNumber(number)) ?? 0) + countOf(number));
  }
  const usage = new Map<string, number>();
  const cells = await engine.usage({ accountIds: ACCOUNT_IDS, from: NOW - 30 * DAY, until: NOW + DAY });
  for (const { accountId, quantity } of cells) {
    usage.set(accountId, (usage.get(accountId) ?? 0) + Number(quantity.toFixed()));
  }
  expect(Object.fromEntries(usage)).toEqual(Object.fromEntries(countById));
  await store.close();
}

async function acceptedNumbers({ events }: Engine): Promise<readonly number[]> {
  const all = await allPages((page) => events.list({ page }), 1_000);
  // An event that was sent twice is stored twice, the second time as a duplicate of the first.
  const accepted = all.filter(({ status }) => status === "INGESTION_COMPLETED_EVENT_METERED");
  return accepted.map(({ eventId }) => Number(eventId.slice(2)));
}
