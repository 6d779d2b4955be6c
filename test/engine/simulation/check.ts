/** Invariants that are checked after every step. */
import { expect } from "vitest";

import type { Engine } from "../../../src/engine/engine.ts";
import type { EntryRecord, EventRecord } from "../../../src/ledger/records.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { chargedBy, closesAt, consumedBy, isAccepted, type Operation, expectedUsage } from "./model.ts";
import { ACCOUNTS, BEGIN, DAY, type PlanId, formatTime, type World } from "./simulated-engine.ts";

/** The state of a simulation. */
export const WINDOW = { from: BEGIN - 100 * DAY, until: BEGIN + 1000 * DAY };

/** Compares what is stored with what was done: a violated invariant fails the test. */
export async function checkAll(world: World, operations: readonly Operation[]): Promise<void> {
  const engine = world.next();
  const usage = await engine.usage({ accountIds: ACCOUNTS, ...WINDOW });
  const cells = usage.map(({ accountId, meterId, date, quantity }): [string, string] => [
    `${accountId} ${meterId} ${Date.parse(date) / DAY}`,
    quantity.toFixed(),
  ]);
  const expected = [...expectedUsage(operations)].map(([key, quantity]): [string, string] => [key, String(quantity)]);
  expect(new Map(cells)).toEqual(new Map(expected));
  const events = (await engine.events.list({ page: { limit: 1000 } })).items.filter(
    ({ status, reverted }) => isAccepted(status) && !reverted,
  );
  for (const accountId of ACCOUNTS) {
    const own = events.filter((event) => event.accountId === accountId);
    const items = await listEntries(engine, accountId);
    const overage = await engine.overage({ accountIds: [accountId], ...WINDOW });
    checkEntries(items, own);
    const over = sumDoubles(overage.map(({ quantity }) => quantity));
    // S11.6
    expect(sumSpent(items) + over).toBe(consumedBy(operations, accountId));
    expect(over).toBe(sumDoubles(own.flatMap(({ feature }) => feature?.overage ?? [])));
    checkNoIdleBalance(world, operations, items, own);
    const units = sumDoubles(usage.filter((cell) => cell.accountId === accountId).map(({ quantity }) => quantity));
    expect(await sumMetrics(engine, accountId)).toEqual([units, units]);
  }
  await checkInvoices(engine, operations);
}

/** The units of an account, from daily sums and from its events. */
async function sumMetrics(engine: Engine, accountId: string): Promise<readonly number[]> {
  const filters = [{ fieldName: "ACCOUNT_ID" as const, fieldValues: [accountId] }];
  const query = { name: "USAGE", aggregationPeriod: "MONTH", filters } as const;
  const results = await engine.metrics({
    startTime: formatTime(WINDOW.from),
    endTime: formatTime(WINDOW.until),
    metricQueries: [
      { ...query, id: "days" },
      { ...query, id: "events", groupBy: "EVENT_STATUS" },
    ],
  });
  return results.map(({ series }) => sumDoubles(series.flatMap(({ points }) => points.map(({ value }) => value))));
}

/** The usage line of every invoice charges the calls of its days at its plan's rate (S2.3, S7.1). */
async function checkInvoices(engine: Engine, operations: readonly Operation[]): Promise<void> {
  const { items } = await engine.invoices.list({ page: { limit: 1000 } });
  for (const { invoice } of items) {
    if (invoice.invoiceType !== "STANDARD") continue;
    const { accountId, pricePlanId, startDate, endDate } = invoice;
    const span = [Date.parse(startDate), Date.parse(endDate)] as const;
    const cardValues = linesOfType(invoice, "USAGE_RATE_CARD_AMOUNT").map(({ value }) => value);
    expect(sumDoubles(cardValues)).toBe(chargedBy(operations, accountId, pricePlanId as PlanId, span));
  }
}

/** The consumed units of an entry are those that live events took from it. */
function checkEntries(entries: readonly EntryRecord[], events: readonly EventRecord[]): void {
  const allocations = events.flatMap(({ feature }) => feature?.allocations ?? []);
  for (const { id, granted, balance } of entries) {
    const drawnQuantity = allocations.filter(({ entryId }) => entryId === id).map(({ quantity }) => quantity);
    expect(sumDoubles([granted]) - sumDoubles([balance])).toBe(sumDoubles(drawnQuantity));
    expect(sumDoubles([balance])).toBeGreaterThanOrEqual(0);
    expect(sumDoubles([balance])).toBeLessThanOrEqual(sumDoubles([granted]));
  }
}

/** S11.5: no open overage exists beside a balance that covers it. */
function checkNoIdleBalance(
  { now }: World,
  operations: readonly Operation[],
  entries: readonly EntryRecord[],
  events: readonly EventRecord[],
): void {
  for (const { accountId, timestamp, feature } of events) {
    if (feature === undefined || feature.overage.isZero()) continue;
    if (now >= (closesAt(operations, accountId, timestamp) ?? Infinity)) continue;
    const idle = entries.filter(
      ({ voided, effectiveFrom, effectiveUntil, balance }) =>
        !voided && effectiveFrom <= timestamp && timestamp < effectiveUntil && !balance.isZero(),
    );
    expect(idle).toEqual([]);
  }
}

/** The entries of an account. */
export async function listEntries(engine: Engine, accountId: string): Promise<readonly EntryRecord[]> {
  return (await engine.entries.list({ accountId, featureId: "ft.calls" }, { page: { limit: 1000 } })).items;
}

/** The units that were taken from entries. */
export function sumSpent(entries: readonly EntryRecord[]): number {
  return sumDoubles(entries.map(({ granted }) => granted)) - sumDoubles(entries.map(({ balance }) => balance));
}

/** Sums of halves, which a double represents exactly. */
export function sumDoubles(quantities: readonly { toFixed(): string }[]): number {
  return quantities.reduce<number>((sum, quantity) => sum + Number(quantity.toFixed()), 0);
}
