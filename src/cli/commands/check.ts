/** `ratebook check`: checks a book, and a plan against it. */
import type { Book } from "../../book/resources/book.ts";
import { toPrintable } from "../../pages/printable.ts";
import type { Arguments } from "../arguments.ts";
import { requireBookPath, type Command } from "../command.ts";
import { findBookWarnings } from "../documents/book-warnings.ts";
import { readBookFile, readPlanFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { meteredUsageOptions } from "../reading/event-options.ts";

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
    if (!hasUsageOptions(args)) return "done";
    const { checkUsage } = await import("./check-usage.ts");
    return checkUsage(args, file, io);
  }
  if (hasUsageOptions(args))
    throw new UsageError("use either --plan, or --events and --usage; preview --plan FILE prices usage with a plan");
  const plan = await readPlanFile(planPath, book, io);
  if (plan === undefined) return "problems";
  await write(io.stdout, `${planPath}: ok, price plan ${plan.id} version ${plan.version}\n`);
  return "done";
}

/** Whether options for events or usage are present; reading these takes more code than checking a book. */
function hasUsageOptions(args: Arguments): boolean {
  return Object.keys(meteredUsageOptions).some((name) => args.flag(name));
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
