/** `ratebook check`: checks a book, and a plan against it. */
import type { Book } from "../../book/resources/book.ts";
import { toPrintable } from "../../pages/printable.ts";
import type { Arguments } from "../arguments.ts";
import { requireBookPath, type Command } from "../command.ts";
import { findBookWarnings } from "../documents/book-warnings.ts";
import { readBookFile, readPlanFile } from "../documents/read-documents.ts";
import { type Io, write } from "../io.ts";

export const checkCommand: Command = {
  usage: "BOOK [--plan FILE]",
  options: { plan: { kind: "one", value: "FILE", help: "a price plan to check against the book" } },
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
    return "done";
  }
  const plan = await readPlanFile(planPath, book, io);
  if (plan === undefined) return "problems";
  await write(io.stdout, `${planPath}: ok, price plan ${plan.id} version ${plan.version}\n`);
  return "done";
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
