/** What accounts hold, over HTTP: feature credit entries with their totals (S11), and licenses (S10.1). */
import * as z from "zod";

import { decimalFromZero, dateOrDateTime, reference } from "../../../book/resources/fields.ts";
import { REQUESTS } from "../../../book/resources/requests.ts";
import { SCANNED_ACCOUNTS_MAX } from "../../../engine/all-accounts.ts";
import type { EntrySnapshot, EntryTarget, LicenseUpdateSnapshot } from "../../../engine/billing/entitlements.ts";
import { hasCode } from "../../../errors.ts";
import { subtract, ZERO } from "../../../numbers/decimal.ts";
import { toAnswer } from "../../http/answers.ts";
import { answerCreated, type Endpoint, defineEndpoint, answerOk, SUCCESS } from "../../http/endpoint.ts";
import { Refusal } from "../../http/failures.ts";
import { number, pathId, formatTime, success, timestamp, withoutAbsent } from "../../http/fields.ts";
import { LONG_PAGE_SIZES } from "../../http/pagination.ts";
import { ResourceEndpoints } from "../resource-endpoints.ts";

const entryShape = z
  .strictObject({
    id: z.string(),
    source: z
      .enum(["PRICE_PLAN", "PURCHASE"])
      .meta({ description: "PRICE_PLAN: granted by a plan. PURCHASE: purchased." }),
    status: z.enum(["ACTIVE", "EXPIRED", "VOIDED"]),
    granted: number,
    balance: number,
    used: number.meta({ description: "The granted units, minus the balance." }),
    effectiveFrom: timestamp,
    effectiveUntil: timestamp.meta({ description: "The end, exclusive." }),
  })
  .meta({ id: "FeatureCreditEntry" });

const totalsShape = z
  .strictObject({
    accountId: z.string(),
    featureId: z.string(),
    granted: number.meta({ description: "The units of all entries that can be used now." }),
    balance: number,
    overageLimit: number
      .optional()
      .meta({ description: "The overage card's maxQuantity; absent if no overage card is in force, or it has none." }),
    usedOverage: number.meta({
      description: "Overage in the current billing window; 0 if no overage card is in force.",
    }),
  })
  .meta({ id: "FeatureTotals" });

const featureParams = z.strictObject({ account_id: pathId(), feature_id: pathId() });
const entryParams = featureParams.extend({ entry_id: pathId(512) });

const ENTRIES = new ResourceEndpoints<EntrySnapshot>({
  tag: "Feature credits",
  path: "/accounts/{account_id}/features/{feature_id}/entries",
  shape: entryShape,
  toJson: toEntryJson,
});

export const FEATURE_ENTRY_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "GET",
    path: "/accounts/{account_id}/features/{feature_id}",
    id: "getFeatureTotals",
    tag: "Feature credits",
    summary: "Get the feature balance of an account",
    params: featureParams,
    unknownIdStatus: 422,
    answers: { 200: totalsShape },
    handle: async ({ engine, params: { account_id: accountId, feature_id: featureId } }) => {
      const { usedOverage = ZERO, ...totals } = await engine.entries.balance({ accountId, featureId });
      return answerOk(withoutAbsent({ ...totals, usedOverage }));
    },
  }),
  ENTRIES.list({
    id: "listFeatureEntries",
    summary: "List the feature credit entries of an account, newest first",
    params: featureParams,
    unknownIdStatus: 422,
    list: ({ account_id: accountId, feature_id: featureId }) => `entries:${accountId}/${featureId}`,
    sizes: LONG_PAGE_SIZES,
    answerId: "FeatureCreditEntryList",
    run: (engine, _, page, { account_id: accountId, feature_id: featureId }) =>
      engine.entries.list({ accountId, featureId }, { page }),
  }),
  defineEndpoint({
    method: "POST",
    path: "/accounts/{account_id}/features/{feature_id}/entries",
    id: "grantFeatureEntry",
    tag: "Feature credits",
    summary: "Grant a purchased feature credit entry",
    description: "It first covers overage of the open cycles.",
    params: featureParams,
    body: REQUESTS.entryGrant,
    unknownIdStatus: 422,
    answers: { 201: entryShape },
    handle: async ({ engine, body, params: { account_id: accountId, feature_id: featureId } }) =>
      answerCreated(toEntryJson(await engine.entries.grant({ accountId, featureId }, body))),
  }),
  defineEndpoint({
    method: "PATCH",
    path: "/accounts/{account_id}/features/{feature_id}/entries/{entry_id}",
    id: "updateFeatureEntry",
    tag: "Feature credits",
    summary: "Change the amount or end of an entry",
    description:
      "A change of `granted` changes the balance by the same amount. A balance below 0, and an end before an event that used the entry, are rejected.",
    params: entryParams,
    body: z.strictObject({ granted: decimalFromZero.optional(), effectiveUntil: dateOrDateTime.optional() }),
    unknownIdStatus: 422,
    answers: { 200: entryShape },
    handle: async ({ engine, body, params }) =>
      answerOk(toEntryJson(await requireEntry(engine.entries.update(toEntryTarget(params), body)))),
  }),
  defineEndpoint({
    method: "POST",
    path: "/accounts/{account_id}/features/{feature_id}/entries/{entry_id}/void",
    id: "voidFeatureEntry",
    tag: "Feature credits",
    summary: "Void an entry, so that events no longer use it",
    params: entryParams,
    unknownIdStatus: 422,
    answers: { 200: success },
    handle: async ({ engine, params }) => {
      await requireEntry(engine.entries.void(toEntryTarget(params)));
      return SUCCESS;
    },
  }),
];

