/** The command line: runs a command and converts errors to messages and exit codes. */
import type { Writable } from "node:stream";

import { toPrintable } from "../pages/printable.ts";
import type { OptionSpecs } from "./arguments.ts";
import { COMMANDS } from "./command-table.ts";
import { ProblemsError } from "./errors.ts";
import { describeFailure, isWrongUsage } from "./failures.ts";
import { formatCommandHelp, formatOverview } from "./help.ts";
import { type Io, write } from "./io.ts";
import { createTableStyle } from "./table/table-style.ts";

/** Success. */
const EXIT_DONE = 0;
/** The input has problems. */
const EXIT_PROBLEMS = 1;
/** Wrong usage. */
const EXIT_USAGE = 2;

/** Options of every command. */
const COMMON_OPTIONS: OptionSpecs = {
  debug: { kind: "flag", help: "print the stack trace of errors" },
  help: { kind: "flag", help: "print this help" },
};

/**
 * Runs a command.
 *
 * @param argv the arguments after the program's name
 * @returns the exit code: 0 success, 1 problems in the input, 2 wrong usage
 */
export async function runCommandLine(argv: readonly string[], io: Io): Promise<number> {
  let outputError: NodeJS.ErrnoException | undefined;
  io.stdout.on("error", (error: NodeJS.ErrnoException) => (outputError ??= error));
  const ignoreError = (): void => undefined;
  io.stderr.on("error", ignoreError);
  try {
    const code = await runCommand(argv, io).catch(async (error: unknown) =>
      reportFailure(error, argv.includes("--debug"), io),
    );
    await flush(io.stdout);
    // A closed pipe is not an error; its reader has seen enough.
    if (outputError === undefined || outputError.code === "EPIPE") return code;
    await write(io.stderr, `ratebook: cannot write to standard output: ${toPrintable(outputError.message)}\n`);
    return EXIT_PROBLEMS;
  } finally {
    io.stderr.off("error", ignoreError);
  }
}

/** Waits until everything is written, or writing has failed. */
async function flush(stream: Writable): Promise<void> {
  if (!stream.destroyed && !stream.writableEnded)
    await new Promise<void>((resolve) => void stream.write("", () => resolve()));
  // A stream emits an error after the write that caused it.
  await new Promise((resolve) => void setImmediate(resolve));
}

async function runCommand(argv: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    await write(name === undefined ? io.stderr : io.stdout, formatOverview(COMMANDS, createTableStyle(io).width));
    return name === undefined ? EXIT_USAGE : EXIT_DONE;
  }
  if (name === "--version" || name === "version") {
    const { readPackageVersion } = await import("../server/version.ts");
    await write(io.stdout, `${readPackageVersion()}\n`);
    return EXIT_DONE;
  }
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const { readArguments, unknownCommandError } = await import("./arguments.ts");
  if (entry === undefined) throw unknownCommandError(name, Object.keys(COMMANDS));
  const command = await entry.load();
  if (rest.includes("--help") || rest.includes("-h")) {
    const help = { ...command, summary: entry.summary };
    await write(io.stdout, formatCommandHelp(name, help, COMMON_OPTIONS, createTableStyle(io).width));
    return EXIT_DONE;
  }
  const args = readArguments(rest, { ...command.options, ...COMMON_OPTIONS });
  return (await command.run(args, io)) === "done" ? EXIT_DONE : EXIT_PROBLEMS;
}

/** Prints an error. @returns the exit code */
async function reportFailure(error: unknown, debug: boolean, io: Io): Promise<number> {
  await write(io.stderr, describeFailure(error));
  if (debug && error instanceof Error && !(error instanceof ProblemsError))
    await write(io.stderr, `${error.stack ?? ""}\n`);
  return isWrongUsage(error) ? EXIT_USAGE : EXIT_PROBLEMS;
}
