/** `ratebook check --events`: usage that no row of a price table prices. */
import { lintBook } from "../../analysis/lint/lint-book.ts";
import { toPrintable } from "../../pages/printable.ts";
import type { Arguments } from "../arguments.ts";
import { requireBookPath } from "../command.ts";
import type { BookFile } from "../documents/read-documents.ts";
import { type Io, write } from "../io.ts";
import { readMeteredUsage } from "./metered-usage.ts";

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
