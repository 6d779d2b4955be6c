/** Maps of the columns of ClickHouse tables: opening mapped tables, and binding maps for requests of usage. */
import type { Book } from "../../book/resources/book.ts";
import type { EventSchema } from "../../book/resources/event-schema.ts";
import { tryParseOffset } from "../../calendar/instant.ts";
import { type EventFileMap, listMappedColumns, usesRowNumbers } from "../../event-files/event-file-map.ts";
import type { EventSink, EventCursor } from "../../event-files/merge-events.ts";
import type { CellQuery } from "../../ledger/external-usage.ts";
import { quoteText } from "../../problem-table.ts";
import { type DatabaseReadOptions, type MappedRows, openDatabaseCursors } from "../reading/database-cursors.ts";
import { bindSource, type ColumnType, invalidTableError, type Source, toSourceColumn } from "../source.ts";
import { type Database, toComparedTextSql } from "../sql/expressions.ts";
import { clickHouseSql } from "./clickhouse-sql.ts";
import {
  type ClickHouse,
  createClickHouseDatabase,
  type ClickHouseTable,
  countRows,
  openTable,
  type TableColumns,
  type TableName,
} from "./table.ts";

/** A table and the map of its columns. Without a map, columns are named like the parts of an event. */
export interface TableInput {
  readonly name: TableName;
  readonly map: { readonly map: EventFileMap; readonly file: string } | undefined;
}

/**
 * Opens tables of one server.
 *
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE or ERR_INPUT_INVALID if they can't be read
 */
export async function openTables(
  client: ClickHouse & { readonly close: () => Promise<void> },
  inputs: readonly TableInput[],
  sink: EventSink,
  reading: DatabaseReadOptions,
): Promise<readonly EventCursor[]> {
  const db = { ...createClickHouseDatabase(client), close: async () => client.close() };
  async function* openRows(): AsyncIterable<MappedRows> {
    for (const { name, map } of inputs) {
      const table = await openTable(db, name, listNeededColumns(map?.map, name.table));
      const parts: readonly MappedPart[] =
        map === undefined ? splitBySchema(reading.book, table, name) : [{ map: map.map, mapFile: map.file }];
      for (const part of parts) yield readMappedRows(db, table, name, part);
    }
  }
  return openDatabaseCursors(db, openRows(), sink, reading);
}

/** Rows of a table with their map, and the condition that selects them. */
interface MappedPart {
  readonly map: EventFileMap;
  readonly mapFile: string;
  readonly condition?: string | undefined;
}

async function readMappedRows(
  db: Database,
  table: ClickHouseTable,
  { database, table: name }: TableName,
  { map, mapFile, condition }: MappedPart,
): Promise<MappedRows> {
  const from = table.from(condition === undefined ? undefined : { condition, columns: listMappedColumns(map) });
  return {
    map,
    mapFile,
    databaseRows: {
      from,
      columns: table.columns,
      rowCount: await countRows(db, from),
      fileExpression: clickHouseSql.quoteText(`${database}.${name}`),
      checkUnchanged: table.checkUnchanged,
    },
  };
}

const ENVELOPE = {
  schemaName: { column: "schemaName" },
  id: { column: "id" },
  accountId: { column: "accountId" },
  timestamp: { column: "timestamp" },
} as const;

/**
 * The columns that a map needs; without a map, those named like the parts of an event.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for a map with row numbers, because the rows of a table have none, or with
 * a named zone
 */
export function listNeededColumns(map: EventFileMap | undefined, table: string): readonly string[] {
  if (map === undefined) return Object.values(ENVELOPE).map(({ column }) => column);
  if (usesRowNumbers(map))
    throw invalidTableError(`${table}: remove {row} from the map: rows of a table have no numbers`);
  const { zone } = map.timestamp;
  if (zone !== undefined && tryParseOffset(zone) === undefined)
    throw invalidTableError(
      `${table}: the zone ${quoteText(zone)} can only be used with CSV and NDJSON; give an offset such as "+05:30", or none for DateTime`,
    );
  return listMappedColumns(map);
}

/**
 * Checks that the server can select the rows of schemas and accounts by their names in the book.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for a map with other names, or with names in a file that is not read
 */
export function requireTableNames(map: EventFileMap, table: string): void {
  const hasRule = (origin: object, rule: string): boolean => Object.hasOwn(origin, rule);
  const { schemaName, accountId, attributes, dimensions } = map;
  if (hasRule(schemaName, "values") || hasRule(accountId, "values"))
    throw invalidTableError(`${table}: remove "values" of schemaName and accountId: their names must be in the table`);
  const origins = [schemaName, accountId, ...Object.values(attributes), ...Object.values(dimensions)];
  if (origins.some((origin) => hasRule(origin, "valuesFrom")))
    throw invalidTableError(`${table}: write the names of "valuesFrom" into "values"`);
}

