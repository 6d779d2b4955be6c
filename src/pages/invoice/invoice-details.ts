/** What a host adds to an invoice for its recipient: the parties, taxes and texts, checked. */
import * as z from "zod";

import type { Frozen, StrictSchema } from "../../book/resources/fields.ts";
import { toInstant } from "../../calendar/instant.ts";
import { optionError, RatebookError } from "../../errors.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, type DecimalInput, parseDecimal } from "../../numbers/decimal.ts";

function strictObject<Fields extends z.core.$ZodShape>(fields: Fields): StrictSchema<Fields> {
  const unknownField = `unknown field; known are ${Object.keys(fields).join(", ")}`;
  return z.strictObject(fields, {
    error: ({ code }) => (code === "unrecognized_keys" ? unknownField : "expected an object"),
  });
}

const textUpTo = (lengthMax: number): z.ZodString =>
  z.string("expected a text").refine((text) => text.trim() !== "" && text.length <= lengthMax, {
    error: ({ input }) => `expected 1 to ${lengthMax} characters, got ${String(input).length}`,
  });
const line = textUpTo(500);

const listOf = <Item extends z.ZodType>(item: Item, countMax: number): z.ZodArray<Item> =>
  z
    .array(item, "expected a list")
    .max(countMax, { error: ({ input }) => `expected at most ${countMax} items, got ${(input as unknown[]).length}` });

/** A value that a function reads, with the message of its error. */
const readable = <Value>(read: (value: Value) => unknown): z.ZodCustom<Value, Value> =>
  z.custom<Value>().superRefine((value, context) => {
    try {
      read(value);
    } catch (error) {
      if (!(error instanceof RatebookError)) throw error;
      context.addIssue({ code: "custom", message: error.message, continue: false });
    }
  });
const decimal = readable<DecimalInput>(parseDecimal);

const partyFields = {
  /** 1 to 500 characters. */
  name: line,
  /** At most 20 lines of 500 characters. */
  address: listOf(line, 20).optional(),
  /** Such as `VAT ID DE123456789`; at most 10. */
  taxIds: listOf(line, 10).optional(),
};
const party: StrictSchema<typeof partyFields> = strictObject(partyFields);
/** The seller or the buyer. */
export interface InvoiceParty extends Frozen<z.input<typeof party>> {}

const taxFields = {
  /** Such as `VAT`. */
  name: line,
  /** In percent, 0 to 100. */
  rate: decimal
    .refine((rate) => !parseDecimal(rate).isNegative() && parseDecimal(rate).lte(100), "expected 0 to 100 percent")
    .optional(),
  /**
   * In the invoice's currency, with at most the digits of its minor unit. Default: `rate` percent of `taxable`, rounded
   * half up to the minor unit.
   */
  amount: decimal.optional(),
  /** The amount that is taxed. Default: the subtotal with the minimum commitment, before credits. */
  taxable: decimal.optional(),
  /** The recipient owes the tax: `true` for the usual words in the invoice's language, or your own. */
  reverseCharge: z.union([z.boolean(), line], "expected a text").optional(),
};
const tax: StrictSchema<typeof taxFields> = strictObject(taxFields).refine(
  ({ rate, amount, reverseCharge = false }) =>
    (rate === undefined && amount === undefined) !== (reverseCharge === false),
  "expected a rate, an amount or both, or else reverseCharge",
);
/** A tax line. It has a `rate`, an `amount` or both; with `reverseCharge`, neither. */
export interface InvoiceTax extends Frozen<z.input<typeof tax>> {}

/** The maximum length of a data URI in characters, which is about 190 kB of image data. */
export const LOGO_LENGTH_MAX = 256 * 1024;
const logoProblem = `expected a data URI of a PNG, JPEG, GIF or WebP, up to ${LOGO_LENGTH_MAX} characters`;

