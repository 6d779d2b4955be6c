/** Previewing a million events in memory, with invoices, compared with handwritten metering only. */
import type { Decimal } from "decimal.js";

import type { Book } from "../../src/book/resources/book.ts";
import { formatDate } from "../../src/calendar/instant.ts";
import { startEventRun } from "../../src/ledger/preview/preview-run.ts";
import { preview } from "../../src/ledger/preview/preview.ts";
import type { UsageTally } from "../../src/metering/usage.ts";
import type { Bench } from "../bench.ts";
import { measure } from "../bench.ts";
import { meterWithHandwrittenCode } from "./handwritten-metering.ts";
import type { GeneratedEvent } from "./scenario.ts";
import { createMonthBook, createMonthEvents, createValueBook } from "./scenario.ts";

const EVENTS = { smoke: 2_000, full: 1_000_000 } as const;

/** Previews with and without remembered ids. */
export const meteringBenches: readonly Bench[] = [
  {
    name: "preview in memory without remembering ids, target: 12 times the rate of handwritten code",
    run: (size) => compareMetering(EVENTS[size], false),
  },
  {
    name: "preview in memory, target: 8 times the rate of handwritten code",
    run: (size) => compareMetering(EVENTS[size], true),
  },
  {
    name: "preview of meters with eight groups, target: 0.8 of the rate without groups",
    run: (size) => [1000, 50].map((accounts) => compareGroups(EVENTS[size], accounts)),
  },
  {
    name: "preview of peaks and of distinct values with invoices, target: 0.6 of the rate of sums",
    run: (size) => [1000, 50].flatMap((accounts) => compareAggregations(EVENTS[size], accounts)),
  },
];

/** Previews the same events with and without groups, without prices. */
function compareGroups(count: number, accounts: number): string {
  const [plainBook, groupedBook] = [createMonthBook(false), createMonthBook(false, ["region", "tier"])];
  const events = createMonthEvents(count, accounts);
  const [plain = 0, grouped = 0] = timePreviews([plainBook, groupedBook], events);
  const cellCounts = [plainBook, groupedBook].map((book) => [...meter(book, events).cells()].length);
  return (
    `${accounts} accounts, ${cellCounts.join(" and ")} cells: with groups ` +
    `${Math.round(count / grouped).toLocaleString("en-US")} events/s, ratio ${(plain / grouped).toFixed(2)}`
  );
}

/** Previews the same events with meters of one value, a sum or its largest and distinct values. */
function compareAggregations(count: number, accounts: number): readonly string[] {
  const kinds = ["MAX", "UNIQUE_COUNT"] as const;
  const events = createMonthEvents(count, accounts);
  const [sums = 0, ...others] = timePreviews(["SUM" as const, ...kinds].map(createValueBook), events);
  return others.map(
    (seconds, index) =>
      `${accounts} accounts, ${kinds[index]}: ${Math.round(count / seconds).toLocaleString("en-US")} events/s, ` +
      `ratio ${(sums / seconds).toFixed(2)} (target 0.60)`,
  );
}

/** Previews events by each book in turn. @returns the seconds of each, the best of five times */
function timePreviews(books: readonly Book[], events: readonly GeneratedEvent[]): readonly number[] {
  const best = books.map(() => Infinity);
  for (let round = 0; round < 5; round++) {
    for (const [index, book] of books.entries())
      best[index] = Math.min(best[index] ?? Infinity, timeWork(() => preview(book, events)).seconds);
  }
  return best;
}

/**
 * Runs both sides alternately, three times on the same events; the best time of each counts. The handwritten side
 * creates no invoices, so the target applies to a preview without prices; one with prices and invoices is printed too.
 */
function compareMetering(count: number, remembersIds: boolean): readonly string[] {
  const [unpricedBook, pricedBook] = [createMonthBook(false), createMonthBook(true)];
  const events = createMonthEvents(count);
  const cellCount = requireEqualCells(meter(unpricedBook, events), meterWithHandwrittenCode(events, remembersIds));
  const seconds = { ours: Infinity, withInvoices: Infinity, byHand: Infinity };
  let invoices = 0;
  const measurePreview = (book: Book): number => {
    const { result, seconds: secondsTaken } = timeWork(() => preview(book, events, remembersIds ? {} : { ids: false }));
    if (result.events.read !== count || result.problems.length > 0) throw new Error("an event was lost");
    invoices = result.invoices.length;
    return secondsTaken;
  };
  for (let round = 0; round < 3; round++) {
    seconds.ours = Math.min(seconds.ours, measurePreview(unpricedBook));
    seconds.withInvoices = Math.min(seconds.withInvoices, measurePreview(pricedBook));
    seconds.byHand = Math.min(seconds.byHand, timeWork(() => meterWithHandwrittenCode(events, remembersIds)).seconds);
  }
  const eventsPerSecond = (secondsTaken: number): string => Math.round(count / secondsTaken).toLocaleString("en-US");
  const formatRatio = (secondsTaken: number): string => (seconds.byHand / secondsTaken).toFixed(1);
  return [
    `by hand ${eventsPerSecond(seconds.byHand)} events/s; ${cellCount} equal cells`,
    `preview ${eventsPerSecond(seconds.ours)} events/s, ratio ${formatRatio(seconds.ours)}`,
    `preview with prices and ${invoices} invoices ${eventsPerSecond(seconds.withInvoices)} events/s, ratio ${formatRatio(seconds.withInvoices)}`,
  ];
}

function timeWork<Result>(work: () => Result): { readonly result: Result; readonly seconds: number } {
  const results: Result[] = [];
  const seconds = measure(() => results.push(work()));
  const [result] = results;
  if (result === undefined) throw new Error("nothing was metered");
  return { result, seconds };
}

function meter(book: Book, events: readonly GeneratedEvent[]): UsageTally {
  const run = startEventRun(book);
  for (const event of events) run.add(event);
  return run.usage;
}

/**
 * Compares all cells.
 * @returns their number
 * @throws {Error} if a cell differs
 */
function requireEqualCells(usage: UsageTally, byHand: ReadonlyMap<string, Decimal>): number {
  let cellCount = 0;
  for (const { accountId, meterId, day, quantity } of usage.cells()) {
    const key = `${accountId} ${meterId} ${formatDate(day * 86_400_000).slice(0, 10)}`;
    if (byHand.get(key)?.toFixed() !== quantity.toFixed()) throw new Error(`${key} differs`);
    cellCount++;
  }
  if (cellCount !== byHand.size) throw new Error(`expected ${byHand.size} cells, got ${cellCount}`);
  return cellCount;
}
