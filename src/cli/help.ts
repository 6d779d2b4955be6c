/** The text of `--help`: all commands, or the options of one, at the terminal's width. */
import type { Command, OptionSpec, OptionSpecs } from "./arguments.ts";
import type { CommandEntry } from "./command-table.ts";
import { wrapText } from "./table/table-style.ts";

/** The maximum width of an option's name with its text beside it; texts of longer names are on the next line. */
const LABEL_WIDTH_MAX = 28;

/** All commands with their summaries. @param width characters per line */
export function formatOverview(commands: Readonly<Record<string, CommandEntry>>, width: number): string {
  const rows = Object.entries(commands).map(([label, { summary }]) => ({ label, description: summary }));
  return [
    "Usage: ratebook COMMAND [arguments]",
    "",
    ...formatRows(rows, width),
    "",
    "ratebook COMMAND --help shows the options of a command,",
    "ratebook --version shows the version.",
    "",
  ].join("\n");
}

/** The usage, options and environment variables of a command. @param width characters per line */
export function formatCommandHelp(
  name: string,
  command: Command & Pick<CommandEntry, "summary">,
  commonOptions: OptionSpecs,
  width: number,
): string {
  const { usage, summary, options, variables = {} } = command;
  const rows = Object.entries({ ...options, ...commonOptions }).map(([option, spec]) => ({
    label: formatOptionName(option, spec),
    description: formatOptionHelp(spec),
  }));
  const variableRows = Object.entries(variables).map(([label, description]) => ({ label, description }));
  return [
    wrapText(`Usage: ratebook ${name} ${usage}`, width, "  "),
    "",
    wrapText(summary, width, ""),
    "",
    ...formatRows(rows, width),
    "",
    ...(variableRows.length === 0 ? [] : ["Environment:", "", ...formatRows(variableRows, width), ""]),
    "Exit codes: 0 done, 1 failed or problems found, 2 wrong usage.",
    "",
  ].join("\n");
}

function formatOptionName(option: string, { kind, choices, value, short }: OptionSpec): string {
  const placeholder = value ?? choices?.join("|") ?? "VALUE";
  const suffix = kind === "flag" ? "" : kind === "maybe" ? `[=${placeholder}]` : ` ${placeholder}`;
  return `${short === undefined ? "" : `-${short}, `}--${option}${suffix}`;
}

/** An option's description, followed by its choices if it has a named value. */
function formatOptionHelp({ help, kind, choices, value }: OptionSpec): string {
  const choicesText = choices === undefined || value === undefined ? "" : `: ${choices.join(", ")}`;
  return `${help}${choicesText}${kind === "many" || kind === "list" ? "; repeatable" : ""}`;
}

/** Names with texts beside them. */
function formatRows(
  rows: readonly { readonly label: string; readonly description: string }[],
  width: number,
): readonly string[] {
  const labelWidth = Math.max(...rows.map(({ label }) => label.length).filter((length) => length <= LABEL_WIDTH_MAX));
  const indent = " ".repeat(labelWidth + 4);
  return rows.flatMap(({ label, description }) => {
    const text = wrapText(`${indent}${description}`, width, indent);
    return label.length <= labelWidth ? [`  ${label.padEnd(labelWidth)}  ${text.trimStart()}`] : [`  ${label}`, text];
  });
}
