/** Renders a report as a page. */
import { InputError } from "../../event-files/input-error.ts";
import { readPage, embedData } from "../../pages/page-file.ts";
import { type ReportInput, buildReport } from "../../pages/report/build-report.ts";
import { type LineProblem, formatLinePlace } from "../reading/event-problems.ts";

/** The input of a report, with the command's problems. */
export interface ReportPageInput extends Omit<ReportInput, "problems"> {
  readonly problems: readonly LineProblem[];
  /** The total number of problems. */
  readonly problemCount: number;
}

/** The maximum number of problems listed. */
const PROBLEMS_SHOWN_MAX = 20;

/** Renders the page with its data. @throws {InputError} if the package is not built */
export async function renderReportPage({ problems, problemCount, ...input }: ReportPageInput): Promise<string> {
  const first = problems
    .slice(0, PROBLEMS_SHOWN_MAX)
    .map(({ file, line, message }) => ({ place: formatLinePlace(file, line), message }));
  const data = buildReport({ ...input, problems: { first, count: problemCount } });
  const page = await readPage("report").catch(() => {
    throw new InputError("the report's page does not exist; reinstall ratebook (in a clone: npm run build)");
  });
  return embedData(page, JSON.stringify(data));
}
