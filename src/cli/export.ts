/**
 * `ratebook export`: a database as the files that the other commands read.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";

import type { Instant } from "../calendar/instant.ts";
import { readExternalSchemas } from "../engine/elsewhere/schemas-elsewhere.ts";
import type { Engine } from "../engine/engine.ts";
import { featuresBySchema } from "../ledger/catalog.ts";
import type { EventInput } from "../metering/event-envelope.ts";
import type { UsageRow } from "../metering/usage-row.ts";
import { stringifyJson } from "../numbers/json.ts";
import { InputError, quoted } from "../records/problems.ts";
import type { Arguments } from "./arguments.ts";
import type { Command } from "./command.ts";
import { databaseOption, databaseVariable, expectDatabase, lastingDatabaseOf } from "./database.ts";
import { readBookFile } from "./documents.ts";
import { exportedEvents, exportedFeatureUsage, exportedInvoices, exportedUsage } from "./exported-files.ts";
import { type Io, write } from "./io.ts";
import { intoFile } from "./output.ts";
import { tellNotices } from "./preview-output.ts";
import { UsageError } from "./problems.ts";
import { elsewhereOptions, usageElsewhereOf } from "./usage/usage-elsewhere.ts";
import { writeUsage } from "./usage/write-usage.ts";

/** Writes a database as files. */
export const exportCommand: Command = {
  usage: "[--database DIR|URL|pglite:DIR] [-o DIR] [--events] [--usage FILE|DIR|TABLE… --usage-schemas NAME,…]",
  summary: "Writes the book, usage, events and invoices of a database as files that the other commands read.",
  options: {
    ...databaseOption,
    output: { kind: "one", short: "o", value: "DIR", help: "where the files are written; default ratebook-export" },
    events: { kind: "flag", help: "also write every accepted event, in events.ndjson" },
    ...elsewhereOptions,
  },
  variables: databaseVariable,
  run: exportDatabase,
};

async function exportDatabase(given: Arguments, io: Io): Promise<"done" | "problems"> {
  if (given.positionals.length > 0) throw new UsageError("expected no arguments: --database says what is exported");
  const database = lastingDatabaseOf(given, io);
  expectDatabase(database);
  const usage = await usageElsewhereOf(given, io);
  const { createEngine } = await import("../engine/engine.ts");
  const { openDatabase } = await import("../store/open-database.ts");
  const store = await openDatabase(database);
  try {
    const elsewhere = await readExternalSchemas(store.read);
    const other = usage?.schemas.find((name) => !elsewhere.includes(name));
    // An engine that is told so would refuse its events from then on.
    if (other !== undefined)
      throw new UsageError(`--usage-schemas: the events of ${quoted(other)} are ingested into this database`);
    const now = Date.now();
    // Rows that a source has after this instant are in none of the files.
    const engine = createEngine({ store, ...(usage && { usage, clock: () => now }) });
    const directory = given.one("output") ?? "ratebook-export";
    const unread = usage === undefined ? elsewhere : [];
    return await exportFiles(engine, { directory, events: given.flag("events"), now, unread }, io);
  } finally {
    await store.close();
  }
}

/** Where the files go, and what is asked for. */
interface ExportOptions {
  readonly directory: string;
  /** Whether every event is written. */
  readonly events: boolean;
  /** Drafts of the cycles that have begun by then are among the invoices. */
  readonly now: Instant;
  /** Event schemas whose events live elsewhere, where nobody said: what became final is written of them. */
  readonly unread: readonly string[];
}

/** Writes the files of an engine, and tells what is not in them, and whose invoices they do not lead to. */
export async function exportFiles(engine: Engine, options: ExportOptions, io: Io): Promise<"done" | "problems"> {
  const { directory } = options;
  const path = (name: string): string => join(directory, name);
  const there = FILES.map(path).find((each) => existsSync(each));
  if (there !== undefined)
    throw new InputError(`${there} is there already: nothing was written; say another directory with -o DIR`);
  await mkdir(directory, { recursive: true });
  try {
    return await writeFiles(engine, options, path, io);
  } catch (error) {
    for (const name of FILES) await rm(path(name), { force: true });
    throw error;
  }
}

async function writeFiles(
  engine: Engine,
  { events, now, unread }: Omit<ExportOptions, "directory">,
  path: (name: string) => string,
  io: Io,
): Promise<"done" | "problems"> {
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
  const lacking = book.eventSchemas.filter(({ name }) => unread.includes(name)).map(({ name }) => quoted(name));
  const isWhole = lacking.length === 0;
  if (!isWhole) await tellNotices([`${lacking.join(", ")}: ${UNREAD}`], io);
  const usage = (): AsyncIterable<UsageRow> => exportedUsage(engine, book, isWhole);
  const taking = (): AsyncIterable<EventInput> => exportedEvents(engine, book, (name) => features.has(name));
  const cells = await intoFile(path(USAGE), io, ({ stdout }) => writeUsage(usage(), "ndjson", stdout));
  if (features.size > 0) await writeFile(path(FEATURE_EVENTS), linesOf(taking()), io);
  if (book.usageMeters.some(({ eventSchemaName }) => features.has(eventSchemaName)))
    await intoFile(path(FEATURE_USAGE), io, ({ stdout }) =>
      writeUsage(exportedFeatureUsage(engine, book), "ndjson", stdout),
    );
  if (events) await writeFile(path(EVENTS), linesOf(exportedEvents(engine, book, () => true)), io);
  const { invoices, differences } = await exportedInvoices(engine, book, {
    usage: usage(),
    events: taking(),
    now,
    isWhole,
  });
  await writeFile(path(INVOICES), invoicesText(invoices), io);
  await tellNotices(differences, io);
  const used = cells > 0 ? ` --usage ${path(USAGE)}` : "";
  const taken = features.size > 0 ? ` --events ${path(FEATURE_EVENTS)}` : "";
  await write(io.stdout, `ratebook preview ${path(BOOK)}${used}${taken}\n`);
  return differences.length === 0 ? "done" : "problems";
}

const [BOOK, EVENTS, INVOICES] = ["book.json", "events.ndjson", "invoices.json"] as const;
const [USAGE, FEATURE_USAGE, FEATURE_EVENTS] = [
  "usage.ndjson",
  "feature-usage.ndjson",
  "feature-events.ndjson",
] as const;
const FILES = [BOOK, USAGE, FEATURE_USAGE, FEATURE_EVENTS, EVENTS, INVOICES];

const UNREAD =
  "the events live elsewhere, and without --usage and --usage-schemas the usage of open cycles and the drafts are not in the files";

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
