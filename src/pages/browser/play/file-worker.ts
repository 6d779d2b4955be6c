/**
 * Prices a file of events off the page's thread, line by line: the file is never whole in memory.
 *
 * @module
 */
import { RatebookError } from "../../../errors.ts";
import { type IngestOutcome, isCompleted } from "../../../ledger/outcome.ts";
import { createPreview } from "../../../ledger/preview/preview.ts";
import type { EventInput } from "../../../metering/event-envelope.ts";
import { parseJson } from "../../../numbers/json.ts";
import { bookWith, type PlayInvoice, shownInvoice } from "../../play/play-bill.ts";
import type { DatedQuantity } from "../../play/play-state.ts";

/** What a worker is asked. */
export interface FileAsked {
  readonly book: string;
  readonly seats: readonly DatedQuantity[];
  readonly file: Blob;
}

/** What a worker says, again and again while it reads, and then at its end. */
export type FileSaid =
  | { readonly kind: "progress"; readonly read: number; readonly events: number }
  | {
      readonly kind: "done";
      readonly events: number;
      readonly invoices: readonly PlayInvoice[];
      readonly problems: readonly string[];
    }
  | { readonly kind: "failed"; readonly message: string };

/** So many problems are shown. */
const PROBLEMS_MAX = 20;
/** A line is an event: what is longer is no file of events. In characters. */
const LINE_LENGTH_MAX = 1 << 24;
/** Between two words of progress, in bytes. */
const PROGRESS_BYTES = 1 << 20;

/** Prices a file and says how far it is. */
export async function priceFile({ book: text, seats, file }: FileAsked, say: (said: FileSaid) => void): Promise<void> {
  const read = bookWith(text, seats);
  if ("problems" in read)
    return say({ kind: "failed", message: read.problems[0]?.message ?? "the book has a problem" });
  try {
    const run = createPreview(read.book, { explain: true });
    const problems: string[] = [];
    let [events, line, bytes, told] = [0, 0, 0, 0];
    const take = (row: string): void => {
      line += 1;
      if (row.trim() === "") return;
      events += 1;
      const problem = taken((event) => run.add(event), row);
      if (problem !== undefined && problems.length < PROBLEMS_MAX) problems.push(`line ${line}: ${problem}`);
    };
    let rest = "";
    const reader = file.stream().getReader();
    const decoder = new TextDecoder();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      bytes += part.value.byteLength;
      const rows = (rest + decoder.decode(part.value, { stream: true })).split("\n");
      rest = rows.pop() ?? "";
      for (const row of rows) take(row);
      if (rest.length > LINE_LENGTH_MAX) {
        await reader.cancel();
        return say({ kind: "failed", message: `line ${line + 1} is longer than 16 MiB: this is no file of events` });
      }
      if (bytes - told < PROGRESS_BYTES) continue;
      told = bytes;
      say({ kind: "progress", read: bytes / file.size, events });
    }
    take(rest + decoder.decode());
    const { invoices } = run.finish();
    say({ kind: "done", events, invoices: invoices.map((invoice) => shownInvoice(invoice, read.book)), problems });
  } catch (error) {
    say({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  }
}

/** Why an event is not counted; undefined where it is. */
function taken(add: (event: EventInput) => IngestOutcome, row: string): string | undefined {
  try {
    const { status, description } = add(parseJson(row) as EventInput);
    return isCompleted(status) ? undefined : description;
  } catch (error) {
    if (error instanceof RatebookError) return error.message;
    throw error;
  }
}
