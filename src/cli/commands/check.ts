/** `ratebook check`: checks a book, and a plan against it. */
import type { Book } from "../../book/resources/book.ts";
import type { PricePlan } from "../../book/resources/price-plan.ts";
import { toPrintable } from "../../pages/printable.ts";
import { type Arguments, type Command, requireFilePath } from "../arguments.ts";
import { findBookWarnings } from "../documents/book-warnings.ts";
import { readBookFile, readBookOrPlanFile, readPlanFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { hasUsageOptions, meteredUsageOptions } from "../reading/event-options.ts";

export const checkCommand: Command = {
  usage: "BOOK|PLAN [--plan FILE] [--events FILE…] [--usage FILE…]",
  options: {
    plan: { kind: "one", value: "FILE", help: "a price plan to check against the book" },
    ...meteredUsageOptions,
  },
  run: runCheck,
};

async function runCheck(args: Arguments, io: Io): Promise<"done" | "problems"> {
  const path = requireFilePath(args, "BOOK or PLAN");
  const planPath = args.value("plan");
  const needsBook = planPath !== undefined || hasUsageOptions(args);
  const file = await (needsBook ? readBookFile : readBookOrPlanFile)(path, io);
  const { book } = file;
  if (file.plan !== undefined) {
    await write(io.stdout, describePlan(path, file.plan));
    await write(io.stderr, `${path}: its references were not checked; for that use: check BOOK --plan ${path}\n`);
    return "done";
  }
  if (planPath === undefined) {
    await write(io.stdout, `${path}: ok, ${describeContents(book)}\n`);
    for (const warning of findBookWarnings(book)) await write(io.stderr, `${path}: warning: ${toPrintable(warning)}\n`);
    if (!hasUsageOptions(args)) return "done";
    const { checkUsage } = await import("./metered-usage.ts");
    return checkUsage(args, file, io);
  }
  if (hasUsageOptions(args))
    throw new UsageError("use either --plan, or --events and --usage; preview --plan FILE prices usage with a plan");
  const plan = await readPlanFile(planPath, book, io);
  await write(io.stdout, describePlan(planPath, plan));
  return "done";
}

function describePlan(path: string, { id, version }: PricePlan): string {
  return `${path}: ok, price plan ${id} version ${version}\n`;
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
