/**
 * Files of invoices, as `preview --format json` writes them, read again.
 *
 * @module
 */
import * as z from "zod";

import { RatebookError } from "../errors.ts";
import type { Invoice } from "../invoicing/invoice.ts";
import { decimalOf } from "../numbers/decimal.ts";
import { parseJson } from "../numbers/json.ts";
import { readTextFile } from "./documents.ts";
import type { Io } from "./io.ts";
import { InputError } from "./problems.ts";

/** The names under which invoices and their explanations hold decimals. */
const DECIMALS: ReadonlySet<string> = new Set(
  "value quantity valuePerQuantity numerator rate startAfter endAt packageSize packages flatRate minimumRate maximumRate amount least bounded charged left remaining".split(
    " ",
  ),
);

const shape = z.object({
  accountId: z.string(),
  invoiceType: z.enum(["STANDARD", "STANDARD_ADVANCED", "AD_HOC"]),
  currency: z.string(),
  pricePlanId: z.string(),
  pricePlanVersion: z.number(),
  startDate: z.string(),
  endDate: z.string(),
  invoiceDate: z.string(),
  revenueInfo: z.object({ type: z.literal("TOTAL_AMOUNT"), lineItems: z.array(z.unknown()) }),
});

/**
 * The invoices of a file: one, a list, or a document with `invoices`.
 *
 * @throws {InputError} when the file cannot be read, is no JSON or holds no invoices
 */
export async function readInvoices(path: string, io: Io): Promise<readonly Invoice[]> {
  const text = await readTextFile(path, io);
  try {
    const json = parseJson(text);
    const listed: unknown = isObject(json) && "invoices" in json ? json["invoices"] : json;
    const invoices: readonly unknown[] = Array.isArray(listed) ? listed : [listed];
    return invoices.map((invoice, index) => invoiceOf(invoice, `$.invoices[${index}]`));
  } catch (error) {
    if (error instanceof RatebookError) throw new InputError(`${path}: ${error.message}`);
    if (error instanceof InvoiceFault) throw new InputError(`${path}: ${error.message}`);
    throw error;
  }
}

class InvoiceFault extends Error {}

function invoiceOf(json: unknown, path: string): Invoice {
  const result = shape.safeParse(json);
  if (!result.success) {
    const [issue] = result.error.issues;
    const place = [path, ...(issue?.path ?? [])].map(String).join(".");
    throw new InvoiceFault(`${place}: expected an invoice as preview --format json writes it: ${issue?.message ?? ""}`);
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its shape was checked, and diff asks of each line what it needs
  return withDecimals(json, path) as Invoice;
}

/** The same, decimals in place of their texts. */
function withDecimals(json: unknown, path: string): unknown {
  if (Array.isArray(json)) return json.map((item, index) => withDecimals(item, `${path}[${index}]`));
  if (!isObject(json)) return json;
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => {
      const place = `${path}.${key}`;
      if (!DECIMALS.has(key)) return [key, withDecimals(value, place)];
      try {
        return [key, decimalOf(value)];
      } catch (error) {
        if (error instanceof RatebookError) throw new InvoiceFault(`${place}: ${error.message}`);
        throw error;
      }
    }),
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.getPrototypeOf(value) === Object.prototype
  );
}
