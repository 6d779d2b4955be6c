/**
 * `ratebook diff`: what changed between invoices, and why.
 *
 * @module
 */
import { groupThousands } from "../invoicing/figure-text.ts";
import { minorUnitDigits } from "../numbers/currency.ts";
import { type Decimal } from "../numbers/decimal.ts";
import { type Fraction, formatFraction } from "../numbers/fraction.ts";
import { stringifyJson } from "../numbers/json.ts";
import { printable } from "../pages/printable.ts";
import {
  type AccountDiff,
  CAUSES,
  diffInvoices,
  type DiffLine,
  type InvoiceDiff,
} from "../proof/diff/diff-invoices.ts";
import type { Arguments } from "./arguments.ts";
import type { Command } from "./command.ts";
import { readBookFile } from "./documents.ts";
import { outputOptions } from "./input-options.ts";
import { readInvoices } from "./invoice-files.ts";
import { type Io, write } from "./io.ts";
import { withOutput } from "./output.ts";
import { UsageError } from "./problems.ts";

/** Compares invoices. */
export const diffCommand: Command = {
  usage: "A.json B.json [options]",
  summary: "Says what changed from one file of explained invoices to another and why, line by line.",
  options: {
    book: {
      kind: "many",
      value: "BOOK",
      help: "the book of both files, or one for each: for slabs that were not reached",
    },
    ...outputOptions(["table", "json"], "differences"),
  },
  run: diff,
};

async function diff(given: Arguments, io: Io): Promise<"done" | "problems"> {
  const [a, b, ...more] = given.positionals;
  if (a === undefined || b === undefined || more.length > 0)
    throw new UsageError(`expected two files of invoices, got ${given.positionals.length}`);
  const paths = given.many("book");
  if (paths.length > 2) throw new UsageError(`expected one --book, or one for each file, got ${paths.length}`);
  const [first, second = first] = await Promise.all(paths.map(async (path) => readBookFile(path, io)));
  if (paths.length > 0 && (first === undefined || second === undefined)) return "problems";
  const books = first && second && ([first.book, second.book] as const);
  const [before, after] = [await readInvoices(a, io), await readInvoices(b, io)];
  const result = diffInvoices(before, after, { books });
  await withOutput(given, io, async ({ stdout }) => {
    await write(stdout, given.one("format") === "json" ? `${stringifyJson(result, 2)}\n` : textOf(result));
  });
  return "done";
}

function textOf({ accounts }: InvoiceDiff): string {
  return [...accounts.flatMap(accountLines), ""].map(printable).join("\n");
}

function accountLines({ accountId, currency, lines, total }: AccountDiff): readonly string[] {
  const digits = minorUnitDigits(currency);
  const changed = lines.filter(({ causes, difference }) => !difference.isZero() || Object.keys(causes).length > 0);
  return [
    `${accountId}: ${amountText(total.before, digits)} → ${amountText(total.after, digits)} ${currency} (${signed(amountText(total.difference, digits))})`,
    ...changed.flatMap((line) => [
      `  ${line.description ?? line.id ?? line.type}: ${amountText(line.before, digits)} → ${amountText(line.after, digits)} (${signed(amountText(line.difference, digits))})`,
      ...causeLines(line),
    ]),
  ];
}

function causeLines({ causes }: Pick<DiffLine, "causes">): readonly string[] {
  return CAUSES.flatMap((cause) => {
    const amount = causes[cause];
    return amount === undefined ? [] : [`    ${cause}: ${signed(exactText(amount))}`];
  });
}

/** The decimal where there is one, else the fraction: what is cut would not add up. */
function exactText(amount: Fraction): string {
  const text = formatFraction(amount);
  return text.replace(/\D/g, "").length < 30 ? text : `${amount.numerator.toFixed()}/${amount.denominator}`;
}

function amountText(amount: Decimal, digits: number): string {
  return groupThousands(amount.toFixed(digits));
}

function signed(text: string): string {
  return text.startsWith("-") ? text : `+${text}`;
}
