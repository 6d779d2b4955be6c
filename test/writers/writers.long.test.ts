/** Engines as separate processes over one PostgreSQL, writing to the same accounts. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { PageOptions } from "../../src/engine/pages.ts";
import type { EventRecord } from "../../src/ledger/records.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import type { Store } from "../../src/store/store.ts";
import { buildProgram, type Program } from "../support/programs.ts";
import { ACCOUNTS, BOOK, clockFrom, GRANTED, OVERAGE_MAX, type Said } from "./book.ts";

const ROUNDS = 60;

let program: Program;
let directory: string;
let store: Store;

beforeAll(() => {
  program = buildProgram(join(import.meta.dirname, "writer.program.ts"));
});
afterAll(() => program.remove());
afterEach(async () => {
  await store.close();
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
});

/** The results of the writers: their reports, and what is stored. */
interface WriterResults {
  readonly engine: Engine;
  readonly reports: readonly Said[];
  readonly events: readonly EventRecord[];
}

async function runWriters(writers: number): Promise<WriterResults> {
  directory = await mkdtemp(join(tmpdir(), "ratebook-writers-"));
  store = await openDatabase(directory);
  const start = Date.now();
  const engine = createEngine({ store, clock: clockFrom(start) });
  await engine.load(BOOK);
  const running = Array.from({ length: writers }, (_, index) =>
    program.run(directory, String(index), String(ROUNDS), String(start)),
  );
  for (const { lines } of running) expect((await lines.next()).value).toEqual({ kind: "ready" });
  for (const each of running) each.send("go");
  const reports = await Promise.all(running.map(({ lines }) => readReports(lines)));
  for (const { end } of running) expect(await end).toEqual({ code: 0, signal: null, errors: "" });
  const events: EventRecord[] = [];
  for (let page: PageOptions = { limit: 1000 }; ;) {
    const { items, next } = await engine.events.list({ page });
    events.push(...items);
    if (next === undefined) return { engine, reports: reports.flat(), events };
    page = { limit: 1000, after: next };
  }
}

async function readReports(lines: AsyncIterable<unknown>): Promise<readonly Said[]> {
  const reports: Said[] = [];
  for await (const line of lines) reports.push(line as Said);
  return reports;
}

const isAccepted = ({ status }: { readonly status: string }): boolean => status.startsWith("INGESTION_COMPLETED");

function tally(ids: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const id of ids) counts[id] = (counts[id] ?? 0) + 1;
  return counts;
}

function sumNumbers(quantities: readonly { toFixed(): string }[]): number {
  return quantities.reduce<number>((sum, quantity) => sum + Number(quantity.toFixed()), 0);
}

describe.each([2, 3])("%i engines as separate processes", (writers) => {
  test("S14.1 lose no event, count none twice, exceed no limit, and see each other's changes", async () => {
    const { engine, reports, events } = await runWriters(writers);
    const results = reports.flatMap((each) => (each.kind === "ingested" ? each.results : []));
    const undone = reports.flatMap((each) => (each.kind === "undone" ? each.ids : []));
    const statuses = tally(results.map(({ status }) => status));
    // Everything occurred: ids were used by another engine, credits ran out, and undone ids were accepted again.
    expect(results).toHaveLength(writers * ROUNDS * 12);
    expect(Object.keys(statuses).sort()).toEqual([
      "INGESTION_COMPLETED_EVENT_METERED",
      "INGESTION_FAILED_DUPLICATE_EVENT",
      "INGESTION_FAILED_INSUFFICIENT_CREDITS",
    ]);
    expect(undone.length).toBeGreaterThan(0);

    const acceptedEvents = events.filter(isAccepted);
    const counting = acceptedEvents.filter(({ reverted }) => !reverted);
    expect(tally(acceptedEvents.map(({ eventId }) => eventId))).toEqual(
      tally(results.filter(isAccepted).map(({ id }) => id)),
    );
    expect(tally(acceptedEvents.filter(({ reverted }) => reverted).map(({ eventId }) => eventId))).toEqual(
      tally(undone),
    );
    expect(new Set(counting.map(({ eventId }) => eventId)).size).toBe(counting.length);

    const window = { from: "2024-06-01T00:00:00Z", until: "2024-07-01T00:00:00Z" };
    for (const accountId of ACCOUNTS) {
      const own = counting.filter((event) => event.accountId === accountId);
      const usage = await engine.usage({ accountIds: [accountId], ...window });
      for (const { id } of (await engine.usageMeters.list()).items.map(({ item }) => item)) {
        const units = own.flatMap((event) => event.units.filter(({ meterId }) => meterId === id));
        const cells = usage.filter(({ meterId }) => meterId === id);
        expect(sumNumbers(cells.map(({ quantity }) => quantity))).toBe(
          sumNumbers(units.map(({ quantity }) => quantity)),
        );
      }
      const consumption = sumNumbers(own.flatMap(({ feature }) => feature?.quantity ?? []));
      const [balance, overage] = await Promise.all([
        engine.entries.balance({ accountId, featureId: "ft.calls" }),
        engine.overage({ accountIds: [accountId], ...window }),
      ]);
      const over = sumNumbers(overage.map(({ quantity }) => quantity));
      const balanceLeft = sumNumbers([balance.balance]);
      expect(GRANTED - balanceLeft + over).toBe(consumption);
      expect(balanceLeft).toBeGreaterThanOrEqual(0);
      expect(over).toBeGreaterThanOrEqual(0);
      expect(over).toBeLessThanOrEqual(OVERAGE_MAX);
      const sortedEvents = events
        .filter((event) => event.accountId === accountId)
        .toSorted((a, b) => a.number - b.number);
      expect(new Set(sortedEvents.map(({ number }) => number)).size).toBe(sortedEvents.length);
      const createdAt = sortedEvents.map((event) => event.createdAt);
      expect(createdAt).toEqual(createdAt.toSorted((a, b) => a - b));
    }

    const changes = reports.filter((each) => each.kind === "changed");
    expect(changes.map(({ what }) => what)).toEqual(["meter", "weight"]);
    for (const { what, from, until } of changes) {
      const before = acceptedEvents.filter(({ createdAt }) => createdAt < from);
      const after = acceptedEvents.filter(({ createdAt }) => createdAt > until);
      expect(before.length).toBeGreaterThan(0);
      expect(after.length).toBeGreaterThan(0);
      expect(before.filter((event) => usesChange(what, event))).toEqual([]);
      expect(after.filter((event) => !usesChange(what, event))).toEqual([]);
    }
  });
});

/** Whether an event was metered with the configuration after a change. */
function usesChange(what: "meter" | "weight", { units, feature }: EventRecord): boolean {
  if (what === "meter") return units.length === 2;
  const weighedUnits = units.find(({ meterId }) => meterId === "um.weighed");
  return (
    sumNumbers(weighedUnits === undefined ? [] : [weighedUnits.quantity]) ===
    2 * sumNumbers(feature ? [feature.quantity] : [])
  );
}
