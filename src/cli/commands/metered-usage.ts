/** The usage of accounts in files, for commands that check a book against it, and the check of it by `check`. */
import { lintBook } from "../../analysis/lint/lint-book.ts";
import type { Book } from "../../book/resources/book.ts";
import { createPreview } from "../../ledger/preview/preview.ts";
import { toUsageRow, type UsageRow } from "../../metering/usage-rows.ts";
import { toPrintable } from "../../pages/printable.ts";
import { type Arguments, requireBookPath } from "../arguments.ts";
import type { BookFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { createIdMemory, readUsageInput } from "../reading/input-options.ts";
import { addAccountsOfUsage } from "../reading/new-accounts.ts";
import { readUsage } from "../reading/read-event-files.ts";

/** A book and the usage of its accounts. */
export interface MeteredUsage {
  /** With the accounts of `--accounts-from-events`. */
  readonly book: Book;
  /** Undefined if no files were given. */
  readonly usage?: readonly UsageRow[];
  /** The number of rejected events and lines, which are printed. */
  readonly problemCount: number;
}

/** Reads the files of `meteredUsageOptions`. @throws {UsageError}, {InputError} as other commands */
export async function readMeteredUsage(args: Arguments, file: BookFile, io: Io): Promise<MeteredUsage> {
  const input = readUsageInput(args, io);
  const createsAccounts = args.flag("accounts-from-events");
  if (!input.hasUsage) {
    if (createsAccounts) throw new UsageError("--accounts-from-events needs --events or --usage");
    return { book: file.book, problemCount: 0 };
  }
  const book = createsAccounts ? await addAccountsOfUsage(file, input, undefined, io) : file.book;
  const run = createPreview(book, { ids: createIdMemory(input, io) });
  const { list } = await readUsage(run, input, { book, io });
  const usage = book.accounts.flatMap(({ id }) =>
    Array.from(run.cellsOf(id), (cell) => toUsageRow(cell, book.usageMeters)),
  );
  return { book, usage, problemCount: list.count };
}

/** Warns of usage that no row of a price table prices (S18.2). */
export async function checkUsage(args: Arguments, file: BookFile, io: Io): Promise<"done" | "problems"> {
  const { book, usage, problemCount } = await readMeteredUsage(args, file, io);
  const findings = usage === undefined ? [] : lintBook(book, { usage });
  const unpriced = findings.filter(({ code, silenced }) => code === "USAGE_UNPRICED" && silenced === undefined);
  for (const { at, message, example } of unpriced)
    await write(
      io.stderr,
      `${requireBookPath(args)}: warning: ${toPrintable(`${at}: ${message}: ${example ?? ""}`)}\n`,
    );
  return unpriced.length > 0 || problemCount > 0 ? "problems" : "done";
}
