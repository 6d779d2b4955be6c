/** Reads the file of `--details`: what all invoices have in common, and what those of an account have of their own. */
import { dirname, join } from "node:path";

import { parseJsonDocument } from "../../book/reading/json-document.ts";
import { hasCode } from "../../errors.ts";
import { InputError } from "../../event-files/input-error.ts";
import { isJsonObject } from "../../numbers/decimal.ts";
import { checkInvoiceDetails, createLogo, type InvoiceDetails } from "../../pages/invoice/invoice-details.ts";
import { describeSystemError } from "../errors.ts";
import type { Io } from "../io.ts";
import { readTextFile } from "./read-documents.ts";

/** The details of an account's invoices. */
export type DetailsByAccount = (accountId: string) => InvoiceDetails;

/**
 * Reads details; comments are allowed. A logo may be the path of an image, relative to the file.
 *
 * @throws {InputError} with line and column, if the file can't be read, isn't JSON, or a detail is invalid
 */
export async function readDetailsFile(path: string, io: Io): Promise<DetailsByAccount> {
  const document = parseJsonDocument(await readTextFile(path, io));
  if (!("value" in document))
    throw new InputError(`${path}:${document.line}:${document.column}: not JSON: ${document.message}`);
  const failAt = (place: string, message: string): never => {
    const { line, column } = document.findPlace({ path: place });
    throw new InputError(`${path}:${line}:${column}: ${message}`);
  };
  const [repeatedKey] = document.repeatedKeys;
  if (repeatedKey !== undefined) failAt(repeatedKey.path, repeatedKey.message);
  const check = async (value: unknown, place: string): Promise<InvoiceDetails> => {
    try {
      return checkInvoiceDetails(isJsonObject(value) ? await withLogo(value, path, io) : value);
    } catch (error) {
      if (!hasCode(error, "ERR_OPTION_INVALID")) throw error;
      return failAt(`${place}.${error.details.option}`, error.message);
    }
  };
  const { value } = document;
  const { accounts = {}, ...rest } = isJsonObject(value) ? value : { rest: failAt("$", "expected an object") };
  const common = await check(rest, "$");
  if (!isJsonObject(accounts)) return failAt("$.accounts", "accounts: expected an object");
  const byAccount = new Map<string, InvoiceDetails>();
  for (const [id, details] of Object.entries(accounts))
    byAccount.set(id, await check(details, `$.accounts[${JSON.stringify(id)}]`));
  return (accountId) => ({ ...common, ...byAccount.get(accountId) });
}

/** Replaces the path of a logo by the image. */
async function withLogo(details: Readonly<Record<string, unknown>>, path: string, io: Io): Promise<object> {
  const { logo } = details;
  if (typeof logo !== "string" || logo.startsWith("data:")) return details;
  const file = join(dirname(path), logo);
  try {
    return { ...details, logo: createLogo(await io.readFile(file)) };
  } catch (error) {
    throw new InputError(`${file}: ${describeSystemError(error)}`);
  }
}
