/**
 * The same rows in every input format: ordered by time, with everything that users and programs put into rows by
 * mistake or malice.
 */
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

import {
  accountOn,
  MONTHLY,
  overageCards,
  perUnit,
  planOfMonths,
  slabs,
  sumMeter,
  tokenCards,
} from "../../book/builder.ts";
import { runDuckDb } from "../../support/duckdb.ts";

const ACCOUNTS = 150;
const DAYS = 25;
const DAY_MS = 86_400_000;
const START = Date.UTC(2024, 0, 20);

/** The columns, in the order in which rows with equal instants and ids are sorted: as the map names them. */
const COLUMNS = ["schemaName", "accountId", "id", "at", "units", "seconds", "region"] as const;

/** The locations of an event's fields. */
export const HOSTILE_MAP = {
  schemaName: { column: "schemaName" },
  id: { column: "id" },
  accountId: { column: "accountId" },
  timestamp: { column: "at" },
  attributes: { units: { column: "units" }, seconds: { column: "seconds" } },
  dimensions: { region: { column: "region" } },
};

const regionMatcher = (region: string): object => ({ matcher: { "==": [{ var: "dimension.region" }, region] } });
const own = { attributes: [{ name: "units" }, { name: "seconds" }], dimensions: [{ name: "region" }] };

/** Schemas that databases sum, one that divides by 3, one whose events consume credits; tiers, overage, two plans. */
export const HOSTILE_BOOK = {
  organization: { id: "acme", name: "Acme", baseCurrency: "USD" },
  eventSchemas: [
    {
      name: "call",
      ...own,
      enrichments: {
        fields: [
          {
            name: "weighted",
            type: "ATTRIBUTE",
            order: 1,
            value: { "/": [{ "*": [{ var: "attribute.units" }, { var: "attribute.seconds" }] }, 8] },
          },
        ],
      },
    },
    { name: "share", ...own },
    { name: "job", ...own },
  ],
  usageMeters: [
    sumMeter("um.units", "call", "units"),
    sumMeter("um.weighted", "call", "weighted"),
    {
      ...sumMeter("um.calls", "call", "units"),
      aggregation: "COUNT",
      computations: [{ order: 1, ...regionMatcher("eu"), computation: 1 }],
    },
    {
      ...sumMeter("um.thirds", "share", "units"),
      computations: [{ order: 1, computation: { "/": [{ var: "attribute.units" }, 3] } }],
    },
  ],
  features: [
    {
      id: "feature.tokens",
      name: "Tokens",
      schemaAssociations: [{ schemaName: "job", attributeName: "units" }],
    },
  ],
  pricePlans: [
    planOfMonths("pp.tiers", {
      usageRateCards: [
        { usageMeterId: "um.units", ...slabs("TIERED", [0, "0.000123"], [1000, "0.0001"], [50_000, "0.00007"]) },
        { usageMeterId: "um.weighted", ...perUnit("0.0000001") },
        { usageMeterId: "um.thirds", ...perUnit("0.03") },
      ],
    }),
    planOfMonths("pp.calls", {
      ...MONTHLY,
      usageRateCards: [{ usageMeterId: "um.calls", ...perUnit("0.01") }],
      ...tokenCards(500),
      ...overageCards(0.002),
    }),
  ],
  customers: [{ id: "contoso", name: "Contoso" }],
  accounts: Array.from({ length: ACCOUNTS }, (_, n) => ({
    ...accountOn(accountName(n), "contoso", n % 3 === 0 ? "pp.calls" : "pp.tiers", "2024-01-01"),
    ...(n % 7 === 0 ? { aliases: [`ü𝒳-${n}`] } : {}),
    ...(n === 5 ? { status: "ARCHIVED" as const } : {}),
  })),
};

/** The same book, in which no events consume credits. */
export const BOOK_WITHOUT_FEATURES: object = {
  ...HOSTILE_BOOK,
  features: [],
  pricePlans: HOSTILE_BOOK.pricePlans.filter(({ id }) => id === "pp.tiers"),
  accounts: HOSTILE_BOOK.accounts.map((each) => ({ ...each, pricePlans: [] })),
};

