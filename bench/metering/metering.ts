/** Previewing a million events in memory, invoices included, beside the metering alone written by hand. */
import type { Decimal } from "decimal.js";

import { formatDate } from "../../src/calendar/instant.ts";
import { createMeteringRun } from "../../src/ledger/metering-run.ts";
import { preview } from "../../src/ledger/preview.ts";
import type { Usage } from "../../src/metering/usage.ts";
import type { Bench } from "../bench.ts";
import { measure } from "../bench.ts";
import { meterByHand } from "./by-hand.ts";
import type { SentEvent } from "./scenario.ts";
import { monthBook, monthEvents } from "./scenario.ts";

const EVENTS = { smoke: 2_000, full: 1_000_000 } as const;

/** A preview with and without ids remembered. */
export const meteringBenches: readonly Bench[] = [
  { name: "preview in memory, ids not remembered, wanted 12 times", run: (size) => compare(EVENTS[size], false) },
  { name: "preview in memory, ids remembered, wanted 8 times", run: (size) => compare(EVENTS[size], true) },
];

/** Both sides in turn, three times over the same events; the best of each counts. */
function compare(count: number, remembering: boolean): readonly string[] {
  const book = monthBook();
  const events = monthEvents(count);
  const cells = equalCells(meter(book, events), meterByHand(events, remembering));
  let [ours, byHand] = [Infinity, Infinity];
  let invoices = 0;
  for (let round = 0; round < 3; round++) {
    const ourResult = timed(() => preview(book, events, remembering ? {} : { ids: false }));
    const { events: counted, problems } = ourResult.result;
    if (counted.read !== count || problems.length > 0) throw new Error("an event was lost");
    ours = Math.min(ours, ourResult.seconds);
    invoices = ourResult.result.invoices.length;
    byHand = Math.min(byHand, timed(() => meterByHand(events, remembering)).seconds);
  }
  const rate = (seconds: number): string => Math.round(count / seconds).toLocaleString("en-US");
  return [
    `ratebook ${rate(ours)} events/s with ${invoices} invoices, by hand ${rate(byHand)} events/s without; ${cells} equal cells`,
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

function meter(book: ReturnType<typeof monthBook>, events: readonly SentEvent[]): Usage {
  const run = createMeteringRun(book, { ids: false });
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
