/**
 * `ratebook lint`: what is legal in a book and surely unwanted.
 *
 * @module
 */
import { openDocument } from "../book/reading/json-document.ts";
import { hasCode } from "../errors.ts";
import { printable } from "../pages/printable.ts";
import { lintBook } from "../proof/lint/lint-book.ts";
import type { Arguments } from "./arguments.ts";
import { bookPath, type Command } from "./command.ts";
import { readBookFile, readTextFile } from "./documents.ts";
import { outputOptions } from "./input-options.ts";
import { type Io, write } from "./io.ts";
import { type PlacedFinding, sarifOf } from "./lint-sarif.ts";
import { withOutput } from "./output.ts";
import { UsageError } from "./problems.ts";

/** Prints what lint finds in a book. */
export const lintCommand: Command = {
  usage: "BOOK [options]",
  summary: "Finds prices and rules that are valid but almost surely a mistake, each with an example to check by hand.",
  options: {
    ...outputOptions(["text", "json", "sarif"], "findings"),
    "jump-share": {
      kind: "one",
      value: "SHARE",
      help: "how far a price may jump at a slab's edge, as a share of it; default 1: it may double",
    },
    all: { kind: "flag", help: "also show the findings that the book silences" },
  },
  run: lint,
};

async function lint(given: Arguments, io: Io): Promise<"done" | "problems"> {
  const path = bookPath(given);
  const file = await readBookFile(path, io);
  if (file === undefined) return "problems";
  const text = await readTextFile(path, io);
  const document = openDocument(text);
  const found = findingsIn(file.book, given.one("jump-share")).map((each): PlacedFinding => ({
    ...each,
    place: "placeOf" in document ? document.placeOf(each) : undefined,
  }));
  await withOutput(given, io, async ({ stdout }) => {
    switch (given.one("format") ?? "text") {
      case "json":
        await write(stdout, `${JSON.stringify({ findings: found }, null, 2)}\n`);
        break;
      case "sarif":
        await write(stdout, `${JSON.stringify(sarifOf(path, found), null, 2)}\n`);
        break;
      default:
        await write(stdout, textOf(path, found, given.flag("all")));
    }
  });
  return found.some(({ level, silenced }) => level === "warning" && silenced === undefined) ? "problems" : "done";
}

function findingsIn(book: Parameters<typeof lintBook>[0], jumpShare: string | undefined): ReturnType<typeof lintBook> {
  try {
    return lintBook(book, { jumpShare });
  } catch (error) {
    if (hasCode(error, "ERR_NUMBER_INVALID")) throw new UsageError(`--jump-share: ${error.message}`);
    if (hasCode(error, "ERR_OPTION_INVALID")) {
      throw new UsageError(error.message.replace(/^jumpShare/, "--jump-share"));
    }
    throw error;
  }
}

/** Two lines a finding, and how many there are. */
function textOf(file: string, found: readonly PlacedFinding[], all: boolean): string {
  const open = found.filter(({ silenced }) => silenced === undefined);
  const lines = (all ? found : open).flatMap(({ place, level, code, at, message, example, searched, silenced }) => [
    `${place === undefined ? file : `${file}:${place.line}:${place.column}`}: ${level} ${code} ${at}: ${message}${searched ? " (searched)" : ""}`,
    ...(example === undefined ? [] : [`  ${example}`]),
    ...(silenced === undefined ? [] : [`  silenced: ${silenced}`]),
  ]);
  const count = (level: PlacedFinding["level"]): string => {
    const number = open.filter((each) => each.level === level).length;
    return `${number} ${level}${number === 1 ? "" : "s"}`;
  };
  const silent = found.length - open.length;
  const end = `${file}: ${count("warning")}, ${count("note")}${silent === 0 ? "" : `, ${silent} silenced`}`;
  return [...lines, end, ""].map(printable).join("\n");
}
