/**
 * The known name that somebody probably meant.
 *
 * @module
 */
import { quoteValue } from "./wording.ts";

/** Letters of a name that are compared. */
const COMPARED_MAX = 60;
/** Most known names that are compared: among more, the nearest one is no useful hint. */
const KNOWN_MAX = 500;

/** The known name that takes the fewest changes of a letter, where these are few. */
export function findNearest(name: string, knownNames: readonly string[]): string | undefined {
  if (knownNames.length > KNOWN_MAX) return undefined;
  const comparedName = name.slice(0, COMPARED_MAX);
  let nearest: { readonly candidate: string; readonly changes: number } | undefined;
  for (const candidate of knownNames) {
    const maxChanges = candidate.length < 3 ? 0 : Math.max(1, Math.floor(candidate.length / 3));
    // Each letter more or less is a change.
    if (candidate === name || Math.abs(candidate.length - comparedName.length) > maxChanges) continue;
    const changes = editDistance(comparedName.toLowerCase(), candidate.toLowerCase());
    if (changes <= maxChanges && (nearest === undefined || changes < nearest.changes)) nearest = { candidate, changes };
  }
  return nearest?.candidate;
}

/** The parameter of a problem that guesses at the name that was meant; none where no name is near. */
export function guessName(name: string, knownNames: readonly string[]): { readonly guess?: string } {
  const guess = findNearest(name, knownNames);
  return guess === undefined ? {} : { guess };
}

/** The end of a sentence about a name that is not known: `: did you mean "…"?`, or nothing. */
export function didYouMean(name: string, knownNames: readonly string[]): string {
  const nearest = findNearest(name, knownNames);
  return nearest === undefined ? "" : `: did you mean ${quoteValue(nearest)}?`;
}

/** Letters to insert, drop, replace or swap with the next one, to make one text of the other. */
function editDistance(from: string, to: string): number {
  let above: readonly number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const before = above;
    above = row;
    row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaceCost = (above[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapCost = isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity;
      row.push(Math.min(replaceCost, swapCost, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
  }
  return row[to.length] ?? 0;
}
