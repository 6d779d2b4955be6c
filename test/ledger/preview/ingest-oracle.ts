/** The simplest metering: json-logic-js, decimal.js and plain objects; small whole numbers, so that both agree. */
import jsonLogic, { type RulesLogic } from "json-logic-js";

import { add, Decimal, ZERO } from "../../../src/numbers/decimal.ts";

/** A schema's enriched field and a meter, their rules as JSON. */
export interface OracleBook {
  readonly attributes: readonly string[];
  readonly dimensions: readonly string[];
  readonly fields: readonly { readonly name: string; readonly value: unknown }[];
  readonly meters: readonly {
    readonly id: string;
    readonly aggregation: string;
    readonly computations: readonly { readonly matcher?: unknown; readonly computation: unknown }[];
  }[];
  readonly accounts: readonly string[];
}

/** An event with the right types. */
export interface OracleEvent {
  readonly schemaName: string;
  readonly id: string;
  readonly timestamp: string;
  readonly accountId: string;
  readonly attributes: readonly { readonly name: string; readonly value: number | string }[];
  readonly dimensions: Readonly<Record<string, string>>;
}

/** The statuses of all events and the sums by `account meter date`. */
export function meterPlainly(
  book: OracleBook,
  events: readonly OracleEvent[],
): { readonly statuses: readonly string[]; readonly sums: Readonly<Record<string, string>> } {
  const seenIds = new Set<string>();
  const sums = new Map<string, Decimal>();
  const statuses = events.map((event) => {
    if (seenIds.has(event.id)) return "INGESTION_FAILED_DUPLICATE_EVENT";
    if (!book.accounts.includes(event.accountId)) return "INGESTION_FAILED_ACCOUNT_NOT_FOUND";
    if (event.schemaName !== "request") return "INGESTION_FAILED_SCHEMA_NOT_DEFINED";
    const attribute: Record<string, number> = {};
    for (const { name, value } of event.attributes) attribute[name] = Number(value);
    if (!book.attributes.every((name) => Object.hasOwn(attribute, name))) return "INGESTION_FAILED";
    if (!book.dimensions.every((name) => Object.hasOwn(event.dimensions, name))) return "INGESTION_FAILED";
    // json-logic-js reads a name with a dot as a path.
    const nested = { ...attribute, a: { b: attribute["a.b"] } };
    const facts = { attribute: nested, dimension: event.dimensions };
    for (const { name, value } of book.fields)
      Object.assign(nested, { [name]: Number(jsonLogic.apply(value as RulesLogic, facts)) });
    seenIds.add(event.id);
    let isMetered = false;
    for (const { id, aggregation, computations } of book.meters) {
      const matching = computations.filter(
        ({ matcher }) => matcher === undefined || jsonLogic.truthy(jsonLogic.apply(matcher as RulesLogic, facts)),
      );
      if (matching.length === 0) continue;
      isMetered = true;
      const key = `${event.accountId} ${id} ${event.timestamp.slice(0, 10)}`;
      const units =
        aggregation === "COUNT"
          ? [1]
          : matching.map(({ computation }) => Number(jsonLogic.apply(computation as RulesLogic, facts)));
      for (const unit of units) sums.set(key, add(sums.get(key) ?? ZERO, new Decimal(unit)));
    }
    return isMetered ? "INGESTION_COMPLETED_EVENT_NOT_BILLED" : "INGESTION_COMPLETED_EVENT_NOT_METERED";
  });
  return { statuses, sums: Object.fromEntries([...sums].map(([key, sum]) => [key, sum.toFixed()])) };
}
