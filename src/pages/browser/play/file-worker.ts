/**
 * Prices a file of events off the page's thread, block by block: the file is never whole in memory.
 *
 * @module
 */
import { RatebookError } from "../../../errors.ts";
import { isCompleted } from "../../../ledger/outcome.ts";
import { createPreview, type PreviewRun } from "../../../ledger/preview/preview.ts";
import type { EventInput } from "../../../metering/event-envelope.ts";
import { bookWith, type PlayInvoice, shownInvoice } from "../../play/play-bill.ts";
import type { DatedQuantity } from "../../play/play-state.ts";
import { type FileEvent, fileEvents, type MappedFile } from "./file-events.ts";

/** The request to a worker. */
export interface FileAsked extends MappedFile {
  readonly book: string;
  readonly seats: readonly DatedQuantity[];
}

/** A message of a worker: many while it reads, and one at its end. */
export type FileSaid =
  | { readonly kind: "progress"; readonly read: number; readonly events: number }
  | {
      readonly kind: "done";
      readonly events: number;
      readonly invoices: readonly PlayInvoice[];
      readonly problems: readonly string[];
      /** How many events are not counted, or lines hold none. */
      readonly problemCount: number;
    }
  | { readonly kind: "failed"; readonly message: string };

/** So many problems are shown. */
const PROBLEMS_MAX = 20;
/** Between two words of progress, in bytes. */
const PROGRESS_BYTES = 1 << 20;

/** Prices a file and says how far it is. */
export async function priceFile(
  { book: text, seats, file, map }: FileAsked,
  say: (said: FileSaid) => void,
): Promise<void> {
  const read = bookWith(text, seats);
  if ("problems" in read)
    return say({ kind: "failed", message: read.problems[0]?.message ?? "the book has a problem" });
  try {
    const run = createPreview(read.book, { explain: true });
    const problems: string[] = [];
    let [events, problemCount, bytes, told] = [0, 0, 0, 0];
    const found = fileEvents({ file, map }, (count) => {
      bytes = count;
    });
    for await (const each of found) {
      for (const event of each) {
        events += 1;
        const problem = problemOf(event, run);
        if (problem === undefined) continue;
        problemCount += 1;
        if (problems.length < PROBLEMS_MAX) problems.push(`line ${event.line}: ${problem}`);
      }
      if (bytes - told < PROGRESS_BYTES) continue;
      told = bytes;
      say({ kind: "progress", read: bytes / file.size, events });
    }
    const { invoices } = run.finish();
    const shown = invoices.map((invoice) => shownInvoice(invoice, read.book));
    say({ kind: "done", events, invoices: shown, problems, problemCount });
  } catch (error) {
    say({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  }
}

/** Why an event is not counted; undefined where it is. */
function problemOf({ event, reason }: FileEvent & { readonly event?: unknown }, run: PreviewRun): string | undefined {
  if (reason !== undefined) return reason;
  try {
    const { status, description } = run.add(event as EventInput);
    return isCompleted(status) ? undefined : description;
  } catch (error) {
    if (error instanceof RatebookError) return error.message;
    throw error;
  }
}
