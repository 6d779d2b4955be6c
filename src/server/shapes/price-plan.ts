/**
 * Price plans in answers (service-reference: Price plan, Schedule entry).
 *
 * @module
 */
import * as z from "zod";

import type { PricePlan } from "../../book/resources/price-plan.ts";
import { pricePlan } from "../../book/resources/price-plan.ts";
import type { PricePlanVersion } from "../../engine/catalog/price-plans.ts";
import type { StoredResource } from "../../engine/configured-resources.ts";
import { versionId } from "../../engine/document-ids.ts";
import { formatTime, timestamp, withoutAbsent } from "../http/fields.ts";
import { createAnswerDeriver } from "./derive-answers.ts";
import { addMissingParts, pricePlanDetailsShape, toCardsJson } from "./rate-cards.ts";

const scheduleEntryShape = z
  .strictObject({
    id: z.string(),
    startDate: timestamp.meta({
      description:
        "When the version became ACTIVE: `1970-01-01T00:00:00.000Z` for the first, `9999-01-01T00:00:00.000Z` for one that never did.",
    }),
    endDate: timestamp.meta({
      description: "When the next version became ACTIVE, exclusive; `9999-01-01T00:00:00.000Z` without one.",
    }),
    version: z.int().min(1),
    pricePlanDetails: pricePlanDetailsShape,
    isOverriden: z.boolean().meta({ description: "Always false; only plans of accounts can be overridden." }),
  })
  .meta({ id: "PricingScheduleEntry" });

export const pricePlanShape = createAnswerDeriver()
  .derive(pricePlan.omit({ version: true, pricePlanDetails: true }))
  .extend({ pricingSchedule: z.array(scheduleEntryShape) })
  .meta({ id: "PricePlan" });

/** A price plan in a list: its latest version, whose details are also at the top level. */
export const listedPlanShape = pricePlanShape
  .extend({
    description: z.string().meta({ description: "Empty if the plan has none." }),
    version: z.int().min(1),
    usageMeters: z.array(z.string()).meta({ description: "The ids of the meters that the plan prices." }),
    pricePlanDetails: pricePlanDetailsShape,
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: "PricePlanSummary" });

/** A version as a schedule entry. */
export function toScheduleJson(planVersion: PricePlanVersion): Readonly<Record<string, unknown>> {
  const { id, version } = planVersion.item;
  return {
    id: versionId(id, version),
    startDate: formatTime(planVersion.from),
    endDate: formatTime(planVersion.until),
    version,
    pricePlanDetails: toPlanDetailsJson(planVersion),
    isOverriden: false,
  };
}

/** @param pricingSchedule the schedule entries of its versions */
export function toPlanJson(
  { item: { id, name, type, status, description } }: StoredResource<PricePlan>,
  pricingSchedule: readonly Readonly<Record<string, unknown>>[],
): Readonly<Record<string, unknown>> {
  return withoutAbsent({ id, name, type, status, description, pricingSchedule });
}

/** A price plan in a list, whose schedule has only the latest version. */
export function toListedPlanJson(planVersion: PricePlanVersion): Readonly<Record<string, unknown>> {
  const { version, description, pricePlanDetails } = planVersion.item;
  const entry = toScheduleJson(planVersion);
  const usageMeters = pricePlanDetails.usageRateCards.map(({ usageMeterId }) => usageMeterId);
  return {
    ...toPlanJson(planVersion, [entry]),
    description: description ?? "",
    version,
    usageMeters,
    pricePlanDetails: entry["pricePlanDetails"],
    createdAt: formatTime(planVersion.createdAt),
    updatedAt: formatTime(planVersion.updatedAt),
  };
}

/** The plan's details as created; the currencies are always present. */
export function toPlanDetailsJson({ item, input }: StoredResource<PricePlan>): Readonly<Record<string, unknown>> {
  const { pricePlanDetails = {} } = input as { readonly pricePlanDetails?: Readonly<Record<string, unknown>> };
  const { rateDetails, entitlementRateCards, type, supportedCurrencies, activeCurrencies } = item.pricePlanDetails;
  const currencies = supportedCurrencies ?? [];
  return {
    ...addMissingParts(toCardsJson(pricePlanDetails)),
    supportedCurrencies: currencies,
    activeCurrencies: activeCurrencies ?? (item.status === "DRAFT" ? [] : currencies),
    rateDetails: rateDetails ?? null,
    entitlementRateCards: entitlementRateCards ?? null,
    type: type ?? "BILLING",
  };
}
