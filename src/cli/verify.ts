/**
 * `ratebook verify`: invoices computed again by a second program, from their explanations, the usage and the events.
 *
 * @module
 */
import { openDocument } from "../book/reading/json-document.ts";
import { groupThousands } from "../invoicing/figure-text.ts";
import { stringifyJson } from "../numbers/json.ts";
import { printable } from "../pages/printable.ts";
import { takeAll } from "../records/event-cursor.ts";
import type { EventSink } from "../records/event-sink.ts";
import { InputError } from "../records/problems.ts";
import { type Count, createMetering, type Metering, parseJson, type Verification, verify } from "../verify.ts";
import type { Arguments } from "./arguments.ts";
import type { Command } from "./command.ts";
import { readTextFile } from "./documents.ts";
import { openEventFiles, pairWithMaps } from "./event-files.ts";
import { eventInputOf, eventOptions, usageOptions } from "./input-options.ts";
import { invoicesIn } from "./invoice-files.ts";
import { type Io, write } from "./io.ts";
import { reasonOf, UsageError } from "./problems.ts";
import { showProgress } from "./progress.ts";
import { type UsageRow, usageRows } from "./usage/usage-rows.ts";

/** So many differences are told one by one. */
const DIFFERENCES_TOLD_MAX = 20;

/** Verifies invoices. */
export const verifyCommand: Command = {
  usage: "INVOICES [--usage FILE…] [--events FILE…] [--map MAP…] [--book BOOK]",
  summary:
    "Computes invoices again with independent code, from their explanations, and names every figure that differs.",
  options: {
    ...usageOptions,
    ...eventOptions,
    book: { kind: "one", value: "BOOK", help: "the rate book that says how events are metered" },
  },
  run: verifyFile,
};

async function verifyFile(given: Arguments, io: Io): Promise<"done" | "problems"> {
  const [path, ...more] = given.positionals;
  if (path === undefined || more.length > 0) throw new UsageError("expected one file of INVOICES, printed by preview");
  const { events, maps, reader } = eventInputOf(given);
  const files = pairWithMaps(events, maps, reader);
  const bookPath = given.one("book");
  if (files.length > 0 !== (bookPath !== undefined)) {
    throw new UsageError("--events and --book go together: one says what happened, the other what it counts");
  }
  const text = await readTextFile(path, io);
  invoicesIn(path, text);
  const invoices = parseJson(text);
  const usagePaths = given.many("usage");
  const usage = usagePaths.length === 0 ? undefined : await readRows(usagePaths, io);
  const metering = bookPath === undefined ? undefined : await meterFiles(bookPath, files, creditsSuffice(invoices), io);
  const found = orInputError(path, () => verify({ invoices, ...(usage && { usage }), ...(metering && { metering }) }));
  await tell(found, metering, usage !== undefined, io);
  return found.differences.length === 0 ? "done" : "problems";
}

/** Whether the preview counted its events, and none of them failed for want of feature credits. */
function creditsSuffice(invoices: unknown): boolean {
  const events = (invoices as { events?: unknown } | null)?.events;
  return (
    typeof events === "object" && events !== null && !Object.hasOwn(events, "INGESTION_FAILED_INSUFFICIENT_CREDITS")
  );
}

async function meterFiles(
  bookPath: string,
  files: ReturnType<typeof pairWithMaps>,
  creditsSuffice: boolean,
  io: Io,
): Promise<Metering> {
  const metering = createMetering(await readBookText(bookPath, io), creditsSuffice);
  const sink: EventSink = {
    event: (_file, _line, event) => {
      metering.add(event);
      return true;
    },
    // A line that is no event counts nothing: preview tells of it.
    badLine: () => true,
    slotsOf: () => undefined,
    filled: () => true,
    counted: () => false,
  };
  if (files.some(({ reader, map }) => reader === "clickhouse" && map === undefined))
    throw new UsageError("--events of a table needs a --map here, which says where each part of an event is");
  const { cursors, sources } = await openEventFiles(files, sink, io);
  const progress = showProgress(sources, io);
  try {
    await takeAll(cursors, { onBlock: () => progress.update(), onDisorder: () => undefined });
  } finally {
    progress.stop();
  }
  return metering;
}

async function readRows(paths: readonly string[], io: Io): Promise<readonly UsageRow[]> {
  const rows: UsageRow[] = [];
  for (const path of paths) {
    for await (const { file, line, row, problem } of usageRows(path, io)) {
      if (row === undefined) throw new InputError(`${file}:${line}: ${problem}`);
      rows.push(row);
    }
  }
  return rows;
}

/** A book as it was written, with its comments left out; numbers are fractions. */
async function readBookText(path: string, io: Io): Promise<unknown> {
  const document = openDocument(await readTextFile(path, io));
  if ("value" in document) return parseJson(stringifyJson(document.value));
  throw new InputError(`${path}:${document.line}:${document.column}: not JSON: ${document.message}`);
}

function orInputError<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new InputError(`${path}: ${reasonOf(error)}`);
  }
}

async function tell(found: Verification, metering: Metering | undefined, withCells: boolean, io: Io): Promise<void> {
  const { differences } = found;
  const told = differences.slice(0, DIFFERENCES_TOLD_MAX);
  const lines = told.map(({ where, expected, found }) => `${where}: expected ${expected}, found ${found}`);
  for (const id of found.unverifiedMeters) {
    const note = `the usage has no rows of the meter ${id}, whose events consume a feature: its quantities are unverified`;
    await write(io.stderr, `note: ${printable(note)}\n`);
  }
  const more = differences.length - told.length;
  if (more > 0) lines.push(`… and ${groupThousands(String(more))} more`);
  if (metering !== undefined) {
    const { total, unverified } = metering.events();
    for (const reason of metering.reasons) await write(io.stderr, `note: ${printable(reason)}: unverified\n`);
    lines.push(countText({ verified: total - unverified, total }, "events metered again"));
    if (withCells) lines.push(countText(found.cells, "cells verified"));
  }
  if (metering !== undefined || withCells) lines.push(countText(found.quantities, "quantities verified"));
  lines.push(countText(found.amounts, "amounts verified"));
  for (const line of lines) await write(io.stdout, `${printable(line)}\n`);
}

function countText({ verified, total }: Count, what: string): string {
  return `${groupThousands(String(verified))} of ${groupThousands(String(total))} ${what}`;
}
