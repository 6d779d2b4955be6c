/**
 * Late external usage: the difference between the source's current usage of a closed cycle and the billed usage, and
 * what it would have cost (S17.4).
 *
 * @module
 */
import { formatDate, type Instant, startOfDay } from "../calendar/instant.ts";
import { computeInvoicesInSteps } from "../invoicing/compute-invoices.ts";
import { grossAmount, invoiceKey } from "../invoicing/draft.ts";
import { type Decimal, subtract, ZERO } from "../numbers/decimal.ts";
import { runToCompletion } from "../numbers/steps.ts";
import type { AccountParts } from "./account-parts.ts";
import { AccountState } from "./account-state.ts";
import { standardInvoiceKey } from "./account/due-ids.ts";
import { digestCells, type AccountCells } from "./billed-usage.ts";
import type { Catalog } from "./catalog.ts";
import { compareIds } from "./compare-ids.ts";
import type { BilledUsage } from "./records.ts";

/** A cell that changed since its cycle closed. */
export interface LateCell {
  readonly meterId: string;
  /** UTC day, `2024-01-31`. */
  readonly date: string;
  /** Units that were billed. */
  readonly billed: Decimal;
  /** The source's current units. */
  readonly now: Decimal;
  /** `now` minus `billed`; below 0 if rows were deleted. */
  readonly late: Decimal;
}

/** A closed cycle whose usage changed since. Its invoice stays unchanged. */
export interface LateUsage {
  readonly accountId: string;
  /** The STANDARD invoice of the cycle; absent if it had no lines. */
  readonly invoiceId?: string;
  /** The cycle's days, `[startDate, endDate)`, as `2024-01-01`. */
  readonly startDate: string;
  readonly endDate: string;
  /** By meter, then day. */
  readonly cells: readonly LateCell[];
  readonly currency: string;
  /** The charge of the STANDARD invoice before credits, as billed and as recalculated from current usage. */
  readonly billedAmount: Decimal;
  readonly amountNow: Decimal;
  /** `amountNow` minus `billedAmount`. */
  readonly lateAmount: Decimal;
}

/** The late usage of a cycle; undefined if there is none. @param now the cells of its days, as `accountCells` returns them */
export function findLateUsage(
  catalog: Catalog,
  parts: AccountParts,
  billed: BilledUsage,
  now: AccountCells,
): Omit<LateUsage, "invoiceId"> | undefined {
  if (digestCells(now) === billed.digest) return undefined;
  const billedAmount = chargeForCells(catalog, parts, billed);
  const amountNow = chargeForCells(catalog, parts, { ...billed, cells: now });
  return {
    accountId: billed.accountId,
    startDate: formatDate(startOfDay(billed.from)),
    endDate: formatDate(startOfDay(billed.until)),
    cells: compareCells(billed.cells, now),
    currency: parts.record.invoiceCurrency,
    billedAmount,
    amountNow,
    lateAmount: subtract(amountNow, billedAmount),
  };
}

function compareCells(before: AccountCells, now: AccountCells): readonly LateCell[] {
  const keyOf = ({ meterId, day }: AccountCells[number]): string => `${day} ${meterId}`;
  const billed = new Map(before.map((cell) => [keyOf(cell), cell.quantity]));
  const unmatchedKeys = new Set(now.map(keyOf));
  const all = [
    ...now,
    ...before.flatMap((cell) => (unmatchedKeys.has(keyOf(cell)) ? [] : [{ ...cell, quantity: ZERO }])),
  ];
  return all
    .toSorted((a, b) => compareIds(a.meterId, b.meterId) || a.day - b.day)
    .map((cell) => {
      const billedQuantity = billed.get(keyOf(cell)) ?? ZERO;
      const date = formatDate(startOfDay(cell.day));
      return {
        meterId: cell.meterId,
        date,
        billed: billedQuantity,
        now: cell.quantity,
        late: subtract(cell.quantity, billedQuantity),
      };
    })
    .filter(({ late }) => !late.isZero());
}

/** The charge of a cycle's STANDARD invoice for these cells, before credits; 0 if it has no lines. */
function chargeForCells(catalog: Catalog, parts: AccountParts, billed: BilledUsage): Decimal {
  const work = new AccountState(catalog, { ...parts, externalUsage: { current: [], open: [], billed: [billed] } });
  const cycle = { start: startOfDay(billed.from), end: startOfDay(billed.until) };
  const key = standardInvoiceKey(cycle);
  const knownUntil: Instant = billed.closedAt + 1;
  const range = { from: cycle.start, until: cycle.end, knownUntil, viewHasAllCredits: true };
  const drafts = runToCompletion(computeInvoicesInSteps(work.view(catalog), catalog.billing, range));
  // An advance invoice below zero grants a credit that would pay this invoice.
  const standard = drafts.find(({ draft }) => invoiceKey(draft) === key);
  return standard === undefined ? ZERO : grossAmount(standard.draft);
}
