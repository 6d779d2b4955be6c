/**
 * Prints problems of a JSON file: line and column, path (unless it is the whole file), what was expected, and the line itself.
 */
import type { Problem } from "../../errors.ts";
import { describeAtPlace, formatPathPrefix } from "../../event-files/input-error.ts";
import type { TextPlace } from "../../numbers/json-text.ts";
import { toPrintable } from "../../pages/printable.ts";

/** The maximum number of problems shown with their line. */
const EXCERPTS_MAX = 20;
/** The maximum number of characters shown of a line. */
const EXCERPT_WIDTH = 60;

/** A problem and its place in the file. */
export type PlacedProblem = Problem & { readonly place: TextPlace | undefined };

/** The lines for all problems in order, and their number. Equal suggestions are merged. */
export function formatProblems(file: string, text: string, problems: readonly PlacedProblem[]): string {
  const source = text.split("\n");
  const problemGroups = mergeEqualGuesses(problems);
  const lines = problemGroups.flatMap(({ place, moreCount, ...problem }, index) => {
    const at = place === undefined ? file : `${file}:${place.line}:${place.column}`;
    const repeats = moreCount === 0 ? "" : ` (and at ${moreCount} more ${moreCount === 1 ? "place" : "places"})`;
    const excerpt = place === undefined || index >= EXCERPTS_MAX ? [] : formatExcerpt(source, place);
    const sentence = place === undefined ? problem.message : describeAtPlace(problem, place);
    return [`${at}: ${formatPathPrefix(problem.path)}${sentence}${repeats}`, ...excerpt];
  });
  const total = problems.reduce(
    (sum, each) => sum + (each.code === "MORE_PROBLEMS" ? Number(each.params["count"]) : 1),
    0,
  );
  const count = total === 1 ? "1 problem" : `${total} problems`;
  return [...lines.map(toPrintable), `${file}: ${count}`, ""].join("\n");
}

/** Merges problems with the same suggestion at the first of their places. */
function mergeEqualGuesses(
  problems: readonly PlacedProblem[],
): readonly (PlacedProblem & { readonly moreCount: number })[] {
  const guesses = new Map<string, number>();
  const toKey = ({ code, params }: Problem): string => JSON.stringify([code, params]);
  for (const problem of problems) {
    if ("guess" in problem.params) guesses.set(toKey(problem), (guesses.get(toKey(problem)) ?? 0) + 1);
  }
  return problems.flatMap((problem) => {
    if (!("guess" in problem.params)) return [{ ...problem, moreCount: 0 }];
    const count = guesses.get(toKey(problem)) ?? 0;
    guesses.delete(toKey(problem));
    return count === 0 ? [] : [{ ...problem, moreCount: count - 1 }];
  });
}

/** The line of a problem, shortened if long; empty if the place is outside the text. */
function formatExcerpt(source: readonly string[], { line, column }: TextPlace): readonly string[] {
  const text = source[line - 1];
  if (text === undefined || text.trim() === "") return [];
  const from =
    text.length <= EXCERPT_WIDTH
      ? 0
      : Math.max(0, Math.min(column - 1 - EXCERPT_WIDTH / 3, text.length - EXCERPT_WIDTH));
  const excerpt = text.slice(from, from + EXCERPT_WIDTH).trim();
  return [
    `  ${String(line).padStart(5)} | ${from > 0 ? "…" : ""}${excerpt}${from + EXCERPT_WIDTH < text.length ? "…" : ""}`,
  ];
}
