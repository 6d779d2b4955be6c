/** Price plans over HTTP (S16.4). */
import * as z from "zod";

import { currency, label } from "../../../book/resources/fields.ts";
import { type PricePlan, pricePlan, CURRENCIES_MAX, pricePlanDetails } from "../../../book/resources/price-plan.ts";
import { rateRowsRequest } from "../../../book/resources/rate-table.ts";
import { MIGRATION_MODES, VERSIONS_TO_MIGRATE } from "../../../book/resources/requests.ts";
import type { PricePlanVersion } from "../../../engine/catalog/price-plans.ts";
import type { StoredResource } from "../../../engine/configured-resources.ts";
import { versionId } from "../../../engine/documents.ts";
import type { Engine } from "../../../engine/engine.ts";
import { invariant } from "../../../errors.ts";
import { createAnswerDeriver, PAGE_LENGTH_MAX, toBoundedJson, keepItem } from "../../http/answers.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { Refusal } from "../../http/failures.ts";
import { formatTime, timestamp, withoutAbsent, pathId, version } from "../../http/fields.ts";
import { ResourceEndpoints } from "../resource-endpoints.ts";
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

const pricePlanShape = createAnswerDeriver()
  .derive(pricePlan.omit({ version: true, pricePlanDetails: true }))
  .extend({ pricingSchedule: z.array(scheduleEntryShape) })
  .meta({ id: "PricePlan" });

/** A price plan in a list: its latest version, whose details are also at the top level. */
const listedPlanShape = pricePlanShape
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
function toPlanJson(
  { item: { id, name, type, status, description } }: StoredResource<PricePlan>,
  pricingSchedule: readonly Readonly<Record<string, unknown>>[],
): Readonly<Record<string, unknown>> {
  return withoutAbsent({ id, name, type, status, description, pricingSchedule });
}

/** A price plan in a list, whose schedule has only the latest version. */
function toListedPlanJson(planVersion: PricePlanVersion): Readonly<Record<string, unknown>> {
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
    ...addMissingParts(toCardsJson(pricePlanDetails, currencies)),
    supportedCurrencies: currencies,
    activeCurrencies: activeCurrencies ?? (item.status === "DRAFT" ? [] : currencies),
    rateDetails: rateDetails ?? null,
    entitlementRateCards: entitlementRateCards ?? null,
    type: type ?? "BILLING",
  };
}

const planId = pathId(255);
const PRICE_PLANS = new ResourceEndpoints<StoredResource<PricePlan>>({
  tag: "Price plans",
  path: "/price_plans",
  methods: (engine) => engine.pricePlans,
  idName: "price_plan_id",
  idSchema: planId,
  shape: pricePlanShape,
  toJson: (plan, engine) => readPlanJson(engine, plan),
});
const mode = z.enum(MIGRATION_MODES).nullish();

