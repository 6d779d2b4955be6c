/**
 * Accounts as they are answered (service-reference: Account, Address).
 *
 * @module
 */
import { z } from "zod";

import { freeForm } from "../../book/fields.ts";
import type { AccountRecord } from "../../ledger/records.ts";
import { withoutAbsent } from "../fields.ts";

/** A postal address. */
export const addressShape = z
  .strictObject({
    phoneNumber: z.string().optional(),
    line1: z.string().optional(),
    line2: z.string().optional(),
    postalCode: z.string().optional(),
    city: z.string().optional(),
    state: z.string().optional(),
    country: z.string().optional(),
  })
  .meta({ id: "Address" });

/** An account. */
export const accountShape = z
  .strictObject({
    id: z.string().max(50),
    name: z.string().min(3).max(255),
    customerId: z.string(),
    status: z.enum(["ACTIVE", "ARCHIVED"]),
    invoiceCurrency: z.string(),
    address: addressShape.optional(),
    primaryEmail: z.string().max(255).optional(),
    aliases: z.array(z.strictObject({ alias: z.string(), status: z.enum(["ACTIVE"]) })).max(10),
    netTermDays: z.int().min(0).optional(),
    metadata: freeForm.optional(),
    tags: z.array(z.string()).optional(),
  })
  .meta({ id: "Account" });

/** An account as it is answered. */
export function shownAccount(account: AccountRecord): z.input<typeof accountShape> {
  const { id, name, customerId, status, invoiceCurrency, address, primaryEmail, netTermDays, metadata, tags } = account;
  return withoutAbsent({
    id,
    name,
    customerId,
    status,
    invoiceCurrency,
    address: shownAddress(address),
    primaryEmail,
    aliases: account.aliases.map(({ alias }) => ({ alias, status: "ACTIVE" as const })),
    netTermDays,
    metadata,
    tags: tags === undefined ? undefined : [...tags],
  });
}

/** An address without what it does not have. */
export function shownAddress(address: AccountRecord["address"] | null): z.input<typeof addressShape> | undefined {
  return address === undefined || address === null ? undefined : withoutAbsent(address);
}
