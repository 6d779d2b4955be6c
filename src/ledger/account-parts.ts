/** The data of an account as read for a decision. */

import { add } from "../numbers/decimal.ts";
import type { AccountPlan } from "./catalog.ts";
import type { AccountAtEvent } from "./events/decide-event.ts";
import type {
  AccountRecord,
  CreditRecord,
  EntryRecord,
  EventRecord,
  InvoiceRecord,
  BilledUsage,
  LedgerCell,
} from "./records.ts";
import type { MeterDay } from "./view.ts";

/** The data of one account as read. Parts that a decision does not need may be empty. */
export interface AccountParts {
  readonly record: AccountRecord;
  readonly entries: readonly EntryRecord[];
  readonly credits: readonly CreditRecord[];
  readonly invoices: readonly InvoiceRecord[];
  /** Of ingested events. */
  readonly usage: readonly LedgerCell[];
  readonly overage: readonly LedgerCell[];
  /** Absent if all events are ingested. */
  readonly externalUsage?: AccountExternalUsage;
  /** Events that the decision may change: those to undo, and those with overage that may move (S11.5). */
  readonly events: readonly EventRecord[];
  /**
   * The meters and days whose groups a decision may fill up; all usage of them was read. Others have room for all its
   * events (S18.1).
   */
  readonly fullDays?: readonly Pick<MeterDay, "meterId" | "day">[] | undefined;
  /** In a preview: whether the account has room for another group of a meter on a day (S18.1). */
  readonly groupRoom?: GroupRoom | undefined;
  /** Its plans, if nothing is known to be due up to the instant of an ingest. */
  readonly currentPlan?: AccountPlan | undefined;
}

/** The room for groups of all accounts of a preview; see {@link AccountAtEvent}. */
export interface GroupRoom extends Pick<AccountAtEvent, "hasRoomForAnyGroup"> {
  hasRoomForGroup(accountId: string, ...of: Parameters<AccountAtEvent["hasRoomForGroup"]>): boolean;
}

/** An account of which nothing but its record was read. */
export function partsOfRecord(record: AccountRecord): AccountParts {
  return { record, entries: [], credits: [], invoices: [], usage: [], overage: [], events: [] };
}

/** The external usage of one account (S17.4). */
export interface AccountExternalUsage {
  /** The source's current usage. */
  readonly current: readonly LedgerCell[];
  /** That of days that are not billed. */
  readonly open: readonly LedgerCell[];
  readonly billed: readonly BilledUsage[];
}

/** All usage of an account, ingested and external. */
export function listUsage({
  usage,
  externalUsage,
}: Pick<AccountParts, "usage" | "externalUsage">): readonly LedgerCell[] {
  if (externalUsage === undefined) return usage;
  return [...usage, ...externalUsage.open, ...externalUsage.billed.flatMap(billedCells)];
}

/** One cell per account, meter or feature, group and day; zero sums are omitted. */
export function mergeCells(cells: readonly LedgerCell[]): readonly LedgerCell[] {
  const sums = new Map<string, LedgerCell>();
  for (const cell of cells) {
    const key = JSON.stringify([cell.accountId, cell.meterOrFeatureId, cell.day, cell.group]);
    const before = sums.get(key);
    sums.set(key, before === undefined ? cell : { ...before, quantity: add(before.quantity, cell.quantity) });
  }
  return [...sums.values()].filter(({ quantity }) => !quantity.isZero());
}

/** The cells of stored usage as ledger cells. */
export function billedCells({ accountId, cells }: Pick<BilledUsage, "accountId" | "cells">): readonly LedgerCell[] {
  return cells.map(({ meterId, ...cell }) => ({ accountId, meterOrFeatureId: meterId, ...cell }));
}
