/** Commands, their options and their arguments. */
import { parseArgs } from "node:util";

import { findNearest } from "../book/problems.ts";
import { hasCode } from "../errors.ts";
import { quoteText } from "../problem-table.ts";
import { UsageError } from "./errors.ts";
import type { Io } from "./io.ts";

export interface OptionSpec {
  /**
   * `flag` has no value, `one` has one, `many` can be repeated, `maybe` has an optional value after `=`. `list` can be
   * repeated, and once the command has its argument takes all values that follow.
   */
  readonly kind: "flag" | "one" | "many" | "list" | "maybe";
  /** A single letter for use after one dash. */
  readonly short?: string;
  /** The placeholder of its value in the help, such as `FILE`. */
  readonly value?: string;
  /** The allowed values. */
  readonly choices?: readonly string[];
  /** One line for the help. */
  readonly help: string;
}

/** The options of a command by name, without dashes. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** The parsed arguments. */
export interface Arguments {
  readonly positionals: readonly string[];
  flag(name: string): boolean;
  value(name: string): string | undefined;
  values(name: string): readonly string[];
}

/**
 * @throws {UsageError} for an unknown option, with the nearest known one; for a missing, unexpected or unknown value;
 * and for a repeated option
 */
export function readArguments(argv: readonly string[], specs: OptionSpecs): Arguments {
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, spec]) => [
      name,
      {
        type: spec.kind === "flag" || spec.kind === "maybe" ? ("boolean" as const) : ("string" as const),
        multiple: true,
        ...(spec.short === undefined ? {} : { short: spec.short }),
      },
    ]),
  );
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, allowPositionals: true, tokens: true });
  const positionals: string[] = [];
  const values = new Map<string, string[]>();
  let openList: string[] | undefined;
  for (const token of tokens) {
    if (token.kind === "positional")
      (positionals.length === 0 ? positionals : (openList ?? positionals)).push(token.value);
    if (token.kind !== "option") continue;
    const spec = Object.hasOwn(specs, token.name) ? specs[token.name] : undefined;
    if (spec === undefined) throw unknownOptionError(token.rawName, Object.keys(specs));
    const optionValues = values.get(token.name) ?? [];
    if (optionValues.length > 0 && (spec.kind === "one" || spec.kind === "maybe"))
      throw new UsageError(`--${token.name} can be given only once`);
    optionValues.push(requireValue(token.name, spec, token.value));
    values.set(token.name, optionValues);
    openList = spec.kind === "list" ? optionValues : undefined;
  }
  return {
    positionals,
    flag: (name) => values.has(name),
    value: (name) => values.get(name)?.[0],
    values: (name) => values.get(name) ?? [],
  };
}

function requireValue(name: string, spec: OptionSpec, value: string | undefined): string {
  if (spec.kind === "flag") {
    if (value !== undefined) throw new UsageError(`--${name} takes no value, got ${quoteText(value)}`);
    return "";
  }
  if (value === undefined && spec.kind === "maybe") return "";
  if (value === undefined || value === "") {
    throw new UsageError(`--${name} needs a value: --${name} ${spec.value ?? "VALUE"}`);
  }
  if (value.startsWith("--")) {
    throw new UsageError(
      `--${name} needs a value, got the option ${quoteText(value)}; for such a value write --${name}=…`,
    );
  }
  if (spec.choices !== undefined && !spec.choices.includes(value)) {
    // Marks are quoted: in "one of ,, ." they would look like part of the sentence.
    const choices = spec.choices.map((choice) => (/\w/.test(choice) ? choice : quoteText(choice)));
    throw new UsageError(`--${name} must be one of ${choices.join(", ")}, got ${quoteText(value)}`);
  }
  return value;
}

function unknownOptionError(rawName: string, optionNames: readonly string[]): UsageError {
  const nearest = findNearest(rawName.replace(/^-+/, ""), optionNames);
  const hint = nearest === undefined ? "see --help" : `did you mean --${nearest}?`;
  return new UsageError(`unknown option ${quoteText(rawName).slice(1, -1)}: ${hint}`);
}

/** The error for an unknown command, with the nearest known one. */
export function unknownCommandError(name: string, commandNames: readonly string[]): UsageError {
  const nearest = findNearest(name, commandNames);
  const hint =
    nearest === undefined
      ? `expected ${new Intl.ListFormat("en", { type: "disjunction" }).format(commandNames)}`
      : `did you mean ${nearest}?`;
  return new UsageError(`unknown command ${quoteText(name)}: ${hint}`);
}

export interface Command {
  /** The arguments after the command's name, such as `BOOK [options]`. */
  readonly usage: string;
  readonly options: OptionSpecs;
  /** The environment variables that it reads, with their purpose. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Runs the command. Returns "problems" if the input has problems, which it has printed. */
  readonly run: (args: Arguments, io: Io) => Promise<"done" | "problems">;
}

/** @param advice the option that names what was probably meant @throws {UsageError} for any argument but options */
export function requireNoArguments({ positionals }: Arguments, advice: string): void {
  if (positionals.length > 0) throw new UsageError(`unexpected ${quoteText(positionals.join(" "))}: ${advice}`);
}

/** The path of a book, which is the only argument. @throws {UsageError} as {@link requireFilePath} */
export function requireBookPath(args: Arguments): string {
  return requireFilePath(args, "BOOK");
}

/**
 * Returns the only argument.
 * @param argumentName its name in the usage line
 * @throws {UsageError} if it is missing, or there are more arguments
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

/**
 * Reads the value of an option; undefined without one.
 *
 * @param expected what the value should be, for the message
 * @param parse returns undefined for another text
 * @throws {UsageError} for another text
 */
export function readOption<Value>(
  args: Arguments,
  name: string,
  expected: string,
  parse: (text: string) => Value | undefined,
): Value | undefined {
  const text = args.value(name);
  const value = text === undefined ? undefined : parse(text);
  if (text === undefined || value !== undefined) return value;
  throw new UsageError(`--${name}: expected ${expected}, got ${quoteText(text)}`);
}

/** The number of `--port`; undefined without one. @throws {UsageError} for another text */
export function readPort(args: Arguments): number | undefined {
  const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
  return readOption(args, "port", "a whole number from 0 to 65535", (text) =>
    isPort(text) ? Number(text) : undefined,
  );
}

/** Runs what checks the value of an option. @throws {UsageError} that names the option, if the value is invalid */
export function checkOption<Result>(name: string, check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    const hasName = hasCode(error, "ERR_OPTION_INVALID") && toOptionName(error.details.option) === name;
    if (hasName) throw new UsageError(`--${name}: ${error.details.reason ?? error.message}`);
    if (hasCode(error, "ERR_NUMBER_INVALID") || hasCode(error, "ERR_DATE_INVALID"))
      throw new UsageError(`--${name}: ${error.message}`);
    throw error;
  }
}

/** `jump-share`, for the option `jumpShare` of a function. */
function toOptionName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
