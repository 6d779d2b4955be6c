/**
 * The command line: runs a command and converts errors to messages and exit codes.
 *
 * @module
 */
import type { Writable } from "node:stream";

import { findNearest } from "../book/did-you-mean.ts";
import { hasCode, RatebookError } from "../errors.ts";
import { InputError, quoteText } from "../event-files/input-error.ts";
import { toPrintable } from "../pages/printable.ts";
import { readPackageVersion } from "../server/version.ts";
import { type OptionSpecs, readArguments } from "./arguments.ts";
import { type Command, EXIT_DONE, EXIT_PROBLEMS, EXIT_USAGE } from "./command.ts";
import { backtestCommand } from "./commands/backtest.ts";
import { chartCommand } from "./commands/chart.ts";
import { checkCommand } from "./commands/check.ts";
import { conformanceCommand } from "./commands/conformance.ts";
import { diffCommand } from "./commands/diff.ts";
import { exportCommand } from "./commands/export.ts";
import { initCommand } from "./commands/init.ts";
import { keysCommand } from "./commands/keys.ts";
import { lateCommand } from "./commands/late.ts";
import { lintCommand } from "./commands/lint.ts";
import { loadCommand } from "./commands/load.ts";
import { meterCommand } from "./commands/meter.ts";
import { playCommand } from "./commands/play.ts";
import { previewCommand } from "./commands/preview.ts";
import { reportCommand } from "./commands/report.ts";
import { schemaCommand } from "./commands/schema.ts";
import { serveCommand } from "./commands/serve.ts";
import { sqlCommand } from "./commands/sql.ts";
import { verifyCommand } from "./commands/verify.ts";
import { UsageError } from "./errors.ts";
import { formatCommandHelp, formatOverview } from "./help.ts";
import { type Io, write } from "./io.ts";
import { describeMissingPackage } from "./missing-package.ts";
import { createTableStyle } from "./table/table-style.ts";

const COMMANDS: Readonly<Record<string, Command>> = {
  init: initCommand,
  preview: previewCommand,
  report: reportCommand,
  meter: meterCommand,
  sql: sqlCommand,
  check: checkCommand,
  schema: schemaCommand,
  verify: verifyCommand,
  lint: lintCommand,
  chart: chartCommand,
  play: playCommand,
  backtest: backtestCommand,
  diff: diffCommand,
  conformance: conformanceCommand,
  load: loadCommand,
  export: exportCommand,
  serve: serveCommand,
  keys: keysCommand,
  late: lateCommand,
};

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
    await write(io.stdout, `${readPackageVersion()}\n`);
    return EXIT_DONE;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    const nearest = findNearest(name, Object.keys(COMMANDS));
    const hint =
      nearest === undefined
        ? `expected ${new Intl.ListFormat("en", { type: "disjunction" }).format(Object.keys(COMMANDS))}`
        : `did you mean ${nearest}?`;
    throw new UsageError(`unknown command ${quoteText(name)}: ${hint}`);
  }
  if (rest.includes("--help") || rest.includes("-h")) {
    await write(io.stdout, formatCommandHelp(name, command, COMMON_OPTIONS, createTableStyle(io).width));
    return EXIT_DONE;
  }
  const args = readArguments(rest, { ...command.options, ...COMMON_OPTIONS });
  return (await command.run(args, io)) === "done" ? EXIT_DONE : EXIT_PROBLEMS;
}

async function reportFailure(error: unknown, debug: boolean, io: Io): Promise<number> {
  await write(io.stderr, describeFailure(error));
  if (debug && error instanceof Error) await write(io.stderr, `${error.stack ?? ""}\n`);
  if (error instanceof UsageError) return EXIT_USAGE;
  return hasCode(error, "ERR_OPTION_INVALID") && error.details.option !== "plan" ? EXIT_USAGE : EXIT_PROBLEMS;
}

/** The messages of an error, one per line. */
function describeFailure(error: unknown): string {
  if (error instanceof UsageError || error instanceof InputError) return `ratebook: ${toPrintable(error.message)}\n`;
  if (error instanceof RatebookError) return `ratebook: ${toPrintable(error.message)}\n`;
  const missingPackageText = describeMissingPackage(error);
  if (missingPackageText !== undefined) return `ratebook: ${toPrintable(missingPackageText)}\n`;
  const message = error instanceof Error ? error.message : String(error);
  return `ratebook: internal error in ratebook: ${toPrintable(message)} (use --debug for the stack trace)\n`;
}