/** A map for a schema's rows, with a column for each part that the schema declares. */
function createSchemaMap(
  { attributes, dimensions }: Pick<EventSchema, "attributes" | "dimensions">,
  { columns }: Pick<ClickHouseTable, "columns">,
): EventFileMap {
  const toOrigins = (fields: readonly { readonly name: string }[]): Record<string, { readonly column: string }> =>
    Object.fromEntries(fields.filter(({ name }) => columns.has(name)).map(({ name }) => [name, { column: name }]));
  return { ...ENVELOPE, attributes: toOrigins(attributes), dimensions: toOrigins(dimensions) };
}

/** The rows of each schema, and all other rows. */
function splitBySchema(
  { eventSchemas }: Pick<Book, "eventSchemas">,
  clickHouseTable: ClickHouseTable,
  { table }: TableName,
): readonly MappedPart[] {
  const { quoteText } = clickHouseSql;
  const activeSchemas = eventSchemas.filter(({ status }) => status === "ACTIVE");
  const schemaName = toComparedTextSql(
    toSourceColumn(clickHouseTable.columns, ENVELOPE.schemaName.column),
    activeSchemas.map(({ name }) => name),
    clickHouseSql,
  );
  const parts = activeSchemas.map((schema) => ({
    map: createSchemaMap(schema, clickHouseTable),
    mapFile: table,
    condition: `${schemaName} = ${quoteText(schema.name)}`,
  }));
  const names = activeSchemas.map(({ name }) => quoteText(name));
  const isOtherSchema = names.length === 0 ? "true" : `coalesce(${schemaName} not in (${names.join(", ")}), true)`;
  return [...parts, { map: { ...ENVELOPE, attributes: {}, dimensions: {} }, mapFile: table, condition: isOtherSchema }];
}

/** Rows that share a map. */
export interface TablePart {
  readonly schemas: readonly string[];
  readonly map: EventFileMap;
  readonly source: Source;
}

/**
 * Binds all rows with the given map; without one, the rows of each schema with the columns that it declares. Rows without
 * a valid event count nothing and are not reported, so a map with which no row can be valid is rejected.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID if a declared field has no column, or the time column has no instants
 */
export function bindTableParts(
  { map, table }: { readonly map: EventFileMap | undefined; readonly table: string },
  tableColumns: Pick<TableColumns, "columns">,
  { book, schemas }: Pick<CellQuery, "book" | "schemas">,
): readonly TablePart[] {
  const bindPart = (partMap: EventFileMap, partSchemas: readonly EventSchema[]): TablePart => {
    for (const schema of partSchemas) checkFields(partMap, schema, table);
    const source = bindSource(partMap, { from: "", columns: tableColumns.columns, name: table });
    checkTime(source, table);
    return { schemas: partSchemas.map(({ name }) => name), map: partMap, source };
  };
  const activeSchemas = book.eventSchemas.filter(({ name, status }) => status === "ACTIVE" && schemas.includes(name));
  if (map === undefined)
    return activeSchemas.map((schema) => bindPart(createSchemaMap(schema, tableColumns), [schema]));
  return activeSchemas.length === 0 ? [] : [bindPart(map, activeSchemas)];
}

function checkFields(map: EventFileMap, { name, attributes, dimensions }: EventSchema, table: string): void {
  const missingField = [
    ...attributes.filter((field) => !Object.hasOwn(map.attributes, field.name)),
    ...dimensions.filter((field) => !Object.hasOwn(map.dimensions, field.name)),
  ][0];
  if (missingField === undefined) return;
  const declaration = `the event schema ${quoteText(name)} declares ${quoteText(missingField.name)}`;
  throw invalidTableError(
    `${table}: ${declaration}, but the table has no such column, so none of its rows would be counted`,
  );
}

function checkTime({ timestamp: { part, form } }: Source, table: string): void {
  if (form !== undefined || !("column" in part) || !neverContainsInstants(part.type)) return;
  throw invalidTableError(
    `${table}: the column ${quoteText(part.column)} has no times: expected DateTime, DateTime64, text with a date and a time, or, with a "form", whole numbers of seconds or milliseconds`,
  );
}

/** Whether no value of a column type is the text of an instant. */
function neverContainsInstants(type: ColumnType): boolean {
  if (type.type === "other") return !type.name.startsWith("FixedString");
  return type.type !== "timestamp" && type.type !== "text";
}
