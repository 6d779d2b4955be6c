/** The examples through the engine: their invoices are those of the offline preview (S13.5). */
import { describe, expect, test } from "vitest";

import { preview, readBook } from "../../src/index.ts";
import { exampleEvents, exampleText } from "../support/examples.ts";
import { engineAt } from "./support.ts";

const EXAMPLES = [
  { example: "cloud-storage", from: "2024-06-01", until: "2024-07-01", loadedAt: "2024-05-01", closed: "2024-07-31" },
];

async function ingested(example: string, loadedAt: string): Promise<ReturnType<typeof engineAt>> {
  const subject = engineAt(loadedAt);
  await subject.engine.load(exampleText(example, "book.json"));
  for (const event of exampleEvents(example, "events.ndjson")) {
    const { timestamp } = event as { readonly timestamp: string };
    const [result] = await subject.at(timestamp).ingest([event]);
    expect(result?.status).toMatch(/^INGESTION_COMPLETED/);
  }
  return subject;
}

describe.each(EXAMPLES)("the example $example", ({ example, from, until, loadedAt, closed }) => {
  test("S13.5 has the same invoices as offline, whether previewed or final", async () => {
    const book = readBook(exampleText(example, "book.json"));
    const offline = preview(book, exampleEvents(example, "events.ndjson"), { from, until, explain: true }).invoices;
    const { engine, at } = await ingested(example, loadedAt);
    const ahead = await engine.preview({ from, until, asOf: `${closed}T00:00:00Z` });
    const previewed = await at(closed).preview({ from, until });
    expect(previewed).toEqual(ahead);
    await engine.finalize();
    const final = await engine.preview({ from, until });
    expect(final).toEqual(previewed);
    const drafts = final.map(({ invoice }) => ({ ...invoice, status: "DRAFT" }));
    expect(drafts.map(comparable).sort()).toEqual(offline.map(comparable).sort());
    expect(final.every(({ finalizedAt }) => finalizedAt !== undefined)).toBe(true);
  });

  test("S13.4 finalizing twice changes nothing", async () => {
    const { store, at } = await ingested(example, loadedAt);
    const engine = at(closed);
    const first = await engine.finalize();
    expect(first.finalized).toBeGreaterThan(0);
    const before = store.snapshot();
    expect(await engine.finalize()).toEqual({ finalized: 0, consolidated: 0 });
    expect(store.snapshot()).toBe(before);
  });
});

function comparable(invoice: object): string {
  return JSON.stringify(invoice);
}
