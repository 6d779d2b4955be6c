/** Books and events for the tests of ingest. */
import { parseBook } from "../../src/book/book.ts";
import type { Book } from "../../src/book/resources/book.ts";

/** Parts of a book, as in a file. */
export type BookParts = Readonly<Record<string, readonly unknown[]>>;

/** A schema with tokens and a region, whose meter sums the tokens of Europe. */
export const requestSchema = {
  name: "request",
  attributes: [{ name: "tokens" }],
  dimensions: [{ name: "region" }],
};

/** Sums the tokens of Europe. */
export const europeMeter = {
  id: "um.eu",
  name: "eu",
  aggregation: "SUM",
  eventSchemaName: "request",
  computations: [
    { order: 1, matcher: { "==": [{ var: "dimension.region" }, "eu"] }, computation: { var: "attribute.tokens" } },
  ],
};

/** An account of the one customer. */
export function contosoAccount(id: string, more: Readonly<Record<string, unknown>> = {}): unknown {
  return { id, name: `Account ${id}`, customerId: "contoso", ...more };
}

/** A book of these parts, by default with one account. */
export function bookWithParts(parts: BookParts): Book {
  return parseBook({
    eventSchemas: [requestSchema],
    usageMeters: [europeMeter],
    customers: [{ id: "contoso", name: "Contoso" }],
    accounts: [contosoAccount("prod")],
    ...parts,
  });
}

/** A valid event of {@link requestSchema}, with these changes. */
export function requestEvent(changes: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return {
    schemaName: "request",
    id: "e1",
    timestamp: "2024-03-05T10:00:00Z",
    accountId: "prod",
    attributes: [{ name: "tokens", value: 10 }],
    dimensions: { region: "eu" },
    ...changes,
  };
}
