/** What accounts hold, over HTTP: feature credit entries with their totals (S11), and licenses (S10.1). */
import * as z from "zod";

import { decimalFromZero, dateOrDateTime, reference } from "../../../book/resources/fields.ts";
import { REQUESTS } from "../../../book/resources/requests.ts";
import { SCANNED_ACCOUNTS_MAX } from "../../../engine/all-accounts.ts";
import type { EntrySnapshot, FeatureTarget, LicenseUpdateSnapshot } from "../../../engine/billing/entitlements.ts";
import { hasCode } from "../../../errors.ts";
import { subtract, ZERO } from "../../../numbers/decimal.ts";
import { toAnswer } from "../../http/answers.ts";
import { type Endpoint, defineEndpoint, answerOk } from "../../http/endpoint.ts";
import { Refusal } from "../../http/failures.ts";
import { number, pathId, timestamp, withoutAbsent } from "../../http/fields.ts";
import { LONG_PAGE_SIZES } from "../../http/pagination.ts";
import { ResourceEndpoints, SUCCESS_ANSWER } from "../resource-endpoints.ts";

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

const ENTRIES = new ResourceEndpoints<EntrySnapshot, typeof featureParams>({
  tag: "Feature credits",
  path: "/accounts/{account_id}/features/{feature_id}/entries",
  params: featureParams,
  idName: "entry_id",
  idSchema: pathId(512),
  unknownIdStatus: 422,
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
    handle: async ({ engine, params }) => {
      const { usedOverage = ZERO, ...totals } = await engine.entries.balance(toFeature(params));
      return answerOk(withoutAbsent({ ...totals, usedOverage }));
    },
  }),
  ENTRIES.list({
    id: "listFeatureEntries",
    summary: "List the feature credit entries of an account, newest first",
    list: ({ account_id: accountId, feature_id: featureId }) => `entries:${accountId}/${featureId}`,
    sizes: LONG_PAGE_SIZES,
    answerId: "FeatureCreditEntryList",
    run: (engine, _, page, params) => engine.entries.list(toFeature(params), { page }),
  }),
  ENTRIES.create({
    id: "grantFeatureEntry",
    summary: "Grant a purchased feature credit entry",
    description: "It first covers overage of the open cycles.",
    body: REQUESTS.entryGrant,
    status: 201,
    run: ({ engine, body, params }) => engine.entries.grant(toFeature(params), body),
  }),
  ENTRIES.update({
    id: "updateFeatureEntry",
    summary: "Change the amount or end of an entry",
    description:
      "A change of `granted` changes the balance by the same amount. A balance below 0, and an end before an event that used the entry, are rejected.",
    body: z.strictObject({ granted: decimalFromZero.optional(), effectiveUntil: dateOrDateTime.optional() }),
    run: ({ engine, id: entryId, body, params }) =>
      requireEntry(engine.entries.update({ ...toFeature(params), entryId }, body)),
  }),
  ENTRIES.with<unknown>(SUCCESS_ANSWER).action("void", {
    id: "voidFeatureEntry",
    summary: "Void an entry, so that events no longer use it",
    run: ({ engine, id: entryId, params }) => requireEntry(engine.entries.void({ ...toFeature(params), entryId })),
  }),
];

function toFeature(params: z.output<typeof featureParams>): FeatureTarget {
  return { accountId: params.account_id, featureId: params.feature_id };
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
  return toAnswer(entryShape, { ...entry, used: subtract(entry.granted, entry.balance) });
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
    run: async ({ engine, body: { accountId, ...request } }) => {
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
  });
}
