/**
 * License updates over HTTP: how many units of a license an account holds (S10.1).
 *
 * @module
 */
import * as z from "zod";

import { REQUESTS } from "../../book/requests/requests.ts";
import { reference } from "../../book/resources/fields.ts";
import { WALKED_ACCOUNTS_MAX } from "../../engine/account-lists.ts";
import type { LicenseUpdateRecord } from "../../ledger/records.ts";
import type { Decimal } from "../../numbers/decimal.ts";
import { type Endpoint, endpoint, ok } from "../http/endpoint.ts";
import { Refusal } from "../http/failures.ts";
import { number, pathId, shownTime, timestamp } from "../http/fields.ts";
import { listQuery, LONG_PAGES } from "../http/pagination.ts";
import { okOpenPage, openListOf } from "../shapes/list.ts";

const updateShape = z
  .strictObject({
    id: z.string(),
    accountId: z.string(),
    licenseId: z.string(),
    updateType: REQUESTS.licenseUpdate.shape.updateType,
    quantity: number.meta({ description: "The absolute quantity right after the update, whatever its type." }),
    requestedQuantity: number.meta({ description: "As it was asked for: what is set, or what is added." }),
    effectiveFrom: timestamp,
    createdAt: timestamp,
  })
  .meta({ id: "LicenseUpdate" });

/** The endpoints of license updates. */
export const LICENSE_UPDATE_ENDPOINTS: readonly Endpoint[] = [
  endpoint({
    method: "POST",
    path: "/license_updates",
    id: "updateLicense",
    tag: "License updates",
    summary: "Change how many units of a license an account holds",
    description: "ABSOLUTE sets the quantity, RELATIVE adds to it. `effectiveFrom` defaults to now.",
    access: "write",
    body: REQUESTS.licenseUpdate.extend({ accountId: reference }),
    answers: { 200: updateShape },
    handle: async ({ engine, body: { accountId, ...asked } }) => {
      const { update, quantity } = await engine.licenses.update(accountId, asked);
      return ok(shownUpdate(update, accountId, quantity));
    },
  }),
  endpoint({
    method: "GET",
    path: "/license_updates",
    id: "listLicenseUpdates",
    tag: "License updates",
    summary: "List license updates, newest first",
    description: `Without \`account_id\` where there are at most ${WALKED_ACCOUNTS_MAX.toLocaleString("en-US")} accounts.`,
    wireNames: { accountId: "account_id" },
    access: "read",
    query: listQuery(
      { account_id: pathId().optional(), license_id: pathId().optional(), licenseId: pathId().optional() },
      LONG_PAGES,
    ),
    answers: { 200: openListOf(updateShape, "LicenseUpdateList") },
    handle: async ({ engine, paging, query }) => {
      const asked = paging.open({ list: "licenseUpdates", sizes: LONG_PAGES, query });
      const { account_id: accountId, license_id: license, licenseId = license } = asked.filters;
      if (license !== undefined && licenseId !== license) {
        throw new Refusal(400, "licenseId: expected what license_id says, or nothing: they are one parameter");
      }
      const filter = { ...(accountId && { accountId }), ...(licenseId && { licenseId }) };
      const found = await engine.licenses.list({ filter, page: asked.page });
      return okOpenPage(asked, found, (update) => shownUpdate(update, update.accountId, update.quantityAfter));
    },
  }),
];

function shownUpdate(
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
    effectiveFrom: shownTime(effectiveFrom),
    createdAt: shownTime(createdAt),
  };
}
