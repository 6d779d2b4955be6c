/**
 * One of several engines over one database: it ingests and undoes the same events as the others, and the first one also
 * changes the configuration. `writer.program.js DATABASE NUMBER ROUNDS START`
 */
import { writeSync } from "node:fs";

import { createEngine } from "../../src/engine/engine.ts";
import { openDatabase } from "../../src/store/open-database.ts";
import { ACCOUNTS, clockFrom, type Said } from "./book.ts";

const [database = "", writer = "0", roundsText = "0", start = "0"] = process.argv.slice(2);
const [number, rounds] = [Number(writer), Number(roundsText)];
const clock = clockFrom(Number(start));
const store = await openDatabase(database);
const engine = createEngine({ store, clock });

function say(message: Said | { readonly kind: "ready" }): void {
  writeSync(1, `${JSON.stringify(message)}\n`);
}

/** Deterministic numbers below a bound, the same in every run of this writer. */
let state = number + 1;
function below(limit: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}

/** All writers use ids from a window that moves with the rounds, each with other accounts for them. */
function someEvent(round: number): { readonly id: string; readonly accountId: string } {
  const place = round * 4 + below(16);
  return { id: `event-${place}`, accountId: ACCOUNTS[(place + number) % ACCOUNTS.length] ?? "" };
}

async function ingestBatch(round: number): Promise<void> {
  const batch = Array.from({ length: 12 }, () => ({
    schemaName: "call",
    ...someEvent(round),
    timestamp: new Date(clock()).toISOString(),
    attributes: [{ name: "count", value: 1 + below(3) }],
  }));
  const results = await engine.ingest(batch);
  say({ kind: "ingested", results: results.map(({ status }, index) => ({ id: batch[index]?.id ?? "", status })) });
}

async function undoOne(round: number): Promise<void> {
  const { id, accountId } = someEvent(round);
  const undone = await engine.undo({ account: accountId, eventId: id });
  say({ kind: "undone", ids: undone.flatMap(({ status, event }) => (status === "REVERTED" ? [event.eventId] : [])) });
}

async function change(what: "meter" | "weight"): Promise<void> {
  const from = clock();
  if (what === "weight") await engine.settings.update("setting.user.weight", { value: "2" });
  else {
    const computations = [{ order: 1, computation: 1 }];
    const calls = { name: "calls", aggregation: "SUM", eventSchemaName: "call", computations } as const;
    const { item } = await engine.usageMeters.create(calls);
    await engine.usageMeters.activate(item.id);
  }
  say({ kind: "changed", what, from, until: clock() });
}

say({ kind: "ready" });
// All begin at the same time.
await new Promise((resolve) => process.stdin.once("data", resolve));
process.stdin.destroy();
for (let round = 0; round < rounds; round++) {
  await ingestBatch(round);
  if (round % 2 === 1) await undoOne(round);
  if (number === 0 && round === Math.floor(rounds / 4)) await change("meter");
  if (number === 0 && round === Math.floor(rounds / 2)) await change("weight");
}
await store.close();
