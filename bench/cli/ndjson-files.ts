/** Previewing an NDJSON file with prices, compared with handwritten SQL for the same sums, in doubles. */
import type { Bench } from "../bench.ts";
import { compareWithSql, compareRuns, selectFirstOfIds } from "./parquet-files.ts";

const EVENTS = { smoke: 2_000, full: 5_000_000 } as const;

export const ndjsonBenches: readonly Bench[] = [
  {
    name: "preview of an NDJSON file, target: 0.4 of the rate of handwritten SQL",
    run: (size) => previewNdjson(Number(process.env["EVENTS"] ?? EVENTS[size])),
  },
];

async function previewNdjson(count: number): Promise<readonly string[]> {
  return compareWithSql(count, 2, async ({ at, preview, byHand, runs }) => {
    const rows = selectRows(at("events.ndjson"));
    const day = "left(timestamp, 10)";
    const eventOptions = ["--events", at("events.ndjson")];
    return [
      compareRuns("no ids  ", byHand(rows, day), preview(...eventOptions, "--no-dedupe"), runs),
      compareRuns("with ids", byHand(selectFirstOfIds(rows), day), preview(...eventOptions), runs),
    ];
  });
}

/** The rows of a file in SQL. */
function selectRows(file: string): string {
  const types =
    "{id: 'VARCHAR', timestamp: 'VARCHAR', accountId: 'VARCHAR', " +
    "attributes: 'STRUCT(name VARCHAR, value DOUBLE)[]', dimensions: 'STRUCT(service VARCHAR)'}";
  return (
    "(select id, accountId, timestamp, attributes[1].value as context_tokens, attributes[2].value as generated_tokens, " +
    `dimensions.service as service from read_json('${file}', format = 'newline_delimited', columns = ${types}))`
  );
}
