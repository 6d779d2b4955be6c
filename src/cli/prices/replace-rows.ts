/** Replaces the rows of a price table in a book's text; the rest of the text stays as it is. */
import type { Path } from "../../book/problems.ts";
import { findList, readDetails } from "../../book/reading/json-document.ts";
import { type JsonObject, valueAt } from "../../book/short/fields.ts";
import { formatJsonItem } from "../documents/format-json.ts";

/** A row of the new list. */
interface NewRow {
  /** The index of the row before; -1 for a new one. */
  readonly index: number;
  /** The row if it differs from the one before. */
  readonly json: JsonObject | undefined;
}

/** A comma after a part, and the comments before it. */
const COMMA = /^((?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*),/;
/** The rest of a line. */
const LINE_REST = /^(?:[^\S\n]|\/\*(?:[^*\n]|\*(?!\/))*\*\/)*(?:\/\/[^\n]*)?(?=\n)/;

/** Unchanged rows keep their text and comments wherever they stand, and comments above a removed row stay. */
export function replaceRows(text: string, path: Path, rows: readonly NewRow[]): string {
  const { list, items } = findList(text, path);
  if (rows.length === items.length && rows.every(({ index, json }, at) => index === at && !json)) return text;
  const [start, end] = [list[0] + 1, list[1] - 1];
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const listIndent = /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", start) + 1))?.[0] ?? "";
  const itemIndent = /\n([ \t]*)$/.exec(text.slice(start, items[0]?.[0]))?.[1] ?? `${listIndent}  `;
  const gaps = Array.from({ length: items.length + 1 }, (_, index) => {
    const gap = text.slice(items[index - 1]?.[1] ?? start, items[index]?.[0] ?? end).replace(COMMA, "$1");
    const after = LINE_REST.exec(gap)?.[0] ?? "";
    const before = gap.slice(after.length);
    const indent = newline + (index === items.length ? listIndent : itemIndent);
    return { after, before: before.includes("\n") ? before : indent + before.trimStart() };
  });
  const used = new Set(rows.map(({ index }) => index));
  let comments = "";
  const befores = gaps.map(({ before }, index) => {
    const all = comments + before;
    comments = used.has(index) || all.trim() === "" ? "" : all.trimEnd();
    return all;
  });
  const parts = rows.map(({ index, json }, position) => {
    const formerRange = items[index];
    const before = befores[index] ?? newline + itemIndent;
    const former = formerRange === undefined ? "{}" : text.slice(...formerRange);
    const indent = before.length - before.lastIndexOf("\n") - 1;
    const row = json === undefined ? former : formatRow(json, former, indent).replaceAll(/\r?\n/g, newline);
    const after = formerRange === undefined ? newline.slice(0, -1) : (gaps[index + 1]?.after ?? "");
    return before + row + (position < rows.length - 1 ? "," : "") + after;
  });
  return [text.slice(0, start), gaps[0]?.after, ...parts, befores.at(-1), text.slice(end)].join("");
}

/** A row in place of a former one, with its comments: those of fields that went away at the end. */
function formatRow(json: JsonObject, former: string, indent: number): string {
  const details = readDetails(former).flatMap((detail) => {
    if (valueAt(json, detail.path) !== undefined) return [detail];
    return detail.text.startsWith("/") ? [{ ...detail, path: [], position: "end" as const }] : [];
  });
  return formatJsonItem(json, details, indent);
}
