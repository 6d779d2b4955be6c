/** Writes results to standard output, or to a file that appears once it is complete; and a report as a page. */
import { finished } from "node:stream/promises";

import { InputError } from "../../event-files/input-error.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import type { PreviewRun } from "../../ledger/preview/preview.ts";
import { embedData, readPage } from "../../pages/page-file.ts";
import { buildReport, type ReportInput, serializeReport } from "../../pages/report/build-report.ts";
import type { Arguments } from "../arguments.ts";
import { describeSystemError } from "../errors.ts";
import type { Io } from "../io.ts";
import { formatLinePlace, type ProblemList } from "../reading/event-problems.ts";

/**
 * Runs work with standard output redirected to the file of `--output`, if given. The file appears after success; after
 * a failure nothing remains.
 *
 * @throws {InputError} if the file can't be written
 */
export async function withOutput<T>(args: Arguments, io: Io, produce: (io: Io) => Promise<T>): Promise<T> {
  const path = args.value("output");
  return path === undefined ? produce(io) : writeToFile(path, io, produce);
}

/** Same as {@link withOutput}, for a given path. @throws {InputError} if the file can't be written */
export async function writeToFile<T>(path: string, io: Io, produce: (io: Io) => Promise<T>): Promise<T> {
  const throwUnwritable = (error: unknown): never => {
    throw new InputError(`${path}: cannot write: ${describeSystemError(error)}`);
  };
  const file = await io.createFile(path).catch(throwUnwritable);
  try {
    const result = await produce({ ...io, stdout: file.stream, terminal: undefined });
    file.stream.end();
    await finished(file.stream).catch(throwUnwritable);
    await file.commit().catch(throwUnwritable);
    return result;
  } catch (error) {
    await file.discard();
    throw error;
  }
}

/** The input of a report, with the command's problems. */
export interface ReportPageInput extends Omit<
  ReportInput,
  "problems" | "invoices" | "notices" | "cellsOf" | "eventsOf"
> {
  /** Default: none. */
  readonly invoices?: readonly Invoice[];
  readonly notices?: readonly string[];
  /** The usage and events of the invoices. */
  readonly run?: Pick<PreviewRun, "cellsOf" | "eventsOf">;
  readonly list: ProblemList;
}

/** The maximum number of problems listed. */
const PROBLEMS_SHOWN_MAX = 20;

/** Renders the page with its data. @throws {InputError} if the package is not built */
export async function renderReportPage({ list, run, ...input }: ReportPageInput): Promise<string> {
  const first = list.problems
    .slice(0, PROBLEMS_SHOWN_MAX)
    .map(({ file, line, message }) => ({ place: formatLinePlace(file, line), message }));
  const data = buildReport({
    invoices: [],
    notices: [],
    ...input,
    cellsOf: (accountId) => run?.cellsOf(accountId) ?? [],
    eventsOf: run && ((...of) => run.eventsOf(...of)),
    problems: { first, count: list.count },
  });
  const page = await readPage("report").catch(() => {
    throw new InputError("the report's page does not exist; reinstall ratebook (in a clone: npm run build)");
  });
  return embedData(page, serializeReport(data));
}
