/**
 * `ratebook init`: a small book to begin with, from a template or for a file of events that somebody has.
 *
 * @module
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { printable } from "../pages/printable.ts";
import type { ToldColumns } from "../records/columns.ts";
import { InputError, quoted } from "../records/problems.ts";
import type { Arguments } from "./arguments.ts";
import type { Command } from "./command.ts";
import { endsAsNdjson } from "./event-files.ts";
import { madeOfFile } from "./init/from-file.ts";
import { TEMPLATE_NAMES, templateOf } from "./init/templates.ts";
import { type Io, write } from "./io.ts";
import { reasonOf, UsageError } from "./problems.ts";

/** Writes a book that runs at once. */
export const initCommand: Command = {
  usage: "[DIR] [--template NAME | --from FILE [--time COLUMN] [--account COLUMN] [--id COLUMN]]",
  summary: "Writes a small commented book that runs at once: from a template, or for a file of your own events.",
  options: {
    template: { kind: "one", choices: TEMPLATE_NAMES, help: "what is sold; default usage" },
    from: { kind: "one", value: "FILE", help: "events of your own, CSV or NDJSON: a book and a map are made for them" },
    time: {
      kind: "one",
      value: "COLUMN",
      help: "where the time is, where it is guessed wrong; of NDJSON a path such as request.at",
    },
    account: { kind: "one", value: "COLUMN", help: "where the account is, where it is guessed wrong or not at all" },
    id: { kind: "one", value: "COLUMN", help: "where the event's id is; two events of one id are one" },
  },
  run: init,
};

interface NewFile {
  readonly name: string;
  readonly text: string;
}

async function init(given: Arguments, io: Io): Promise<"done"> {
  const [directory = ".", ...more] = given.positionals;
  if (more.length > 0) throw new UsageError(`init takes one directory, got ${quoted(given.positionals.join(" "))}`);
  const from = given.one("from");
  const name = TEMPLATE_NAMES.find((each) => each === given.one("template"));
  if (from === "-") throw new UsageError("--from needs a file, which is read again when it is priced");
  if (from !== undefined && name !== undefined) throw new UsageError("give either --template or --from, not both");
  const told = toldColumns(given);
  if (from === undefined && Object.keys(told).length > 0)
    throw new UsageError("--time, --account and --id need --from");
  const at = (file: string): string => shellWord(directory === "." ? file : join(directory, file));
  if (from === undefined) {
    const { book, events, map } = templateOf(name ?? "usage");
    await writeAll(directory, [
      { name: "book.jsonc", text: book },
      { name: "events.csv", text: events },
      { name: "map.jsonc", text: map },
    ]);
    await tell(io, [`wrote ${at("book.jsonc")}, ${at("events.csv")}, ${at("map.jsonc")}`], {
      check: `npx ratebook check ${at("book.jsonc")}`,
      preview: `npx ratebook preview ${at("book.jsonc")} --events ${at("events.csv")} --map ${at("map.jsonc")}`,
    });
    return "done";
  }
  const { book, map, isJson, notes } = await madeOfFile(from, told, io);
  await writeAll(directory, [
    { name: "book.jsonc", text: book },
    ...(map === undefined ? [] : [{ name: "map.jsonc", text: map }]),
  ]);
  // The name of a file says how it is read, but for files of JSON with other endings.
  const reader = isJson && map !== undefined && !endsAsNdjson(from) ? " --reader ndjson" : "";
  const mapped = map === undefined ? "" : ` --map ${at("map.jsonc")}${reader}`;
  const wrote = `wrote ${at("book.jsonc")}${map === undefined ? "" : `, ${at("map.jsonc")}`}`;
  await tell(io, [...notes, `${wrote}; every unit costs a cent: change each "rate" in the book`], {
    check: `npx ratebook check ${at("book.jsonc")}`,
    preview: `npx ratebook preview ${at("book.jsonc")} --events ${shellWord(from)}${mapped} --accounts-from-events --summary`,
  });
  return "done";
}

/** The columns that the options name. */
function toldColumns(given: Arguments): ToldColumns {
  const told = (["time", "account", "id"] as const).flatMap((part) => {
    const column = given.one(part);
    return column === undefined ? [] : [[part, column] as const];
  });
  return Object.fromEntries(told);
}

async function tell(
  io: Io,
  notes: readonly string[],
  next: { readonly check: string; readonly preview: string },
): Promise<void> {
  const lines = [...notes, "", "Next:", `  ${next.check}`, `  ${next.preview}`];
  await write(io.stdout, `${lines.map(printable).join("\n")}\n`);
}

/** Writes all of the files, or none where one is there already. */
async function writeAll(directory: string, files: readonly NewFile[]): Promise<void> {
  const written: string[] = [];
  try {
    await mkdir(directory, { recursive: true });
    for (const { name, text } of files) {
      const path = join(directory, name);
      await writeFile(path, text, { flag: "wx" });
      written.push(path);
    }
  } catch (error) {
    for (const path of written) await rm(path, { force: true });
    const name = join(directory, files[written.length]?.name ?? "");
    if ((error as NodeJS.ErrnoException).code === "EEXIST" && (error as NodeJS.ErrnoException).syscall !== "mkdir") {
      throw new InputError(
        `${name} is there already: nothing was written; say another directory, as in: ratebook init DIR`,
      );
    }
    throw new InputError(`${name}: cannot be written: ${reasonOf(error)}`);
  }
}

/** A path as a shell takes it for one word. */
function shellWord(path: string): string {
  return /^[\w./@:+,-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