export const PRICE_PLAN_ENDPOINTS: readonly Endpoint[] = [
  PRICE_PLANS.create({
    id: "createPricePlan",
    summary: "Create a price plan",
    description:
      "Creates the first version, as a DRAFT. When it is activated, `activeCurrencies` become active; if there are none, " +
      "all supported currencies.",
    body: z.strictObject({
      name: pricePlan.shape.name,
      type: pricePlan.shape.type,
      pricePlanDetails,
      description: label,
    }),
  }),
  PRICE_PLANS.with({ shape: listedPlanShape, toJson: toListedPlanJson }).list({
    id: "listPricePlans",
    summary: "List the latest version of each price plan, newest first",
    filters: { status: pricePlanShape.shape.status.optional() },
    answerId: "PricePlanList",
    run: async (engine, filter, page) => {
      const { items, ...more } = await engine.pricePlans.list({ filter, page });
      return { ...more, items: await Promise.all(items.map(async (plan) => findVersion(engine, plan))) };
    },
  }),
  PRICE_PLANS.with({ shape: pricePlanShape, toJson: keepItem }).get({
    id: "getPricePlan",
    summary: "Get a price plan",
    description:
      "Returns the latest version, and in `pricingSchedule` all versions, oldest first; with `version`, only that one. " +
      "If they exceed 1 MiB of JSON, the latest versions that fit are returned, at least one.",
    query: z.strictObject({ version }),
    run: async ({ engine, id, query }) =>
      readPlanJson(engine, await engine.pricePlans.get(id, query.version), query.version),
  }),
  PRICE_PLANS.update({
    id: "updatePricePlan",
    summary: "Change a price plan whose latest version is a DRAFT",
    description:
      "Fields in pricePlanDetails replace those of the same name; the others stay. `mode` or `migrationMode` sets how " +
      "accounts move to this version when it is activated. `versionsToMigrate` selects which accounts.",
    body: z.strictObject({
      description: label,
      pricePlanDetails: pricePlanDetails.nullish(),
      mode,
      migrationMode: mode,
      versionsToMigrate: z.enum(VERSIONS_TO_MIGRATE).nullish(),
    }),
    run: ({ engine, id, body: { migrationMode, ...body } }) => {
      if (migrationMode !== undefined && body.mode !== undefined && migrationMode !== body.mode) {
        throw new Refusal(400, "migrationMode: must equal mode, or be left out");
      }
      return engine.pricePlans.update(id, { ...body, mode: body.mode === undefined ? migrationMode : body.mode });
    },
  }),
  PRICE_PLANS.action("activate", {
    id: "activatePricePlan",
    summary: "Activate the latest version of a price plan",
    description:
      "Its meters and add-ons must be ACTIVE. Without `currencies`, its activeCurrencies become active; without those, all supported currencies.",
    body: z.strictObject({ currencies: z.array(currency).min(1).max(CURRENCIES_MAX).nullish() }),
    bodyRequired: false,
    run: ({ engine, id, body }) => engine.pricePlans.activate(id, { currencies: body?.currencies ?? undefined }),
  }),
  PRICE_PLANS.action("versions", {
    id: "createPricePlanVersion",
    summary: "Create the next version of a price plan",
    description: "Creates a DRAFT with the details in the request, or with those of the latest version.",
    body: z.strictObject({ pricePlanDetails: pricePlanDetails.nullish(), description: label }),
    bodyRequired: false,
    run: ({ engine, id, body }) => engine.pricePlans.createVersion(id, withoutAbsent(body ?? {})),
  }),
  PRICE_PLANS.action("rate_rows", {
    id: "addRateRows",
    summary: "Add rows to a price table in use",
    description:
      "Adds prices of an ACTIVE version from today or later; a row with a new `when` may also price earlier days that no " +
      "closed cycle covers. Drafts of invoices follow at once.",
    body: rateRowsRequest,
    run: ({ engine, id, body }) => engine.pricePlans.addRateRows(id, body),
  }),
  PRICE_PLANS.remove({
    id: "archivePricePlan",
    summary: "Archive all versions of a price plan",
    description: "Accounts that already have it keep it.",
  }),
];

/** A plan with all versions or the requested one; if they are too large, with the latest. */
async function readPlanJson(
  engine: Engine,
  plan: StoredResource<PricePlan>,
  version?: number,
): Promise<ReturnType<typeof toPlanJson>> {
  const versions = await engine.pricePlans.versions(plan.item.id);
  const selectedVersions = version === undefined ? versions : [await findVersion(engine, plan, versions)];
  const latestFirst = await toBoundedJson(PAGE_LENGTH_MAX, selectedVersions.toReversed(), toScheduleJson);
  return toPlanJson(plan, latestFirst.toReversed());
}

/** A version with its period. */
async function findVersion(
  engine: Engine,
  plan: StoredResource<PricePlan>,
  versions?: readonly PricePlanVersion[],
): Promise<PricePlanVersion> {
  const all = versions ?? (await engine.pricePlans.versions(plan.item.id));
  const match = all.find(({ item }) => item.version === plan.item.version);
  invariant(match !== undefined, "S16.4: a version that was read is one of its plan");
  return match;
}
