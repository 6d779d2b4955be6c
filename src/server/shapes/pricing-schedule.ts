/**
 * The plans of accounts in answers (service-reference: Schedule entry; S16.1, S16.2).
 *
 * @module
 */
import * as z from "zod";

import { applyOverride } from "../../book/resources/override.ts";
import type { PricePlan, PricePlanDetailsOverride } from "../../book/resources/price-plan.ts";
import { resolveCycleConfig, isSameCycleConfig, toStartOffset } from "../../calendar/cycle.ts";
import type { PricingSchedule } from "../../engine/accounts/plans.ts";
import type { StoredResource } from "../../engine/configured-resources.ts";
import { versionId } from "../../engine/document-ids.ts";
import type { Engine } from "../../engine/engine.ts";
import { NO_END } from "../../invoicing/timeline.ts";
import { formatTime, timestamp, withoutAbsent } from "../http/fields.ts";
import { toPlanDetailsJson } from "./price-plan.ts";
import { pricePlanDetailsShape, rateCardsShape, toCardsJson } from "./rate-cards.ts";

/** A period in which an account has one version of a plan. */
export const accountScheduleShape = z
  .strictObject({
    id: z.string(),
    pricePlanId: z.string(),
    pricePlanName: z.string(),
    version: z.int().min(1),
    startDate: timestamp,
    endDate: timestamp.meta({ description: "The end, exclusive; `9999-01-01T00:00:00.000Z` if there is none." }),
    pricePlanDetails: pricePlanDetailsShape.meta({
      description: "The plan's details with the override applied, and the pricing cycles of the account.",
    }),
    isOverriden: z.boolean(),
    pricePlanDetailsOverride: rateCardsShape
      .optional()
      .meta({ description: "Changes to the plan for this account; absent if there are none." }),
  })
  .meta({ id: "AccountPricingSchedule" });

/** Converts schedules for answers; reads each plan version once. */
export function createScheduleReader(
  engine: Engine,
): (schedule: PricingSchedule) => Promise<z.input<typeof accountScheduleShape>> {
  const plans = new Map<string, StoredResource<PricePlan>>();
  return async (schedule) => {
    const { pricePlanId, version } = schedule;
    const key = versionId(pricePlanId, version);
    const plan = plans.get(key) ?? (await engine.pricePlans.get(pricePlanId, version));
    plans.set(key, plan);
    return toScheduleJson(schedule, plan);
  };
}

function toScheduleJson(
  schedule: PricingSchedule,
  plan: StoredResource<PricePlan>,
): z.input<typeof accountScheduleShape> {
  const { id, pricePlanId, version, from, until = NO_END, override } = schedule;
  return withoutAbsent({
    id,
    pricePlanId,
    pricePlanName: plan.item.name,
    version,
    startDate: formatTime(from),
    endDate: formatTime(until),
    pricePlanDetails: withChargedCycles(schedule, toAccountDetailsJson(plan, override)),
    isOverriden: override !== undefined,
    pricePlanDetailsOverride: override && toCardsJson(omitEmptyLists(override)),
  });
}

/** The charged cycles. Anniversary and retained cycles start on other days than the plan's. */
function withChargedCycles(
  { cycleConfig, gracePeriodDays, from }: PricingSchedule,
  details: z.input<typeof pricePlanDetailsShape>,
): z.input<typeof pricePlanDetailsShape> {
  const { pricingCycleConfig: planConfig } = details;
  if (planConfig === undefined) return details;
  const config = gracePeriodDays === undefined ? planConfig : { ...planConfig, gracePeriod: gracePeriodDays };
  const isPlanCycle =
    config.anniversaryCycle !== true && isSameCycleConfig(cycleConfig, resolveCycleConfig(config, from));
  if (isPlanCycle) return { ...details, pricingCycleConfig: config };
  return { ...details, pricingCycleConfig: { ...config, startOffset: toStartOffset(cycleConfig) } };
}

/** A plan's details with an override applied. */
function toAccountDetailsJson(
  plan: StoredResource<PricePlan>,
  override: PricePlanDetailsOverride | undefined,
): z.input<typeof pricePlanDetailsShape> {
  const planDetails = toPlanDetailsJson(plan) as z.input<typeof pricePlanDetailsShape>;
  if (override === undefined) return planDetails;
  const changedNames = new Set(Object.keys(omitEmptyLists(override)));
  const parts = Object.entries(applyOverride(plan.item.pricePlanDetails, override));
  return { ...planDetails, ...toCardsJson(Object.fromEntries(parts.filter(([name]) => changedNames.has(name)))) };
}

/** The non-empty parts of an override; empty lists change nothing. */
function omitEmptyLists(override: PricePlanDetailsOverride): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(override).filter(([, part]) => !Array.isArray(part) || part.length > 0));
}
