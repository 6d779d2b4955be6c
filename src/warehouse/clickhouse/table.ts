/**
 * A table of ClickHouse as a source: which columns it has, how many rows, and that it stays as it is while it is read (S17.5).
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import type { ColumnType } from "../source.ts";
import type { Database } from "../statements/dialect.ts";
import { clickHouseSql, quotedText } from "./clickhouse-sql.ts";

/** Where a table is. */
export interface TableName {
  readonly database: string;
  readonly table: string;
}

/** Settings of a user with which a server leaves rows out without a word, beside those that end in `overflow_mode`. */
const CUTTING = ["limit", "offset", "skip_unavailable_shards", "distributed_group_by_no_merge"] as const;

/** The columns of a table. */
export interface TableColumns {
  /** The type of each column, by its name. */
  readonly columns: ReadonlyMap<string, ColumnType>;
  /** What a statement reads: all rows, or some columns of the rows that meet a condition. */
  readonly from: (rows?: RowsOfTable) => string;
}

/** Some rows of a table. */
export interface RowsOfTable {
  /** A condition on any of its columns. */
  readonly condition: string;
  /** The names of the columns that are read. They are written out: `*` would leave out those that are computed. */
  readonly columns: readonly string[];
}

/** A table that was looked at. */
export interface ClickHouseTable extends TableColumns {
  /** @throws {RatebookError} ERR_USAGE_UNAVAILABLE where the table is not as it was when it was looked at */
  readonly checkUnchanged: () => Promise<void>;
}

/**
 * Looks at a table.
 *
 * @param needed the columns that are read
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE where it cannot be read, or not surely whole; ERR_INPUT_INVALID for a column that it lacks, or that
 * holds lists or objects
 */
export async function openTable(db: Database, named: TableName, needed: readonly string[]): Promise<ClickHouseTable> {
  const { database, table } = named;
  const found = await columnsOfTable(db, named, needed);
  const stampNow = async (): Promise<string> =>
    (await partsOfTable(db, named)) ?? String(await countOf(db, found.from()));
  const stamp = await stampNow();
  return {
    ...found,
    checkUnchanged: async () => {
      if ((await stampNow()) === stamp) return;
      throw new RatebookError(
        "ERR_USAGE_UNAVAILABLE",
        `the table ${database}.${table} changed while it was read: nothing is priced from it; read a view of days that are complete`,
        {},
      );
    },
  };
}

/** The columns of a table. @throws {RatebookError} as {@link openTable} */
export async function columnsOfTable(
  db: Database,
  { database, table }: TableName,
  needed: readonly string[],
): Promise<TableColumns> {
  await checkSettings(db);
  const { quotedName } = clickHouseSql;
  const name = `${quotedName(database)}.${quotedName(table)}`;
  const columns = new Map<string, ColumnType>();
  for await (const rows of db.stream(`describe table ${name}`))
    for (const [column, type] of rows) columns.set(String(column), typeOf(String(type)));
  for (const column of needed) checkColumn(column, columns, table);
  const from: TableColumns["from"] = (rows) => {
    if (rows === undefined) return `${name} as e`;
    const read = rows.columns.length === 0 ? "1" : rows.columns.map(quotedName).join(", ");
    return `(select ${read} from ${name} as e where ${rows.condition}) as e`;
  };
  return { columns, from };
}

/** How many rows a statement reads. */
export async function countOf(db: Database, from: string): Promise<number> {
  // A user's settings may have it that there is no answer where there are no rows.
  const [[rows] = []] = await all(db, `select toString(count()) from ${from}`);
  return Number(rows ?? 0);
}

/**
 * What tells that rows were written: of a table of the MergeTree family the blocks and mutations of its parts, which merging
 * leaves as they are; undefined of any other, and where the server does not show its parts.
 */
export async function partsOfTable(db: Database, { database, table }: TableName): Promise<string | undefined> {
  const parts =
    `select partition_id, toString(max(max_block_number)), toString(max(data_version)), toString(sum(rows)) from system.parts ` +
    `where active and database = ${quotedText(database)} and table = ${quotedText(table)} group by partition_id order by partition_id`;
  const rows = await all(db, parts).catch(() => []);
  return rows.length > 0 ? JSON.stringify(rows) : undefined;
}

/** Refuses a user for whom answers may be cut off, or shards left out: then an id that comes again would be counted twice. */
async function checkSettings(db: Database): Promise<void> {
  const asked = `name like '%overflow_mode%' or name in (${CUTTING.map(quotedText).join(", ")})`;
  for (const [name, value] of await all(db, `select name, value from system.settings where ${asked} order by name`)) {
    const expected = CUTTING.some((each) => each === name) ? "0" : "throw";
    if (value === expected || value === "") continue;
    throw new RatebookError(
      "ERR_USAGE_UNAVAILABLE",
      `the setting ${String(name)} of this user of ClickHouse is ${JSON.stringify(value)}, with which rows may be left out without a word: expected ${JSON.stringify(expected)}`,
      {},
    );
  }
}

/** All rows of a statement. */
export async function all(db: Database, sql: string): Promise<readonly (readonly unknown[])[]> {
  const found: (readonly unknown[])[] = [];
  for await (const rows of db.stream(sql)) found.push(...rows);
  return found;
}

/** The type of a column by ClickHouse's name of it. */
export function typeOf(name: string): ColumnType {
  const [, inner] = /^(?:Nullable|LowCardinality)\((.*)\)$/.exec(name) ?? [];
  if (inner !== undefined) return typeOf(inner);
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

function checkColumn(name: string, columns: ReadonlyMap<string, ColumnType>, table: string): void {
  const type = columns.get(name);
  if (type === undefined) {
    const known = [...columns.keys()].slice(0, 20).map((each) => JSON.stringify(each));
    throw invalid(`${table}: expected a column ${JSON.stringify(name)}, and the table has ${known.join(", ")}`);
  }
  if (
    type.type === "other" &&
    /^(?:Array|Tuple|Map|Nested|JSON|Object|Variant|Dynamic|AggregateFunction)/.test(type.name)
  )
    throw invalid(
      `${table}: the column ${JSON.stringify(name)} is of type ${type.name}: a part of an event is one text, number or time`,
    );
}

/** What is wrong with a table or its map. */
export function invalid(message: string): RatebookError<"ERR_INPUT_INVALID"> {
  return new RatebookError("ERR_INPUT_INVALID", message, { problems: [{ path: "$.events", message }] });
}
