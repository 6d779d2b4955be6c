/** `ratebook invoice`: invoices of a file or a database as a page to send or print. */
import { dirname, join } from "node:path";

import { hasCode } from "../../errors.ts";
import { InputError } from "../../event-files/input-error.ts";
import { isJsonObject } from "../../numbers/decimal.ts";
import { checkInvoiceDetails, createLogo, type InvoiceDetails } from "../../pages/invoice/invoice-details.ts";
import { renderSheets } from "../../pages/invoice/invoice-page.ts";
import { createInvoiceSheet, type InvoiceSheet } from "../../pages/invoice/invoice-sheet.ts";
import { quoteText } from "../../problem-table.ts";
import { type Arguments, type Command, requireFilePath } from "../arguments.ts";
import { databaseOption, databaseVariable, requireDatabase, withEngine } from "../database-option.ts";
import { type FileInvoice, readInvoices } from "../documents/invoice-files.ts";
import { parseJsonText, readTextFile } from "../documents/read-documents.ts";
import { describeSystemError, UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { withOutput } from "../output/output-file.ts";
import { fileOption } from "../reading/event-options.ts";
import { formatCount } from "../table/format-rows.ts";

/** An id that needs no `--database`: without it, the default one is read. */
const INVOICE_ID = /^inv\.[0-9A-Za-z]{16}$/;
const STATUSES = ["DRAFT", "DUE", "PAID"] as const;

export const invoiceCommand: Command = {
  usage: "FILE|ID [--database DIR|URL|pglite:DIR] [--details FILE] [options] -o invoice.html",
  options: {
    details: {
      kind: "one",
      value: "FILE",
      help: "seller, buyer, taxes, notes and so on as JSON; those of an account below accounts",
    },
    account: { kind: "many", value: "ID", help: "of a file: only the invoices of this account; default all" },
    invoice: { kind: "many", value: "ID", help: "of a file: only this invoice, by its id or number" },
    number: { kind: "one", value: "TEXT", help: "number of the first invoice, such as R-1041; further ones count up" },
    locale: { kind: "one", value: "TAG", help: "language, numbers and dates, such as de or fr-CH; default en" },
    status: { kind: "one", value: STATUSES.join("|"), help: "default that of the invoice; previews are drafts" },
    ...fileOption,
    ...databaseOption,
  },
  variables: databaseVariable,
  run: runInvoice,
};

async function runInvoice(args: Arguments, io: Io): Promise<"done"> {
  const source = requireFilePath(args, "FILE or ID");
  const detailsPath = args.value("details");
  const ofFile = detailsPath === undefined ? () => ({}) : await readDetailsFile(detailsPath, io);
  const [locale, status] = [args.value("locale"), readStatus(args)];
  const details: DetailsByAccount = (accountId) => ({
    ...ofFile(accountId),
    ...(locale === undefined ? {} : { locale }),
    ...(status === undefined ? {} : { status }),
  });
  const sheets =
    args.value("database") !== undefined || INVOICE_ID.test(source)
      ? [await readSheetOfDatabase(source, details, args, io)]
      : await readSheetsOfFile(source, details, args, io);
  const repeatedNumber = sheets.map(({ number }) => number).find((number, at, all) => all.indexOf(number) !== at);
  if (repeatedNumber !== undefined)
    throw new UsageError(
      `several invoices have the number ${quoteText(repeatedNumber)}: number them with --number, or select one with --invoice ID`,
    );
  await withOutput(args, io, async ({ stdout }) => {
    for (const piece of renderSheets(sheets).pieces) await write(stdout, piece);
  });
  return "done";
}

function readStatus(args: Arguments): InvoiceDetails["status"] {
  const text = args.value("status");
  const status = STATUSES.find((each) => each === text?.toUpperCase());
  if (text !== undefined && status === undefined)
    throw new UsageError(`--status must be one of ${STATUSES.join(", ")}, got ${quoteText(text)}`);
  return status;
}

async function readSheetsOfFile(
  path: string,
  details: DetailsByAccount,
  args: Arguments,
  io: Io,
): Promise<readonly InvoiceSheet[]> {
  const [accountIds, invoiceIds] = [args.values("account"), args.values("invoice")];
  const invoices = await readInvoices(path, io);
  const detailsOf = ({ accountId, id }: FileInvoice): InvoiceDetails => ({ ...details(accountId), ...(id && { id }) });
  const selected = invoices.filter((invoice) => {
    if (accountIds.length > 0 && !accountIds.includes(invoice.accountId)) return false;
    const { id, number } = createInvoiceSheet(invoice, detailsOf(invoice));
    return invoiceIds.length === 0 || invoiceIds.includes(id) || invoiceIds.includes(number);
  });
  if (selected.length === 0)
    throw new InputError(`${path}: none of ${formatCount(invoices.length, "invoice")} has this account and id`);
  return selected.map((invoice, index) =>
    createInvoiceSheet(invoice, { ...detailsOf(invoice), ...numberInvoice(args, index) }),
  );
}

/** The number of an invoice in a sequence. @throws {UsageError} if the first number can't be counted up */
function numberInvoice(args: Arguments, index: number): Pick<InvoiceDetails, "number"> {
  const first = args.value("number");
  if (first === undefined) return {};
  const [digits] = /\d+$/.exec(first) ?? [];
  if (index === 0) return { number: first };
  if (digits === undefined) throw new UsageError(`--number: ${quoteText(first)} must end with digits to count up`);
  const next = String(BigInt(digits) + BigInt(index)).padStart(digits.length, "0");
  return { number: `${first.slice(0, -digits.length)}${next}` };
}

async function readSheetOfDatabase(
  id: string,
  details: DetailsByAccount,
  args: Arguments,
  io: Io,
): Promise<InvoiceSheet> {
  if (args.values("account").length + args.values("invoice").length > 0)
    throw new UsageError("--account and --invoice select from a file; --database takes the ID of an invoice");
  const database = requireDatabase(args, io);
  const { readInvoiceSheet } = await import("../../server/routes/billing/invoice-html.ts");
  return withEngine(database, {}, async (engine) => {
    const snapshot = await engine.invoices.get(id);
    return readInvoiceSheet(engine, snapshot, { ...details(snapshot.invoice.accountId), ...numberInvoice(args, 0) });
  });
}

/** The details of an account's invoices. */
export type DetailsByAccount = (accountId: string) => InvoiceDetails;

/**
 * Reads details; comments are allowed. A logo may be the path of an image, relative to the file.
 *
 * @throws {InputError} with line and column, if the file can't be read, isn't JSON, or a detail is invalid
 */
export async function readDetailsFile(path: string, io: Io): Promise<DetailsByAccount> {
  const document = parseJsonText(path, await readTextFile(path, io));
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
