/**
 * `ratebook meter`: from a book and files of events to the usage cells that they leave.
 *
 * @module
 */
import { createMeter } from "../ledger/preview/meter.ts";
import type { Arguments } from "./arguments.ts";
import { bookPath, type Command } from "./command.ts";
import { readBookFile } from "./documents.ts";
import { pairWithMaps } from "./event-files.ts";
import { createProblemList } from "./event-problems.ts";
import { eventInputOf, eventOptions, idMemory, outputOptions, takingOptions } from "./input-options.ts";
import type { Io } from "./io.ts";
import { firstUseOf, readModelled, withNewAccounts } from "./new-accounts.ts";
import { withOutput } from "./output.ts";
import { countedEvents, tellNewAccounts, tellProblems, tellSummary } from "./preview-output.ts";
import { UsageError } from "./problems.ts";
import { takeEventFiles } from "./reading-events.ts";
import { isUsageFormat, USAGE_FORMATS, writeUsage } from "./usage/write-usage.ts";

/** Meters events. */
export const meterCommand: Command = {
  usage: "BOOK --events FILE… [options]",
  summary: "Meters the events and writes usage by account, meter and day, which other commands price with --usage.",
  options: {
    ...eventOptions,
    "accounts-from-events": {
      kind: "flag",
      help: "create an account for each unknown account id, on the book's only plan",
    },
    ...outputOptions(USAGE_FORMATS, "usage cells"),
    ...takingOptions,
  },
  run: meterFiles,
};

async function meterFiles(given: Arguments, io: Io): Promise<"done" | "problems"> {
  const path = bookPath(given);
  const input = eventInputOf(given);
  const { events, maps, reader } = input;
  const files = pairWithMaps(events, maps, reader);
  if (files.length === 0) throw new UsageError("expected --events: the events to meter");
  const format = given.one("format") ?? USAGE_FORMATS[0];
  if (!isUsageFormat(format)) throw new UsageError(`--format must be one of ${USAGE_FORMATS.join(", ")}`);
  const file = await readBookFile(path, io);
  if (file === undefined) return "problems";
  let { book } = file;
  if (given.flag("accounts-from-events")) {
    const modelled = readModelled(file.json, book, undefined);
    const extended = withNewAccounts(modelled, await firstUseOf({ files, usagePaths: [] }, io));
    await tellNewAccounts(extended.added, io);
    book = extended.book;
  }
  const run = createMeter(book, { ids: idMemory(given, true, io) });
  const list = createProblemList();
  const readOn = await takeEventFiles(run, files, { list, book, input, io });
  await tellProblems(list, book, io);
  if (!readOn) return "problems";
  const { usage, events: statuses } = run.finish();
  await withOutput(given, io, async ({ stdout }) => writeUsage(usage, format, stdout));
  await tellSummary(countedEvents(statuses, list), { made: [usage.length, "cell"] }, io);
  return list.count > 0 ? "problems" : "done";
}
