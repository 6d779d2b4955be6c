/**
 * Usage from elsewhere that arrived after its cycle had closed: what the source says now less what was kept, and what it would have
 * cost (S17.4).
 *
 * @module
 */
import { toTheEnd } from "../book/steps.ts";
import { DAY_MS, formatDate, type Instant } from "../calendar/instant.ts";
import { grossOf, invoiceKeyOf } from "../invoicing/draft.ts";
import { drawDrafts } from "../invoicing/draw.ts";
import { type Decimal, subtract, ZERO } from "../numbers/decimal.ts";
import { viewOfWork } from "./account/account-plan.ts";
import { standardKeyOf } from "./account/due-ids.ts";
import type { Catalog } from "./catalog.ts";
import { cellsOfKept, digestOfCells, type OwnCells } from "./kept-usage.ts";
import { compareIds } from "./order.ts";
import type { KeptUsage } from "./records.ts";
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

/** The late usage of a cycle; undefined where there is none. @param now the cells of its days, as `ownCells` gives them */
export function lateUsageOf(
  catalog: Catalog,
  parts: AccountParts,
  kept: KeptUsage,
  now: OwnCells,
): Omit<LateUsage, "invoiceId"> | undefined {
  if (digestOfCells(now) === kept.digest) return undefined;
  const billedAmount = chargeOf(catalog, parts, kept);
  const amountNow = chargeOf(catalog, parts, { ...kept, cells: now });
  return {
    accountId: kept.accountId,
    startDate: formatDate(kept.from * DAY_MS),
    endDate: formatDate(kept.until * DAY_MS),
    cells: lateCells(kept.cells, now),
    currency: parts.record.invoiceCurrency,
    billedAmount,
    amountNow,
    lateAmount: subtract(amountNow, billedAmount),
  };
}

function lateCells(before: OwnCells, now: OwnCells): readonly LateCell[] {
  const keyOf = ({ meterId, day }: OwnCells[number]): string => `${day} ${meterId}`;
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
function chargeOf(catalog: Catalog, parts: AccountParts, kept: KeptUsage): Decimal {
  const usage = [...parts.usage, ...cellsOfKept(kept)];
  const work = openAccount({ ...parts, usage, credits: [] });
  const cycle = { start: kept.from * DAY_MS, end: kept.until * DAY_MS };
  const key = standardKeyOf(cycle);
  const knownUntil: Instant = kept.closedAt + 1;
  const range = { from: cycle.start, until: cycle.end, knownUntil, creditsAreWhole: true };
  const drawn = toTheEnd(drawDrafts(viewOfWork(catalog, work), catalog.billing, range));
  // An invoice in advance below zero is a credit, which would pay this one.
  const standard = drawn.find(({ draft }) => invoiceKeyOf(draft) === key);
  return standard === undefined ? ZERO : grossOf(standard.draft);
}
