/**
 * Addresses as they are answered (service-reference: Address).
 *
 * @module
 */
import type * as z from "zod";

import type { Address } from "../../book/model/account.ts";
import { address } from "../../book/resources/account.ts";
import { withoutAbsent } from "../http/fields.ts";
import { deriveAnswers } from "./answer-of.ts";

/** A postal address. */
export const addressShape = deriveAnswers().of(address).meta({ id: "Address" });

/** An address without what it does not have. */
export function shownAddress(own: Address | null | undefined): z.input<typeof addressShape> | undefined {
  return own === undefined || own === null ? undefined : withoutAbsent(own);
}

/** A postal address as it is written, without the lines that it lacks. */
export function addressLines(own: Address | null | undefined): readonly string[] {
  const { line1, line2, postalCode, city, state, country } = own ?? {};
  const town = [postalCode, city].filter(Boolean).join(" ");
  return [line1, line2, town, state, country].flatMap((line) => (line ? [line] : []));
}
