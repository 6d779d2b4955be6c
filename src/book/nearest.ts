/**
 * The known name that somebody probably meant.
 *
 * @module
 */
import { shown } from "./sentences.ts";

/** Letters of a name that are compared. */
const COMPARED_MAX = 60;
/** Most known names that are compared: among more, the nearest one is no useful hint. */
const KNOWN_MAX = 500;

/** The known name that takes the fewest changes of a letter, where these are few. */
export function nearestOf(name: string, known: readonly string[]): string | undefined {
  if (known.length > KNOWN_MAX) return undefined;
  const given = name.slice(0, COMPARED_MAX);
  let nearest: { readonly candidate: string; readonly changes: number } | undefined;
  for (const candidate of known) {
    const most = candidate.length < 3 ? 0 : Math.max(1, Math.floor(candidate.length / 3));
    // Each letter more or less is a change.
    if (candidate === name || Math.abs(candidate.length - given.length) > most) continue;
    const changes = changesBetween(given.toLowerCase(), candidate.toLowerCase());
    if (changes <= most && (nearest === undefined || changes < nearest.changes)) nearest = { candidate, changes };
  }
  return nearest?.candidate;
}

/** The end of a sentence about a name that is not known: `: did you mean "…"?`, or nothing. */
export function hintAt(name: string, known: readonly string[]): string {
  const nearest = nearestOf(name, known);
  return nearest === undefined ? "" : `: did you mean ${shown(nearest)}?`;
}

/** Letters to insert, drop, replace or swap with the next one, to make one text of the other. */
function changesBetween(from: string, to: string): number {
  let above: readonly number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const before = above;
    above = row;
    row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (above[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity;
      row.push(Math.min(replaced, swapped, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
  }
  return row[to.length] ?? 0;
}
