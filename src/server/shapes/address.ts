/**
 * Addresses in answers (service-reference: Address).
 *
 * @module
 */
import type * as z from "zod";

import type { Address } from "../../book/resources/account.ts";
import { address } from "../../book/resources/account.ts";
import { withoutAbsent } from "../http/fields.ts";
import { createAnswerDeriver } from "./derive-answers.ts";

export const addressShape = createAnswerDeriver().derive(address).meta({ id: "Address" });

/** An address without missing fields. */
export function toAddressJson(postalAddress: Address | null | undefined): z.input<typeof addressShape> | undefined {
  return postalAddress === undefined || postalAddress === null ? undefined : withoutAbsent(postalAddress);
}

/** A postal address as lines, without missing ones. */
export function formatAddressLines(postalAddress: Address | null | undefined): readonly string[] {
  const { line1, line2, postalCode, city, state, country } = postalAddress ?? {};
  const cityLine = [postalCode, city].filter(Boolean).join(" ");
  return [line1, line2, cityLine, state, country].flatMap((line) => (line ? [line] : []));
}
