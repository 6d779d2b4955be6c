/** `ratebook diff`: what changed between invoices, and why. */
import {
  type AccountDiff,
  CAUSES,
  diffInvoices,
  type DiffLine,
  type InvoiceDiff,
} from "../../analysis/diff/diff-invoices.ts";
import type { DiffRow } from "../../analysis/diff/table-steps.ts";
import type { Book } from "../../book/resources/book.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { type Fraction, formatFraction, ZERO_FRACTION } from "../../numbers/fraction.ts";
import { stringifyJson } from "../../numbers/json.ts";
import { toPrintable } from "../../pages/printable.ts";
import { describeGroup } from "../../rating/table-charge.ts";
import type { Arguments, Command } from "../arguments.ts";
import { readInvoices } from "../documents/invoice-files.ts";
import { readBookFile } from "../documents/read-documents.ts";
import { ProblemsError, UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { withOutput } from "../output/output-file.ts";
import { outputOptions } from "../reading/input-options.ts";
import { formatAmount } from "../table/format-rows.ts";

export const diffCommand: Command = {
  usage: "A.json B.json [options]",
  options: {
    book: {
      kind: "many",
      value: "BOOK",
      help: "the book of both files, or one per file; invoices lack the rates of tiers that were not reached",
    },
    ...outputOptions(["table", "json"], "differences"),
  },
  run: runDiff,
};

async function runDiff(args: Arguments, io: Io): Promise<"done"> {
  const [a, b, ...more] = args.positionals;
  if (a === undefined || b === undefined || more.length > 0)
    throw new UsageError(`expected two files of invoices, got ${args.positionals.length}`);
  const paths = args.values("book");
  if (paths.length > 2) throw new UsageError(`expected one --book, or one for each file, got ${paths.length}`);
  const [first, second = first] = await readBooks(paths, io);
  const books = first && second && ([first, second] as const);
  const [before, after] = [await readInvoices(a, io), await readInvoices(b, io)];
  const result = diffInvoices(before, after, { books });
  await withOutput(args, io, async ({ stdout }) => {
    await write(stdout, args.value("format") === "json" ? `${stringifyJson(result, 2)}\n` : formatDiff(result));
  });
  return "done";
}

/** @throws {ProblemsError} with the problems of all books */
async function readBooks(paths: readonly string[], io: Io): Promise<readonly Book[]> {
  const books: Book[] = [];
  const problems: string[] = [];
  for (const path of paths) {
    try {
      books.push((await readBookFile(path, io)).book);
    } catch (error) {
      if (!(error instanceof ProblemsError)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) throw new ProblemsError(problems.join(""));
  return books;
}

function formatDiff({ accounts }: InvoiceDiff): string {
  return [...accounts.flatMap(formatAccount), ""].map(toPrintable).join("\n");
}

function formatAccount({ accountId, currency, lines, total }: AccountDiff): readonly string[] {
  const digits = minorUnitDigits(currency);
  const changedLines = lines.filter(
    ({ causes, difference, rows }) => !difference.isZero() || Object.keys(causes).length > 0 || rows !== undefined,
  );
  return [
    `${accountId}: ${formatAmount(total.before, digits)} → ${formatAmount(total.after, digits)} ${currency} (${withSign(formatAmount(total.difference, digits))})`,
    ...changedLines.flatMap((line) => [
      `  ${line.description ?? line.id ?? line.type}: ${formatAmount(line.before, digits)} → ${formatAmount(line.after, digits)} (${withSign(formatAmount(line.difference, digits))})`,
      ...formatCauses(line),
    ]),
  ];
}

function formatCauses({ causes, rows = [] }: DiffLine): readonly string[] {
  return CAUSES.flatMap((cause) => {
    const rowLines = cause === "usage" || cause === "rates" ? rows.flatMap((row) => formatRow(row, cause)) : [];
    const amount = causes[cause] ?? (rowLines.length > 0 ? ZERO_FRACTION : undefined);
    return amount === undefined ? [] : [`    ${cause}: ${withSign(formatExactAmount(amount))}`, ...rowLines];
  });
}

/** What a row of a price table contributes to a cause. */
function formatRow({ when, change, causes }: DiffRow, cause: "usage" | "rates"): readonly string[] {
  const amount = causes[cause];
  const what = change === undefined ? "" : change === "ADDED" ? ", a new row" : ", a removed row";
  return amount === undefined ? [] : [`      ${describeGroup(when)}${what}: ${withSign(formatExactAmount(amount))}`];
}

/** The decimal if it is finite, otherwise the fraction; truncated amounts would not add up. */
function formatExactAmount(amount: Fraction): string {
  const text = formatFraction(amount);
  return text.replace(/\D/g, "").length < 30 ? text : `${amount.numerator.toFixed()}/${amount.denominator}`;
}

function withSign(text: string): string {
  return text.startsWith("-") ? text : `+${text}`;
}
