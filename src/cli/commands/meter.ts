/** `ratebook meter`: meters files of events and writes usage cells. */
import { createMeter } from "../../ledger/preview/preview-run.ts";
import { listNotBilled } from "../../pages/not-billed.ts";
import { type Arguments, type Command, requireBookPath } from "../arguments.ts";
import { readBookFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import type { Io } from "../io.ts";
import { withOutput } from "../output/output-file.ts";
import {
  countEventsByStatus,
  printNewAccounts,
  printNotBilled,
  printProblems,
  printSummary,
} from "../output/preview-output.ts";
import { eventOptions, unmeteredOptions } from "../reading/event-options.ts";
import { createProblemList } from "../reading/event-problems.ts";
import { readEventInput, createIdMemory, outputOptions, ingestOptions } from "../reading/input-options.ts";
import { findFirstUses, readBookWithModel, addNewAccounts } from "../reading/new-accounts.ts";
import { readEventFiles } from "../reading/read-event-files.ts";
import { isUsageFormat, USAGE_FORMATS, writeUsage } from "../usage/usage-files.ts";

export const meterCommand: Command = {
  usage: "BOOK --events FILE… [options]",
  options: {
    ...eventOptions,
    "accounts-from-events": {
      kind: "flag",
      help: "create an account for each unknown account id, on the only plan of the book",
    },
    ...outputOptions(USAGE_FORMATS, "usage cells"),
    ...ingestOptions,
    ...unmeteredOptions,
  },
  run: runMeter,
};

async function runMeter(args: Arguments, io: Io): Promise<"done" | "problems"> {
  const path = requireBookPath(args);
  const input = readEventInput(args, io);
  const { files } = input;
  if (files.length === 0) throw new UsageError("missing --events: give the events to meter");
  const format = args.value("format") ?? USAGE_FORMATS[0];
  if (!isUsageFormat(format)) throw new UsageError(`--format must be one of ${USAGE_FORMATS.join(", ")}`);
  const file = await readBookFile(path, io);
  if (file === undefined) return "problems";
  let { book } = file;
  if (args.flag("accounts-from-events")) {
    const bookWithModel = readBookWithModel(file.json, book, undefined);
    const extension = addNewAccounts(
      bookWithModel,
      await findFirstUses({ files, usagePaths: [], memory: input.memory }, book, io),
    );
    await printNewAccounts(extension.newAccountCount, io);
    book = extension.book;
  }
  const run = createMeter(book, { ids: createIdMemory(args, true, io) });
  const list = createProblemList();
  const isComplete = await readEventFiles(run, files, { list, book, input, keepsValues: true, io });
  await printProblems(list, book, io);
  if (!isComplete) return "problems";
  const { usage, events: statuses, unmetered } = run.finish();
  await withOutput(args, io, async ({ stdout }) => writeUsage(usage, format, stdout, book));
  const eventCounts = countEventsByStatus(statuses, list);
  await printSummary(eventCounts, { output: [usage.length, "cell"] }, io);
  const notBilled = listNotBilled({ book, read: eventCounts["read"] ?? 0, unmetered });
  const isIncomplete = await printNotBilled(notBilled, args, io);
  return list.count > 0 || isIncomplete ? "problems" : "done";
}
