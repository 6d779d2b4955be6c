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

/** Both sides in turn, three times over the same events; the best of each counts. */
function compare(count: number, remembering: boolean): readonly string[] {
  const book = monthBook();
  const events = monthEvents(count);
  let [ours, byHand] = [Infinity, Infinity];
  let cells = 0;
  for (let round = 0; round < 3; round++) {
    const ourResult = timed(() => meter(book, events, remembering));
    const handResult = timed(() => meterByHand(events, remembering));
    ours = Math.min(ours, ourResult.seconds);
    byHand = Math.min(byHand, handResult.seconds);
    cells = equalCells(ourResult.result, handResult.result);
  }
  const rate = (seconds: number): string => Math.round(count / seconds).toLocaleString("en-US");
  return [
    `ratebook ${rate(ours)} events/s, by hand ${rate(byHand)} events/s, ${cells} equal cells`,
    `ratio ${(byHand / ours).toFixed(1)}`,
  ];
}

function timed<Result>(work: () => Result): { readonly result: Result; readonly seconds: number } {
  const results: Result[] = [];
  const seconds = measure(() => results.push(work()));
  const [result] = results;
  if (result === undefined) throw new Error("nothing was metered");
  return { result, seconds };
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
