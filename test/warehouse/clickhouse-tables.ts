/** Rows in ClickHouse tables, run by chDB. */
import { type ClickHouseClient, createClient } from "@clickhouse/client";
import fc from "fast-check";

import { readEventFileMap } from "../../src/event-files/event-file-map.ts";
import { openTables } from "../../src/warehouse/clickhouse/mapped-tables.ts";
import type { ClickHouse } from "../../src/warehouse/clickhouse/table.ts";
import { plainText, RANDOM_SHAPE, type ReadRow, type TableShape, type Types, type World } from "./law.ts";
import type { TableRow } from "./rows.ts";

/** A session time zone in which it is yesterday for the first hours of a UTC day. */
export const HOSTILE_ZONE = "America/New_York";

/** A client of a server whose sessions have an unusual time zone. */
export function createZonedClient(url: string): ClickHouseClient {
  return createClient({ url, clickhouse_settings: { session_timezone: HOSTILE_ZONE } });
}

/** The value of a text in a column of a type; a text that the type does not accept becomes NULL. */
function castText(name: string, type: string): string {
  const [, inner = type] = /^Nullable\((.*)\)$/.exec(type) ?? [];
  const [, precision] = /^Decimal\((\d+)/.exec(inner) ?? [];
  const [, scale] = /, (\d+)\)/.exec(inner) ?? [];
  if (precision !== undefined)
    return `toDecimal${Number(precision) > 18 ? 128 : Number(precision) > 9 ? 64 : 32}OrNull("${name}", ${scale})`;
  if (inner.startsWith("DateTime")) return `parseDateTime64BestEffortOrNull("${name}", 6, 'UTC')`;
  if (inner === "String" || inner === "LowCardinality(String)") return `coalesce("${name}", '')`;
  if (inner === "LowCardinality(Nullable(String))") return `"${name}"`;
  return type === "Nullable(String)" ? `"${name}"` : `accurateCastOrNull("${name}", '${inner}')`;
}

/** Tables of a server; the statements of a client can be changed. */
export const clickHouseTables =
  (
    url: string,
    wrapClient: (client: ClickHouseClient) => ClickHouse = (client) => client,
    shape = RANDOM_SHAPE,
  ): World =>
  async (files, types, work) => {
    const client = createZonedClient(url);
    try {
      const read: (readonly ReadRow[])[] = [];
      for (const [index, rows] of files.entries()) {
        const table = { name: `t${index}`, shape };
        read.push(await writeTable(client, table, rows, types));
      }
      const map = { map: readEventFileMap("map", shape.map), file: "map" };
      return await work({
        read,
        placeOf: () => undefined,
        open: async (sink, reading) => {
          const own = createZonedClient(url);
          const inputs = files.map((_, index) => ({ name: { database: "default", table: `t${index}` }, map }));
          return openTables(
            { query: wrapClient(own).query.bind(own), close: async () => own.close() },
            inputs,
            sink,
            reading,
          );
        },
      });
    } finally {
      await client.close();
    }
  };

/**
 * Writes a table.
 *
 * @returns its rows, read back independently of metering
 */
async function writeTable(
  client: ClickHouseClient,
  { name: table, shape: { columns } }: { readonly name: string; readonly shape: TableShape },
  rows: readonly TableRow[],
  types: Types,
): Promise<readonly ReadRow[]> {
  const typeOf = (name: string): string => (name in types ? types[name as keyof Types] : "Nullable(String)");
  const runCommand = async (query: string): Promise<unknown> => client.command({ query });
  await runCommand(
    `create or replace table given (n Int64, ${columns.map((name) => `"${name}" Nullable(String)`).join(", ")}) engine = Memory`,
  );
  if (rows.length > 0)
    await client.insert({ table: "given", format: "JSONEachRow", values: rows.map((row, n) => ({ n, ...row })) });
  await runCommand(
    `create or replace table ${table} (n Int64, ${columns.map((name) => `"${name}" ${typeOf(name)}`).join(", ")}) engine = MergeTree order by n`,
  );
  await runCommand(
    `insert into ${table} select n, ${columns.map((name) => castText(name, typeOf(name))).join(", ")} from given`,
  );
  const texts = columns.map((name) =>
    typeOf(name).includes("DateTime")
      ? `concat(formatDateTime("${name}", '%Y-%m-%dT%H:%i:%S.%f', 'UTC'), 'Z')`
      : `toString("${name}")`,
  );
  const result = await client.query({
    query: `select ${texts.join(", ")} from ${table} order by n`,
    format: "JSONCompactEachRow",
  });
  const rowsRead = await result.json<readonly (string | null)[]>();
  return rowsRead.map((values) => {
    const order = values.map((value) => value ?? "");
    const record = order.map((text, place) =>
      typeOf(columns[place] ?? "").includes("Float64") && text !== "" ? plainText(String(Number(text)), "FLOAT") : text,
    );
    return { record, order };
  });
}

/** The column types of a table. */
export const tableTypes = fc.record({
  x: fc.constantFrom(
    "Nullable(String)",
    "String",
    "LowCardinality(Nullable(String))",
    "Nullable(Float64)",
    "Nullable(Int64)",
    "Nullable(UInt64)",
    "Nullable(Decimal(18, 6))",
    "Nullable(Decimal(38, 10))",
  ),
  y: fc.constantFrom(
    "Nullable(String)",
    "Nullable(Float64)",
    "Nullable(Int32)",
    "Nullable(Decimal(9, 2))",
    "Nullable(Float32)",
  ),
  time: fc.constantFrom(
    "Nullable(String)",
    "String",
    "Nullable(DateTime64(3))",
    "Nullable(DateTime64(6, 'Asia/Tokyo'))",
    "Nullable(DateTime('America/New_York'))",
  ),
});
