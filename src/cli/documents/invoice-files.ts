/** Reads files of invoices that `preview --format json` writes. */
import * as z from "zod";

import { formatPath } from "../../book/problems.ts";
import { parseJsonDocument } from "../../book/reading/json-document.ts";
import { RatebookError } from "../../errors.ts";
import { formatPathPrefix, InputError } from "../../event-files/input-error.ts";
import { type Invoice, INVOICE_STATUSES, INVOICE_TYPES } from "../../invoicing/invoice.ts";
import { parseDecimal } from "../../numbers/decimal.ts";
import { parseJson } from "../../numbers/json.ts";
import type { Io } from "../io.ts";
import { parseJsonText, readTextFile } from "./read-documents.ts";

/** The fields of invoices and explanations that contain decimals. */
const DECIMAL_FIELDS: ReadonlySet<string> = new Set(
  "value quantity valuePerQuantity numerator rate startAfter endAt packageSize packages flatRate minimumRate maximumRate amount least chargedBefore bounded charged creditAmount takenBefore heldByDrafts left remaining".split(
    " ",
  ),
);

const instant = z.iso.datetime({ message: "expected an instant such as 2024-06-01T00:00:00.000Z" });
const period = z.object({ from: instant, until: instant });
const part = z.object({
  because: z.string(),
  share: z.object({ days: z.int(), of: z.int().min(1) }),
  slabs: z.array(z.object({ order: z.int(), priceType: z.enum(["FLAT", "PER_UNIT", "PACKAGE"]) })).optional(),
  bounds: z.object({}).optional(),
});
const rounding = z.object({ mode: z.enum(["HALF_UP", "HALF_EVEN", "DOWN"]), digits: z.int() });
const exact = z.object({ denominator: z.int().min(1) });
const charge = { parts: z.array(part), natural: period, exact, rounding };
const explanation = z.discriminatedUnion(
  "of",
  [
    z.object({ of: z.literal("CARD"), ...charge, served: period }),
    z.object({ of: z.literal("SLAB"), exact }),
    z.object({ of: z.literal("BOUNDS") }),
    z.object({ of: z.literal("SUM") }),
    z.object({
      of: z.literal("TRUE_UP"),
      ...charge,
      served: period,
      invoiced: z.array(z.object({ invoiceType: z.string(), invoiceDate: instant })),
      refunds: z.array(z.object({ ...charge, effectiveFrom: instant })).optional(),
    }),
    z.object({
      of: z.literal("CREDIT"),
      paid: z.array(z.object({ type: z.string() })),
      refund: z.object(charge).optional(),
    }),
  ],
  { error: "written by another version of ratebook; run preview again with this version" },
);
const line = z.object({
  type: z.string(),
  id: z.string().optional(),
  description: z.string().optional(),
  value: z.custom((value) => value !== undefined, "expected an amount"),
  explanation: explanation.optional(),
  get lineItems(): z.ZodOptional<z.ZodArray<z.ZodType>> {
    return z.array(line).optional();
  },
});
const usageLine = z.object({ id: z.string(), description: z.string(), quantity: line.shape.value });
const invoiceSchema = z.object({
  id: z.string().optional(),
  accountId: z.string(),
  invoiceType: z.enum(INVOICE_TYPES),
  currency: z.string().regex(/^[A-Z]{3}$/, "expected the code of a currency"),
  pricePlanId: z.string(),
  pricePlanVersion: z.number(),
  startDate: instant,
  endDate: instant,
  invoiceDate: instant,
  dueDate: instant,
  status: z.enum(INVOICE_STATUSES),
  notices: z.array(z.string()),
  usageInfo: z.object({ lineItems: z.array(usageLine) }).optional(),
  revenueInfo: z.object({ ...line.shape, type: z.literal("TOTAL_AMOUNT"), lineItems: z.array(line) }),
});

/** An invoice of a file; those of an export have the ids of their engine. */
export type FileInvoice = Invoice & { readonly id?: string };

/**
 * Reads the invoices of a file: one, a list, or a document with `invoices`.
 *
 * @throws {InputError} with line and column, if the file can't be read, isn't JSON, has no invoices, or one is invalid
 * or has no explanations
 */
export async function readInvoices(path: string, io: Io): Promise<readonly FileInvoice[]> {
  return parseInvoices(path, await readTextFile(path, io));
}

/** Same as {@link readInvoices}, for text. */
export function parseInvoices(path: string, text: string): readonly FileInvoice[] {
  try {
    const json = parseJsonOrComments(text);
    const isDocument = isPlainObject(json) && "invoices" in json;
    const content: unknown = isDocument ? json["invoices"] : json;
    const basePath = isDocument ? "$.invoices" : "$";
    const invoices: readonly unknown[] = Array.isArray(content) ? content : [content];
    if (invoices.length === 0) throw new InvoiceFormatError(basePath, "the file has no invoices");
    if (content === json && isPlainObject(json) && !("revenueInfo" in json))
      throw new InputError(`${path} is not a file of invoices; write one with preview --explain --format json`);
    return invoices.map((invoice, index) =>
      parseInvoice(invoice, Array.isArray(content) ? `${basePath}[${index}]` : basePath),
    );
  } catch (error) {
    if (error instanceof RangeError) throw new InputError(`${path}: nested too deeply`);
    if (error instanceof InvoiceFormatError || error instanceof RatebookError) throw toInputError(error, path, text);
    throw error;
  }
}

function parseJsonOrComments(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    const document = parseJsonDocument(text);
    if ("value" in document) return document.value;
    throw error;
  }
}

/** The error of a file, with line and column if known. */
function toInputError(error: InvoiceFormatError | RatebookError, path: string, text: string): InputError {
  const document = parseJsonText(path, text);
  if (error instanceof RatebookError) return new InputError(`${path}: ${error.message}`);
  const { line: row, column } = document.findPlace(error);
  return new InputError(`${path}:${row}:${column}: ${formatPathPrefix(error.path)}${error.message}`);
}

/** Why a value isn't an invoice, and its path. */
class InvoiceFormatError extends Error {
  readonly path: string;
  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

function parseInvoice(json: unknown, path: string): FileInvoice {
  // Only messages of the schema are shown: zod's own name its types, not what is wrong with the file.
  const result = invoiceSchema.safeParse(json, { error: () => "" });
  if (!result.success) {
    const [issue] = result.error.issues;
    const place = `${path}${formatPath((issue?.path ?? []).map((step) => (typeof step === "symbol" ? "" : step))).slice(1)}`;
    const reason = issue?.message ?? "";
    throw new InvoiceFormatError(
      place,
      `expected an invoice written by preview --explain --format json${reason === "" ? "" : `: ${reason}`}`,
    );
  }
  if (result.data.revenueInfo.explanation === undefined)
    throw new InvoiceFormatError(
      `${path}.revenueInfo`,
      "the invoice has no explanations; write it with preview --explain --format json",
    );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema checked the fields that diff and verify rely on
  return withDecimals(json, path) as FileInvoice;
}

/** Converts decimal texts to decimals. */
function withDecimals(json: unknown, path: string): unknown {
  if (Array.isArray(json)) return json.map((item, index) => withDecimals(item, `${path}[${index}]`));
  if (!isPlainObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => {
      const place = `${path}.${key}`;
      if (!DECIMAL_FIELDS.has(key)) return [key, withDecimals(value, place)];
      try {
        return [key, parseDecimal(value)];
      } catch (error) {
        if (error instanceof RatebookError) throw new InvoiceFormatError(place, error.message);
        throw error;
      }
    }),
  );
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.getPrototypeOf(value) === Object.prototype
  );
}
