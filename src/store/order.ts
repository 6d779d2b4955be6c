/**
 * The orders in which stores list things, the same in every adapter.
 *
 * @module
 */
import type { Instant } from "../calendar/instant.ts";
import type { PageKey } from "../ledger/view.ts";

/**
 * Compares two ids by their code points, as a database does in its plainest order. JavaScript's own `<` goes by code units,
 * which differs where one text has a character beyond U+FFFF.
 */
export function compareIds(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const difference = rankOf(a.charCodeAt(index)) - rankOf(b.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Newest first, then by id, ascending: how a list goes. */
export function compareNewest(a: PageKey, b: PageKey): number {
  return b.createdAt - a.createdAt || compareIds(a.id, b.id);
}

/** Oldest first, then by id, ascending. */
export function compareOldest(a: PageKey, b: PageKey): number {
  return a.createdAt - b.createdAt || compareIds(a.id, b.id);
}

/** Whether an instant lies in `[from, until)`; where there is no range, it does. */
export function isWithin(at: Instant, range: { readonly from: Instant; readonly until: Instant } | undefined): boolean {
  return range === undefined || (at >= range.from && at < range.until);
}

/** Surrogates stand for the characters beyond U+FFFF, so they come last. */
function rankOf(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
