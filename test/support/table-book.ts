import type { ShortBookInput } from "../../src/book/resources/book.ts";
import type { ShortPlanInput } from "../../src/book/resources/short-plan.ts";
import type { RateTableInput } from "../../src/index.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";

type TableBook = ShortBookInput & { readonly pricePlans: readonly ShortPlanInput[] };

/** A book with a plan that prices tokens by a table, and its account on the plan, if there is one. */
export function tableBook(
  groupBy: readonly string[],
  rateTable: RateTableInput,
  account?: { readonly id: string; readonly from: string },
): TableBook {
  return {
    eventSchemas: [{ name: "call", attributes: ["tokens"], dimensions: groupBy }],
    usageMeters: [{ id: "um.tokens", name: "Tokens", schema: "call", sum: "tokens", groupBy }],
    pricePlans: [{ id: "pp", cycle: "MONTHLY", usage: [{ meter: "um.tokens", rateTable }] }],
    ...(account && { accounts: [{ ...account, plan: "pp" }] }),
  };
}

/** Events of October 2026 of the account `acme`, from days, texts of groups and tokens, in the order of their days. */
export function tableEvents(
  groupBy: readonly string[],
  usage: readonly (readonly [day: number, group: readonly string[] | string, tokens: number | string])[],
): EventInput[] {
  return usage
    .toSorted(([a], [b]) => a - b)
    .map(([day, group, tokens], index) => ({
      schemaName: "call",
      id: `e${index}`,
      timestamp: `2026-10-${String(day).padStart(2, "0")}T00:00:${String(index).padStart(2, "0")}Z`,
      accountId: "acme",
      attributes: { tokens },
      dimensions: Object.fromEntries(groupBy.map((dimension, position) => [dimension, group[position] ?? ""])),
    }));
}
