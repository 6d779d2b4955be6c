/**
 * Addresses as they are answered (service-reference: Address).
 *
 * @module
 */
import * as z from "zod";

import type { Address } from "../../book/resources/account.ts";
import { withoutAbsent } from "../http/fields.ts";

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

/** An address without what it does not have. */
export function shownAddress(address: Address | null | undefined): z.input<typeof addressShape> | undefined {
  return address === undefined || address === null ? undefined : withoutAbsent(address);
}