function accountName(n: number): string {
  return n === 8 ? "konto-8" : `account-${n}`;
}

type Row = Record<(typeof COLUMNS)[number], string | null>;
interface Arrival {
  readonly row: Row;
  /** Its instant, or before all others without one. */
  readonly at: number;
}

const HOSTILE_NUMBERS = [
  ..."0 -0 1.50 1e3 1E-6 +4 .5 5. 00012 -3.75 0x10 1_000 abc NaN Infinity 9007199254740993 0.1234567 0.30000000000000001".split(
    " ",
  ),
  ..."999999999999.999999 1234567890123 99999999999999999999999999999999 -999999999999 0.00000000000000000001 1e400".split(
    " ",
  ),
  // No number with a comma: among these, a file with one is refused until the map has a decimal mark.
  ..." 5|5 |5\n|٣||1;2|true".split("|"),
  null,
];
const HOSTILE_TIMES = ["2024-02-30T00:00:00Z", "2024-02-01T24:00:00Z", "2024-02-01T12:00:00", "2024-02-01", "soon", ""];
const HOSTILE_IDS = [
  "é",
  "e\u0301",
  "𝒳",
  "\uffee",
  "x".repeat(512),
  "x".repeat(513),
  "é".repeat(300),
  "",
  null,
  "'; --",
];
const HOSTILE_REGIONS = ["é", "e\u0301", "", "x".repeat(513), 'it\'s "quoted"', "a,b\nc", "\u{1f4b6}", null];
const HOSTILE_NAMES = ["nobody", "", "ACCOUNT-1", "account-1 ", "account-5", null];

/** Deterministic pseudo-random numbers. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Rows day by day, in order of arrival (S17.2): within a day sorted by instant, id and content. */
function* arriving(count: number): Iterable<readonly Arrival[]> {
  const roll = dice(12);
  const acceptedIds: string[] = [];
  const among = <Value>(values: readonly Value[]): Value => values[roll(values.length)] as Value;
  let next = 0;
  const rowAt = (at: string): Row => {
    const number = (): string | null =>
      roll(60) === 0 ? among(HOSTILE_NUMBERS) : roll(9) === 0 ? `-${roll(400)}.5` : `${roll(5000)}.${roll(1000)}`;
    const name = roll(ACCOUNTS);
    const fresh = `event-${String(next++).padStart(9, "0")}`;
    const id =
      roll(200) === 0 ? among(HOSTILE_IDS) : roll(150) === 0 && acceptedIds.length > 0 ? among(acceptedIds) : fresh;
    if (roll(50) === 0) acceptedIds.push(fresh);
    return {
      schemaName: roll(300) === 0 ? among(["none", "", null]) : roll(40) === 0 ? among(["share", "job"]) : "call",
      accountId:
        roll(200) === 0 ? among(HOSTILE_NAMES) : name % 7 === 0 && roll(2) === 0 ? `ü𝒳-${name}` : accountName(name),
      id,
      at,
      units: number(),
      seconds: roll(20) === 0 ? number() : String(roll(90)),
      region: roll(100) === 0 ? among(HOSTILE_REGIONS) : among(["eu", "us", "ap"]),
    };
  };
  const each = Math.ceil(count / DAYS);
  yield sortArrivals(Array.from({ length: 40 }, () => ({ row: rowAt(among(HOSTILE_TIMES)), at: -Infinity })));
  for (let day = 0; day < DAYS; day++) {
    const rows = Array.from({ length: each }, () => {
      // Some share their instant, some are at the very beginning or end of a day.
      const at = START + day * DAY_MS + (roll(50) === 0 ? among([0, DAY_MS - 1, 43_200_000]) : roll(DAY_MS));
      return { row: rowAt(timeText(at, roll)), at };
    });
    yield sortArrivals(rows.flatMap((arrival) => (roll(400) === 0 ? [arrival, arrival] : [arrival])));
  }
}

