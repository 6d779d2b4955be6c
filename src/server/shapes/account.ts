/**
 * Accounts in answers (service-reference: Account).
 *
 * @module
 */
import * as z from "zod";

import { account as bookAccount } from "../../book/resources/account.ts";
import type { InvoiceGroupSnapshot } from "../../engine/accounts/invoice-groups.ts";
import type { StoredSetting } from "../../engine/entity-settings.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import { withoutAbsent } from "../http/fields.ts";
import { addressShape, toAddressJson } from "./address.ts";
import { createAnswerDeriver } from "./derive-answers.ts";
import { invoiceGroupShape, toGroupJson } from "./invoice-group.ts";
import { settingShape, toSettingJson } from "./setting.ts";

const answers = createAnswerDeriver();

/** The maximum number of settings in an account; the oldest are first. */
const SETTINGS_MAX = 10;

export const accountShape = z
  .strictObject({
    ...answers.derive(bookAccount.pick({ customerId: true, status: true, metadata: true, tags: true })).shape,
    id: z.string().max(50),
    togaiAccountId: z.string().max(50).meta({ description: "Equal to `id`." }),
    togaiCustomerId: z.string().max(50).meta({ description: "Equal to `customerId`." }),
    name: bookAccount.shape.name,
    invoiceCurrency: z.string(),
    address: addressShape.optional(),
    primaryEmail: z.string().max(255).optional(),
    aliases: z.array(z.strictObject({ alias: z.string(), status: z.enum(["ACTIVE"]) })).max(10),
    netTermDays: z.int().min(0).optional(),
    settings: z
      .array(settingShape)
      .max(SETTINGS_MAX)
      .optional()
      .meta({ description: "Its ten oldest settings; `GET /settings` lists all." }),
    invoiceGroupDetails: invoiceGroupShape
      .optional()
      .meta({ description: "The account's invoice group; only with `includeGroupDetails=true`." }),
  })
  .meta({ id: "Account" });

/** Parts of an account in an answer that are not in its record. */
export interface AccountExtras {
  readonly settings?: readonly StoredSetting[] | undefined;
  readonly group?: InvoiceGroupSnapshot | undefined;
}

export function toAccountJson(
  account: AccountRecord,
  { settings = [], group }: AccountExtras = {},
): z.input<typeof accountShape> {
  const { id, name, customerId, status, invoiceCurrency, address, primaryEmail, netTermDays, metadata, tags } = account;
  return withoutAbsent({
    id,
    togaiAccountId: id,
    togaiCustomerId: customerId,
    name,
    customerId,
    status,
    invoiceCurrency,
    address: toAddressJson(address),
    primaryEmail,
    aliases: account.aliases.map(({ alias }) => ({ alias, status: "ACTIVE" as const })),
    netTermDays,
    metadata,
    tags: tags && [...tags],
    settings: settings.length === 0 ? undefined : settings.slice(0, SETTINGS_MAX).map(toSettingJson),
    invoiceGroupDetails: group && toGroupJson(group),
  });
}
