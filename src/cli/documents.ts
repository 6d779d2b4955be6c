/**
 * Reads the documents that a command names: a book, a plan.
 *
 * @module
 */
import { type Book, checkPlan, parseBook } from "../book/book.ts";
import type { PricePlan } from "../book/resources/price-plan.ts";
import { hasCode, type Problem } from "../errors.ts";
import { parseJson } from "../numbers/json.ts";
import { type Io, write } from "./io.ts";
import { openDocument } from "./json-document.ts";
import { problemLines } from "./problem-lines.ts";
import { InputError, reasonOf } from "./problems.ts";

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

/** A book, and the JSON that it was read from, without comments. */
export interface BookFile {
  readonly book: Book;
  readonly json: unknown;
}

/**
 * Reads a book and tells its problems on standard error. Comments and commas before closing brackets are accepted.
 *
 * @returns undefined when it has any
 */
export async function readBookFile(path: string, io: Io): Promise<BookFile | undefined> {
  return orTellProblems(path, io, (json) => ({
    book: parseBook(json),
    json: typeof json === "string" ? parseJson(json) : json,
  }));
}

/** As {@link readBookFile}, for a price plan to try on the accounts of a book. */
export async function readPlanFile(path: string, book: Book, io: Io): Promise<PricePlan | undefined> {
  return orTellProblems(path, io, (json) => checkPlan(json, book));
}

async function orTellProblems<T>(path: string, io: Io, read: (json: unknown) => T): Promise<T | undefined> {
  const text = await readTextFile(path, io);
  // Plain JSON is read as it is: its places are looked for only where something is wrong.
  const plain = attempt(read, text);
  if ("read" in plain) return plain.read;
  const document = openDocument(text);
  if (!("value" in document)) {
    const { line, column, message } = document;
    const [first] = plain.problems;
    const tooDeep = plain.problems.length === 1 && first !== undefined && !first.message.startsWith("not JSON");
    const problem = tooDeep ? first : { path: "$", message: `not JSON: ${message}` };
    await write(io.stderr, problemLines(path, text, [{ ...problem, place: tooDeep ? undefined : { line, column } }]));
    return undefined;
  }
  const isJson = !plain.problems.some(({ message }) => message.startsWith("not JSON"));
  const again = isJson ? plain : attempt(read, document.value);
  const repeated = isJson ? [] : document.repeated;
  if ("read" in again && repeated.length === 0) return again.read;
  const problems = [...repeated, ...("read" in again ? [] : again.problems)];
  const placed = problems.map((problem) => ({ ...problem, place: document.placeOf(problem) }));
  await write(io.stderr, problemLines(path, text, placed));
  return undefined;
}

/** What was read, or everything that is wrong with it. */
function attempt<T>(
  read: (json: unknown) => T,
  json: unknown,
): { readonly read: T } | { readonly problems: readonly Problem[] } {
  try {
    return { read: read(json) };
  } catch (error) {
    if (!hasCode(error, "ERR_BOOK_INVALID")) throw error;
    return { problems: error.details.problems };
  }
}
