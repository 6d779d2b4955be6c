/**
 * Laws of external usage: events in a source give the same invoices, usage and series as when they are ingested,
 * whatever the schedule of bill runs, and however often the source is unavailable; late usage is exactly the difference
 * (S17.4, S17.5).
 */
import fc from "fast-check";
import { expect, test } from "vitest";

import { DAY_MS, formatInstant, toInstant } from "../../../src/calendar/instant.ts";
import { hasCode } from "../../../src/errors.ts";
import type { Invoice } from "../../../src/invoicing/invoice.ts";
import type { UsageSource } from "../../../src/ledger/external-usage.ts";
import { type Decimal, subtract, sum, formatDecimal } from "../../../src/numbers/decimal.ts";
import type { MemoryStore } from "../../../src/store/memory/memory.ts";
import { listAccountIds, eventRange, type GeneratedEvent } from "../../../src/testing/events-arbitrary.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { runs } from "../../support/runs.ts";
import { eventsSource } from "./events-source.ts";
import { cases, LAST_DAY, play, snapshotPlay } from "./scenario.ts";

test("S17.4 events in a source give the same result as ingested ones, whatever the schedule of bill runs", async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (story) => {
      const [some = [], others = []] = story.runs;
      const internal = await play(story, some, undefined);
      const source = eventsSource(() => story.events);
      const read = await play(story, others, source);
      expect(await snapshotPlay(read, story.book)).toEqual(await snapshotPlay(internal, story.book));
    }),
    { numRuns: runs(20) },
  );
});

test("S17.5 a source that is unavailable at any time causes only delays", async () => {
  await fc.assert(
    fc.asyncProperty(cases, fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }), async (story, failures) => {
      const [at = []] = story.runs;
      const source = eventsSource(() => story.events);
      let queries = 0;
      const failing: UsageSource = {
        name: source.name,
        async *cells(query) {
          const fails = failures[queries++ % (failures.length + 1)] ?? false;
          for await (const cells of source.cells(query)) {
            if (fails) throw new Error("the connection was lost");
            yield cells;
          }
        },
      };
      const again = async <Result>(work: () => Promise<Result>): Promise<Result> => {
        for (;;) {
          try {
            return await work();
          } catch (error) {
            if (!hasCode(error, "ERR_USAGE_UNAVAILABLE")) throw error;
          }
        }
      };
      const read = await play(story, at, failing, again);
      const calm = await play(story, at, source);
      failures.fill(false);
      expect(await snapshotPlay(read, story.book)).toEqual(await snapshotPlay(calm, story.book));
    }),
    { numRuns: runs(15) },
  );
});

function gross(invoice: Invoice | undefined): string {
  const lines = invoice === undefined ? [] : linesOfType(invoice, "GROSS_AMOUNT");
  return formatDecimal(sum(lines.map(({ value }) => value)));
}

const LEVEL_METERS: ReadonlySet<string> = new Set(["um.level", "um.latest"]);

function keyOf({
  accountId,
  meterId,
  date,
  group,
}: {
  readonly accountId: string;
  readonly meterId: string;
  readonly date: string;
  readonly group?: object;
}): string {
  return `${accountId} ${meterId} ${date} ${JSON.stringify(group)}`;
}

test("S17.4 late usage is exactly the difference, in units and in money; final invoices are unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(cases, fc.infiniteStream(fc.boolean()), async (story, coins) => {
      const isLate = new Map(story.events.map(({ id }) => [id, coins.next().value]));
      const [at = []] = story.runs;
      let arrivals: readonly GeneratedEvent[] = story.events.filter(({ id }) => !isLate.get(id));
      const source = eventsSource(() => arrivals);
      const { engine, store } = await play(story, at, source);
      const accountIds = listAccountIds(story.book);
      const days = {
        accountIds,
        from: eventRange(story.book).from,
        until: formatInstant(toInstant(eventRange(story.book).from) + LAST_DAY * DAY_MS),
      };
      expect(await engine.lateUsage(days)).toEqual([]);
      const [billed, finals] = [await engine.usage(days), store.snapshot()];

      arrivals = story.events;
      const late = await engine.lateUsage(days);
      await engine.finalize();
      expect(store.snapshot()).toBe(finals);
      const whole = await play(story, at, source);
      const [before, after] = [billed, await whole.engine.usage(days)].map(
        (cells) => new Map(cells.map((cell) => [keyOf(cell), cell.quantity])),
      );
      // Days without a plan are never closed, but for levels: their other rows are in usage at once.
      const now = new Map((await engine.usage(days)).map((cell) => [keyOf(cell), cell.quantity]));
      const lateCells = late.flatMap(({ accountId, cells }) => cells.map((cell) => ({ accountId, ...cell })));
      for (const cell of lateCells) {
        const key = keyOf(cell);
        expect(formatDecimal(cell.billed)).toBe(formatDecimal(before?.get(key) ?? subtract(cell.now, cell.now)));
        expect(formatDecimal(cell.now)).toBe(formatDecimal(after?.get(key) ?? subtract(cell.now, cell.now)));
        expect(formatDecimal(cell.late)).toBe(formatDecimal(subtract(cell.now, cell.billed)));
        now.set(key, cell.now);
      }
      const formatUsageMap = (cells: ReadonlyMap<string, Decimal> | undefined): readonly string[] =>
        [...(cells ?? [])]
          .flatMap(([key, quantity]) => (quantity.isZero() ? [] : [`${key} ${formatDecimal(quantity)}`]))
          .toSorted();
      expect(formatUsageMap(now)).toEqual(formatUsageMap(after));
      const findStandardInvoice = async (
        from: MemoryStore,
        { accountId, startDate }: { accountId: string; startDate: string },
      ) =>
        (await from.read.invoices([accountId], Number.NEGATIVE_INFINITY)).find(
          ({ invoice }) => invoice.invoiceType === "STANDARD" && invoice.startDate.startsWith(startDate),
        )?.invoice;
      for (const each of late) {
        expect(formatDecimal(each.billedAmount)).toBe(gross(await findStandardInvoice(store, each)));
        // The levels that a closed cycle was billed with stay, whatever changed before it.
        const hasLateLevel = late.some(
          ({ accountId, startDate, cells }) =>
            accountId === each.accountId &&
            startDate < each.startDate &&
            cells.some(({ meterId }) => LEVEL_METERS.has(meterId)),
        );
        if (!hasLateLevel)
          expect(formatDecimal(each.amountNow)).toBe(gross(await findStandardInvoice(whole.store, each)));
      }
    }),
    { numRuns: runs(20) },
  );
});
