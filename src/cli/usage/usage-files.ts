/**
 * Takes the rows of the usage files that a command names: all of them, or none counts.
 *
 * @module
 */
import { hasCode, RatebookError } from "../../errors.ts";
import { groupThousands } from "../../invoicing/figure-text.ts";
import { isRowFault } from "../../ledger/preview/preview-usage.ts";
import { printable } from "../../pages/printable.ts";
import { InputError } from "../../records/problems.ts";
import type { Arguments } from "../arguments.ts";
import { type Io, write } from "../io.ts";
import { UsageError } from "../problems.ts";
import { type UsageRow, usageRows } from "./usage-rows.ts";

/** So many problems of rows are told one by one. */
const PROBLEMS_TOLD_MAX = 20;

/** The files of `--usage`. @param others what else is read */
export function usagePathsOf(given: Arguments, others: readonly { readonly path: string }[]): readonly string[] {
  const paths = given.many("usage");
  if ([...paths, ...others.map(({ path }) => path)].filter((path) => path === "-").length > 1)
    throw new UsageError("standard input (-) may be read once only");
  return paths;
}

/**
 * Gives each row to `take`, which throws where it cannot be taken.
 *
 * @returns how many rows there were
 * @throws {InputError} when a file cannot be read to its end, or a row is wrong: each is printed on standard error before, with
 * its file and line; rows that were taken are then of no use
 */
export async function takeUsageFiles(
  paths: readonly string[],
  take: (row: UsageRow) => void,
  io: Pick<Io, "stdin" | "stderr">,
): Promise<number> {
  let [rows, wrong] = [0, 0];
  for (const path of paths) {
    const before = rows;
    for await (const { file, line, row, problem } of usageRows(path, io)) {
      rows++;
      const fault = row === undefined ? problem : faultOf(take, row);
      if (fault === undefined) continue;
      wrong++;
      if (wrong <= PROBLEMS_TOLD_MAX) await write(io.stderr, `${printable(`${file}:${line}: ${fault}`)}\n`);
    }
    if (rows === before)
      await write(io.stderr, `${printable(`note: ${path}: no row of usage is in it, so nothing is priced from it`)}\n`);
  }
  if (wrong === 0) return rows;
  if (wrong > PROBLEMS_TOLD_MAX)
    await write(io.stderr, `… and ${groupThousands(String(wrong - PROBLEMS_TOLD_MAX))} more\n`);
  throw new InputError(
    `${groupThousands(String(wrong))} of ${groupThousands(String(rows))} rows of usage ${wrong === 1 ? "is" : "are"} wrong: nothing is priced from the others`,
  );
}

function faultOf(take: (row: UsageRow) => void, row: UsageRow): string | undefined {
  try {
    take(row);
    return undefined;
  } catch (error) {
    if (!(error instanceof RatebookError) || !isRowFault(error)) throw error;
    const cell = `the cell of ${row.accountId}, ${row.meterId} on ${row.date}`;
    return hasCode(error, "ERR_ARITHMETIC") ? `${cell}: ${error.message}` : error.message;
  }
}
