/** Metering a ClickHouse table, compared with handwritten SQL that returns the same cells. Both use chDB. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";

import { createClient } from "@clickhouse/client";

import { startChDb } from "../../test/clickhouse/chdb-server.ts";
import type { Bench } from "../bench.ts";
import { bestAsyncRun, type Measurement, findRoot, runWhileAnswering } from "./measure-program.ts";
import { buildProgram, createLargeBook, WATCH } from "./scenario.ts";

const EVENTS = { smoke: 2_000, full: 5_000_000 } as const;

export const clickHouseBenches: readonly Bench[] = [
  {
    name: "meter of a ClickHouse table, target: 0.6 of the rate of handwritten SQL that also checks ids",
    run: async (size) => meterTable(Number(process.env["EVENTS"] ?? EVENTS[size])),
  },
];

/** The storage of attributes, and how handwritten SQL adds two of them. */
const NUMBERS = {
  "attributes as decimals": { type: "Decimal(18, 6)", tokens: "context_tokens + generated_tokens" },
  "attributes as texts   ": { type: "String", tokens: "toFloat64(context_tokens) + toFloat64(generated_tokens)" },
} as const;

const COLUMNS = "schemaName, accountId, timestamp, id, context_tokens, generated_tokens, service";

async function meterTable(count: number): Promise<readonly string[]> {
  const root = findRoot(import.meta.dirname);
  const chDb = join(root, "test/clickhouse/package.json");
  if (!existsSync(join(root, "test/clickhouse/node_modules/chdb")))
    return ["not measured: install chDB (half a gigabyte) with npm install --prefix test/clickhouse"];
  const folder = mkdtempSync(join(tmpdir(), "ratebook-bench-"));
  const { folder: buildFolder, bin } = buildProgram(root);
  const pathTo = (name: string): string => join(folder, name);
  const server = await startChDb(chDb);
  const client = createClient({ url: server.url });
  try {
    writeFileSync(pathTo("watch.mjs"), WATCH);
    writeFileSync(pathTo("by-hand.mjs"), BY_HAND);
    writeFileSync(pathTo("book.json"), JSON.stringify(createLargeBook()));
    const address = `${server.url.replace("http://", "clickhouse://")}/default?table=events`;
    const runs = { times: count > EVENTS.smoke ? 3 : 1, folder, count };
    const lines = [`${count.toLocaleString("en")} events, ${availableParallelism()} threads`];
    for (const [name, { type, tokens }] of Object.entries(NUMBERS)) {
      for (const query of writeTableStatements(type, count)) await client.command({ query });
      const meter = [bin, "meter", pathTo("book.json"), "--events", address];
      const byHand = (from: string): readonly string[] => [
        pathTo("by-hand.mjs"),
        join(root, "package.json"),
        server.url,
        writeCellQuery(from, tokens),
      ];
      lines.push(
        await compareRuns(`${name}, no ids  `, byHand("events"), [...meter, "--no-dedupe"], runs),
        await compareRuns(`${name}, with ids`, byHand(`(select ${COLUMNS} from events limit 1 by id)`), meter, runs),
      );
    }
    return [...lines, INEXACT];
  } finally {
    await client.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
    rmSync(buildFolder, { recursive: true, force: true });
  }
}

const INEXACT =
  "by hand: sums texts as doubles, overflows decimals silently, counts any row of an id, and reports no failed rows";

/** Statements that create the table of `ratebook sql --ddl` with events of 1,000 accounts over 30 days. */
function writeTableStatements(type: string, count: number): readonly string[] {
  return [
    `create or replace table events (schemaName LowCardinality(String), accountId String, timestamp DateTime64(3, 'UTC'), id String,
      context_tokens Nullable(${type}), generated_tokens Nullable(${type}), service LowCardinality(Nullable(String))
    ) engine = MergeTree partition by toYYYYMM(timestamp) order by (schemaName, accountId, toDate(timestamp), id)`,
    `insert into events select 'llm_request', 'account-' || toString(number * 7919 % 1000),
      fromUnixTimestamp64Milli(toInt64(1704067200000 + intDiv(number * 2592000000, ${count})), 'UTC'),
      'request-' || leftPad(toString(number), 9, '0'), toString(100 + number * 31 % 5000), toString(number * 17 % 900),
      number % 3 = 0 ? 'chat' : 'code' from numbers(${count})`,
    "optimize table events final",
  ];
}

/** The obvious query for the cells. */
function writeCellQuery(from: string, tokens: string): string {
  const sums = `sumIf(${tokens}, service = 'code') as code, sumIf(${tokens}, service = 'chat') as chat`;
  return (
    `select accountId, toDate(timestamp) as day, ${sums}, count() as requests from ${from} ` +
    `where schemaName = 'llm_request' group by accountId, day`
  );
}

async function compareRuns(
  name: string,
  byHand: readonly string[],
  meter: readonly string[],
  { count, times, folder }: { readonly count: number; readonly times: number; readonly folder: string },
): Promise<string> {
  const sql = await bestAsyncRun(times, async () => runWhileAnswering(folder, byHand));
  const ours = await bestAsyncRun(times, async () => runWhileAnswering(folder, meter));
  if (sumByMeter(ours.output) !== sumByMeter(sql.output))
    throw new Error("the cells of meter differ from those of the handwritten SQL");
  const formatSeconds = ({ seconds }: Measurement): string => `${seconds.toFixed(2)} s`;
  const rate = Math.round(count / ours.seconds / 1000).toLocaleString("en");
  return `${name}  by hand ${formatSeconds(sql)}; meter ${formatSeconds(ours)}, ${rate} thousand a second, ratio ${(sql.seconds / ours.seconds).toFixed(2)}`;
}

/** The sums of cells by meter. */
function sumByMeter(cells: string): string {
  const sums = new Map<string, number>();
  for (const line of cells.trimEnd().split("\n")) {
    const { meterId, quantity } = JSON.parse(line) as { readonly meterId: string; readonly quantity: number | string };
    sums.set(meterId, (sums.get(meterId) ?? 0) + Number(quantity));
  }
  return [...sums]
    .map(([meterId, sum]) => `${meterId} ${sum}`)
    .toSorted()
    .join("\n");
}

/** Runs a statement and prints its cells. */
const BY_HAND = `
import { createRequire } from "node:module";
const [, , root, url, query] = process.argv;
const { createClient } = createRequire(root)("@clickhouse/client");
const client = createClient({ url, request_timeout: 600000 });
const answer = await client.query({ query, format: "JSONCompactEachRow" });
for await (const rows of answer.stream()) {
  let text = "";
  for (const row of rows) {
    const [accountId, date, code, chat, requests] = row.json();
    const sums = { "um.code": code, "um.chat": chat, "um.requests": requests };
    for (const [meterId, quantity] of Object.entries(sums))
      if (Number(quantity) !== 0) text += JSON.stringify({ accountId, meterId, date, quantity: Number(quantity) }) + "\\n";
  }
  process.stdout.write(text);
}
await client.close();
`;