/** An instant in one of the formats that events may use (S2.2). */
function timeText(at: number, roll: (below: number) => number): string {
  const text = new Date(at).toISOString();
  if (roll(80) > 0) return text;
  const local = (minutes: number): string => new Date(at + minutes * 60_000).toISOString().slice(0, 23);
  return [
    text.replace("T", " ").replace("Z", " UTC"),
    `${local(330)}+05:30`,
    `${local(-570)}-0930`,
    `${text.slice(0, 23)}999Z`,
    `${text.slice(0, 23).replace(".", ",")}+00`,
  ][roll(5)] as string;
}

function sortArrivals(rows: readonly Arrival[]): readonly Arrival[] {
  return rows
    .map((arrival) => ({ arrived: arrival, key: [arrival.row.id, ...COLUMNS.map((name) => arrival.row[name])] }))
    .toSorted((a, b) => a.arrived.at - b.arrived.at || byTexts(a.key, b.key))
    .map(({ arrived: arrival }) => arrival);
}

function byTexts(a: readonly (string | null)[], b: readonly (string | null)[]): number {
  for (const [place, text] of a.entries()) {
    const order = Buffer.compare(Buffer.from(text ?? ""), Buffer.from(b[place] ?? ""));
    if (order !== 0) return order;
  }
  return 0;
}

/** Files with the same rows. */
export interface HostileFiles {
  readonly rows: number;
  /** Two files, each ordered by time; rows with equal instants are in the same file. */
  readonly ndjson: readonly string[];
  readonly csv: readonly string[];
  /** Two unordered files, split differently from the line files. */
  readonly parquet: readonly string[];
}

/**
 * Writes rows in every format.
 *
 * @param count the approximate number of rows
 */
export async function writeHostileFiles(folder: string, count: number): Promise<HostileFiles> {
  mkdirSync(folder, { recursive: true });
  const pathTo = (name: string): string => join(folder, name);
  const names = [0, 1];
  const ndjson = names.map((half) => pathTo(`${half}.ndjson`));
  const csv = names.map((half) => pathTo(`${half}.csv`));
  const all = pathTo("all.csv");
  const files = [...ndjson, ...csv, all].map((path) => openSync(path, "w"));
  const texts = files.map((_, place) => (place < 2 ? "" : `${COLUMNS.join(",")}\n`));
  const flush = (): void => {
    for (const [place, file] of files.entries()) writeSync(file, texts[place] ?? "");
    texts.fill("");
  };
  let rows = 0;
  for (const day of arriving(count)) {
    for (const { row, at: instant } of day) {
      const half = Number.isFinite(instant) ? instant % 2 : 0;
      const record = `${COLUMNS.map((name) => csvField(row[name])).join(",")}\n`;
      texts[half] += `${jsonLine(row)}\n`;
      texts[2 + half] += record;
      texts[4] += record;
      if (++rows % 10_000 === 0) flush();
    }
  }
  flush();
  for (const file of files) closeSync(file);
  const parquet = names.map((half) => pathTo(`${half}.parquet`));
  await writeParquet(all, parquet, rows);
  rmSync(all);
  return { rows, ndjson, csv, parquet };
}

/** A value as a number if JSON writes the same text, and an empty value as null. */
function jsonLine(row: Row): string {
  const fields = COLUMNS.map((name) => {
    const text = row[name];
    const isNumber = text !== null && text.length % 2 === 0 && /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/.test(text);
    return `${JSON.stringify(name)}:${isNumber && (name === "units" || name === "seconds") ? text : JSON.stringify(text)}`;
  });
  return `{${fields.join(",")}}`;
}

/** NULL is empty, and an empty text is written in quotes. */
function csvField(text: string | null): string {
  return text === null ? "" : /^[\w.:-]+$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`;
}

async function writeParquet(csv: string, paths: readonly string[], rows: number): Promise<void> {
  const read = `read_csv('${csv}', all_varchar = true, header = true, delim = ',', quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false)`;
  const copies = paths.map(
    (path, half) =>
      `copy (select * exclude place from given where place % ${paths.length} = ${half} order by place) to '${path}' (format parquet, row_group_size 20000)`,
  );
  const [[count] = []] = await runDuckDb(
    "set memory_limit = '2GB'",
    `create table given as select *, hash(id, "at", units) as place from ${read}`,
    ...copies,
    "select count(*)::INTEGER from given",
  );
  if (count !== rows) throw new Error("DuckDB has other rows than were written");
}
