/** `ratebook format`: writes a book in short or long form, with its comments. */
import { type Arguments, type Command, requireBookPath } from "../arguments.ts";
import { formatBookText } from "../documents/format-book.ts";
import { readBookFile, readTextFile } from "../documents/read-documents.ts";
import { UsageError } from "../errors.ts";
import { type Io, write } from "../io.ts";
import { writeToFile } from "../output/output-file.ts";

export const formatCommand: Command = {
  usage: "BOOK [--short|--long] [--check] [-o FILE]",
  options: {
    short: { kind: "flag", help: "write the short form, and leave long what it cannot say; the default" },
    long: { kind: "flag", help: "write the long form" },
    check: { kind: "flag", help: "write nothing; exit with 1 if the file would change" },
    output: { kind: "one", short: "o", value: "FILE", help: "write to this file; default BOOK itself" },
  },
  run: runFormat,
};

async function runFormat(args: Arguments, io: Io): Promise<"done" | "problems"> {
  const path = requireBookPath(args);
  const output = args.value("output");
  const form = args.flag("long") ? "long" : "short";
  const isCheck = args.flag("check");
  if (args.flag("short") && form === "long") throw new UsageError("--short and --long exclude each other");
  if (isCheck && output !== undefined) throw new UsageError("--check writes nothing; remove --output");
  await readBookFile(path, io);
  const text = await readTextFile(path, io);
  const formatted = formatBookText(text, form);
  if (formatted === text && output === undefined) return "done";
  if (!isCheck) {
    await writeToFile(output ?? path, io, async ({ stdout }) => write(stdout, formatted));
    return "done";
  }
  const option = form === "long" ? " --long" : "";
  await write(io.stderr, `${path}: not formatted; run ratebook format ${path}${option}\n`);
  return "problems";
}
