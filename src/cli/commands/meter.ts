/** `ratebook meter`: meters files of events and writes usage cells. */
import { createMeter } from "../../ledger/preview/preview-run.ts";
import { listNotBilled } from "../../pages/not-billed.ts";
import { type Arguments, type Command, requireBookPath } from "../arguments.ts";
import { readBookFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import type { Io } from "../io.ts";
import { withOutput } from "../output/output-file.ts";
import { countEventsByStatus, printNotBilled, printSummary } from "../output/preview-output.ts";
import { eventOptions, unmeteredOptions } from "../reading/event-options.ts";
import { createIdMemory, ingestOptions, outputOptions, readUsageInput } from "../reading/input-options.ts";
import { addAccountsOfUsage } from "../reading/new-accounts.ts";
import { readUsage } from "../reading/read-event-files.ts";
import { USAGE_FORMATS, writeUsage } from "../usage/usage-files.ts";

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
  const input = readUsageInput(args, io);
  if (!input.hasUsage) throw new UsageError("missing --events: give the events to meter");
  const format = USAGE_FORMATS.find((each) => each === args.value("format")) ?? USAGE_FORMATS[0];
  const file = await readBookFile(path, io);
  const book = args.flag("accounts-from-events") ? await addAccountsOfUsage(file, input, undefined, io) : file.book;
  const run = createMeter(book, { ids: createIdMemory(input, io) });
  const { list, isComplete } = await readUsage(run, input, { book, keepsValues: true, io });
  if (!isComplete) return "problems";
  const { usage, events: statuses, unmetered } = run.finish();
  await withOutput(args, io, async ({ stdout }) => writeUsage(usage, format, stdout, book));
  const events = countEventsByStatus(statuses, list);
  await printSummary(events, { output: [usage.length, "cell"] }, io);
  const isIncomplete = await printNotBilled(listNotBilled({ book, read: events.read, unmetered }), args, io);
  return list.count > 0 || isIncomplete ? "problems" : "done";
}
