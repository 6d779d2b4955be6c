/** A price plan so large that two of them exceed a page of a list. */
import type { PricePlanRequest } from "../../src/book/resources/requests.ts";
import { MONTHLY, slabs } from "../book/builder.ts";

const SLABS = 4_600;

/** A plan of about 0.4 MB of JSON; a list contains its details twice. */
export function largePlan(name: string, usageMeterId: string): PricePlanRequest {
  const bands = Array.from({ length: SLABS }, (_, at) => [at * 10, `0.${at + 1}`] as const);
  const usageRateCards = [{ usageMeterId, ...slabs("TIERED", ...bands) }];
  return { name, type: "BILLING", pricePlanDetails: { ...MONTHLY, usageRateCards } };
}
