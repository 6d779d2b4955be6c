/**
 * The plans of accounts as they are answered (service-reference: Schedule entry; S16.1, S16.2).
 *
 * @module
 */
import * as z from "zod";

import type { PricePlan, PricePlanDetailsOverride } from "../../book/model/price-plan.ts";
import { detailsWithOverride } from "../../book/resources/override.ts";
import { resolveCycleConfig, isSameCycleConfig, toStartOffset } from "../../calendar/cycle.ts";
import type { PricingSchedule } from "../../engine/accounts/plans.ts";
import type { StoredResource } from "../../engine/configured.ts";
import { versionId } from "../../engine/document-ids.ts";
import type { Engine } from "../../engine/engine.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import { createYielder } from "../../store/turns.ts";
import { shownTime, timestamp, withoutAbsent } from "../http/fields.ts";
import { shownDetails } from "./price-plan.ts";
import { pricePlanDetailsShape, rateCardsShape, shownCards } from "./rate-cards.ts";

/** A stretch of time in which an account has one version of a plan. */
export const accountSchedule = z
  .strictObject({
    id: z.string(),
    pricePlanId: z.string(),
    pricePlanName: z.string(),
    version: z.int().min(1),
    startDate: timestamp,
    endDate: timestamp.meta({ description: "Exclusive; `9999-01-01T00:00:00.000Z` where there is no end." }),
    pricePlanDetails: pricePlanDetailsShape.meta({
      description: "As they are for the account: with the override, and the cycles that are charged.",
    }),
    isOverriden: z.boolean(),
    pricePlanDetailsOverride: rateCardsShape
      .optional()
      .meta({ description: "What the association changes of its plan; absent where it changes nothing." }),
  })
  .meta({ id: "AccountPricingSchedule" });

/** The schedules of an account as they are answered. */
export async function shownSchedules(
  engine: Engine,
  schedules: readonly PricingSchedule[],
): Promise<readonly z.input<typeof accountSchedule>[]> {
  const plans = new Map<string, StoredResource<PricePlan>>();
  const shown: z.input<typeof accountSchedule>[] = [];
  const giveWay = createYielder();
  for (const schedule of schedules) {
    await giveWay();
    const { pricePlanId, version } = schedule;
    const key = versionId(pricePlanId, version);
    const plan = plans.get(key) ?? (await engine.pricePlans.get(pricePlanId, version));
    plans.set(key, plan);
    shown.push(shownSchedule(schedule, plan));
  }
  return shown;
}

function shownSchedule(schedule: PricingSchedule, plan: StoredResource<PricePlan>): z.input<typeof accountSchedule> {
  const { id, pricePlanId, version, from, until = NO_END, override } = schedule;
  return withoutAbsent({
    id,
    pricePlanId,
    pricePlanName: plan.item.name,
    version,
    startDate: shownTime(from),
    endDate: shownTime(until),
    pricePlanDetails: withCyclesOf(schedule, detailsOf(plan, override)),
    isOverriden: override !== undefined,
    pricePlanDetailsOverride: override && shownCards(filledParts(override)),
  });
}

/** The cycles that are charged: those of an anniversary, and retained ones, begin on other days than the plan says. */
function withCyclesOf(
  { cycleConfig, gracePeriodDays, from }: PricingSchedule,
  details: z.input<typeof pricePlanDetailsShape>,
): z.input<typeof pricePlanDetailsShape> {
  const { pricingCycleConfig: own } = details;
  if (own === undefined) return details;
  const said = gracePeriodDays === undefined ? own : { ...own, gracePeriod: gracePeriodDays };
  const isSaid = said.anniversaryCycle !== true && isSameCycleConfig(cycleConfig, resolveCycleConfig(said, from));
  if (isSaid) return { ...details, pricingCycleConfig: said };
  return { ...details, pricingCycleConfig: { ...said, startOffset: toStartOffset(cycleConfig) } };
}

/** A plan's details with the parts that an override changes. */
function detailsOf(
  plan: StoredResource<PricePlan>,
  override: PricePlanDetailsOverride | undefined,
): z.input<typeof pricePlanDetailsShape> {
  const own = shownDetails(plan) as z.input<typeof pricePlanDetailsShape>;
  if (override === undefined) return own;
  const changed = new Set(Object.keys(filledParts(override)));
  const parts = Object.entries(detailsWithOverride(plan.item.pricePlanDetails, override));
  return { ...own, ...shownCards(Object.fromEntries(parts.filter(([name]) => changed.has(name)))) };
}

/** The parts of an override that change something: empty lists do not. */
function filledParts(override: PricePlanDetailsOverride): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(override).filter(([, part]) => !Array.isArray(part) || part.length > 0));
}
