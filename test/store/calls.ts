/** Events of store tests: one schema with one meter, from accounts without plans. */
import type { ShortBookInput } from "../../src/book/resources/book.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";

/** Accounts `a` and `b`, whose calls are metered but not billed. */
export const CALLS_BOOK = {
  eventSchemas: [{ name: "call", attributes: ["count"] }],
  usageMeters: [{ id: "um.calls", name: "Calls", schema: "call", sum: "count" }],
  accounts: [
    { id: "a", name: "Account a" },
    { id: "b", name: "Account b" },
  ],
} as const satisfies ShortBookInput;

/** A call on the morning of 1 June 2024. */
export function morningCall(id: string, accountId = "a", value = 1): EventInput {
  const attributes = [{ name: "count", value }];
  return { schemaName: "call", id, accountId, timestamp: "2024-06-01T08:00:00Z", attributes };
}
