import type { RateTableInput } from "../../src/index.ts";

/** A book with a plan that prices tokens by a table, and its account on the plan, if there is one. */
export function tableBook(
  groupBy: readonly string[],
  rateTable: RateTableInput,
  account?: { readonly id: string; readonly from: string },
) {
  return {
    eventSchemas: [{ name: "call", attributes: ["tokens"], dimensions: groupBy }],
    usageMeters: [{ id: "um.tokens", name: "Tokens", schema: "call", sum: "tokens", groupBy }],
    pricePlans: [{ id: "pp", cycle: "MONTHLY" as const, usage: [{ meter: "um.tokens", rateTable }] }],
    ...(account && { accounts: [{ ...account, plan: "pp" }] }),
  };
}
