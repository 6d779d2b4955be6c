/**
 * Usage from elsewhere that arrived after its cycle had closed: what the source says now less what was kept, and what it would have
 * cost (S17.4).
 *
 * @module
 */
import { runToCompletion } from "../book/steps.ts";
import { DAY_MS, formatDate, type Instant } from "../calendar/instant.ts";
import { grossAmount, invoiceKey } from "../invoicing/draft.ts";
import { drawDrafts } from "../invoicing/draw-invoices.ts";
import { type Decimal, subtract, ZERO } from "../numbers/decimal.ts";
import { toAccountView } from "./account/account-plan.ts";
import { standardInvoiceKey } from "./account/due-ids.ts";
import { billedCells, digestCells, type AccountCells } from "./billed-usage.ts";
import type { Catalog } from "./catalog.ts";
import { compareIds } from "./compare-ids.ts";
import type { BilledUsage } from "./records.ts";
import { type AccountParts, openAccount } from "./workspace.ts";

/** A cell that is another one than it was when its cycle closed. */
export interface LateCell {
  readonly meterId: string;
  /** The UTC day: `2024-01-31`. */
  readonly date: string;
  /** Units that the invoice was made of. */
  readonly billed: Decimal;
  /** Units by the source now. */
  readonly now: Decimal;
  /** `now` less `billed`: below 0 where rows went away. */
  readonly late: Decimal;
}

/** A closed cycle whose usage is another one now. Its invoice stays as it is. */
export interface LateUsage {
  readonly accountId: string;
  /** The STANDARD invoice of the cycle; absent where it had no lines. */
  readonly invoiceId?: string;
  /** The cycle's days, `[startDate, endDate)`: `2024-01-01`. */
  readonly startDate: string;
  readonly endDate: string;
  /** By meter, then day. */
  readonly cells: readonly LateCell[];
  readonly currency: string;
  /** The charge of the STANDARD invoice before credits, and its charge if it were drawn again from the usage there is now. */
  readonly billedAmount: Decimal;
  readonly amountNow: Decimal;
  /** `amountNow` less `billedAmount`. */
  readonly lateAmount: Decimal;
}

/** The late usage of a cycle; undefined where there is none. @param now the cells of its days, as `accountCells` gives them */
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
    startDate: formatDate(billed.from * DAY_MS),
    endDate: formatDate(billed.until * DAY_MS),
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
  const gone = new Set(now.map(keyOf));
  const all = [...now, ...before.flatMap((cell) => (gone.has(keyOf(cell)) ? [] : [{ ...cell, quantity: ZERO }]))];
  return all
    .toSorted((a, b) => compareIds(a.meterId, b.meterId) || a.day - b.day)
    .map((cell) => {
      const then = billed.get(keyOf(cell)) ?? ZERO;
      const date = formatDate(cell.day * DAY_MS);
      return { meterId: cell.meterId, date, billed: then, now: cell.quantity, late: subtract(cell.quantity, then) };
    })
    .filter(({ late }) => !late.isZero());
}

/** The charges of the STANDARD invoice of a cycle that is made of these cells, before credits; 0 where it has no lines. */
function chargeForCells(catalog: Catalog, parts: AccountParts, billed: BilledUsage): Decimal {
  const usage = [...parts.usage, ...billedCells(billed)];
  const work = openAccount({ ...parts, usage, credits: [] });
  const cycle = { start: billed.from * DAY_MS, end: billed.until * DAY_MS };
  const key = standardInvoiceKey(cycle);
  const knownUntil: Instant = billed.closedAt + 1;
  const range = { from: cycle.start, until: cycle.end, knownUntil, creditsAreWhole: true };
  const drawn = runToCompletion(drawDrafts(toAccountView(catalog, work), catalog.billing, range));
  // An invoice in advance below zero is a credit, which would pay this one.
  const standard = drawn.find(({ draft }) => invoiceKey(draft) === key);
  return standard === undefined ? ZERO : grossAmount(standard.draft);
}
