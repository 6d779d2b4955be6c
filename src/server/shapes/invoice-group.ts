/**
 * Invoice groups in answers (service-reference: Invoice group).
 *
 * @module
 */
import * as z from "zod";

import type { InvoiceGroupSnapshot } from "../../engine/accounts/invoice-groups.ts";
import { formatTime, timestamp, withoutAbsent } from "../http/fields.ts";
import { addressShape, toAddressJson } from "./address.ts";

export const invoiceGroupShape = z
  .strictObject({
    id: z.string().max(512),
    name: z.string().max(255),
    email: z.string().max(255).optional(),
    dailyInvoiceConsolidation: z.boolean(),
    accountsCount: z.int().min(0),
    gracePeriod: z.int().min(0).optional().meta({ description: "Days; takes precedence over the plans'." }),
    netTermDays: z.int().min(0).optional().meta({ description: "Days; takes precedence over the accounts'." }),
    invoiceCurrency: z.string().optional(),
    billingAddress: addressShape.optional(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: "InvoiceGroup" });

export function toGroupJson({
  item,
  accountIds,
  createdAt,
  updatedAt,
}: InvoiceGroupSnapshot): z.input<typeof invoiceGroupShape> {
  const { id, name, email, dailyInvoiceConsolidation, gracePeriod, netTermDays, invoiceCurrency } = item;
  return withoutAbsent({
    id,
    name,
    email,
    dailyInvoiceConsolidation,
    accountsCount: accountIds.length,
    gracePeriod,
    netTermDays,
    invoiceCurrency,
    billingAddress: toAddressJson(item.billingAddress ?? item.address),
    createdAt: formatTime(createdAt),
    updatedAt: formatTime(updatedAt),
  });
}
