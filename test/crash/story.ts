/** The story of an engine that is killed: steps that do not depend on when they run, and their result. */
import type { ShortBookInput } from "../../src/book/resources/book.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { PageOptions } from "../../src/engine/pages.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";

const HOUR = 3_600_000;
/** The book is loaded in the middle of the first month of the accounts' plan. */
const BEGIN = Date.UTC(2024, 0, 15);
/** More accounts than one transaction of a bill run processes. */
const ACCOUNTS = 60;
/** The number of events in a batch. */
export const BATCH = 8;

/** Calls that are metered and consume a grant of ten a month, a fee in advance, and sixty accounts. */
export const BOOK: ShortBookInput = {
  eventSchemas: [{ name: "call", attributes: ["count"] }],
  usageMeters: [{ id: "um.calls", name: "calls", schema: "call", sum: "count" }],
  features: [{ id: "ft.calls", name: "Calls", schemaAssociations: [{ schemaName: "call", attributeName: "count" }] }],
  pricePlans: [
    {
      id: "pp.team",
      cycle: { interval: "MONTHLY", gracePeriod: 2 },
      usage: [{ meter: "um.calls", rate: 0.01 }],
      fees: [{ id: "ao.base", rate: 7, timing: "IN_ADVANCE" }],
      entitlements: [{ feature: "ft.calls", quantity: 10, for: "P1M", rate: 0 }],
      overages: [{ feature: "ft.calls", rate: 0.5 }],
    },
  ],
  customers: [{ id: "acme", name: "Acme" }],
  accounts: Array.from({ length: ACCOUNTS }, (_, index) => ({
    id: accountNumber(index),
    customerId: "acme",
    plan: "pp.team",
    from: "2024-01-01",
  })),
};

function accountNumber(index: number): string {
  return `account-${index % ACCOUNTS}`;
}

/** The time of a step, whenever it runs. */
export function timeOf(actionNumber: number): number {
  return BEGIN + (actionNumber + 1) * 8 * HOUR;
}

/** The kind of a step; the first one is 0. */
export type Action =
  | { readonly kind: "ingest"; readonly batch: readonly { readonly id: string; readonly accountId: string }[] }
  | { readonly kind: "undo"; readonly accountId: string; readonly eventId: string }
  | { readonly kind: "finalize" };

/** Of ten steps, one is a bill run and two undo the first event of the batch before; the others are batches. */
export function actionAt(number: number): Action {
  if (number % 10 === 9) return { kind: "finalize" };
  if (number % 5 === 3) {
    return { kind: "undo", accountId: accountOfAction(number - 1, 0), eventId: eventId(number - 1, 0) };
  }
  const batch = Array.from({ length: BATCH }, (_, index) => ({
    schemaName: "call",
    id: eventId(number, index),
    accountId: accountOfAction(number, index),
    timestamp: new Date(timeOf(number) - index * HOUR).toISOString(),
    attributes: [{ name: "count", value: ((number + index) % 7) + 0.25 }],
  }));
  return { kind: "ingest", batch };
}

function eventId(actionNumber: number, index: number): string {
  return `event-${actionNumber}-${index}`;
}

function accountOfAction(actionNumber: number, index: number): string {
  return accountNumber(actionNumber * 7 + (index % 5) * 3);
}

/** Does a step; the clock must be at its {@link timeOf}. */
export async function live(engine: Engine, action: Action): Promise<void> {
  switch (action.kind) {
    case "ingest":
      await engine.ingest(action.batch as EventInput[]);
      return;
    case "undo":
      await engine.undo({ account: action.accountId, eventId: action.eventId });
      return;
    case "finalize":
      await engine.finalize();
  }
}

/** The stored fields of an event that a kill may damage. */
export interface StoredEvent {
  readonly eventId: string;
  readonly accountId: string;
  readonly number: number;
  readonly status: string;
  readonly reverted: boolean;
  readonly count: string;
}

/** All stored events. */
export async function storedEvents(engine: Engine): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (let after: PageOptions = { limit: 1000 }; ;) {
    const { items, next } = await engine.events.list({ page: after });
    for (const { eventId, accountId, number, status, reverted, units } of items) {
      events.push({ eventId, accountId, number, status, reverted, count: units[0]?.quantity.toFixed() ?? "0" });
    }
    if (next === undefined) return events;
    after = { limit: 1000, after: next };
  }
}

/** The metered quantity, by account. */
export async function usageByAccount(engine: Engine): Promise<Readonly<Record<string, string>>> {
  const accountIds = Array.from({ length: ACCOUNTS }, (_, index) => accountNumber(index));
  const totals: Record<string, number> = {};
  for (const { accountId, quantity } of await engine.usage({
    accountIds,
    from: BEGIN,
    until: BEGIN + 4000 * 24 * HOUR,
  })) {
    // Quarters add up exactly in binary, too.
    totals[accountId] = (totals[accountId] ?? 0) + Number(quantity.toFixed());
  }
  return Object.fromEntries(Object.entries(totals).map(([id, total]) => [id, String(total)]));
}

/** The final state, without write times and without generated ids and event numbers. */
export async function endState(engine: Engine): Promise<unknown> {
  // The store assigns the numbers of events: only their order is the same.
  const events = (await storedEvents(engine)).toSorted(byAccountAndNumber).map((event) => ({ ...event, number: 0 }));
  const accountIds = Array.from({ length: ACCOUNTS }, (_, index) => accountNumber(index));
  const window = { accountIds, from: BEGIN - 30 * 24 * HOUR, until: BEGIN + 4000 * 24 * HOUR };
  const accounts = [];
  for (const accountId of accountIds) {
    const { caughtUpTo, nextDueAt } = await engine.accounts.get(accountId);
    const { items: entries } = await engine.entries.list(
      { accountId, featureId: "ft.calls" },
      { page: { limit: 1000 } },
    );
    accounts.push({ accountId, caughtUpTo, nextDueAt, entries });
  }
  const { invoices } = await engine.preview();
  const state = {
    events,
    accounts,
    invoices,
    usage: await engine.usage(window),
    overage: await engine.overage(window),
  };
  return JSON.parse(JSON.stringify(state)) as unknown;
}

function byAccountAndNumber(a: StoredEvent, b: StoredEvent): number {
  return a.accountId.localeCompare(b.accountId) || a.number - b.number;
}
