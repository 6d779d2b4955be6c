/** Commands of the command line. */
import type { Arguments, OptionSpecs } from "./arguments.ts";
import { UsageError } from "./errors.ts";
import type { Io } from "./io.ts";

export interface Command {
  /** The arguments after the command's name, such as `BOOK [options]`. */
  readonly usage: string;
  readonly options: OptionSpecs;
  /** The environment variables that it reads, with their purpose. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Runs the command. Returns "problems" if the input has problems, which it has printed. */
  readonly run: (args: Arguments, io: Io) => Promise<"done" | "problems">;
}

/**
 * Returns the path of a book, which is the only argument.
 * @throws {UsageError} if it is missing, or there are more arguments
 */
export function requireBookPath(args: Arguments): string {
  return requireFilePath(args, "BOOK");
}

/**
 * Returns the only argument.
 * @param argumentName its name in the usage line
 * @throws {UsageError} as {@link requireBookPath}
 */
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
