/** What must hold after every step, whatever was done. */
import { expect } from "vitest";

import type { EntryRecord, EventRecord } from "../../src/ledger/records.ts";
import { closesAt, consumedBy, isAccepted, type Operation, usageOf } from "./model.ts";
import { ACCOUNTS, BEGIN, DAY, type World } from "./world.ts";

const WINDOW = { from: BEGIN - 100 * DAY, until: BEGIN + 1000 * DAY };

/** Compares what is stored with what was done. @returns nothing; what does not hold fails the test */
export async function checkAll(world: World, operations: readonly Operation[]): Promise<void> {
  const { engine } = world;
  const usage = await engine.usage({ accountIds: ACCOUNTS, ...WINDOW });
  const cells = usage.map(({ accountId, itemId, day, quantity }): [string, string] => [
    `${accountId} ${itemId} ${day}`,
    quantity.toFixed(),
  ]);
  const expected = [...usageOf(operations)].map(([key, quantity]): [string, string] => [key, String(quantity)]);
  expect(new Map(cells)).toEqual(new Map(expected));
  const events = (await engine.events.list({}, { limit: 1000 })).items.filter(
    ({ status, reverted }) => isAccepted(status) && !reverted,
  );
  for (const accountId of ACCOUNTS) {
    const own = events.filter((event) => event.accountId === accountId);
    const { items } = await engine.entries.list({ accountId, featureId: "ft.calls" }, { limit: 1000 });
    const overage = await engine.overage({ accountIds: [accountId], ...WINDOW });
    checkEntries(items, own);
    const over = total(overage.map(({ quantity }) => quantity));
    const held = total(items.map(({ granted }) => granted)) - total(items.map(({ balance }) => balance));
    // S11.6
    expect(held + over).toBe(consumedBy(operations, accountId));
    expect(over).toBe(total(own.flatMap(({ feature }) => feature?.overage ?? [])));
    checkNoIdleBalance(world, operations, items, own);
  }
}

/** What an entry lacks is what live events took of it. */
function checkEntries(entries: readonly EntryRecord[], events: readonly EventRecord[]): void {
  const allocations = events.flatMap(({ feature }) => feature?.allocations ?? []);
  for (const { id, granted, balance } of entries) {
    const taken = allocations.filter(({ entryId }) => entryId === id).map(({ quantity }) => quantity);
    expect(total([granted]) - total([balance])).toBe(total(taken));
    expect(total([balance])).toBeGreaterThanOrEqual(0);
    expect(total([balance])).toBeLessThanOrEqual(total([granted]));
  }
}

/** S11.5: no open overage stands beside a balance that covers it. */
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

/** Sums of what lies in halves, which a double keeps exactly. */
export function total(quantities: readonly { toFixed(): string }[]): number {
  return quantities.reduce<number>((sum, quantity) => sum + Number(quantity.toFixed()), 0);
}
