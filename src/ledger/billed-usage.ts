/**
 * Usage from elsewhere as it is kept beside the invoice that was made of it (S17.4).
 *
 * @module
 */
import type { Steps } from "../book/steps.ts";
import { DAY_MS, type Day, dayOf, formatDate, type Instant } from "../calendar/instant.ts";
import type { AccountCycle } from "../invoicing/timeline.ts";
import { formatDecimal } from "../numbers/decimal.ts";
import { digestOf } from "../numbers/short-id.ts";
import { dueInvoiceId, standardInvoiceKey } from "./account/due-ids.ts";
import { mergeCells } from "./cell-sums.ts";
import { compareIds } from "./compare-ids.ts";
import type { BilledUsage, LedgerCell } from "./records.ts";
import type { AccountWork } from "./workspace.ts";

/** The cells of one account, each without it. */
export type AccountCells = BilledUsage["cells"];

/** The days `[from, until)` of one account's cells: each cell once, by meter, then day; none is 0. */
export function accountCells(cells: readonly LedgerCell[], from: Day, until: Day): AccountCells {
  return mergeCells(cells.filter(({ day }) => day >= from && day < until))
    .map(({ meterOrFeatureId: meterId, day, quantity }) => ({ meterId, day, quantity }))
    .toSorted((a, b) => compareIds(a.meterId, b.meterId) || a.day - b.day);
}

/** Equal for answers of a source that have the same cells, in whatever order. @param cells as {@link accountCells} gives them */
export function digestCells(cells: AccountCells): string {
  const texts = cells.map(({ meterId, day, quantity }) => [meterId, formatDate(day * DAY_MS), formatDecimal(quantity)]);
  return digestOf(JSON.stringify(texts));
}

/** The cells of kept usage as those of a ledger. */
export function billedCells({ accountId, cells }: BilledUsage): readonly LedgerCell[] {
  return cells.map(({ meterId, day, quantity }) => ({ accountId, meterOrFeatureId: meterId, day, quantity }));
}

/**
 * Keeps the usage from elsewhere of cycles that close, unless it is kept already: what is final stays as it is. Pauses after
 * each cycle.
 */
export function* saveBilledUsage(
  work: AccountWork,
  closing: readonly { readonly cycle: Pick<AccountCycle, "start" | "end">; readonly closedAt: Instant }[],
): Steps {
  const elsewhere = work.externalUsage();
  if (elsewhere === undefined) return;
  const savedIds = new Set(work.keptUsage().map(({ id }) => id));
  for (const { cycle, closedAt } of closing) {
    const id = dueInvoiceId(work.record.id, standardInvoiceKey(cycle));
    if (savedIds.has(id)) continue;
    const [from, until] = [dayOf(cycle.start), dayOf(cycle.end)];
    const cells = accountCells(elsewhere.open, from, until);
    work.putBilledUsage({ id, accountId: work.record.id, from, until, cells, digest: digestCells(cells), closedAt });
    yield;
  }
}
