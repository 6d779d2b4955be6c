/** `ratebook verify`: recalculates invoices with a second implementation, from their explanations, usage and events. */
import { InputError } from "../../event-files/input-error.ts";
import { groupThousands } from "../../invoicing/invoice-rows.ts";
import { stringifyJson } from "../../numbers/json.ts";
import { toPrintable } from "../../pages/printable.ts";
import { type Count, createMetering, type Metering, parseJson, type Verification, verify } from "../../verify.ts";
import type { Arguments, Command } from "../arguments.ts";
import { parseInvoices } from "../documents/invoice-files.ts";
import { parseJsonText, readTextFile, rejectPlan } from "../documents/read-documents.ts";
import { describeSystemError, UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { eventOptions, usageOptions } from "../reading/event-options.ts";
import { readEventInput } from "../reading/input-options.ts";
import { createEventSink, createRowReading, type EventFile, openEventFiles } from "../reading/open-event-files.ts";
import { mergeWithProgress } from "../reading/read-event-files.ts";
import { type UsageRowTexts, readUsageRows } from "../usage/usage-files.ts";

/** The maximum number of differences printed. */
const DIFFERENCES_SHOWN_MAX = 20;

// Verification meters every event, even if the invoices used sums.
const { engine: _engine, ...rowOptions } = eventOptions;

export const verifyCommand: Command = {
  usage: "INVOICES [--usage FILE…] [--events FILE…] [--map MAP…] [--book BOOK]",
  options: {
    ...usageOptions,
    ...rowOptions,
    book: { kind: "one", value: "BOOK", help: "the book with the meters of the events or the usage" },
  },
  run: runVerify,
};

async function runVerify(args: Arguments, io: Io): Promise<"done" | "problems"> {
  const [path, ...more] = args.positionals;
  if (path === undefined)
    throw new UsageError("missing INVOICES: give a file written by `preview --explain --format json`");
  if (more.length > 0) throw new UsageError(`expected one file of INVOICES, got ${more.length + 1}`);
  const { files, memory } = readEventInput(args, io);
  const bookPath = args.value("book");
  const usagePaths = args.values("usage");
  if (files.length > 0 && bookPath === undefined) throw new UsageError("--events needs the --book with their meters");
  if (files.length + usagePaths.length === 0 && bookPath !== undefined)
    throw new UsageError("--book needs --events or --usage");
  const text = await readTextFile(path, io);
  parseInvoices(path, text);
  const invoices = parseJson(text);
  const usage = usagePaths.length === 0 ? undefined : await readUsageFiles(usagePaths, io);
  const book = bookPath === undefined ? undefined : await readBookDocument(bookPath, io);
  const metering =
    files.length === 0 ? undefined : await meterEventFiles(book, { files, memory }, hadEnoughCredits(invoices), io);
  const verification = withInputError(path, () =>
    verify({ invoices, book, ...(usage && { usage }), ...(metering && { metering }) }),
  );
  await printVerification(verification, metering, usage !== undefined, io);
  return verification.differences.length === 0 ? "done" : "problems";
}

/** Whether the preview counted its events, and none failed for lack of feature credits. */
function hadEnoughCredits(invoices: unknown): boolean {
  const events = (invoices as { events?: unknown } | null)?.events;
  return (
    typeof events === "object" && events !== null && !Object.hasOwn(events, "INGESTION_FAILED_INSUFFICIENT_CREDITS")
  );
}

async function meterEventFiles(
  book: unknown,
  { files, memory }: { readonly files: readonly EventFile[]; readonly memory: string | undefined },
  creditsSuffice: boolean,
  io: Io,
): Promise<Metering> {
  const metering = createMetering(book, creditsSuffice);
  if (files.some(({ origin, map }) => origin === "clickhouse" && map === undefined))
    throw new UsageError("a table in --events needs a --map that names the column of each event field");
  // A line without an event counts nothing; preview reports it.
  const sink = createEventSink((event) => metering.add(event));
  const { cursors, sources } = await openEventFiles(files, sink, io, createRowReading(memory));
  await mergeWithProgress(cursors, sources, io);
  return metering;
}

async function readUsageFiles(paths: readonly string[], io: Io): Promise<readonly UsageRowTexts[]> {
  const rows: UsageRowTexts[] = [];
  for (const path of paths) for await (const row of readUsageRows(path, io)) rows.push(row);
  return rows;
}

/** Reads a book file. Comments are ignored; numbers become fractions. */
async function readBookDocument(path: string, io: Io): Promise<unknown> {
  const { value } = parseJsonText(path, await readTextFile(path, io));
  rejectPlan(path, value);
  return parseJson(stringifyJson(value));
}

function withInputError<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new InputError(`${path}: ${describeSystemError(error)}`);
  }
}

async function printVerification(
  verification: Verification,
  metering: Metering | undefined,
  hasUsage: boolean,
  io: Io,
): Promise<void> {
  const { differences } = verification;
  const shownDifferences = differences.slice(0, DIFFERENCES_SHOWN_MAX);
  const lines = shownDifferences.map(({ where, expected, found }) => `${where}: expected ${expected}, found ${found}`);
  const notes = [
    ...[...verification.unverifiedMeters].map(
      (id) => `the usage has no rows of the meter ${id}, whose events consume a feature; its`,
    ),
    ...[...verification.metersWithoutBook].map((id) => `the meter ${id} does not sum, and there is no --book; its`),
  ];
  for (const note of notes) await write(io.stderr, `note: ${toPrintable(note)} quantities are not verified\n`);
  const more = differences.length - shownDifferences.length;
  if (more > 0) lines.push(`… and ${groupThousands(String(more))} more`);
  if (metering !== undefined) {
    const { total, unverified } = metering.events();
    for (const reason of metering.reasons) await write(io.stderr, `note: ${toPrintable(reason)}: unverified\n`);
    lines.push(describeCount({ verified: total - unverified, total }, "events verified"));
    if (hasUsage) lines.push(describeCount(verification.cells, "daily sums verified"));
  }
  if (metering !== undefined || hasUsage) lines.push(describeCount(verification.quantities, "quantities verified"));
  lines.push(describeCount(verification.amounts, "amounts verified"));
  for (const line of lines) await write(io.stdout, `${toPrintable(line)}\n`);
}

function describeCount({ verified, total }: Count, noun: string): string {
  return `${groupThousands(String(verified))} of ${groupThousands(String(total))} ${noun}`;
}
