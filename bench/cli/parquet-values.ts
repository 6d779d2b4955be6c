/** Previewing a Parquet file with peaks and distinct users, compared with DuckDB's own max and count(DISTINCT …). */
import { writeFileSync } from "node:fs";

import { DuckDBInstance } from "@duckdb/node-api";

import type { Bench } from "../bench.ts";
import { compareRuns, compareWithStatements } from "./parquet-files.ts";

const EVENTS = { smoke: 2_000, full: 5_000_000 } as const;

export const parquetValueBenches: readonly Bench[] = [
  {
    name: "preview of a Parquet file with peaks or distinct users, target: 0.7 of the rate of DuckDB's max and count(DISTINCT) with ids",
    run: async (size) => previewValues(Number(process.env["EVENTS"] ?? EVENTS[size])),
  },
];

const COLUMNS = ["accountId", "connections", "user", "service"] as const;

/** What is measured, by whom, and the obvious SQL for it. */
const MEASURES = [
  { name: "peaks          ", meter: { max: "connections" }, value: "max(connections)", keys: "accountId" },
  { name: "users          ", meter: { unique: "user" }, value: 'count(distinct "user")', keys: "accountId" },
  {
    name: "users by service",
    meter: { unique: "user", groupBy: ["service"] },
    value: 'count(distinct "user")',
    keys: "accountId, service",
  },
] as const;

const MAP = {
  schemaName: { value: "call" },
  id: { column: "id" },
  accountId: { column: "accountId" },
  timestamp: { column: "timestamp", zone: "Z" },
  attributes: { connections: { column: "connections" } },
  dimensions: { user: { column: "user" }, service: { column: "service" } },
};

const ACCOUNTS = 1000;

function createBook(meter: object): object {
  return {
    eventSchemas: [{ name: "call", attributes: ["connections"], dimensions: ["user", "service"] }],
    usageMeters: [{ id: "um.values", name: "values", schema: "call", ...meter }],
    pricePlans: [{ id: "pp", cycle: "MONTHLY", usage: [{ meter: "um.values", rate: "0.01" }] }],
    accounts: Array.from({ length: ACCOUNTS }, (_, n) => ({ id: `account-${n}`, plan: "pp", from: "2024-01-01" })),
  };
}

async function previewValues(count: number): Promise<readonly string[]> {
  return compareWithStatements(count, 3, async ({ at, preview, runStatement, runs }) => {
    writeFileSync(at("map.json"), JSON.stringify(MAP));
    const file = at("events.parquet");
    await writeCalls(file, count);
    return MEASURES.flatMap(({ name, meter, value, keys }) => {
      writeFileSync(at("book.json"), JSON.stringify(createBook(meter)));
      const byHand = (from: string): readonly string[] =>
        runStatement(`select '', '', ${value}::DOUBLE, 0.0::DOUBLE, 0 from ${from} group by ${keys}`);
      const eventOptions = ["--events", file, "--map", at("map.json")];
      return [
        compareRuns(`${name}, no ids  `, byHand(`'${file}'`), preview(...eventOptions, "--no-dedupe"), runs),
        compareRuns(`${name}, with ids`, byHand(selectFirstOfIds(file)), preview(...eventOptions), runs),
      ];
    });
  });
}

function selectFirstOfIds(file: string): string {
  return `(select ${COLUMNS.map((name) => `first("${name}") as "${name}"`).join(", ")} from '${file}' group by id)`;
}

/** Writes calls of 1,000 accounts over 30 days, in the order of time; 20 users of each account on a day. */
async function writeCalls(file: string, count: number): Promise<void> {
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const columns = [
    `'request-' || lpad(n::VARCHAR, 9, '0') as id`,
    `'account-' || (n * 7919) % ${ACCOUNTS} as "accountId"`,
    `make_timestamp(1704067200000000 + n * (2592000000000 // ${count})) as "timestamp"`,
    `100 + (n * 31) % 5000 as connections`,
    `'user-' || ((n // ${ACCOUNTS} * 7) % 20 + n * 30 // ${count} * 4) % 100 as "user"`,
    `case when n % 3 = 0 then 'chat' else 'code' end as service`,
  ];
  await connection.run(
    `copy (select ${columns.join(", ")} from range(${count}) as t(n)) to '${file}' (format parquet)`,
  );
  connection.closeSync();
  instance.closeSync();
}
