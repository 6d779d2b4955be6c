/** What a host adds to an invoice for its recipient: the parties, taxes and texts, checked. */
import { toInstant } from "../../calendar/instant.ts";
import { optionError, RatebookError } from "../../errors.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Decimal, type DecimalInput, isJsonObject, parseDecimal } from "../../numbers/decimal.ts";

/** The seller or the buyer. */
export interface InvoiceParty {
  /** 1 to 500 characters. */
  readonly name: string;
  /** At most 20 lines of 500 characters. */
  readonly address?: readonly string[] | undefined;
  /** Such as `VAT ID DE123456789`; at most 10. */
  readonly taxIds?: readonly string[] | undefined;
}

/** A tax line. It has a `rate`, an `amount` or both; with `reverseCharge`, neither. */
export interface InvoiceTax {
  /** Such as `VAT`. */
  readonly name: string;
  /** In percent, 0 to 100. */
  readonly rate?: DecimalInput | undefined;
  /**
   * In the invoice's currency, with at most the digits of its minor unit. Default: `rate` percent of `taxable`, rounded
   * half up to the minor unit.
   */
  readonly amount?: DecimalInput | undefined;
  /** The amount that is taxed. Default: the subtotal with the minimum commitment, before credits. */
  readonly taxable?: DecimalInput | undefined;
  /** The recipient owes the tax: `true` for the usual words in the invoice's language, or your own. */
  readonly reverseCharge?: boolean | string | undefined;
}

/** The texts of an invoice for its recipient. Every text is escaped; control characters become spaces. */
export interface InvoiceDetails {
  readonly seller?: InvoiceParty | undefined;
  readonly buyer?: InvoiceParty | undefined;
  /** Your number; default: one derived from the invoice's id, such as `2026-07 2XEDM-6W8Y4`. */
  readonly number?: string | undefined;
  /** The id, shown at the end; default: that which an engine gives the invoice. */
  readonly id?: string | undefined;
  /**
   * A BCP 47 tag such as `de-AT`; default `en`. Words are English, German or French, numbers and dates those of the
   * locale. A tag that `Intl` rejects is `en`.
   */
  readonly locale?: string | undefined;
  /** Whether amounts have a symbol, such as `$`, or a code, such as `USD`; default `symbol`. */
  readonly currencyDisplay?: "symbol" | "code" | undefined;
  /** At most 20. */
  readonly taxes?: readonly InvoiceTax[] | undefined;
  /** How to pay, and other notes; line breaks stay. At most 10,000 characters. */
  readonly notes?: string | undefined;
  /** The buyer's order reference. */
  readonly reference?: string | undefined;
  /** A data URI of a PNG, JPEG, GIF or WebP, up to 262,144 characters. */
  readonly logo?: string | undefined;
  /** The name of the account; default: its id. */
  readonly account?: string | undefined;
  /** The name of the plan; default: not shown. */
  readonly plan?: string | undefined;
  /** What units are called, by the id of a meter, add-on or feature, such as `{ "um.storage": "GB" }`. */
  readonly units?: Readonly<Record<string, string>> | undefined;
  /** Default: that of the invoice, which is DRAFT in previews. */
  readonly status?: "DRAFT" | "DUE" | "PAID" | undefined;
  /** A date or an instant, ISO 8601; default: that of the invoice. */
  readonly dueDate?: string | undefined;
}

/** Throws ERR_OPTION_INVALID with the path of the value. */
type Check = (value: unknown, path: string) => void;

const requireTextUpTo =
  (lengthMax: number): Check =>
  (value, path) => {
    if (typeof value !== "string") throw optionError(path, "expected a text");
    if (value.trim() === "" || value.length > lengthMax)
      throw optionError(path, `expected 1 to ${lengthMax} characters, got ${value.length}`);
  };
const LINE = requireTextUpTo(500);

