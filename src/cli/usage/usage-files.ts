/** Reads the usage files of a command, all or none. */
import { hasCode, RatebookError } from "../../errors.ts";
import { InputError } from "../../event-files/input-error.ts";
import { groupThousands } from "../../invoicing/format-values.ts";
import { isRowFault } from "../../ledger/preview/preview-run.ts";
import { toPrintable } from "../../pages/printable.ts";
import type { Arguments } from "../arguments.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { type UsageRow, readUsageLines } from "./usage-rows.ts";

/** The maximum number of row problems listed. */
const PROBLEMS_SHOWN_MAX = 20;

/** The files of `--usage`. @param otherInputs other files to read */
export function readUsagePaths(args: Arguments, otherInputs: readonly { readonly path: string }[]): readonly string[] {
  const paths = args.values("usage");
  if ([...paths, ...otherInputs.map(({ path }) => path)].filter((path) => path === "-").length > 1)
    throw new UsageError("standard input (-) can be given only once");
  return paths;
}

/**
 * Passes each row to `addRow`, which throws if it can't be used.
 *
 * @returns the number of rows
 * @throws {InputError} if a file can't be read completely or a row is invalid, after the invalid rows are printed to
 * standard error with file and line. The caller must then discard the rows added before
 */
export async function readUsageFiles(
  paths: readonly string[],
  addRow: (row: UsageRow) => void,
  io: Pick<Io, "stdin" | "stderr">,
): Promise<number> {
  let [rowCount, invalidCount] = [0, 0];
  for (const path of paths) {
    const rowsBefore = rowCount;
    for await (const { file, line, row, problem } of readUsageLines(path, io)) {
      rowCount++;
      const fault = row === undefined ? problem : tryRow(addRow, row);
      if (fault === undefined) continue;
      invalidCount++;
      if (invalidCount <= PROBLEMS_SHOWN_MAX) await write(io.stderr, `${toPrintable(`${file}:${line}: ${fault}`)}\n`);
    }
    if (rowCount === rowsBefore) await write(io.stderr, `${toPrintable(`note: ${path}: no usage rows`)}\n`);
  }
  if (invalidCount === 0) return rowCount;
  if (invalidCount > PROBLEMS_SHOWN_MAX)
    await write(io.stderr, `… and ${groupThousands(String(invalidCount - PROBLEMS_SHOWN_MAX))} more\n`);
  throw new InputError(
    `${groupThousands(String(invalidCount))} of ${groupThousands(String(rowCount))} usage rows ${invalidCount === 1 ? "is" : "are"} invalid; nothing was priced`,
  );
}

function tryRow(addRow: (row: UsageRow) => void, row: UsageRow): string | undefined {
  try {
    addRow(row);
    return undefined;
  } catch (error) {
    if (!(error instanceof RatebookError) || !isRowFault(error)) throw error;
    const cell = `the cell of ${row.accountId}, ${row.meterId} on ${row.date}`;
    return hasCode(error, "ERR_ARITHMETIC") ? `${cell}: ${error.message}` : error.message;
  }
}
