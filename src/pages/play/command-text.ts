/** The command line that prices the same as the playground, with its files, to paste into a shell. */
import type { Book } from "../../book/resources/book.ts";
import { stringifyJson } from "../../numbers/json.ts";
import { listUsageRows } from "./play-bill.ts";
import type { PlayState } from "./play-state.ts";

/** A file of events that is in the folder of the shell, and the text of its map. */
interface NamedFile {
  readonly name: string;
  readonly map?: string | undefined;
}

/**
 * The commands that write the files and price them. A file that was loaded has to be in the folder.
 *
 * @throws {RatebookError} for usage that cannot be priced
 */
export function formatCommand(state: PlayState, book: Book, file?: NamedFile): string {
  const { from, until } = state;
  const map = file?.map;
  const rows = file === undefined ? listUsageRows(book, state).map((row) => stringifyJson(row)) : [];
  const events = file === undefined ? state.events.trim() : "";
  const files: readonly (readonly [name: string, text: string])[] = [
    ["book.jsonc", state.book],
    ...(rows.length === 0 ? [] : [["usage.ndjson", rows.join("\n")] as const]),
    ...(events === "" ? [] : [["events.ndjson", events] as const]),
    ...(map === undefined ? [] : [["map.json", map] as const]),
  ];
  const options = [
    ...(rows.length === 0 ? [] : ["--usage usage.ndjson"]),
    ...(events === "" ? [] : ["--events events.ndjson"]),
    ...(file === undefined ? [`--from ${from} --until ${until}`] : [`--events ${quoteForShell(`./${file.name}`)}`]),
    ...(map === undefined ? [] : ["--map map.json"]),
  ];
  return [...files.map(writeFile), `npx ratebook preview book.jsonc ${options.join(" ")}\n`].join("");
}

/** A here document, which ends with a line that the text does not have. */
function writeFile([name, text]: readonly [name: string, text: string]): string {
  const lines = new Set(text.split("\n"));
  let end = "END";
  while (lines.has(end)) end += "_";
  return `cat > ${name} <<'${end}'\n${text}${text.endsWith("\n") ? "" : "\n"}${end}\n`;
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
