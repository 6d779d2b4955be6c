/**
 * `ratebook export`: a database as the files that the other commands read.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import type { Instant } from "../calendar/instant.ts";
import type { Engine } from "../engine/engine.ts";
import { featuresBySchema } from "../ledger/preview/preview-usage.ts";
import type { EventInput } from "../metering/event-envelope.ts";
import type { UsageRow } from "../metering/usage-row.ts";
import { stringifyJson } from "../numbers/json.ts";
import { InputError } from "../records/problems.ts";
import type { Arguments } from "./arguments.ts";
import type { Command } from "./command.ts";
import { databaseOption, databaseVariable, expectDatabase, lastingDatabaseOf } from "./database.ts";
import { readBookFile } from "./documents.ts";
import { exportedEvents, exportedInvoices, exportedUsage } from "./exported-files.ts";
import { type Io, write } from "./io.ts";
import { intoFile } from "./output.ts";
import { tellNotices } from "./preview-output.ts";
import { UsageError } from "./problems.ts";
import { writeUsage } from "./usage/write-usage.ts";

/** Writes a database as files. */
export const exportCommand: Command = {
  usage: "[--database DIR|URL|pglite:DIR] [-o DIR] [--events]",
  summary: "Writes the book, usage, events and invoices of a database as files that the other commands read.",
  options: {
    ...databaseOption,
    output: { kind: "one", short: "o", value: "DIR", help: "where the files are written; default ratebook-export" },
    events: { kind: "flag", help: "also write every accepted event, in events.ndjson" },
  },
  variables: databaseVariable,
  run: exportDatabase,
};

async function exportDatabase(given: Arguments, io: Io): Promise<"done" | "problems"> {
  if (given.positionals.length > 0) throw new UsageError("expected no arguments: --database says what is exported");
  const database = lastingDatabaseOf(given, io);
  expectDatabase(database);
  const { createEngine } = await import("../engine/engine.ts");
  const { openDatabase } = await import("../store/open-database.ts");
  const engine = createEngine({ store: await openDatabase(database) });
  try {
    const directory = given.one("output") ?? "ratebook-export";
    return await exportFiles(engine, { directory, events: given.flag("events"), now: Date.now() }, io);
  } finally {
    await engine.close();
  }
}

/** Where the files go, and what is asked for. */
interface ExportOptions {
  readonly directory: string;
  /** Whether every event is written. */
  readonly events: boolean;
  /** Drafts of the cycles that have begun by then are among the invoices. */
  readonly now: Instant;
}

/** Writes the files of an engine, and tells what is not in them, and whose invoices they do not lead to. */
export async function exportFiles(
  engine: Engine,
  { directory, events, now }: ExportOptions,
  io: Io,
): Promise<"done" | "problems"> {
  const path = (name: string): string => join(directory, name);
  const there = [BOOK, USAGE, FEATURE_EVENTS, EVENTS, INVOICES].map(path).find((each) => existsSync(each));
  if (there !== undefined)
    throw new InputError(`${there} is there already: nothing was written; say another directory with -o DIR`);
  await mkdir(directory, { recursive: true });
  const { book: written, notes } = await engine.exportBook();
  await writeFile(path(BOOK), [`${stringifyJson(written, 2)}\n`], io);
  await tellNotices(notes, io);
  const file = await readBookFile(path(BOOK), io);
  if (file === undefined) {
    await tellNotices(["the database holds what no book may: only the book was written, with the problems above"], io);
    return "problems";
  }
  const { book } = file;
  const features = featuresBySchema(book);
  const usage = (): AsyncIterable<UsageRow> => exportedUsage(engine, book);
  const taking = (): AsyncIterable<EventInput> => exportedEvents(engine, book, (name) => features.has(name));
  const cells = await intoFile(path(USAGE), io, ({ stdout }) => writeUsage(usage(), "ndjson", stdout));
  if (features.size > 0) await writeFile(path(FEATURE_EVENTS), linesOf(taking()), io);
  if (events) await writeFile(path(EVENTS), linesOf(exportedEvents(engine, book, () => true)), io);
  const { invoices, differences } = await exportedInvoices(engine, book, { usage: usage(), events: taking(), now });
  await writeFile(path(INVOICES), invoicesText(invoices), io);
  await tellNotices(differences, io);
  const used = cells > 0 ? ` --usage ${path(USAGE)}` : "";
  const taken = features.size > 0 ? ` --events ${path(FEATURE_EVENTS)}` : "";
  await write(io.stdout, `ratebook preview ${path(BOOK)}${used}${taken}\n`);
  return differences.length === 0 ? "done" : "problems";
}

const [BOOK, USAGE, FEATURE_EVENTS] = ["book.json", "usage.ndjson", "feature-events.ndjson"] as const;
const [EVENTS, INVOICES] = ["events.ndjson", "invoices.json"] as const;

async function writeFile(path: string, texts: AsyncIterable<string> | Iterable<string>, io: Io): Promise<void> {
  await intoFile(path, io, async ({ stdout }) => {
    for await (const text of texts) await write(stdout, text);
  });
}

async function* linesOf(events: AsyncIterable<EventInput>): AsyncGenerator<string> {
  for await (const event of events) yield `${stringifyJson(event)}\n`;
}

function* invoicesText(invoices: readonly unknown[]): Generator<string> {
  yield '{ "invoices": [';
  for (const [index, invoice] of invoices.entries()) yield `${index === 0 ? "" : ","}\n${stringifyJson(invoice)}`;
  yield "\n] }\n";
}
