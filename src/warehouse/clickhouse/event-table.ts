/**
 * A ClickHouse table of events that is fast to meter.
 *
 * @module
 */
import type { EventSchema } from "../../book/resources/event-schema.ts";
import { toOneLine } from "../sql/dialect.ts";
import type { EventTable } from "../sql/standalone.ts";
import { clickHouseSql } from "./clickhouse-sql.ts";

/** The storage of attributes: text, or decimals with 18 digits of which 6 are decimal places. */
type DecimalStorage = "text" | "decimal";

const [PRECISION, SCALE] = [18, 6] as const;

/** The table as statements read it. */
export function toEventTable(name: string, decimals: DecimalStorage): EventTable {
  return {
    name,
    text: { type: "text", isString: true },
    timestamp: { type: "timestamp", isZoned: true },
    attribute:
      decimals === "text" ? { type: "text", isString: true } : { type: "decimal", precision: PRECISION, scale: SCALE },
  };
}

/**
 * Creates the table. Rows are ordered by schema, account and day, so that a statement reads only the rows it needs. In
 * a cluster, rows are distributed by account.
 */
export function writeTableStatements(
  name: string,
  schemas: readonly Pick<EventSchema, "name" | "attributes" | "dimensions">[],
  decimals: DecimalStorage,
): string {
  const { quoteName, quoteText } = clickHouseSql;
  const tableSql = name.split(".").map(quoteName).join(".");
  const last = name.split(".").at(-1) ?? name;
  const distributedTable = `${name
    .split(".")
    .slice(0, -1)
    .map((part) => `${quoteName(part)}.`)
    .join("")}${quoteName(`${last}_all`)}`;
  const numberType = decimals === "text" ? "Nullable(String)" : `Nullable(Decimal(${PRECISION}, ${SCALE}))`;
  const columns = new Map([
    ["schemaName", "LowCardinality(String)"],
    ["accountId", "String"],
    ["timestamp", "DateTime64(3, 'UTC')"],
    ["id", "String"],
  ]);
  const comments = new Map<string, string>();
  const addColumn = (field: string, type: string, comment: string): void => {
    if (columns.has(field)) return;
    columns.set(field, type);
    comments.set(field, comment);
  };
  for (const schema of schemas) {
    for (const { name: field } of schema.attributes)
      addColumn(field, numberType, `attribute of ${toOneLine(schema.name)}`);
    for (const { name: field } of schema.dimensions)
      addColumn(field, "LowCardinality(Nullable(String))", `dimension of ${toOneLine(schema.name)}`);
  }
  const lines = [...columns].map(([column, type], index) => {
    const comment = comments.get(column);
    const comma = index === columns.size - 1 ? "" : ",";
    return `  ${quoteName(column)} ${type}${comma}${comment === undefined ? "" : ` -- ${comment}`}`;
  });
  return [
    `-- A table of events: one column for each field of an event. A column is NULL if the event's schema does not declare it.`,
    decimals === "text"
      ? `-- Attributes are strings with their original text. With --decimals decimal, queries are faster, but long values are truncated.`
      : `-- Attributes are decimals. Inserts truncate values with more than ${SCALE} digits after the point.`,
    `create table ${tableSql} (`,
    ...lines,
    `) engine = MergeTree`,
    `partition by toYYYYMM("timestamp")`,
    `order by ("schemaName", "accountId", toDate("timestamp"), "id");`,
    "",
    `-- On a cluster, create the table on every server and add this table over all of them. Replace events_cluster with the name of the cluster.`,
    `create table ${distributedTable} as ${tableSql}`,
    `engine = Distributed('events_cluster', currentDatabase(), ${quoteText(last)}, cityHash64("accountId"));`,
    "",
  ].join("\n");
}
