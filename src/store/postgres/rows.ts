/** Rows as lists: a statement has one parameter for each column, however many rows it writes. */
import { formatLines, formatPlainArray, formatTextArray } from "./query.ts";

/** The type of a column; `json` for texts of JSON, which contain no line break. */
export type ColumnType = "text" | "text[]" | "integer" | "bigint" | "boolean" | "numeric" | "json";
export type ColumnValue = string | number | boolean | undefined;

/** Columns by name, each with its type and the value of an item. */
export type Columns<Item> = Readonly<Record<string, readonly [ColumnType, (item: Item) => ColumnValue]>>;

/** The values of a column as a parameter. */
export function formatColumn(type: ColumnType, values: readonly ColumnValue[]): string {
  if (type === "json") return formatLines(values.map(String));
  const isText = type === "text" || type === "text[]";
  return isText ? formatTextArray(values.map((value) => value?.toString())) : formatPlainArray(values);
}

/** An expression for the list of values in a parameter; a `text[]` is a list of texts, to be cast. */
export function listExpression(type: ColumnType, place: number): string {
  if (type === "json") return `string_to_array($${place}::text, E'\\n')`;
  return `$${place}::text::${type === "text[]" ? "text" : type}[]`;
}

/** Items as rows: the names of their columns, the rows for a FROM clause with parameters from `$1`, and the parameters. */
export function toRows<Item>(
  items: readonly Item[],
  columns: Columns<Item>,
): { readonly names: string; readonly from: string; readonly values: readonly string[] } {
  const lists = Object.values(columns).map(([type], index) => listExpression(type, index + 1));
  return {
    names: Object.keys(columns).join(", "),
    from: `unnest(${lists.join(", ")})`,
    values: Object.values(columns).map(([type, valueOf]) => formatColumn(type, items.map(valueOf))),
  };
}