function toEntryTarget(params: z.output<typeof entryParams>): EntryTarget {
  return { accountId: params.account_id, featureId: params.feature_id, entryId: params.entry_id };
}

/** An unknown account or feature is a 422 here, an unknown entry a 404. */
async function requireEntry(operation: Promise<EntrySnapshot>): Promise<EntrySnapshot> {
  try {
    return await operation;
  } catch (error) {
    const isUnknown = hasCode(error, "ERR_NOT_FOUND") && error.details.resource === "feature credit entry";
    throw isUnknown ? new Refusal(404, error.message) : error;
  }
}

function toEntryJson(entry: EntrySnapshot): z.input<typeof entryShape> {
  const { granted, balance, effectiveFrom, effectiveUntil } = entry;
  return toAnswer(entryShape, {
    ...entry,
    used: subtract(granted, balance),
    effectiveFrom: formatTime(effectiveFrom),
    effectiveUntil: formatTime(effectiveUntil),
  });
}

const updateShape = z
  .strictObject({
    id: z.string(),
    accountId: z.string(),
    licenseId: z.string(),
    updateType: REQUESTS.licenseUpdate.shape.updateType,
    quantity: number.meta({ description: "The absolute quantity right after the update, whatever its type." }),
    requestedQuantity: number.meta({ description: "The quantity in the request, which is set or added." }),
    effectiveFrom: timestamp,
    createdAt: timestamp,
  })
  .meta({ id: "LicenseUpdate" });

const LICENSE_UPDATES = new ResourceEndpoints<LicenseUpdateSnapshot>({
  tag: "License updates",
  path: "/license_updates",
  shape: updateShape,
  toJson: toUpdateJson,
});

export const LICENSE_UPDATE_ENDPOINTS: readonly Endpoint[] = [
  LICENSE_UPDATES.create({
    id: "updateLicense",
    summary: "Change the license quantity of an account",
    description: "ABSOLUTE sets the quantity, RELATIVE adds to it. `effectiveFrom` defaults to now.",
    body: REQUESTS.licenseUpdate.extend({ accountId: reference }),
    status: 200,
    run: async (engine, { accountId, ...request }) => {
      const { update, quantity } = await engine.licenses.update(accountId, request);
      return { ...update, accountId, quantityAfter: quantity };
    },
  }),
  LICENSE_UPDATES.list({
    id: "listLicenseUpdates",
    summary: "List license updates, newest first",
    description: `\`account_id\` is optional if there are at most ${SCANNED_ACCOUNTS_MAX.toLocaleString("en-US")} accounts.`,
    wireNames: { accountId: "account_id" },
    list: "licenseUpdates",
    filters: { account_id: pathId().optional(), license_id: pathId().optional(), licenseId: pathId().optional() },
    sizes: LONG_PAGE_SIZES,
    open: {},
    answerId: "LicenseUpdateList",
    run: (engine, { account_id: accountId, license_id: licenseIdAlias, licenseId = licenseIdAlias }, page) => {
      if (licenseIdAlias !== undefined && licenseId !== licenseIdAlias) {
        throw new Refusal(400, "licenseId: must equal license_id, or be left out");
      }
      return engine.licenses.list({ filter: withoutAbsent({ accountId, licenseId }), page });
    },
  }),
];

function toUpdateJson(update: LicenseUpdateSnapshot): z.input<typeof updateShape> {
  return toAnswer(updateShape, {
    ...update,
    quantity: update.quantityAfter,
    requestedQuantity: update.quantity,
    effectiveFrom: formatTime(update.effectiveFrom),
    createdAt: formatTime(update.createdAt),
  });
}
