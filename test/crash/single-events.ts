/** Single events by number, for engines that are killed during ingest. */
import type { ShortBookInput } from "../../src/book/resources/book.ts";

/** The events that an engine must send. */
export interface Errand {
  /** Events that were sent before and not acknowledged. */
  readonly again: readonly number[];
  /** The first number that was never sent. */
  readonly first: number;
  /** No new events. */
  readonly isLast: boolean;
}

/** The number of events waiting for their answers at the same time. */
export const IN_FLIGHT = 2_000;
/** The maximum number of new events per process. */
export const PER_LIFE = 4_000;
/** The time of every clock. */
export const NOW = Date.parse("2024-06-15T12:00:00Z");
const ACCOUNTS = 50;

/** The accounts of the events. */
export const ACCOUNT_IDS: readonly string[] = Array.from({ length: ACCOUNTS }, (_, index) => `account-${index}`);

/** Calls that are summed, and accounts that pay for them. */
export const SINGLES_BOOK: ShortBookInput = {
  eventSchemas: [{ name: "call", attributes: ["count"] }],
  usageMeters: [{ id: "um.calls", name: "calls", schema: "call", sum: "count" }],
  pricePlans: [{ id: "pp.calls", cycle: "MONTHLY", usage: [{ meter: "um.calls", rate: 0.01 }] }],
  customers: [{ id: "acme", name: "Acme" }],
  accounts: ACCOUNT_IDS.map((id) => ({ id, customerId: "acme", plan: "pp.calls", from: "2024-06-01" })),
};

/** The quantity of the event with a number: quarters, which add up exactly in binary too. */
export function countOf(number: number): number {
  return (number % 7) + 0.25;
}

/** The account of the event with a number. */
export function accountOfNumber(number: number): string {
  return `account-${(number * 7) % ACCOUNTS}`;
}

/** The event with a number. */
export function singleEvent(number: number): object {
  return {
    schemaName: "call",
    id: `s-${number}`,
    accountId: accountOfNumber(number),
    timestamp: new Date(NOW - (number % 1_000_000) * 1_000).toISOString(),
    attributes: [{ name: "count", value: countOf(number) }],
  };
}
