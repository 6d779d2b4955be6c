/** The rows of the reference: the tables, lists and numbered rules of docs/reference/service-reference.md. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

/** One statement of the reference. */
export interface Row {
  /** The table and the name of the row: `Account / aliases`. */
  readonly key: string;
  readonly table: string;
  readonly name: string;
  /** Its Type column, or the whole text if there is none. */
  readonly type: string;
  readonly notes: string;
  readonly cells: Readonly<Record<string, string>>;
}

/** The page. */
export const PAGE = readFileSync(resolve(import.meta.dirname, "../../docs/reference/service-reference.md"), "utf8");

/** Labels that add nothing to the heading above them. */
const PLAIN_LABELS = new Set(["Query parameters", "Body fields", "Rules", "Rules tied to states"]);

/** The state of reading. */
interface Place {
  heading: string;
  /** The paragraph that ends in a colon above a list or table. */
  label: string | undefined;
  columns: readonly string[] | undefined;
}

/** Every row of a page. */
export function readRows(page: string): readonly Row[] {
  const rows: Row[] = [];
  const place: Place = { heading: "", label: undefined, columns: undefined };
  for (const line of page.split("\n")) {
    const row = readLine(line, place);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}

/** Rows outside tables: their pattern and their key. */
const LINES: readonly (readonly [RegExp, (place: Place, groups: readonly string[]) => Row | undefined])[] = [
  [
    /^- \*\*(.+?)\*\* (.+?)(?:: (.*))?$/,
    (place, [name = "", type = "", notes = ""]) => fieldAt(place, { Field: name, Type: type, Notes: notes }),
  ],
  [/^(\d+)\. (.*)/, (place, [number, text = ""]) => rowAt(place.heading, `rule ${number}`, text)],
  [/^\s*- ([\w -]+?)(?:: | \()(.*)/, (place, [name = "", text = ""]) => rowAt(tableAt(place), name, text)],
  [/^(Credit grant) (\w+): (.*)/, (_, [table = "", part = "", text = ""]) => rowAt(table, part, text)],
  [/^(Allowed combinations, .*)/, (place, [text = ""]) => rowAt(place.heading, "allowed combinations", text)],
];

function readLine(line: string, place: Place): Row | undefined {
  const heading = /^#+ ([^:(]+)/.exec(line)?.[1]?.trim();
  if (heading !== undefined) {
    Object.assign(place, { heading, label: undefined, columns: undefined });
    return undefined;
  }
  if (line.startsWith("|")) return readCells(line, place);
  place.columns = undefined;
  for (const [pattern, read] of LINES) {
    const groups = pattern.exec(line);
    if (groups !== null) return read(place, groups.slice(1));
  }
  place.label = /^([\w ]+):$/.exec(line)?.[1] ?? place.label;
  return undefined;
}

function readCells(line: string, place: Place): Row | undefined {
  const cells = line
    .slice(1, line.lastIndexOf("|"))
    .split("|")
    .map((cell) => cell.trim());
  if (place.columns === undefined) {
    place.columns = cells;
    return undefined;
  }
  if (cells.every((cell) => /^-+$/.test(cell))) return undefined;
  const cellsByColumn = Object.fromEntries(place.columns.map((column, index) => [column, cells[index] ?? ""]));
  const name =
    cellsByColumn["Path"] === undefined ? (cells[0] ?? "") : `${cellsByColumn["Method"]} ${cellsByColumn["Path"]}`;
  const type = cellsByColumn["Type"] ?? cellsByColumn["Value"] ?? cells[1] ?? "";
  const table = tableAt(place);
  return {
    key: `${table} / ${name}`,
    table,
    name,
    type,
    notes: cellsByColumn["Notes"] ?? cellsByColumn["Meaning"] ?? "",
    cells: cellsByColumn,
  };
}

/** A field of a list: its name, its type and other notes. */
function fieldAt(place: Place, cells: Readonly<Record<"Field" | "Type" | "Notes", string>>): Row {
  const { Field: name, Type: type, Notes: notes } = cells;
  const table = tableAt(place);
  return { key: `${table} / ${name}`, table, name, type, notes, cells };
}

function tableAt({ heading, label }: Place): string {
  return label === undefined || PLAIN_LABELS.has(label) ? heading : label;
}

function rowAt(table: string, name: string, type: string): Row {
  return { key: `${table} / ${name}`, table, name, type, notes: "", cells: {} };
}

/** All rows of the reference. */
export const ROWS = readRows(PAGE);

/** The rows of a table. */
export function rowsIn(table: string): readonly Row[] {
  return ROWS.filter((row) => row.table === table);
}

/** One row. */
export function rowOf(key: string): Row {
  const row = ROWS.find((row) => row.key === key);
  if (row === undefined) throw new Error(`the reference has no row ${key}`);
  return row;
}

/** The first number of a text: the figure that a case tests. */
export function figureIn(text: string): number {
  const digits = /\d+/.exec(text)?.[0];
  if (digits === undefined) throw new Error(`no figure in ${text}`);
  return Number(digits);
}
