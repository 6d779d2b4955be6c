/**
 * The plan and cycle of a stored event (S5.3, S6.4).
 *
 * @module
 */
import type { Cycle } from "../../calendar/cycle.ts";
import { cycleAt, type Timeline } from "../../invoicing/timeline.ts";
import { findAccountPlan } from "../../ledger/account/account-plan.ts";
import type { EventRecord } from "../../ledger/records.ts";
import type { EngineContext } from "../context.ts";

/** The plan and cycle of an event, by the account's current plans. */
export interface EventCycle {
  readonly pricePlanId: string;
  readonly version: number;
  readonly cycle: Cycle;
}

/** The cycle of each event, in their order; undefined if no plan is in force at its timestamp. */
export async function findEventCycles(
  { store, configuration }: EngineContext,
  events: readonly Pick<EventRecord, "accountId" | "timestamp">[],
): Promise<readonly (EventCycle | undefined)[]> {
  const { catalog } = await configuration(store.read);
  const records = await store.read.accounts([...new Set(events.map(({ accountId }) => accountId))]);
  const timelines = new Map<string, Timeline>();
  for (const record of records) timelines.set(record.id, findAccountPlan(catalog, record).timeline);
  return events.map(({ accountId, timestamp }) => {
    const timeline = timelines.get(accountId);
    const cycle = timeline && cycleAt(timeline, timestamp);
    if (cycle === undefined) return undefined;
    const { planId: pricePlanId, version } = cycle.term.plan;
    return { pricePlanId, version, cycle: { start: cycle.start, end: cycle.end } };
  });
}
