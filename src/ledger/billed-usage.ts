/**
 * External usage stored with the invoice that was created from it, and late usage: the difference between the source's
 * current usage of a closed cycle and the billed usage, and what it would have cost (S17.4).
 */
import { compareGroups, NO_GROUP, type UsageMeter } from "../book/resources/event-schema.ts";
import { dayOf, formatDate, type Instant, INSTANT_MIN, instantOfDay } from "../calendar/instant.ts";
import { computeInvoicesInSteps } from "../invoicing/compute-invoices.ts";
import { grossAmount, invoiceKey } from "../invoicing/draft.ts";
import type { AccountCycle } from "../invoicing/timeline.ts";
import { type NamedGroup, nameGroup } from "../metering/usage-rows.ts";
import { compareIds } from "../numbers/compare-ids.ts";
import { formatDecimal, type Decimal, subtract, ZERO } from "../numbers/decimal.ts";
import { sha256Hex } from "../numbers/short-id.ts";
import { type Steps, runToCompletion } from "../numbers/steps.ts";
import { mergeCells, type AccountParts } from "./account-parts.ts";
import { AccountState } from "./account-state.ts";
import { dueInvoiceId, standardInvoiceKey } from "./account/due-ids.ts";
import { findCarriedUsage, isBilledFor } from "./carried-usage.ts";
import type { Catalog } from "./catalog.ts";
import type { BilledUsage, LedgerCell } from "./records.ts";

/** The usage cells of one account, without its id. */
export type AccountCells = BilledUsage["cells"];

/** The cells of one account that are billed for a cycle, by meter, day and group, each once; zeros are omitted. */
export function accountCells(
  catalog: Catalog,
  cells: readonly LedgerCell[],
  cycle: Parameters<typeof isBilledFor>[1],
): AccountCells {
  return mergeCells(cells.filter((cell) => isBilledFor(catalog, cycle, cell)))
    .map(({ meterOrFeatureId: meterId, group, day, quantity }) => ({
      meterId,
      ...(group && { group }),
      day,
      quantity,
    }))
    .toSorted(compareAccountCells);
}

type AccountCell = AccountCells[number];

function compareAccountCells(a: AccountCell, b: AccountCell): number {
  return compareIds(a.meterId, b.meterId) || a.day - b.day || compareGroups(a.group ?? NO_GROUP, b.group ?? NO_GROUP);
}

/** A hash of cells that does not depend on their order. @param cells as {@link accountCells} returns them */
function digestCells(cells: AccountCells): string {
  const texts = cells.map(({ meterId, group, day, quantity }) => [
    meterId,
    formatDate(instantOfDay(day)),
    formatDecimal(quantity),
    ...(group === undefined ? [] : [group]),
  ]);
  return sha256Hex(JSON.stringify(texts));
}

/**
 * Stores the external usage of cycles that close, unless it is stored already: billed usage never changes. Pauses after
 * each cycle.
 */
export function* saveBilledUsage(
  catalog: Catalog,
  account: AccountState,
  closing: readonly { readonly cycle: Pick<AccountCycle, "start" | "end">; readonly closedAt: Instant }[],
): Steps {
  const externalUsage = account.externalUsage();
  if (externalUsage === undefined) return;
  const savedIds = new Set(account.billedUsage().map(({ id }) => id));
  for (const { cycle, closedAt } of closing) {
    const id = dueInvoiceId(account.record.id, standardInvoiceKey(cycle));
    if (savedIds.has(id)) continue;
    // An earlier cycle may still be open: levels in it cannot change any more either (S6.5).
    const ends = account.billedUsage().map(({ until }) => until);
    const carriesFrom = Math.max(
      account.record.carriedUsage?.until ?? dayOf(INSTANT_MIN),
      ...ends.filter((end) => end <= dayOf(cycle.start)),
    );
    const days = {
      from: dayOf(cycle.start),
      until: dayOf(cycle.end),
      ...(catalog.billing.levelMeters.size > 0 && {
        carriedUsage: findCarriedUsage(catalog, account, carriesFrom),
      }),
    };
    const cells = accountCells(catalog, externalUsage.open, days);
    account.putBilledUsage({
      id,
      accountId: account.record.id,
      ...days,
      cells,
      digest: digestCells(cells),
      closedAt,
    });
    yield;
  }
}

/** A cell that changed since its cycle closed. */
export interface LateCell {
  readonly meterId: string;
  /** Absent for a meter without groups. */
  readonly group?: NamedGroup;
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
  /** By meter, day and group. */
  readonly cells: readonly LateCell[];
  readonly currency: string;
  /** The charge of the STANDARD invoice before credits, as billed and as recalculated from current usage. */
  readonly billedAmount: Decimal;
  readonly amountNow: Decimal;
  /** `amountNow` minus `billedAmount`. */
  readonly lateAmount: Decimal;
}

/** The late usage of a cycle; undefined if there is none. @param now its cells, as `accountCells` returns them */
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
    startDate: formatDate(instantOfDay(billed.from)),
    endDate: formatDate(instantOfDay(billed.until)),
    cells: compareCells(billed.cells, now, catalog.book.usageMeters),
    currency: parts.record.invoiceCurrency,
    billedAmount,
    amountNow,
    lateAmount: subtract(amountNow, billedAmount),
  };
}

function compareCells(before: AccountCells, now: AccountCells, meters: readonly UsageMeter[]): readonly LateCell[] {
  const keyOf = ({ meterId, group, day }: AccountCell): string => JSON.stringify([day, meterId, group]);
  const billed = new Map(before.map((cell) => [keyOf(cell), cell.quantity]));
  const unmatchedKeys = new Set(now.map(keyOf));
  const all = [
    ...now,
    ...before.flatMap((cell) => (unmatchedKeys.has(keyOf(cell)) ? [] : [{ ...cell, quantity: ZERO }])),
  ];
  return all
    .toSorted(compareAccountCells)
    .map((cell) => {
      const billedQuantity = billed.get(keyOf(cell)) ?? ZERO;
      const date = formatDate(instantOfDay(cell.day));
      return {
        meterId: cell.meterId,
        ...(cell.group && { group: nameGroup(cell.group, cell.meterId, meters) }),
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
  const record = { ...parts.record, carriedUsage: billed.carriedUsage };
  const others = (parts.externalUsage?.billed ?? []).filter(({ id }) => id !== billed.id);
  const externalUsage = { current: [], open: [], billed: [...others, billed] };
  const account = new AccountState(catalog, { ...parts, record, externalUsage });
  const cycle = { start: instantOfDay(billed.from), end: instantOfDay(billed.until) };
  const key = standardInvoiceKey(cycle);
  const knownUntil: Instant = billed.closedAt + 1;
  const range = { from: cycle.start, until: cycle.end, knownUntil, viewHasAllCredits: true };
  const drafts = runToCompletion(computeInvoicesInSteps(account.view(catalog), catalog.billing, range));
  // An advance invoice below zero grants a credit that would pay this invoice.
  const standard = drafts.find(({ draft }) => invoiceKey(draft) === key);
  return standard === undefined ? ZERO : grossAmount(standard.draft);
}
