/**
 * What a command of the command line is.
 *
 * @module
 */
import { type Arguments, type OptionSpecs } from "./arguments.ts";
import { UsageError } from "./errors.ts";
import type { Io } from "./io.ts";

/** Done. */
export const EXIT_DONE = 0;
/** The input has problems. */
export const EXIT_PROBLEMS = 1;
/** The command was called in a wrong way. */
export const EXIT_USAGE = 2;

/** One command. */
export interface Command {
  /** What follows the command's name, such as `BOOK [options]`. */
  readonly usage: string;
  /** One line on what it does. */
  readonly summary: string;
  readonly options: OptionSpecs;
  /** The environment variables that it reads, by name, each with its purpose. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Runs it. The answer says whether the input had problems; these were printed already. */
  readonly run: (args: Arguments, io: Io) => Promise<"done" | "problems">;
}

/** The path of a book, the one argument of a command. @throws {UsageError} when there is none, or more than one */
export function requireBookPath(args: Arguments): string {
  return requireFilePath(args, "BOOK");
}

/** The one argument of a command. @param argumentName it is called in its usage @throws {UsageError} as {@link requireBookPath} */
export function requireFilePath({ positionals }: Arguments, argumentName: string): string {
  const [path, ...more] = positionals;
  if (path === undefined) {
    throw new UsageError(`missing ${argumentName}: give the path of ${argumentName === "BOOK" ? "a book" : "a file"}`);
  }
  if (more.length > 0) {
    throw new UsageError(
      `expected one ${argumentName}, got ${positionals.length} arguments: ${positionals.join(" ").slice(0, 60)}`,
    );
  }
  return path;
}
