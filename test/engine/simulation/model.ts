/**
 * The model: a list of operations and answers, from which everything is computed from scratch each time. It knows the
 * calendar of the world's plans, and nothing about how an engine works.
 */
import { ACCOUNTS, BEGIN, DAY, GRACE_DAYS, type PlanId, PLANS } from "./simulated-engine.ts";

/** An event as it is sent. */
export interface GeneratedEvent {
  readonly id: string;
  readonly accountId: string;
  readonly timestamp: number;
  /** In halves, which add up exactly in binary too. */
  readonly count: number;
  readonly region: string;
}

/** The operations. */
export type Operation =
  | {
      readonly kind: "ingest";
      readonly at: number;
      readonly events: readonly GeneratedEvent[];
      readonly statuses: readonly string[];
      /** The ids that the engine uses; an id may repeat. */
      readonly references: readonly string[];
    }
  | { readonly kind: "undo"; readonly at: number; readonly accountId: string; readonly revertedIds: readonly string[] }
  | { readonly kind: "plan"; readonly at: number; readonly accountId: string; readonly isGone: boolean };

/** An event that was accepted and not reverted, and when it arrived. */
export type LiveEvent = GeneratedEvent & { readonly at: number };

/** The live events, in the order of their arrival. */
export function liveEvents(operations: readonly Operation[]): readonly LiveEvent[] {
  const live = new Map<string, LiveEvent>();
  for (const operation of operations) {
    if (operation.kind === "undo") for (const id of operation.revertedIds) live.delete(id);
    if (operation.kind !== "ingest") continue;
    for (const [index, event] of operation.events.entries()) {
      const reference = operation.references[index] ?? "";
      if (isAccepted(operation.statuses[index])) live.set(reference, { ...event, at: operation.at });
    }
  }
  return [...live.values()];
}

/** Whether an event of a status counts. */
export function isAccepted(status: string | undefined): boolean {
  return status?.startsWith("INGESTION_COMPLETED") === true;
}

/** The quantities that the meters must have counted: by account, meter and day. */
export function expectedUsage(operations: readonly Operation[]): ReadonlyMap<string, number> {
  const cells = new Map<string, number>();
  for (const { accountId, timestamp, count, region } of liveEvents(operations)) {
    const day = Math.floor(timestamp / DAY);
    const addUsage = (meter: string, quantity: number): void => {
      const key = `${accountId} ${meter} ${day}`;
      cells.set(key, (cells.get(key) ?? 0) + quantity);
    };
    addUsage("um.calls", 1);
    if (region === "n" && count !== 0) addUsage("um.north", count);
  }
  return cells;
}

/** The charge of a plan for an account's calls of `[from, until)`, rounded once to cents, away from zero. */
export function chargedBy(
  operations: readonly Operation[],
  accountId: string,
  planId: PlanId,
  [from, until]: readonly [number, number],
): number {
  const calls = liveEvents(operations).filter(
    (event) => event.accountId === accountId && event.timestamp >= from && event.timestamp < until,
  );
  return Math.round(calls.length * PLANS[planId].rate * 100) / 100;
}

/** The units of the feature that an account's live events consumed. */
export function consumedBy(operations: readonly Operation[], accountId: string): number {
  const own = liveEvents(operations).filter((event) => event.accountId === accountId);
  return own.reduce((sum, { count }) => sum + count, 0);
}

/** When the cycle of an instant closes for good; undefined if no plan is in force: then it never does (S6.5). */
export function closesAt(operations: readonly Operation[], accountId: string, instant: number): number | undefined {
  const days = [{ from: BEGIN, isGone: false }];
  for (const operation of operations) {
    if (operation.kind !== "plan" || operation.accountId !== accountId) continue;
    days.push({ from: Math.floor(operation.at / DAY) * DAY, isGone: operation.isGone });
  }
  const current = days.findLast(({ from }) => from <= instant);
  if (current === undefined || current.isGone) return undefined;
  const next = days.find(({ from }) => from > instant)?.from ?? Infinity;
  const month = new Date(instant);
  const end = Math.min(next, Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 1));
  return end + GRACE_DAYS * DAY;
}

/**
 * The required outcome of an event sent now, as far as it does not depend on feature credits: undefined if it must be
 * accepted or lack credits.
 *
 * @param batch the ids used by the events before it in its batch
 */
export function expectedFailure(
  operations: readonly Operation[],
  { id, accountId, timestamp }: GeneratedEvent,
  now: number,
  batch: ReadonlySet<string>,
): string | undefined {
  const holder = liveEvents(operations).findLast((event) => event.id === id);
  if (batch.has(id) || (holder !== undefined && now < holder.at + 45 * DAY)) return "INGESTION_FAILED_DUPLICATE_EVENT";
  if (timestamp > now + DAY) return "INGESTION_FAILED";
  const closes = closesAt(operations, accountId, timestamp);
  return closes !== undefined && now >= closes ? "INGESTION_FAILED_PAST_GRACE_PERIOD" : undefined;
}

/** Whether an account got or lost its plan on the day of an instant already. */
export function changedPlanOn(operations: readonly Operation[], accountId: string, instant: number): boolean {
  const day = Math.floor(instant / DAY);
  return operations.some(
    (operation) =>
      operation.kind === "plan" && operation.accountId === accountId && Math.floor(operation.at / DAY) === day,
  );
}

/** The account's id, by number. */
export function accountNumber(index: number): string {
  return ACCOUNTS[index % ACCOUNTS.length] ?? ACCOUNTS[0];
}
