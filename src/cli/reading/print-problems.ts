/** Prints what is wrong with events and lines, and notes, to standard error. */
import type { Book } from "../../book/resources/book.ts";
import { groupThousands } from "../../invoicing/invoice-rows.ts";
import { toPrintable } from "../../pages/printable.ts";
import { type Io, write } from "../io.ts";
import { formatCount } from "../table/format-rows.ts";
import {
  ACCOUNT_NOT_FOUND,
  describeLineProblem,
  describeUnknownAccounts,
  formatLinePlace,
  listMapAdvice,
  problemKind,
  type ProblemList,
} from "./event-problems.ts";

/** The maximum number of problems listed. */
const PROBLEMS_SHOWN_MAX = 20;
/** The maximum number of problems of one kind listed. */
const SAME_KIND_SHOWN_MAX = 3;

/** Prints the first problems of each kind, the number of others, and advice that fixes many of them. */
export async function printProblems(list: ProblemList, book: Book, io: Io): Promise<void> {
  const lines = [
    ...listProblemLines(list),
    ...describeUnknownAccounts(list.unknownAccounts, book),
    ...listMapAdvice(list.problems),
    ...(list.isStopped ? ["stopped at the first problem (--strict)"] : []),
    ...list.disorders.map(({ file, line, message }) => `${formatLinePlace(file, line)}: note: ${message}`),
    ...Array.from(list.leftOutRows, ([reason, count]) => `${reason}: ${formatCount(count, "row")} left out`),
  ];
  for (const line of lines) await write(io.stderr, `${toPrintable(line)}\n`);
}

/** Problems in line order: the first few of each kind, followed by the number of others of that kind. */
function listProblemLines({ problems, kinds, maps, count, unknownAccountEvents }: ProblemList): string[] {
  const shownByKind = new Map<string, number>();
  const lines: string[] = [];
  let coveredCount = 0;
  for (const problem of problems) {
    // Events of unknown accounts are counted by account, because there may be thousands of each.
    if (problem.status === ACCOUNT_NOT_FOUND) continue;
    const kind = problemKind(problem);
    const before = shownByKind.get(kind) ?? 0;
    if (before === SAME_KIND_SHOWN_MAX) continue;
    if (lines.length >= PROBLEMS_SHOWN_MAX) break;
    const { file, line } = problem;
    const more = before + 1 < SAME_KIND_SHOWN_MAX ? 0 : (kinds.get(kind) ?? SAME_KIND_SHOWN_MAX) - SAME_KIND_SHOWN_MAX;
    lines.push(
      `${formatLinePlace(file, line)}: ${describeLineProblem(problem, maps.get(file))}${more === 0 ? "" : ` (and ${groupThousands(String(more))} more like it)`}`,
    );
    shownByKind.set(kind, before + 1);
    coveredCount += 1 + more;
  }
  const otherCount = count - unknownAccountEvents - coveredCount;
  if (otherCount > 0) lines.push(`… and ${groupThousands(String(otherCount))} more`);
  return lines;
}

export async function printNotices(notices: readonly string[], io: Io): Promise<void> {
  for (const notice of notices) await write(io.stderr, `note: ${toPrintable(notice)}\n`);
}
