/** Metering a million events in memory, beside the same written by hand. */
import type { Decimal } from "decimal.js";

import { formatDate } from "../../src/calendar/instant.ts";
import { createMeteringRun } from "../../src/ledger/metering-run.ts";
import type { Usage } from "../../src/metering/usage.ts";
import type { Bench } from "../bench.ts";
import { measure } from "../bench.ts";
import { meterByHand } from "./by-hand.ts";
import type { SentEvent } from "./scenario.ts";
import { monthBook, monthEvents } from "./scenario.ts";

const EVENTS = { smoke: 2_000, full: 1_000_000 } as const;

/** Metering with and without ids remembered. */
export const meteringBenches: readonly Bench[] = [
  { name: "metering, ids not remembered, wanted 12 times", run: (size) => compare(EVENTS[size], false) },
  { name: "metering, ids remembered, wanted 8 times", run: (size) => compare(EVENTS[size], true) },
];

function compare(count: number, remembering: boolean): readonly string[] {
  const book = monthBook();
  const warmUp = monthEvents(Math.min(count, 20_000));
  meterByHand(warmUp, remembering);
  meter(book, warmUp, remembering);
  const ours = timed(count, (events) => meter(book, events, remembering));
  const byHand = timed(count, (events) => meterByHand(events, remembering));
  const cells = equalCells(ours.result, byHand.result);
  return [
    `ratebook ${ours.rate} events/s, by hand ${byHand.rate} events/s, ${cells} equal cells`,
    `ratio ${(byHand.seconds / ours.seconds).toFixed(1)}`,
  ];
}

/** Meters events that no one has read before, and that no one holds afterwards. */
function timed<Result>(
  count: number,
  work: (events: readonly SentEvent[]) => Result,
): { readonly result: Result; readonly seconds: number; readonly rate: string } {
  const events = monthEvents(count);
  const results: Result[] = [];
  const seconds = measure(() => results.push(work(events)));
  const [result] = results;
  if (result === undefined) throw new Error("nothing was metered");
  return { result, seconds, rate: Math.round(count / seconds).toLocaleString("en-US") };
}

function meter(book: ReturnType<typeof monthBook>, events: readonly SentEvent[], remembering: boolean): Usage {
  const run = createMeteringRun(book, remembering ? {} : { ids: false });
  for (const event of events) run.add(event);
  return run.usage;
}

/** How many cells there are. @throws {Error} when the two sides differ in one */
function equalCells(usage: Usage, byHand: ReadonlyMap<string, Decimal>): number {
  let cells = 0;
  for (const { accountId, meterId, day, quantity } of usage.cells()) {
    const key = `${accountId} ${meterId} ${formatDate(day * 86_400_000).slice(0, 10)}`;
    if (byHand.get(key)?.toFixed() !== quantity.toFixed()) throw new Error(`${key} differs`);
    cells++;
  }
  if (cells !== byHand.size) throw new Error(`expected ${byHand.size} cells, got ${cells}`);
  return cells;
}
