/**
 * Reads the documents that a command names: a book, a plan.
 *
 * @module
 */
import { type Book, checkPlan, readBook } from "../book/book.ts";
import type { PricePlan } from "../book/resources/price-plan.ts";
import { hasCode } from "../errors.ts";
import { type Io, write } from "./io.ts";
import { InputError, reasonOf } from "./problems.ts";
import { printable } from "./table/printable.ts";

/**
 * The text of a small file.
 *
 * @throws {InputError} when it cannot be read or is not UTF-8
 */
export async function readTextFile(path: string, io: Io): Promise<string> {
  let bytes: Uint8Array;
  try {
    bytes = await io.readFile(path);
  } catch (error) {
    throw new InputError(`${path}: ${reasonOf(error)}`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new InputError(`${path}: the file is not valid UTF-8`);
  }
}

/**
 * Reads a book and tells its problems on standard error, one a line.
 *
 * @returns undefined when it has any
 */
export async function readBookFile(path: string, io: Io): Promise<Book | undefined> {
  const text = await readTextFile(path, io);
  return orTellProblems(path, io, () => readBook(text));
}

/** As {@link readBookFile}, for a price plan to try on the accounts of a book. */
export async function readPlanFile(path: string, book: Book, io: Io): Promise<PricePlan | undefined> {
  const text = await readTextFile(path, io);
  return orTellProblems(path, io, () => checkPlan(text, book));
}

async function orTellProblems<T>(path: string, io: Io, read: () => T): Promise<T | undefined> {
  try {
    return read();
  } catch (error) {
    if (!hasCode(error, "ERR_BOOK_INVALID")) throw error;
    const { problems } = error.details;
    const lines = problems.map((problem) => `${path}: ${problem.path}: ${problem.message}`);
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    await write(io.stderr, [...lines.map(printable), `${path}: ${count}`, ""].join("\n"));
    return undefined;
  }
}
