/** `ratebook init`: writes a small book from a template or for a file of events. */
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { DecimalMark } from "../../event-files/cell-texts.ts";
import { InputError } from "../../event-files/input-error.ts";
import { toPrintable } from "../../pages/printable.ts";
import { quoteText } from "../../problem-table.ts";
import type { Arguments, Command } from "../arguments.ts";
import { describeSystemError, UsageError } from "../errors.ts";
import { generateBook, type GuessOptions } from "../init/generate-book.ts";
import { type Io, write } from "../io.ts";
import { hasNdjsonName } from "../reading/open-event-files.ts";
import { type OutputFile, readTemplate, TEMPLATE_NAMES, type TemplateName } from "../templates.ts";

const DECIMAL_MARKS: readonly DecimalMark[] = [",", "."];

export const initCommand: Command = {
  usage: "[DIR] [--template NAME | --from FILE [--time COLUMN] [--account COLUMN] [--id COLUMN] [--decimal ,|.]]",
  options: {
    template: { kind: "one", choices: TEMPLATE_NAMES, help: "the kind of product; default usage" },
    from: { kind: "one", value: "FILE", help: "your event file, CSV or NDJSON; a book and a map are generated for it" },
    time: {
      kind: "one",
      value: "COLUMN",
      help: "column of the timestamp, if the guess is wrong; for NDJSON a path such as request.at",
    },
    account: { kind: "one", value: "COLUMN", help: "column of the account, if the guess is wrong" },
    id: { kind: "one", value: "COLUMN", help: "column of the event id; duplicates are ignored" },
    decimal: { kind: "one", choices: DECIMAL_MARKS, help: "the decimal mark, if the numbers don't show it" },
  },
  run: runInit,
};

async function runInit(args: Arguments, io: Io): Promise<"done"> {
  const [path = ".", ...more] = args.positionals;
  if (more.length > 0) throw new UsageError(`init takes one directory, got ${quoteText(args.positionals.join(" "))}`);
  // `init usage.csv` means `init . --from usage.csv`.
  const isFile =
    args.value("from") === undefined && args.value("template") === undefined && (await isExistingFile(path));
  const [directory, from] = isFile ? [".", path] : [path, args.value("from")];
  const name = TEMPLATE_NAMES.find((each) => each === args.value("template"));
  if (from === "-") throw new UsageError("--from needs a file, not standard input");
  if (from !== undefined && name !== undefined) throw new UsageError("use either --template or --from");
  const options = readGuessOptions(args);
  if (from === undefined && (Object.keys(options.columns).length > 0 || options.decimal !== undefined))
    throw new UsageError("--time, --account, --id and --decimal need --from");
  const shellPath = createShellPath(directory);
  const start = await (from === undefined ? startFromTemplate(name, shellPath) : startFromFile(from, options, io));
  await writeNewFiles(directory, start.files, start.options);
  await printStart(start, shellPath, io);
  return "done";
}

async function printStart(
  { files, notes, advice = "", events, previewOptions = "" }: Start,
  shellPath: (file: string) => string,
  io: Io,
): Promise<void> {
  const paths = files.map((file) => shellPath(file.name));
  const [book = "", map = ""] = paths.filter((each) => each.endsWith(".jsonc"));
  const mapOption = map === "" ? "" : ` --map ${map}`;
  const lines = [
    ...notes,
    `wrote ${paths.join(", ")}${advice}`,
    "",
    "Next:",
    `  npx ratebook check ${book}`,
    `  npx ratebook preview ${book} --events ${events}${mapOption}${previewOptions}`,
  ];
  await write(io.stdout, `${lines.map(toPrintable).join("\n")}\n`);
}

/** What `init` writes and prints. */
interface Start {
  /** The book, and then the map if there is one. */
  readonly files: readonly OutputFile[];
  readonly notes: readonly string[];
  /** What to do with the files. */
  readonly advice?: string;
  /** The path of the events, quoted for a shell, and further options of the preview. */
  readonly events: string;
  readonly previewOptions?: string;
  /** The options of the command that writes the files elsewhere. */
  readonly options: string;
}

async function isExistingFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** @param name the template of the option, default `usage` */
async function startFromTemplate(name: TemplateName | undefined, shellPath: (file: string) => string): Promise<Start> {
  const files = await readTemplate(name ?? "usage");
  return {
    files,
    notes: [],
    events: shellPath("events.csv"),
    options: name === undefined ? "" : ` --template ${name}`,
  };
}

/** A book, and a map if needed, for the events of a file. */
async function startFromFile(from: string, options: GuessOptions, io: Io): Promise<Start> {
  const { files, isJson, rate, notes } = await generateBook(from, options, io);
  // The file name determines the format, except for JSON files with other extensions.
  const formatOption = isJson && files.length > 1 && !hasNdjsonName(from) ? " --event-format ndjson" : "";
  return {
    files,
    notes,
    advice: `; placeholder price: ${rate} per unit. Edit each "rate" in the book`,
    events: quoteForShell(from),
    previewOptions: `${formatOption} --accounts-from-events --summary`,
    options: ` --from ${quoteForShell(from)}${formatGuessOptions(options)}`,
  };
}

/** The paths of files in a directory, quoted for a shell. */
function createShellPath(directory: string): (file: string) => string {
  return (file) => quoteForShell(directory === "." ? file : join(directory, file));
}

/** The columns and the decimal mark that options name. */
function readGuessOptions(args: Arguments): GuessOptions {
  const namedColumns = (["time", "account", "id"] as const).flatMap((part) => {
    const column = args.value(part);
    return column === undefined ? [] : [[part, column] as const];
  });
  return {
    columns: Object.fromEntries(namedColumns),
    decimal: DECIMAL_MARKS.find((mark) => mark === args.value("decimal")),
  };
}

function formatGuessOptions({ columns, decimal }: GuessOptions): string {
  return Object.entries({ ...columns, ...(decimal !== undefined && { decimal }) })
    .map(([option, value]) => ` --${option} ${quoteForShell(value)}`)
    .join("");
}

/** Writes all files, or none if one exists. @param options the options of the command, for its suggestion */
async function writeNewFiles(directory: string, files: readonly OutputFile[], options: string): Promise<void> {
  const writtenPaths: string[] = [];
  try {
    await mkdir(directory, { recursive: true });
    for (const { name, text } of files) {
      const path = join(directory, name);
      await writeFile(path, text, { flag: "wx" });
      writtenPaths.push(path);
    }
  } catch (error) {
    for (const path of writtenPaths) await rm(path, { force: true });
    const name = join(directory, files[writtenPaths.length]?.name ?? "");
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && syscall === "mkdir")
      throw new InputError(`${directory}: expected a directory, got a file; choose another one`);
    if (code === "EEXIST") {
      throw new InputError(`${name} exists; choose another directory, as in: ratebook init DIR${options}`);
    }
    throw new InputError(`${name}: cannot write: ${describeSystemError(error)}`);
  }
}

/** Quotes a path for a shell if needed. */
function quoteForShell(path: string): string {
  return /^[\w./@:+,-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
