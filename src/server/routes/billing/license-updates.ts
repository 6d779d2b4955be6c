/** License updates over HTTP: how many units of a license an account has (S10.1). */
import * as z from "zod";

import { reference } from "../../../book/resources/fields.ts";
import { REQUESTS } from "../../../book/resources/requests.ts";
import { SCANNED_ACCOUNTS_MAX } from "../../../engine/all-accounts.ts";
import type { LicenseUpdateSnapshot } from "../../../engine/billing/entitlements.ts";
import { toAnswer } from "../../http/answers.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { Refusal } from "../../http/failures.ts";
import { number, pathId, formatTime, timestamp, withoutAbsent } from "../../http/fields.ts";
import { LONG_PAGE_SIZES } from "../../http/pagination.ts";
import { ResourceEndpoints } from "../resource-endpoints.ts";

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
