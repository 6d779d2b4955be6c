/**
 * Binds maps to tables. Rows without a valid event count nothing and are not reported, so a map with which no row can
 * be valid is rejected.
 *
 * @module
 */
import type { EventSchema } from "../../book/resources/event-schema.ts";
import type { EventFileMap } from "../../event-files/event-file-map.ts";
import { quoteText } from "../../event-files/input-error.ts";
import type { CellQuery } from "../../ledger/usage-source.ts";
import { bindSource } from "../reading/mapped-source.ts";
import type { ColumnType, Source } from "../source.ts";
import { createSchemaMap } from "./mapped-tables.ts";
import { invalidTableError, type TableColumns } from "./table.ts";

/** Rows that share a map. */
export interface TablePart {
  readonly schemas: readonly string[];
  readonly map: EventFileMap;
  readonly source: Source;
}

/** A table and its map, if any. */
interface MappedTable {
  readonly table: string;
  readonly map: EventFileMap | undefined;
}

/**
 * Binds all rows with the given map; without one, the rows of each schema with the columns that it declares.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID if a declared field has no column, or the time column has no instants
 */
export function bindTableParts(
  { map, table }: MappedTable,
  tableColumns: Pick<TableColumns, "columns">,
  { book, schemas }: Pick<CellQuery, "book" | "schemas">,
): readonly TablePart[] {
  const bindPart = (partMap: EventFileMap, partSchemas: readonly EventSchema[]): TablePart => {
    for (const schema of partSchemas) checkFields(partMap, schema, table);
    const source = bindSource(partMap, { from: "", columns: tableColumns.columns, name: table });
    checkTime(source, table);
    return { schemas: partSchemas.map(({ name }) => name), map: partMap, source };
  };
  const active = book.eventSchemas.filter(({ name, status }) => status === "ACTIVE" && schemas.includes(name));
  if (map === undefined) return active.map((schema) => bindPart(createSchemaMap(schema, tableColumns), [schema]));
  return active.length === 0 ? [] : [bindPart(map, active)];
}

function checkFields(map: EventFileMap, { name, attributes, dimensions }: EventSchema, table: string): void {
  const missing = [
    ...attributes.filter((field) => !Object.hasOwn(map.attributes, field.name)),
    ...dimensions.filter((field) => !Object.hasOwn(map.dimensions, field.name)),
  ][0];
  if (missing === undefined) return;
  const declaration = `the event schema ${quoteText(name)} declares ${quoteText(missing.name)}`;
  throw invalidTableError(
    `${table}: ${declaration}, but the table has no such column, so none of its rows would be counted`,
  );
}

function checkTime({ timestamp: { part, form } }: Source, table: string): void {
  if (form !== undefined || !("column" in part) || !neverHoldsInstants(part.type)) return;
  throw invalidTableError(
    `${table}: the column ${quoteText(part.column)} has no times: expected DateTime, DateTime64, text with a date and a time, or, with a "form", whole numbers of seconds or milliseconds`,
  );
}

/** Whether no value of a column type is the text of an instant. */
function neverHoldsInstants(type: ColumnType): boolean {
  if (type.type === "other") return !type.name.startsWith("FixedString");
  return type.type !== "timestamp" && type.type !== "text";
}
