/**
 * What an event takes of a feature: from the account's entries, and the rest as overage (S11.2, S11.3, S11.4).
 *
 * @module
 */
import { dayOf, type Instant } from "../../calendar/instant.ts";
import { consume, inSpendingOrder, type OverageRoom } from "../../credits/feature-credits.ts";
import { decimalOfExact, type Exact, exactOfDecimal, subtractExact } from "../../numbers/exact.ts";
import { entryOf, putBalances, spendable } from "../account/overage-moves.ts";
import type { PlanClock } from "../account/plan-clock.ts";
import type { FeatureUse } from "../records.ts";
import type { AccountWork } from "../workspace.ts";

/** Taken in whole, or not at all (S11.3). */
export type TakeResult =
  | { readonly kind: "TAKEN"; readonly use: FeatureUse }
  | { readonly kind: "INSUFFICIENT"; readonly available: Exact };

/**
 * Takes a quantity, 0 or more, at an event's timestamp.
 *
 * @param work with the feature's entries, and its overage in the billing window of the timestamp
 */
export function takeFeature(
  work: AccountWork,
  clock: PlanClock,
  featureId: string,
  quantity: Exact,
  at: Instant,
): TakeResult {
  const before = spendable(work, featureId).filter((each) => each.effectiveFrom <= at && at < each.effectiveUntil);
  const entries = inSpendingOrder(before.map(entryOf));
  let result = consume(entries, quantity, at, 0);
  if (result.kind === "INSUFFICIENT") result = consume(entries, quantity, at, roomFor(work, clock, featureId, at));
  if (result.kind === "INSUFFICIENT") return { kind: "INSUFFICIENT", available: result.available };
  putBalances(work, before, result.entries);
  const overage = decimalOfExact(result.overage);
  if (!overage.isZero()) work.addOverage(featureId, dayOf(at), overage);
  const allocations = result.allocations.map((each) => ({ ...each, quantity: decimalOfExact(each.quantity) }));
  return { kind: "TAKEN", use: { featureId, quantity: decimalOfExact(quantity), allocations, overage } };
}

function roomFor(work: AccountWork, clock: PlanClock, featureId: string, at: Instant): OverageRoom {
  const limit = clock.overageAt(featureId, at);
  if (limit === undefined) return 0;
  if (limit.maxQuantity === undefined || limit.maxQuantity === null) return "UNLIMITED";
  const used = work.overage(featureId, dayOf(limit.window.start), dayOf(limit.window.end));
  return subtractExact(exactOfDecimal(limit.maxQuantity), exactOfDecimal(used));
}
