/** The sort orders of lists, the same in every adapter. */
import type { Instant } from "../calendar/instant.ts";
import type { PageKey } from "../ledger/view.ts";
import { compareIds } from "../numbers/ids.ts";

/** Newest first, then by id, ascending: the order of lists. */
export function compareNewest(a: PageKey, b: PageKey): number {
  return b.createdAt - a.createdAt || compareIds(a.id, b.id);
}

/** Oldest first, then by id, ascending. */
export function compareOldest(a: PageKey, b: PageKey): number {
  return a.createdAt - b.createdAt || compareIds(a.id, b.id);
}

/** Whether an instant is in `[from, until)`; true without a range. */
export function isWithin(at: Instant, range: { readonly from: Instant; readonly until: Instant } | undefined): boolean {
  return range === undefined || (at >= range.from && at < range.until);
}
