/**
 * Stories for an engine that ingests all events and one with external usage: running them, and their visible results.
 */
import fc from "fast-check";

import type { BookInput } from "../../../src/book/resources/book.ts";
import { DAY_MS, formatInstant, parseInstant, toInstant } from "../../../src/calendar/instant.ts";
import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import type { UsageSource } from "../../../src/ledger/external-usage.ts";
import { type MemoryStore, memoryStore } from "../../../src/store/memory/memory.ts";
import { bookArbitrary } from "../../../src/testing/book-arbitrary.ts";
import {
  listAccountIds,
  eventRange,
  eventsArbitrary,
  listSchemas,
  type GeneratedEvent,
} from "../../../src/testing/events-arbitrary.ts";
import { activatePlans, findDayBefore } from "../../../src/testing/history.ts";

/** A book, its events, and the times of bill runs. */
export interface Case {
  readonly book: BookInput;
  readonly events: readonly GeneratedEvent[];
  /** The hours from the first day at which bill runs happen: for the ingesting engine, and for the other one. */
  readonly runs: readonly (readonly number[])[];
}

const HOUR_MS = 3_600_000;
/** The last day of a story, counted from its first. */
export const LAST_DAY = 130;
const runs = fc.array(fc.integer({ min: 0, max: LAST_DAY * 24 }), { maxLength: 5 });
/** Stories with events of distinct ids. */
export const cases: fc.Arbitrary<Case> = bookArbitrary().chain((book) =>
  fc.record({ book: fc.constant(book), events: eventsArbitrary(book, { eventsMax: 14 }), runs: fc.tuple(runs, runs) }),
);

/** The schemas that may have external usage. */
export function plainSchemas(book: BookInput): readonly string[] {
  const { all, featureSchemas } = listSchemas(book);
  return all.filter((name) => !featureSchemas.has(name));
}

/** A finished story. */
export interface Play {
  readonly engine: Engine;
  readonly store: MemoryStore;
}

/**
 * Runs events and bill runs in the order of time.
 *
 * @param source undefined to ingest all events
 */
export async function play(
  { book, events }: Case,
  runsAt: readonly number[],
  source: UsageSource | undefined,
  attempt: <Result>(work: () => Promise<Result>) => Promise<Result> = (work) => work(),
): Promise<Play> {
  const schemas = plainSchemas(book);
  const store = memoryStore();
  let now = findDayBefore(book);
  const engine = createEngine({
    store,
    clock: () => now,
    ...(source === undefined ? {} : { usage: { schemas, source } }),
  });
  await engine.load(activatePlans(book));
  const begin = toInstant(eventRange(book).from);
  const internal = source === undefined ? events : events.filter(({ schemaName }) => !schemas.includes(schemaName));
  const steps: (readonly [number, GeneratedEvent | undefined])[] = [
    ...internal.map((event) => [parseInstant(event.timestamp), event] as const),
    ...runsAt.map((hours) => [begin + hours * HOUR_MS, undefined] as const),
    [begin + LAST_DAY * DAY_MS, undefined],
  ];
  for (const [at, event] of steps.toSorted(([a], [b]) => a - b)) {
    now = Math.max(now, at);
    await attempt(async () => (event === undefined ? engine.finalize() : engine.ingest([event])));
  }
  return { engine, store };
}

/** All visible usage and money. */
export async function snapshotPlay({ engine, store }: Play, book: BookInput): Promise<unknown> {
  const accountIds = listAccountIds(book);
  const from = eventRange(book).from;
  const until = formatInstant(toInstant(from) + LAST_DAY * DAY_MS);
  const finals = await store.read.invoices(accountIds, Number.NEGATIVE_INFINITY);
  const query = { aggregationPeriod: "DAY", groupBy: "USAGE_METER_ID" } as const;
  return {
    finals: finals.map(({ id, invoice, finalizedAt }) => [id, finalizedAt, JSON.stringify(invoice)]),
    drafts: (await engine.invoices.list({ page: { limit: 100 } })).items.map(({ id, invoice }) => [
      id,
      JSON.stringify(invoice),
    ]),
    usage: await engine.usage({ accountIds, from, until }),
    metrics: await engine.metrics({
      startTime: from,
      endTime: until,
      metricQueries: [
        { id: "usage", name: "USAGE", ...query },
        { id: "revenue", name: "REVENUE", ...query, aggregationPeriod: "WEEK" },
      ],
    }),
  };
}
