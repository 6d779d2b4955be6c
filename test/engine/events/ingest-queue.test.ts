/** Group commit: which callers share a commit, and which result each of them gets. */
import { describe, expect, test } from "vitest";

import { createIngestQueue, type IngestBatch } from "../../../src/engine/events/ingest-queue.ts";
import { RatebookError } from "../../../src/errors.ts";
import type { IngestResult } from "../../../src/ledger/events/ingest.ts";
import type { BatchEvent } from "../../../src/metering/event-envelope.ts";

function batchEvent(id: string, accountId = "a"): BatchEvent {
  return { id, accountId, schemaName: "call", timestamp: 0, sent: { id } } as unknown as BatchEvent;
}

function eventIds(batch: readonly BatchEvent[]): readonly string[] {
  return batch.map(({ id }) => id ?? "");
}

/** Commits that end on request, in the order in which they began. */
function commits(): {
  readonly ingestBatch: IngestBatch;
  readonly starts: (readonly string[])[];
  readonly end: (place: number, error?: unknown) => Promise<void>;
} {
  const starts: (readonly string[])[] = [];
  const ends: ((error: unknown) => void)[] = [];
  return {
    starts,
    ingestBatch: (batch) =>
      new Promise((resolve, reject) => {
        starts.push(eventIds(batch));
        const results = batch.map(({ id }): IngestResult => {
          const status = "INGESTION_COMPLETED_EVENT_METERED" as const;
          return { status, description: "", eventId: id ?? "" };
        });
        ends.push((error) => (error === undefined ? resolve(results) : reject(error)));
      }),
    async end(place, error) {
      ends[place]?.(error);
      await new Promise((resolve) => void setImmediate(resolve));
    },
  };
}

async function collectIds(results: Promise<readonly IngestResult[]>): Promise<readonly (string | undefined)[]> {
  return (await results).map(({ eventId }) => eventId);
}

const toError = (error: unknown): unknown => error;

describe("callers of ingest", () => {
  test("S14.3 a single caller commits at once; those who arrive in the meantime share a commit, and each gets its part", async () => {
    const { ingestBatch, starts, end } = commits();
    const ingest = createIngestQueue(ingestBatch);
    const calls = [[batchEvent("1")], [batchEvent("2"), batchEvent("3")], [], [batchEvent("4", "b")]].map((batch) =>
      collectIds(ingest(batch)),
    );
    expect(starts).toEqual([["1"]]);
    await end(0);
    expect(starts).toEqual([["1"], ["2", "3", "4"]]);
    await end(1);
    expect(await Promise.all(calls)).toEqual([["1"], ["2", "3"], [], ["4"]]);
    // After all commits, the next caller is single again.
    const last = collectIds(ingest([batchEvent("5")]));
    expect(starts).toHaveLength(3);
    await end(2);
    expect(await last).toEqual(["5"]);
  });

  test("share one commit with all others again if they send their next events as soon as they are answered", async () => {
    const { ingestBatch, starts, end } = commits();
    const ingest = createIngestQueue(ingestBatch);
    const client = async (name: string): Promise<void> => {
      for (let turn = 0; turn < 3; turn++) await ingest([batchEvent(`${name} ${turn}`)]);
    };
    const clients = Promise.all(["a", "b", "c"].map(client));
    for (let commit = 0; commit < 4; commit++) await end(commit);
    await clients;
    expect(starts).toEqual([["a 0"], ["b 0", "c 0", "a 1"], ["b 1", "c 1", "a 2"], ["b 2", "c 2"]]);
  });

  test("with a large batch wait for no other callers, and others don't wait for them", async () => {
    const { ingestBatch, starts, end } = commits();
    const ingest = createIngestQueue(ingestBatch);
    const large = ingest(Array.from({ length: 10_000 }, (_, place) => batchEvent(`large ${place}`)));
    const single = collectIds(ingest([batchEvent("1")]));
    expect(starts.map(({ length }) => length)).toEqual([10_000, 1]);
    await end(1);
    expect(await single).toEqual(["1"]);
    await end(0);
    expect(await large).toHaveLength(10_000);
  });

  test("are the only ones with an error if their event makes the commit fail, at any position", async () => {
    for (const position of [0, 3, 6]) {
      const arithmeticError = new RatebookError("ERR_ARITHMETIC", "too many digits", {});
      const ingest = createIngestQueue(async (batch) => {
        await new Promise((resolve) => void setImmediate(resolve));
        if (eventIds(batch).includes(`${position}`)) throw arithmeticError;
        return batch.map(({ id }) => ({
          status: "INGESTION_COMPLETED_EVENT_METERED",
          description: "",
          eventId: id ?? "",
        }));
      });
      const first = ingest([batchEvent("first")]);
      const calls = Array.from({ length: 7 }, (_, place) =>
        collectIds(ingest([batchEvent(`${place}`)])).catch(toError),
      );
      await first;
      const expected = calls.map((_, place) => (place === position ? arithmeticError : [`${place}`]));
      expect(await Promise.all(calls)).toEqual(expected);
    }
  });

  test("all get the error of an unavailable store, which is called once", async () => {
    const { ingestBatch, starts, end } = commits();
    const ingest = createIngestQueue(ingestBatch);
    const first = ingest([batchEvent("first")]);
    const calls = ["1", "2", "3"].map((id) => collectIds(ingest([batchEvent(id)])).catch(toError));
    await end(0);
    await first;
    const away = new RatebookError("ERR_STORE_UNAVAILABLE", "gone", {});
    await end(1, away);
    expect(await Promise.all(calls)).toEqual([away, away, away]);
    expect(starts).toEqual([["first"], ["1", "2", "3"]]);
  });

  test("for other accounts pass a commit that waits for a locked account; those for that account wait", async () => {
    const { ingestBatch, starts, end } = commits();
    const ingest = createIngestQueue(ingestBatch);
    const stuckIds = collectIds(ingest([batchEvent("stuck", "locked")]));
    const behind = collectIds(ingest([batchEvent("behind", "locked")]));
    const free = collectIds(ingest([batchEvent("free", "b")]));
    await new Promise((resolve) => void setTimeout(resolve, 300));
    expect(starts).toEqual([["stuck"], ["free"]]);
    await end(1);
    expect(await free).toEqual(["free"]);
    const later = collectIds(ingest([batchEvent("later", "c")]));
    expect(starts).toEqual([["stuck"], ["free"], ["later"]]);
    await end(2);
    expect(await later).toEqual(["later"]);
    await end(0);
    expect(starts.at(-1)).toEqual(["behind"]);
    await end(3);
    expect(await Promise.all([stuckIds, behind])).toEqual([["stuck"], ["behind"]]);
  });
});
