/**
 * External usage stored with the invoice that was created from it (S17.4).
 *
 * @module
 */
import { type Day, dayOf, formatDate, type Instant, startOfDay } from "../calendar/instant.ts";
import type { AccountCycle } from "../invoicing/timeline.ts";
import { formatDecimal } from "../numbers/decimal.ts";
import { sha256Hex } from "../numbers/short-id.ts";
import type { Steps } from "../numbers/steps.ts";
import type { AccountState } from "./account-state.ts";
import { dueInvoiceId, standardInvoiceKey } from "./account/due-ids.ts";
import { mergeCells } from "./cell-sums.ts";
import { compareIds } from "./compare-ids.ts";
import type { BilledUsage, LedgerCell } from "./records.ts";

/** The usage cells of one account, without its id. */
export type AccountCells = BilledUsage["cells"];

/** The cells of one account on the days `[from, until)`, merged by meter and day, in that order; zeros are omitted. */
export function accountCells(cells: readonly LedgerCell[], from: Day, until: Day): AccountCells {
  return mergeCells(cells.filter(({ day }) => day >= from && day < until))
    .map(({ meterOrFeatureId: meterId, day, quantity }) => ({ meterId, day, quantity }))
    .toSorted((a, b) => compareIds(a.meterId, b.meterId) || a.day - b.day);
}

/** A hash of cells that does not depend on their order. @param cells as {@link accountCells} returns them */
export function digestCells(cells: AccountCells): string {
  const texts = cells.map(({ meterId, day, quantity }) => [
    meterId,
    formatDate(startOfDay(day)),
    formatDecimal(quantity),
  ]);
  return sha256Hex(JSON.stringify(texts));
}

/**
 * Stores the external usage of cycles that close, unless it is stored already: billed usage never changes. Pauses after
 * each cycle.
 */
export function* saveBilledUsage(
  work: AccountState,
  closing: readonly { readonly cycle: Pick<AccountCycle, "start" | "end">; readonly closedAt: Instant }[],
): Steps {
  const externalUsage = work.externalUsage();
  if (externalUsage === undefined) return;
  const savedIds = new Set(work.billedUsage().map(({ id }) => id));
  for (const { cycle, closedAt } of closing) {
    const id = dueInvoiceId(work.record.id, standardInvoiceKey(cycle));
    if (savedIds.has(id)) continue;
    const [from, until] = [dayOf(cycle.start), dayOf(cycle.end)];
    const cells = accountCells(externalUsage.open, from, until);
    work.putBilledUsage({ id, accountId: work.record.id, from, until, cells, digest: digestCells(cells), closedAt });
    yield;
  }
}
