/**
 * License updates over HTTP: how many units of a license an account has (S10.1).
 *
 * @module
 */
import * as z from "zod";

import { reference } from "../../../book/resources/fields.ts";
import { REQUESTS } from "../../../book/resources/requests.ts";
import { SCANNED_ACCOUNTS_MAX } from "../../../engine/all-accounts.ts";
import type { LicenseUpdateRecord } from "../../../ledger/records.ts";
import type { Decimal } from "../../../numbers/decimal.ts";
import { answerOpenPage, createOpenListShape } from "../../http/answers.ts";
import { type Endpoint, defineEndpoint, answerOk } from "../../http/endpoint.ts";
import { Refusal } from "../../http/failures.ts";
import { number, pathId, formatTime, timestamp } from "../../http/fields.ts";
import { listQuery, LONG_PAGE_SIZES } from "../../http/pagination.ts";

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

export const LICENSE_UPDATE_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/license_updates",
    id: "updateLicense",
    tag: "License updates",
    summary: "Change the license quantity of an account",
    description: "ABSOLUTE sets the quantity, RELATIVE adds to it. `effectiveFrom` defaults to now.",
    access: "write",
    body: REQUESTS.licenseUpdate.extend({ accountId: reference }),
    answers: { 200: updateShape },
    handle: async ({ engine, body: { accountId, ...request } }) => {
      const { update, quantity } = await engine.licenses.update(accountId, request);
      return answerOk(toUpdateJson(update, accountId, quantity));
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/license_updates",
    id: "listLicenseUpdates",
    tag: "License updates",
    summary: "List license updates, newest first",
    description: `\`account_id\` is optional if there are at most ${SCANNED_ACCOUNTS_MAX.toLocaleString("en-US")} accounts.`,
    wireNames: { accountId: "account_id" },
    access: "read",
    query: listQuery(
      { account_id: pathId().optional(), license_id: pathId().optional(), licenseId: pathId().optional() },
      LONG_PAGE_SIZES,
    ),
    answers: { 200: createOpenListShape(updateShape, "LicenseUpdateList") },
    handle: async ({ engine, paging, query }) => {
      const request = paging.readRequest({ list: "licenseUpdates", sizes: LONG_PAGE_SIZES, query });
      const { account_id: accountId, license_id: licenseIdAlias, licenseId = licenseIdAlias } = request.filters;
      if (licenseIdAlias !== undefined && licenseId !== licenseIdAlias) {
        throw new Refusal(400, "licenseId: must equal license_id, or be left out");
      }
      const filter = { ...(accountId && { accountId }), ...(licenseId && { licenseId }) };
      const page = await engine.licenses.list({ filter, page: request.page });
      return answerOpenPage(request, page, (update) => toUpdateJson(update, update.accountId, update.quantityAfter));
    },
  }),
];

function toUpdateJson(
  { id, licenseId, updateType, quantity: requestedQuantity, effectiveFrom, createdAt }: LicenseUpdateRecord,
  accountId: string,
  quantity: Decimal,
): z.input<typeof updateShape> {
  return {
    id,
    accountId,
    licenseId,
    updateType,
    quantity,
    requestedQuantity,
    effectiveFrom: formatTime(effectiveFrom),
    createdAt: formatTime(createdAt),
  };
}
