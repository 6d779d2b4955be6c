/** Prices a file of events in a worker, block by block, so that the whole file is never in memory. */
import { RatebookError } from "../../../errors.ts";
import { isCompleted } from "../../../ledger/outcome.ts";
import { createPreview, type PreviewRun } from "../../../ledger/preview/preview.ts";
import type { EventInput } from "../../../metering/event-envelope.ts";
import { describeNotBilled, listNotBilled } from "../../not-billed.ts";
import { parseBookText } from "../../play/play-bill.ts";
import { type PlayPeriod, toPlayPeriods } from "../../play/play-periods.ts";
import { type FileEvent, readFileEvents, type MappedFile } from "./file-events.ts";

export interface WorkerRequest extends MappedFile {
  readonly book: string;
}

/** A message of a worker: progress while it reads, and one result at the end. */
export type WorkerMessage =
  | { readonly kind: "progress"; readonly read: number; readonly events: number }
  | {
      readonly kind: "done";
      readonly events: number;
      readonly periods: readonly PlayPeriod[];
      readonly problems: readonly string[];
      /** The number of events not counted and lines without an event. */
      readonly problemCount: number;
      /** The number of rows that the map leaves out. */
      readonly leftOutCount: number;
      /** What usage is not billed, and why. */
      readonly notBilled: readonly string[];
    }
  | { readonly kind: "failed"; readonly message: string };

/** The maximum number of problems shown. */
const PROBLEMS_MAX = 20;
/** Bytes between two progress messages. */
const PROGRESS_BYTES = 1 << 20;

/** Prices a file and reports progress. */
export async function priceFile(
  { book: bookText, file, map }: WorkerRequest,
  onMessage: (message: WorkerMessage) => void,
): Promise<void> {
  const bookResult = parseBookText(bookText);
  if ("problems" in bookResult)
    return onMessage({ kind: "failed", message: bookResult.problems[0]?.message ?? "the book has a problem" });
  try {
    const run = createPreview(bookResult.book, { explain: true });
    const problems: string[] = [];
    let [events, leftOutCount, problemCount, bytes, reportedBytes] = [0, 0, 0, 0, 0];
    const blocks = readFileEvents({ file, map }, bookResult.book.eventSchemas, (count) => {
      bytes = count;
    });
    for await (const block of blocks) {
      for (const event of block) {
        if (event.reason?.code === "ROW_LEFT_OUT") {
          leftOutCount += 1;
          continue;
        }
        events += 1;
        const problem = addEvent(event, run);
        if (problem === undefined) continue;
        problemCount += 1;
        if (problems.length < PROBLEMS_MAX) problems.push(`line ${event.line}: ${problem}`);
      }
      if (bytes - reportedBytes < PROGRESS_BYTES) continue;
      reportedBytes = bytes;
      onMessage({ kind: "progress", read: bytes / file.size, events });
    }
    const { invoices, unmetered } = run.finish();
    const { book } = bookResult;
    onMessage({
      kind: "done",
      events,
      periods: toPlayPeriods(invoices, book),
      problems,
      problemCount,
      leftOutCount,
      notBilled: listNotBilled({ book, read: events, unmetered, invoices }).map(describeNotBilled),
    });
  } catch (error) {
    onMessage({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  }
}

/** Why an event is not counted; undefined if it is. */
function addEvent({ event, reason }: FileEvent & { readonly event?: unknown }, run: PreviewRun): string | undefined {
  if (reason !== undefined) return reason.message;
  try {
    const { status, description } = run.add(event as EventInput);
    return isCompleted(status) ? undefined : description;
  } catch (error) {
    if (error instanceof RatebookError) return error.message;
    throw error;
  }
}
