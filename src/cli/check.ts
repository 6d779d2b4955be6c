/**
 * `ratebook check`: checks a book, and a plan against it.
 *
 * @module
 */
import type { Book } from "../book/model/book.ts";
import { printable } from "../pages/printable.ts";
import type { Arguments } from "./arguments.ts";
import { bookWarnings } from "./book-warnings.ts";
import { bookPath, type Command } from "./command.ts";
import { readBookFile, readPlanFile } from "./documents.ts";
import { type Io, write } from "./io.ts";

/** Prints every problem of a book. */
export const checkCommand: Command = {
  usage: "BOOK [--plan FILE]",
  summary: "Checks a book, or a price plan against it: prints every problem, and warns of what is probably forgotten.",
  options: { plan: { kind: "one", value: "FILE", help: "a price plan to check against the book" } },
  run: check,
};

async function check(given: Arguments, io: Io): Promise<"done" | "problems"> {
  const path = bookPath(given);
  const file = await readBookFile(path, io);
  if (file === undefined) return "problems";
  const { book } = file;
  const planPath = given.one("plan");
  if (planPath === undefined) {
    await write(io.stdout, `${path}: ok, ${contentsOf(book)}\n`);
    for (const warning of bookWarnings(book)) await write(io.stderr, `${path}: warning: ${printable(warning)}\n`);
    return "done";
  }
  const plan = await readPlanFile(planPath, book, io);
  if (plan === undefined) return "problems";
  await write(io.stdout, `${planPath}: ok, price plan ${plan.id} version ${plan.version}\n`);
  return "done";
}

function contentsOf(book: Book): string {
  const counts: readonly (readonly [number, string])[] = [
    [book.eventSchemas.length, "event schema"],
    [book.usageMeters.length, "usage meter"],
    [book.pricePlans.length, "price plan"],
    [book.accounts.length, "account"],
  ];
  return counts.map(([count, noun]) => `${count} ${noun}${count === 1 ? "" : "s"}`).join(", ");
}
