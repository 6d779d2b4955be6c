/**
 * A table for events in ClickHouse, as its meters read it best.
 *
 * @module
 */
import type { EventSchema } from "../../book/model/metering.ts";
import type { EventTable } from "../statements/standalone.ts";
import { oneLine } from "../statements/text.ts";
import { clickHouseSql } from "./clickhouse-sql.ts";

/** How attributes are kept: as they came, or as decimals of 18 digits, 6 of them after the point. */
export type Decimals = "text" | "decimal";

const [PRECISION, SCALE] = [18, 6] as const;

/** The table as statements read it. */
export function eventTable(name: string, decimals: Decimals): EventTable {
  return {
    name,
    text: { type: "text", isString: true },
    timestamp: { type: "timestamp", isZoned: true },
    attribute:
      decimals === "text" ? { type: "text", isString: true } : { type: "decimal", precision: PRECISION, scale: SCALE },
  };
}

/**
 * The statements that make the table: rows of a schema and an account are together and in the order of their days, so that a
 * statement reads what it needs and no more. On a cluster, rows are spread by their account.
 */
export function tableOfEvents(
  name: string,
  schemas: readonly Pick<EventSchema, "name" | "attributes" | "dimensions">[],
  decimals: Decimals,
): string {
  const { quotedName, quotedText } = clickHouseSql;
  const written = name.split(".").map(quotedName).join(".");
  const last = name.split(".").at(-1) ?? name;
  const all = `${name
    .split(".")
    .slice(0, -1)
    .map((part) => `${quotedName(part)}.`)
    .join("")}${quotedName(`${last}_all`)}`;
  const number = decimals === "text" ? "Nullable(String)" : `Nullable(Decimal(${PRECISION}, ${SCALE}))`;
  const columns = new Map([
    ["schemaName", "LowCardinality(String)"],
    ["accountId", "String"],
    ["timestamp", "DateTime64(3, 'UTC')"],
    ["id", "String"],
  ]);
  const comments = new Map<string, string>();
  const add = (field: string, type: string, comment: string): void => {
    if (columns.has(field)) return;
    columns.set(field, type);
    comments.set(field, comment);
  };
  for (const schema of schemas) {
    for (const { name: field } of schema.attributes) add(field, number, `an attribute of ${oneLine(schema.name)}`);
    for (const { name: field } of schema.dimensions)
      add(field, "LowCardinality(Nullable(String))", `a dimension of ${oneLine(schema.name)}`);
  }
  const lines = [...columns].map(([column, type], place) => {
    const comment = comments.get(column);
    const comma = place === columns.size - 1 ? "" : ",";
    return `  ${quotedName(column)} ${type}${comma}${comment === undefined ? "" : ` -- ${comment}`}`;
  });
  return [
    `-- A table for events: each column holds a part of an event, NULL where a schema does not declare it.`,
    decimals === "text"
      ? `-- Attributes are texts, as they came. With --decimals decimal they take less time, and what is longer is cut.`
      : `-- Attributes are decimals: what has more than ${SCALE} digits after the point is cut when it is inserted.`,
    `create table ${written} (`,
    ...lines,
    `) engine = MergeTree`,
    `partition by toYYYYMM("timestamp")`,
    `order by ("schemaName", "accountId", toDate("timestamp"), "id");`,
    "",
    `-- On a cluster, make it on every server, and this one over all of them. Put the name of the cluster in place of events_cluster.`,
    `create table ${all} as ${written}`,
    `engine = Distributed('events_cluster', currentDatabase(), ${quotedText(last)}, cityHash64("accountId"));`,
    "",
  ].join("\n");
}
