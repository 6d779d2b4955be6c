import type { ShortBookInput } from "../../src/book/resources/book.ts";
import type { ShortPlanInput } from "../../src/book/resources/short-plan.ts";
import type { RateTableInput } from "../../src/index.ts";

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
