/** `ratebook check`: checks a book, and a plan against it. */
import { lintBook } from "../../analysis/lint/lint-book.ts";
import type { Book } from "../../book/resources/book.ts";
import { toPrintable } from "../../pages/printable.ts";
import type { Arguments } from "../arguments.ts";
import { requireBookPath, type Command } from "../command.ts";
import { findBookWarnings } from "../documents/book-warnings.ts";
import { type BookFile, readBookFile, readPlanFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { meteredUsageOptions, readMeteredUsage } from "./metered-usage.ts";

export const checkCommand: Command = {
  usage: "BOOK [--plan FILE] [--events FILE…] [--usage FILE…]",
  options: {
    plan: { kind: "one", value: "FILE", help: "a price plan to check against the book" },
    ...meteredUsageOptions,
  },
  run: runCheck,
};

async function runCheck(args: Arguments, io: Io): Promise<"done" | "problems"> {
  const path = requireBookPath(args);
  const file = await readBookFile(path, io);
  if (file === undefined) return "problems";
  const { book } = file;
  const planPath = args.value("plan");
  if (planPath === undefined) {
    await write(io.stdout, `${path}: ok, ${describeContents(book)}\n`);
    for (const warning of findBookWarnings(book)) await write(io.stderr, `${path}: warning: ${toPrintable(warning)}\n`);
    return checkUsage(args, file, io);
  }
  if (args.values("events").length + args.values("usage").length > 0)
    throw new UsageError("use either --plan, or --events and --usage; preview --plan FILE prices usage with a plan");
  const plan = await readPlanFile(planPath, book, io);
  if (plan === undefined) return "problems";
  await write(io.stdout, `${planPath}: ok, price plan ${plan.id} version ${plan.version}\n`);
  return "done";
}

/** Warns of usage that no row of a price table prices (S18.2). */
async function checkUsage(args: Arguments, file: BookFile, io: Io): Promise<"done" | "problems"> {
  const { book, usage, problemCount } = await readMeteredUsage(args, file, io);
  const findings = usage === undefined ? [] : lintBook(book, { usage });
  const unpriced = findings.filter(({ code, silenced }) => code === "USAGE_UNPRICED" && silenced === undefined);
  for (const { at, message, example } of unpriced)
    await write(
      io.stderr,
      `${requireBookPath(args)}: warning: ${toPrintable(`${at}: ${message}: ${example ?? ""}`)}\n`,
    );
  return unpriced.length > 0 || problemCount > 0 ? "problems" : "done";
}

function describeContents(book: Book): string {
  const counts: readonly (readonly [number, string])[] = [
    [book.eventSchemas.length, "event schema"],
    [book.usageMeters.length, "usage meter"],
    [book.pricePlans.length, "price plan"],
    [book.accounts.length, "account"],
  ];
  return counts.map(([count, noun]) => `${count} ${noun}${count === 1 ? "" : "s"}`).join(", ");
}