const detailFields = {
  seller: party.optional(),
  buyer: party.optional(),
  /** Your number; default: one derived from the invoice's id, such as `2026-07 2XEDM-6W8Y4`. */
  number: textUpTo(100).optional(),
  /** The id, shown at the end; default: that which an engine gives the invoice. */
  id: line.optional(),
  /**
   * A BCP 47 tag such as `de-AT`; default `en`. Words are English, German or French, numbers and dates those of the
   * locale. A tag that `Intl` rejects is `en`.
   */
  locale: textUpTo(100).optional(),
  /** Whether amounts have a symbol, such as `$`, or a code, such as `USD`; default `symbol`. */
  currencyDisplay: z.enum(["symbol", "code"], "expected symbol or code").optional(),
  /** At most 20. */
  taxes: listOf(tax, 20).optional(),
  /** How to pay, and other notes; line breaks stay. At most 10,000 characters. */
  notes: textUpTo(10_000).optional(),
  /** The buyer's order reference. */
  reference: line.optional(),
  /** A data URI of a PNG, JPEG, GIF or WebP, up to 262,144 characters. */
  logo: z
    .string(logoProblem)
    .refine((value) => parseLogo(value) !== undefined, logoProblem)
    .optional(),
  /** The name of the account; default: its id. */
  account: line.optional(),
  /** The name of the plan; default: not shown. */
  plan: line.optional(),
  /** What units are called, by the id of a meter, add-on or feature, such as `{ "um.storage": "GB" }`. */
  units: z.record(z.string(), textUpTo(50), "expected an object").optional(),
  /** Default: that of the invoice, which is DRAFT in previews. */
  status: z.enum(["DRAFT", "DUE", "PAID"], "expected DRAFT or DUE or PAID").optional(),
  /** A date or an instant, ISO 8601; default: that of the invoice. */
  dueDate: line.pipe(readable<string>(toInstant)).optional(),
};
const invoiceDetails: StrictSchema<typeof detailFields> = strictObject(detailFields);
/** The texts of an invoice for its recipient. Every text is escaped; control characters become spaces. */
export interface InvoiceDetails extends Frozen<z.input<typeof invoiceDetails>> {}

/** Checks details from outside. @throws {RatebookError} ERR_OPTION_INVALID with the path of the first unknown or invalid field */
export function checkInvoiceDetails(value: unknown): InvoiceDetails {
  const { data, error } = invoiceDetails.safeParse(value);
  const issues = error?.issues ?? [];
  // A misspelled name comes before the field that is missing because of it.
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (issue === undefined) return data as InvoiceDetails;
  const keys = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const path = [...issue.path, ...keys].reduce<string>(
    (place, key) => (typeof key === "number" ? `${place}[${key}]` : `${place === "" ? "" : `${place}.`}${String(key)}`),
    "",
  );
  throw optionError((path || "details").slice(0, 100), issue.message);
}

/**
 * Parses an amount of a tax in the invoice's currency.
 *
 * @throws {RatebookError} ERR_OPTION_INVALID for more digits than the minor unit has
 */
export function parseTaxAmount(value: DecimalInput | undefined, path: string, currency: string): Decimal | undefined {
  if (value === undefined) return undefined;
  const amount = parseDecimal(value);
  const digits = minorUnitDigits(currency);
  if (amount.decimalPlaces() <= digits) return amount;
  throw optionError(path, `amounts in ${currency} have ${digits} decimal places at most, got ${amount.toFixed()}`);
}

/** The start of each image type in base64. */
const SIGNATURES: Readonly<Record<string, RegExp>> = {
  png: /^iVBORw0KGgo/,
  jpeg: /^\/9j\//,
  gif: /^R0lGOD[dl]h/,
  webp: /^UklGR[\w+/]{6}XRUJQ/,
};

/** The data URI of an image; the bytes in base64 if they are no image of a known type. */
export function createLogo(bytes: Uint8Array): string {
  const content = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  const type = Object.keys(SIGNATURES).find((each) => SIGNATURES[each]?.test(content) === true);
  return type === undefined ? content : `data:image/${type};base64,${content}`;
}

/** The logo if it is a PNG, JPEG, GIF or WebP, by type and content, and not too long; otherwise undefined. */
export function parseLogo(value: string | undefined): string | undefined {
  if (value === undefined || value.length > LOGO_LENGTH_MAX) return undefined;
  const [, type = "", content = ""] =
    /^data:image\/(png|jpeg|gif|webp);base64,([A-Za-z0-9+/]+={0,2})$/.exec(value.trim()) ?? [];
  return SIGNATURES[type]?.test(content) === true ? `data:image/${type};base64,${content}` : undefined;
}
