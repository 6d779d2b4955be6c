/**
 * The command line: finds the command, runs it, and turns whatever goes wrong into one line and an exit code.
 *
 * @module
 */
import type { Writable } from "node:stream";

import { nearestOf } from "../book/nearest.ts";
import { hasCode, RatebookError } from "../errors.ts";
import { printable } from "../pages/printable.ts";
import { InputError, quoted } from "../records/problems.ts";
import { packageVersion } from "../server/version.ts";
import { type OptionSpecs, readArguments } from "./arguments.ts";
import { backtestCommand } from "./backtest.ts";
import { chartCommand } from "./chart.ts";
import { checkCommand } from "./check.ts";
import { type Command, EXIT_DONE, EXIT_PROBLEMS, EXIT_USAGE } from "./command.ts";
import { conformanceCommand } from "./conformance.ts";
import { diffCommand } from "./diff.ts";
import { exportCommand } from "./export.ts";
import { helpOf, overview } from "./help.ts";
import { initCommand } from "./init.ts";
import { type Io, write } from "./io.ts";
import { keysCommand } from "./keys.ts";
import { lateCommand } from "./late.ts";
import { lintCommand } from "./lint.ts";
import { loadCommand } from "./load.ts";
import { meterCommand } from "./meter.ts";
import { missingPackage } from "./missing-package.ts";
import { playCommand } from "./play.ts";
import { previewCommand } from "./preview.ts";
import { UsageError, withDashes } from "./problems.ts";
import { reportCommand } from "./report.ts";
import { schemaCommand } from "./schema.ts";
import { serveCommand } from "./serve.ts";
import { sqlCommand } from "./sql.ts";
import { styleOf } from "./table/style.ts";
import { verifyCommand } from "./verify.ts";

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

/** Options that every command has. */
const EVERYWHERE: OptionSpecs = {
  debug: { kind: "flag", help: "print the stack of an error" },
  help: { kind: "flag", help: "print this help" },
};

/**
 * Runs one command.
 *
 * @param argv the arguments after the program's name
 * @returns the exit code: 0 done, 1 the input has problems, 2 wrong usage
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  let unwritten: NodeJS.ErrnoException | undefined;
  io.stdout.on("error", (error: NodeJS.ErrnoException) => (unwritten ??= error));
  const ignore = (): void => undefined;
  io.stderr.on("error", ignore);
  try {
    const code = await runCommand(argv, io).catch(async (error: unknown) =>
      failWith(error, argv.includes("--debug"), io),
    );
    await flushed(io.stdout);
    // A reader that has seen enough closes the pipe; that is no error.
    if (unwritten === undefined || unwritten.code === "EPIPE") return code;
    await write(io.stderr, `ratebook: standard output cannot be written: ${printable(unwritten.message)}\n`);
    return EXIT_PROBLEMS;
  } finally {
    io.stderr.off("error", ignore);
  }
}

/** Waits until all that was written has gone, or has failed and said so. */
async function flushed(stream: Writable): Promise<void> {
  if (!stream.destroyed && !stream.writableEnded)
    await new Promise<void>((resolve) => void stream.write("", () => resolve()));
  // A stream tells an error after the write that met it.
  await new Promise((resolve) => void setImmediate(resolve));
}

async function runCommand(argv: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") {
    await write(name === undefined ? io.stderr : io.stdout, overview(COMMANDS, styleOf(io).width));
    return name === undefined ? EXIT_USAGE : EXIT_DONE;
  }
  if (name === "--version" || name === "version") {
    await write(io.stdout, `${packageVersion()}\n`);
    return EXIT_DONE;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    const nearest = nearestOf(name, Object.keys(COMMANDS));
    const hint =
      nearest === undefined
        ? `expected ${new Intl.ListFormat("en", { type: "disjunction" }).format(Object.keys(COMMANDS))}`
        : `did you mean ${nearest}?`;
    throw new UsageError(`unknown command ${quoted(name)}: ${hint}`);
  }
  if (rest.includes("--help") || rest.includes("-h")) {
    await write(io.stdout, helpOf(name, command, EVERYWHERE, styleOf(io).width));
    return EXIT_DONE;
  }
  const given = readArguments(rest, { ...command.options, ...EVERYWHERE });
  return (await command.run(given, io)) === "done" ? EXIT_DONE : EXIT_PROBLEMS;
}

async function failWith(error: unknown, debug: boolean, io: Io): Promise<number> {
  await write(io.stderr, linesOf(error));
  if (debug && error instanceof Error) await write(io.stderr, `${error.stack ?? ""}\n`);
  if (error instanceof UsageError) return EXIT_USAGE;
  return hasCode(error, "ERR_OPTION_INVALID") && error.details.option !== "plan" ? EXIT_USAGE : EXIT_PROBLEMS;
}

/** The sentences of an error, one a line. */
function linesOf(error: unknown): string {
  if (error instanceof UsageError || error instanceof InputError) return `ratebook: ${printable(error.message)}\n`;
  if (hasCode(error, "ERR_OPTION_INVALID")) return `ratebook: ${printable(withDashes(error.message))}\n`;
  if (error instanceof RatebookError) return `ratebook: ${printable(error.message)}\n`;
  const missing = missingPackage(error);
  if (missing !== undefined) return `ratebook: ${printable(missing)}\n`;
  const message = error instanceof Error ? error.message : String(error);
  return `ratebook: a fault of ratebook itself: ${printable(message)} (--debug prints where)\n`;
}
