/**
 * Suggests the known name that was probably meant.
 *
 * @module
 */
import { quoteValue } from "./wording.ts";

/** Maximum number of characters compared. */
const COMPARED_MAX = 60;
/** Maximum number of known names compared: among more, the nearest one is rarely the intended one. */
const KNOWN_MAX = 500;

/** The known name with the smallest edit distance, if that is small. */
export function findNearest(name: string, knownNames: readonly string[]): string | undefined {
  if (knownNames.length > KNOWN_MAX) return undefined;
  const comparedName = name.slice(0, COMPARED_MAX);
  let nearest: { readonly candidate: string; readonly changes: number } | undefined;
  for (const candidate of knownNames) {
    const maxChanges = candidate.length < 3 ? 0 : Math.max(1, Math.floor(candidate.length / 3));
    // The difference in length is a lower bound of the distance.
    if (candidate === name || Math.abs(candidate.length - comparedName.length) > maxChanges) continue;
    const changes = editDistance(comparedName.toLowerCase(), candidate.toLowerCase());
    if (changes <= maxChanges && (nearest === undefined || changes < nearest.changes)) nearest = { candidate, changes };
  }
  return nearest?.candidate;
}

/** The problem parameter with the suggested name; empty if no name is near. */
export function guessName(name: string, knownNames: readonly string[]): { readonly guess?: string } {
  const guess = findNearest(name, knownNames);
  return guess === undefined ? {} : { guess };
}

/** The suggestion at the end of a message, `: did you mean "…"?`, or an empty text. */
export function didYouMean(name: string, knownNames: readonly string[]): string {
  const nearest = findNearest(name, knownNames);
  return nearest === undefined ? "" : `: did you mean ${quoteValue(nearest)}?`;
}

/** The number of characters to insert, delete, replace or swap to turn one text into the other. */
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
