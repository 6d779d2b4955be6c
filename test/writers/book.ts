/** Shared by several writers: a book with small limits, and the time of day. */
import type { ShortBookInput } from "../../src/book/resources/book.ts";

/** Noon of a day in the middle of a cycle; clocks start there. */
const NOON = Date.UTC(2024, 5, 15, 12);
/** The accounts of all writers. */
export const ACCOUNTS: readonly string[] = ["north", "south", "west"];
/** The limits of each account in a month: granted units, and overage. */
export const [GRANTED, OVERAGE_MAX] = [100, 20];

/** Calls weighted by a setting that consume the accounts' limits. */
export const BOOK: ShortBookInput = {
  settings: [{ id: "weight", dataType: "NUMERIC", value: "1" }],
  eventSchemas: [
    {
      name: "call",
      attributes: ["count"],
      enrichments: {
        dependencies: [{ type: "SETTING", key: "setting.user.weight", name: "weight" }],
        fields: [
          {
            order: 1,
            name: "weighed",
            type: "ATTRIBUTE",
            enrichmentType: "JSON_LOGIC",
            value: { "*": [{ var: "attribute.count" }, { var: "dependencies.weight" }] },
          },
        ],
      },
    },
  ],
  usageMeters: [{ id: "um.weighed", name: "weighed", schema: "call", sum: "weighed" }],
  features: [{ id: "ft.calls", name: "Calls", schemaAssociations: [{ schemaName: "call", attributeName: "count" }] }],
  pricePlans: [
    {
      id: "pp.team",
      cycle: "MONTHLY",
      usage: [{ meter: "um.weighed", rate: 0.01 }],
      entitlements: [{ feature: "ft.calls", quantity: GRANTED, for: "P1M", rate: 0 }],
      overages: [{ feature: "ft.calls", max: OVERAGE_MAX, rate: 0.5 }],
    },
  ],
  accounts: ACCOUNTS.map((id) => ({ id, name: `Acme ${id}`, plan: "pp.team", from: "2024-06-01" })),
};

/**
 * A clock that starts at noon at an instant of the system clock, so that every process agrees and no cycle ends in the
 * meantime.
 */
export function clockFrom(start: number): () => number {
  return () => NOON + Date.now() - start;
}

/** A writer's report of its operations. */
export type Said =
  | { readonly kind: "ingested"; readonly results: readonly { readonly id: string; readonly status: string }[] }
  | { readonly kind: "undone"; readonly ids: readonly string[] }
  /** Between these two instants, the configuration changed. */
  | { readonly kind: "changed"; readonly what: "meter" | "weight"; readonly from: number; readonly until: number };
