/**
 * Usage of meters that carry over, as of a day before which no usage changes any more (S6.5): the last value of each
 * group, or the sum of its changes. Reads begin on that day, however long an account exists.
 */
import { type Day, dayOf } from "../calendar/instant.ts";
import { FIRST_DAY, listCarriedUsage, type MeterUsage } from "../metering/keyed-usage.ts";
import { add } from "../numbers/decimal.ts";
import { groupBy } from "../numbers/ids.ts";
import { earliestStart, findClosedCycles, findOpenCycles } from "./account/open-cycles.ts";
import type { Catalog } from "./catalog.ts";
import type { AccountRecord, BilledUsage, CarriedUsage, LedgerCell } from "./records.ts";
import { type AccountParts } from "./working-records.ts";

type GroupedUsage = Pick<MeterUsage, "usageByGroup">;

/** The first day of which usage of meters that carry over is read for an account; `Infinity` without such meters. */
export function carriedUsageFrom({ billing }: Catalog, { carriedUsage }: AccountRecord): Day {
  return billing.levelMeters.size === 0 ? Infinity : (carriedUsage?.until ?? FIRST_DAY);
}

/** The account's record with its usage carried over up to the cycles that a catch-up after this one may still invoice. */
export function carryUsage(catalog: Catalog, account: GroupedUsage, record: AccountRecord): AccountRecord {
  const { caughtUpTo } = record;
  const isNeeded = catalog.billing.levelMeters.size > 0;
  const closed = isNeeded ? findClosedCycles(catalog, record, caughtUpTo) : undefined;
  if (closed === undefined) return record;
  const until = dayOf(earliestStart(findOpenCycles(catalog, record, caughtUpTo), closed.until));
  if (until <= (record.carriedUsage?.until ?? FIRST_DAY)) return record;
  return { ...record, carriedUsage: findCarriedUsage(catalog, account, until) };
}

/** The usage of an account that is carried over to a day. */
export function findCarriedUsage({ billing }: Catalog, account: GroupedUsage, until: Day): CarriedUsage {
  const cells = [...billing.levelMeters.values()].flatMap((meter) =>
    listCarriedUsage(meter, account.usageByGroup(meter.id, FIRST_DAY, until)).map((cell) => ({
      meterId: meter.id,
      ...cell,
    })),
  );
  return { until, cells };
}

/** All usage of an account, with what its record carries over in place of earlier usage. */
export function withCarriedUsage(
  { billing: { levelMeters } }: Catalog,
  { record: { id: accountId, carriedUsage }, ...parts }: Pick<AccountParts, "record" | "usage" | "externalUsage">,
): readonly LedgerCell[] {
  const usage = listUsage(parts);
  if (carriedUsage === undefined) return usage;
  const { until, cells } = carriedUsage;
  return [
    ...usage.filter(({ meterOrFeatureId, day }) => day >= until || !levelMeters.has(meterOrFeatureId)),
    ...billedCells({ accountId, cells }),
  ];
}

/** The first day of an account's usage that decides levels from a day on. */
export function levelsReadFrom(catalog: Catalog, record: AccountRecord, from: Day): Day {
  const day = carriedUsageFrom(catalog, record);
  return day <= from || day === Infinity ? Math.min(day, from) : FIRST_DAY;
}

/** Usage of accounts, read from {@link levelsReadFrom} on, with what they carry over to a day. */
export function carryOverTo(
  catalog: Catalog,
  day: Day,
  { records, cells }: { readonly records: readonly AccountRecord[]; readonly cells: readonly LedgerCell[] },
): readonly LedgerCell[] {
  if (catalog.billing.levelMeters.size === 0) return cells;
  const byAccount = groupBy(cells, ({ accountId }) => accountId);
  return records.flatMap((record) => {
    const usage = byAccount.get(record.id) ?? [];
    return carriedUsageFrom(catalog, record) <= day ? withCarriedUsage(catalog, { record, usage }) : usage;
  });
}

/**
 * Whether external usage was billed for a cycle: that of its days and, of meters that carry over, that of days without a
 * cycle before it.
 */
export function isBilledFor(
  { billing }: Catalog,
  { from, until, carriedUsage }: Pick<BilledUsage, "from" | "until" | "carriedUsage">,
  { meterOrFeatureId, day }: Pick<LedgerCell, "meterOrFeatureId" | "day">,
): boolean {
  const first = billing.levelMeters.has(meterOrFeatureId) ? (carriedUsage?.until ?? from) : from;
  return first <= day && day < until;
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
