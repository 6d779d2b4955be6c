/**
 * A ClickHouse table as a source: its columns, its row count, and a check that it doesn't change while it is read
 * (S17.5).
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { checkColumn, type ColumnType, usageChangedError } from "../source.ts";
import type { Database } from "../sql/dialect.ts";
import { clickHouseSql, quoteClickhouseText } from "./clickhouse-sql.ts";

export interface TableName {
  readonly database: string;
  readonly table: string;
}

/** User settings with which a server silently omits rows, besides those that end in `overflow_mode`. */
const TRUNCATING_SETTINGS = ["limit", "offset", "skip_unavailable_shards", "distributed_group_by_no_merge"] as const;

/** Type names of lists and objects. */
const NESTED_TYPES = /^(?:Array|Tuple|Map|Nested|JSON|Object|Variant|Dynamic|AggregateFunction)/;

/** The columns of a table. */
export interface TableColumns {
  /** Column types by name. */
  readonly columns: ReadonlyMap<string, ColumnType>;
  /** The FROM clause for all rows, or for some columns of filtered rows. */
  readonly from: (rows?: TableRowFilter) => string;
}

interface TableRowFilter {
  /** A condition on any of its columns. */
  readonly condition: string;
  /** The columns to read, listed because `*` omits computed columns. */
  readonly columns: readonly string[];
}

/** A table whose columns and rows were read. */
export interface ClickHouseTable extends TableColumns {
  /** @throws {RatebookError} ERR_USAGE_UNAVAILABLE if the table has changed since it was opened */
  readonly checkUnchanged: () => Promise<void>;
}

/**
 * Opens a table.
 *
 * @param columnNames the columns to read
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE if it can't be read, or possibly not completely; ERR_INPUT_INVALID for
 * a missing column, or one of lists or objects
 */
export async function openTable(
  db: Database,
  tableName: TableName,
  columnNames: readonly string[],
): Promise<ClickHouseTable> {
  const { database, table } = tableName;
  const tableColumns = await readTableColumns(db, tableName, columnNames);
  const readStamp = async (): Promise<string> =>
    (await readPartsStamp(db, tableName)) ?? String(await countRows(db, tableColumns.from()));
  const stamp = await readStamp();
  return {
    ...tableColumns,
    checkUnchanged: async () => {
      if ((await readStamp()) === stamp) return;
      throw usageChangedError(
        `the table ${database}.${table} changed while it was being read, so nothing was priced; read a view of complete days`,
      );
    },
  };
}

/** Reads the columns of a table. @throws {RatebookError} as {@link openTable} */
export async function readTableColumns(
  db: Database,
  { database, table }: TableName,
  columnNames: readonly string[],
): Promise<TableColumns> {
  await checkSettings(db);
  const { quoteName } = clickHouseSql;
  const name = `${quoteName(database)}.${quoteName(table)}`;
  const columns = new Map<string, ColumnType>();
  for await (const rows of db.stream(`describe table ${name}`))
    for (const [column, type] of rows) columns.set(String(column), parseClickHouseType(String(type)));
  const checkedSource = {
    name: table,
    expects: (column: string) => `expected a column ${column}`,
    kind: "table",
    nestedTypes: NESTED_TYPES,
  } as const;
  for (const column of columnNames) checkColumn(column, columns, checkedSource);
  const from: TableColumns["from"] = (rows) => {
    if (rows === undefined) return `${name} as e`;
    const columnList = rows.columns.length === 0 ? "1" : rows.columns.map(quoteName).join(", ");
    return `(select ${columnList} from ${name} as e where ${rows.condition}) as e`;
  };
  return { columns, from };
}

/** Counts the rows of a FROM clause. */
export async function countRows(db: Database, from: string): Promise<number> {
  // With some user settings, an empty table gives no result row.
  const [[rows] = []] = await readAllRows(db, `select toString(count()) from ${from}`);
  return Number(rows ?? 0);
}

/**
 * A stamp that changes when rows are written: for MergeTree tables the blocks and mutations of its parts, which merges
 * don't change. Undefined for other tables, and if the server doesn't show its parts.
 */
export async function readPartsStamp(db: Database, { database, table }: TableName): Promise<string | undefined> {
  const parts =
    `select partition_id, toString(max(max_block_number)), toString(max(data_version)), toString(sum(rows)) from system.parts ` +
    `where active and database = ${quoteClickhouseText(database)} and table = ${quoteClickhouseText(table)} group by partition_id order by partition_id`;
  const rows = await readAllRows(db, parts).catch(() => []);
  return rows.length > 0 ? JSON.stringify(rows) : undefined;
}

/**
 * Rejects users whose settings may truncate results or skip shards, because duplicate ids could then be counted twice.
 */
async function checkSettings(db: Database): Promise<void> {
  const condition = `name like '%overflow_mode%' or name in (${TRUNCATING_SETTINGS.map(quoteClickhouseText).join(", ")})`;
  for (const [name, value] of await readAllRows(
    db,
    `select name, value from system.settings where ${condition} order by name`,
  )) {
    const safeValue = TRUNCATING_SETTINGS.some((each) => each === name) ? "0" : "throw";
    if (value === safeValue || value === "") continue;
    throw new RatebookError(
      "ERR_USAGE_UNAVAILABLE",
      `the setting ${String(name)} of this ClickHouse user is ${JSON.stringify(value)}, which can silently omit rows; set it to ${JSON.stringify(safeValue)}`,
      {},
    );
  }
}

export async function readAllRows(db: Database, sql: string): Promise<readonly (readonly unknown[])[]> {
  const allRows: (readonly unknown[])[] = [];
  for await (const rows of db.stream(sql)) allRows.push(...rows);
  return allRows;
}

/** The column type of a ClickHouse type name. */
function parseClickHouseType(name: string): ColumnType {
  const [, innerType] = /^(?:Nullable|LowCardinality)\((.*)\)$/.exec(name) ?? [];
  if (innerType !== undefined) return parseClickHouseType(innerType);
  const [, precision, scale] = /^Decimal\((\d+), (\d+)\)$/.exec(name) ?? [];
  if (precision !== undefined && Number(precision) <= 38)
    return { type: "decimal", precision: Number(precision), scale: Number(scale) };
  if (/^U?Int(?:8|16|32|64)$/.test(name)) return { type: "integer" };
  if (/^DateTime(?:64)?(?:\(.*\))?$/.test(name)) return { type: "timestamp", isZoned: true };
  if (name === "String") return { type: "text", isString: true };
  if (name === "UUID" || name.startsWith("Enum")) return { type: "text" };
  if (name === "Float64") return { type: "double" };
  if (name === "Float32") return { type: "float" };
  return { type: "other", name };
}
