/** Events of store tests: one schema with one meter, from accounts without plans. */
import type { BookInput } from "../../src/book/resources/book.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";

/** Accounts `a` and `b`, whose calls are metered but not billed. */
export const CALLS_BOOK: BookInput = {
  eventSchemas: [{ name: "call", attributes: [{ name: "count" }] }],
  usageMeters: [
    {
      id: "um.calls",
      name: "Calls",
      aggregation: "SUM",
      eventSchemaName: "call",
      computations: [{ order: 1, computation: { var: "attribute.count" } }],
    },
  ],
  customers: [{ id: "c", name: "Customer" }],
  accounts: ["a", "b"].map((id) => ({ id, name: `Account ${id}`, customerId: "c" })),
};

/** A call on the morning of 1 June 2024. */
export function morningCall(id: string, accountId = "a", value = 1): EventInput {
  const attributes = [{ name: "count", value }];
  return { schemaName: "call", id, accountId, timestamp: "2024-06-01T08:00:00Z", attributes };
}
