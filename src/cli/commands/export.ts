/** `ratebook export`: writes a database as files that other commands read. */
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";

import type { Instant } from "../../calendar/instant.ts";
import type { Engine } from "../../engine/engine.ts";
import { readExternalSchemas } from "../../engine/external-usage.ts";
import { InputError } from "../../event-files/input-error.ts";
import { featuresBySchema } from "../../ledger/catalog.ts";
import type { EventInput } from "../../metering/event-envelope.ts";
import type { UsageRow } from "../../metering/usage-rows.ts";
import { stringifyJson } from "../../numbers/json.ts";
import { quoteText } from "../../problem-table.ts";
import { type Arguments, type Command, requireNoArguments } from "../arguments.ts";
import { databaseOption, databaseVariable, requireDatabase, withStore } from "../database-option.ts";
import { readBookFile } from "../documents/read-documents.ts";
import { ProblemsError, UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { exportEvents, exportFeatureUsage, exportInvoices, exportUsage } from "../output/exported-files.ts";
import { writeToFile } from "../output/output-file.ts";
import { printNotices } from "../reading/print-problems.ts";
import { externalUsageOptions, readExternalUsage } from "../usage/external-usage.ts";
import { writeUsage } from "../usage/usage-files.ts";

export const exportCommand: Command = {
  usage: "[--database DIR|URL|pglite:DIR] [-o DIR] [--events] [--usage FILE|DIR|TABLE… --usage-schemas NAME,…]",
  options: {
    ...databaseOption,
    output: { kind: "one", short: "o", value: "DIR", help: "directory to write to; default ratebook-export" },
    events: { kind: "flag", help: "also write all accepted events to events.ndjson" },
    ...externalUsageOptions,
  },
  variables: databaseVariable,
  run: runExport,
};

async function runExport(args: Arguments, io: Io): Promise<"done" | "problems"> {
  requireNoArguments(args, "give the database with --database");
  const database = requireDatabase(args, io);
  const usage = await readExternalUsage(args, io);
  const { createEngine } = await import("../../engine/engine.ts");
  return withStore(database, async (store) => {
    const externalSchemas = await readExternalSchemas(store.read);
    const ingestedSchema = usage?.schemas.find((name) => !externalSchemas.includes(name));
    // An engine with this schema as external would reject its events afterwards.
    if (ingestedSchema !== undefined)
      throw new UsageError(
        `--usage-schemas: ${quoteText(ingestedSchema)} is not external: its events are stored in this database`,
      );
    const now = Date.now();
    // The files contain no rows that a source receives after this instant.
    const engine = createEngine({ store, ...(usage && { usage, clock: () => now }) });
    const directory = args.value("output") ?? "ratebook-export";
    const unreadSchemas = usage === undefined ? externalSchemas : [];
    return exportFiles(engine, { directory, events: args.flag("events"), now, unreadSchemas }, io);
  });
}

/** Options of an export. */
interface ExportOptions {
  readonly directory: string;
  /** Whether to write events. */
  readonly events: boolean;
  /** Invoices include drafts of cycles that have begun by then. */
  readonly now: Instant;
  /** External event schemas without a source. Only their usage in final invoices is exported. */
  readonly unreadSchemas: readonly string[];
}

/** Writes the files of an engine, and reports what they lack and which invoices they don't reproduce. */
export async function exportFiles(engine: Engine, options: ExportOptions, io: Io): Promise<"done" | "problems"> {
  const { directory } = options;
  const path = (name: string): string => join(directory, name);
  const existing = FILES.map(path).find((each) => existsSync(each));
  if (existing !== undefined) throw new InputError(`${existing} exists; choose another directory with -o DIR`);
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
  { events, now, unreadSchemas }: Omit<ExportOptions, "directory">,
  path: (name: string) => string,
  io: Io,
): Promise<"done" | "problems"> {
  const { book: bookDocument, notes } = await engine.exportBook();
  await writeFile(path(BOOK), [`${stringifyJson(bookDocument, 2)}\n`], io);
  await printNotices(notes, io);
  const file = await readBookFile(path(BOOK), io).catch(async (error: unknown) => {
    if (!(error instanceof ProblemsError)) throw error;
    await write(io.stderr, error.message);
  });
  if (!file) {
    await printNotices(["the stored data has the problems above; only the book was exported"], io);
    return "problems";
  }
  const { book } = file;
  const features = featuresBySchema(book);
  const unreadNames = book.eventSchemas
    .filter(({ name }) => unreadSchemas.includes(name))
    .map(({ name }) => quoteText(name));
  const isComplete = unreadNames.length === 0;
  if (!isComplete) await printNotices([`${unreadNames.join(", ")}: ${UNREAD_SCHEMAS_NOTE}`], io);
  const readUsage = (): AsyncIterable<UsageRow> => exportUsage(engine, book, isComplete);
  const readFeatureEvents = (): AsyncIterable<EventInput> => exportEvents(engine, book, (name) => features.has(name));
  const cellCount = await writeToFile(path(USAGE), io, ({ stdout }) => writeUsage(readUsage(), "ndjson", stdout, book));
  if (features.size > 0) await writeFile(path(FEATURE_EVENTS), toNdjson(readFeatureEvents()), io);
  if (book.usageMeters.some(({ eventSchemaName }) => features.has(eventSchemaName)))
    await writeToFile(path(FEATURE_USAGE), io, ({ stdout }) =>
      writeUsage(exportFeatureUsage(engine, book), "ndjson", stdout, book),
    );
  if (events) await writeFile(path(EVENTS), toNdjson(exportEvents(engine, book, () => true)), io);
  const { invoices, differences } = await exportInvoices(engine, book, {
    usage: readUsage(),
    events: readFeatureEvents(),
    now,
    isComplete,
  });
  await writeFile(path(INVOICES), formatInvoices(invoices), io);
  await printNotices(differences, io);
  const usageOption = cellCount > 0 ? ` --usage ${path(USAGE)}` : "";
  const eventsOption = features.size > 0 ? ` --events ${path(FEATURE_EVENTS)}` : "";
  await write(io.stdout, `ratebook preview ${path(BOOK)}${usageOption}${eventsOption}\n`);
  return differences.length === 0 ? "done" : "problems";
}

const [BOOK, EVENTS, INVOICES] = ["book.json", "events.ndjson", "invoices.json"] as const;
const [USAGE, FEATURE_USAGE, FEATURE_EVENTS] = [
  "usage.ndjson",
  "feature-usage.ndjson",
  "feature-events.ndjson",
] as const;
const FILES = [BOOK, USAGE, FEATURE_USAGE, FEATURE_EVENTS, EVENTS, INVOICES];

const UNREAD_SCHEMAS_NOTE =
  "usage is external: without --usage and --usage-schemas, the usage of open billing periods and the drafts are missing from the files";

async function writeFile(path: string, texts: AsyncIterable<string> | Iterable<string>, io: Io): Promise<void> {
  await writeToFile(path, io, async ({ stdout }) => {
    for await (const text of texts) await write(stdout, text);
  });
}

async function* toNdjson(events: AsyncIterable<EventInput>): AsyncGenerator<string> {
  for await (const event of events) yield `${stringifyJson(event)}\n`;
}

function* formatInvoices(invoices: readonly unknown[]): Generator<string> {
  yield '{ "invoices": [';
  for (const [index, invoice] of invoices.entries()) yield `${index === 0 ? "" : ","}\n${stringifyJson(invoice)}`;
  yield "\n] }\n";
}