const listOf =
  (check: Check, countMax: number): Check =>
  (value, path) => {
    if (!Array.isArray(value)) throw optionError(path, "expected a list");
    if (value.length > countMax) throw optionError(path, `expected at most ${countMax} items, got ${value.length}`);
    for (const [index, item] of value.entries()) check(item, `${path}[${index}]`);
  };

const oneOf =
  (...choices: readonly string[]): Check =>
  (value, path) => {
    if (!choices.includes(String(value))) throw optionError(path, `expected ${choices.join(" or ")}`);
  };

const decimal: Check = (value, path) => {
  try {
    parseDecimal(value);
  } catch (error) {
    throw error instanceof RatebookError ? optionError(path, error.message) : error;
  }
};

/** Checks the fields of an object. `undefined` is the same as absent. */
function checkFields(value: unknown, path: string, checks: Readonly<Record<string, Check>>): void {
  if (!isJsonObject(value)) throw optionError(path || "details", "expected an object");
  for (const [name, field] of Object.entries(value)) {
    const place = path === "" ? name : `${path}.${name}`;
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (check === undefined)
      throw optionError(place.slice(0, 100), `unknown field; known are ${Object.keys(checks).join(", ")}`);
    if (field !== undefined) check(field, place);
  }
}

const party: Check = (value, path) => {
  checkFields(value, path, { name: LINE, address: listOf(LINE, 20), taxIds: listOf(LINE, 10) });
  LINE((value as Partial<InvoiceParty>).name, `${path}.name`);
};

const tax: Check = (value, path) => {
  const reverseCharge: Check = (field, place) => (typeof field === "boolean" ? undefined : LINE(field, place));
  checkFields(value, path, { name: LINE, rate: decimal, amount: decimal, taxable: decimal, reverseCharge });
  const { name, rate, amount, reverseCharge: isReversed = false } = value as Partial<InvoiceTax>;
  LINE(name, `${path}.name`);
  if ((rate === undefined && amount === undefined) === (isReversed === false))
    throw optionError(path, "expected a rate, an amount or both, or else reverseCharge");
  if (rate !== undefined && (parseDecimal(rate).isNegative() || parseDecimal(rate).gt(100)))
    throw optionError(`${path}.rate`, "expected 0 to 100 percent");
};

const units: Check = (value, path) => {
  if (!isJsonObject(value)) throw optionError(path, "expected an object");
  for (const [id, unit] of Object.entries(value)) requireTextUpTo(50)(unit, `${path}.${id}`);
};

const date: Check = (value, path) => {
  LINE(value, path);
  try {
    toInstant(value as string);
  } catch (error) {
    throw error instanceof RatebookError ? optionError(path, error.message) : error;
  }
};

const logo: Check = (value, path) => {
  if (typeof value !== "string" || parseLogo(value) === undefined)
    throw optionError(path, `expected a data URI of a PNG, JPEG, GIF or WebP, up to ${LOGO_LENGTH_MAX} characters`);
};

/** The checks of {@link InvoiceDetails}, by field. */
const DETAILS: Readonly<Record<keyof InvoiceDetails, Check>> = {
  seller: party,
  buyer: party,
  number: requireTextUpTo(100),
  id: LINE,
  locale: requireTextUpTo(100),
  currencyDisplay: oneOf("symbol", "code"),
  taxes: listOf(tax, 20),
  notes: requireTextUpTo(10_000),
  reference: LINE,
  logo,
  account: LINE,
  plan: LINE,
  units,
  status: oneOf("DRAFT", "DUE", "PAID"),
  dueDate: date,
};

/** Checks details from outside. @throws {RatebookError} ERR_OPTION_INVALID with the path of the first invalid field */
export function checkInvoiceDetails(value: unknown): InvoiceDetails {
  checkFields(value, "", DETAILS);
  return value as InvoiceDetails;
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

/** The maximum length of a data URI in characters, which is about 190 kB of image data. */
export const LOGO_LENGTH_MAX = 256 * 1024;

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
