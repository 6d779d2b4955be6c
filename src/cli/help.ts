/**
 * The text of `--help`: the commands, or the options of one, as wide as the terminal.
 *
 * @module
 */
import type { OptionSpec, OptionSpecs } from "./arguments.ts";
import type { Command } from "./command.ts";
import { wrapped } from "./table/wrapped.ts";

/** The widest name of an option that its text stands beside; the text of a longer one is below it. */
const BESIDE_MAX = 28;

/** All commands with their summaries. @param width characters of a line */
export function overview(commands: Readonly<Record<string, Command>>, width: number): string {
  const rows = Object.entries(commands).map(([left, { summary }]) => ({ left, right: summary }));
  return [
    "Usage: ratebook COMMAND [arguments]",
    "",
    ...table(rows, width),
    "",
    "ratebook COMMAND --help says more about a command,",
    "ratebook --version prints the version.",
    "",
  ].join("\n");
}

/** One command: its usage, options and variables of the environment. @param width characters of a line */
export function helpOf(name: string, command: Command, everywhere: OptionSpecs, width: number): string {
  const { usage, summary, options, variables = {} } = command;
  const rows = Object.entries({ ...options, ...everywhere }).map(([option, spec]) => ({
    left: leftOf(option, spec),
    right: rightOf(spec),
  }));
  const told = Object.entries(variables).map(([left, right]) => ({ left, right }));
  return [
    wrapped(`Usage: ratebook ${name} ${usage}`, width, "  "),
    "",
    wrapped(summary, width, ""),
    "",
    ...table(rows, width),
    "",
    ...(told.length === 0 ? [] : ["Environment:", "", ...table(told, width), ""]),
    "Exit codes: 0 done, 1 the input has problems, 2 wrong usage.",
    "",
  ].join("\n");
}

function leftOf(option: string, { kind, choices, value, short }: OptionSpec): string {
  const shown = value ?? choices?.join("|") ?? "VALUE";
  const given = kind === "flag" ? "" : kind === "maybe" ? `[=${shown}]` : ` ${shown}`;
  return `${short === undefined ? "" : `-${short}, `}--${option}${given}`;
}

/** The choices of a value that has a name are told behind what it does. */
function rightOf({ help, kind, choices, value }: OptionSpec): string {
  const chosen = choices === undefined || value === undefined ? "" : `: ${choices.join(", ")}`;
  return `${help}${chosen}${kind === "many" || kind === "list" ? "; repeatable" : ""}`;
}

/** Names, and texts beside them. */
function table(rows: readonly { readonly left: string; readonly right: string }[], width: number): readonly string[] {
  const beside = Math.max(...rows.map(({ left }) => left.length).filter((length) => length <= BESIDE_MAX));
  const indent = " ".repeat(beside + 4);
  return rows.flatMap(({ left, right }) => {
    const text = wrapped(`${indent}${right}`, width, indent);
    return left.length <= beside ? [`  ${left.padEnd(beside)}  ${text.trimStart()}`] : [`  ${left}`, text];
  });
}
