/**
 * Sources metered by DuckDB: plain rows as sums by account and day, all other rows one by one in the order of their arrival
 * (S17.2, S17.3).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import type { CountedEvents } from "../../ledger/preview/counted-events.ts";
import type { Exact } from "../../numbers/exact.ts";
import { exactOfText } from "../../numbers/exact.ts";
import type { PushedSchema } from "../pushing/push-schema.ts";
import type { Source } from "../source.ts";
import type { DuckDb, DuckDbRow } from "./connect.ts";
import { FILE_OF_ROW } from "./parquet-files.ts";
import { quotedText } from "./sql-names.ts";
import { groupsOfPlain, type PlainRows, repeatedIds, restOfRows, rowsOfGroup, scaleOfUnits } from "./statements.ts";

/** A source, and which of its rows may be plain. */
export interface MeteredSource {
  readonly source: Source;
  readonly pushed: readonly PushedSchema[];
  /** The texts of a row's columns, as expressions of SQL. */
  readonly texts: readonly string[];
  /** How many rows it has. */
  readonly rows: number;
}

/** How sources are metered. */
export interface MeteringOptions {
  /** Whether ids are remembered: rows whose id comes again go to the core. */
  readonly dedupes: boolean;
  /** Whether the name in a row is that of an account that is known and ACTIVE. */
  readonly isLive: (accountName: string) => boolean;
}

/** A row for the core. */
export interface SourceRow {
  /** The index of its source among those that were given. */
  readonly source: number;
  readonly file: string;
  /** From 1. */
  readonly row: number;
  /** When it arrives; undefined where its timestamp is none. */
  readonly at: Instant | undefined;
  readonly texts: readonly string[];
}

/** Plain rows of one account and day, and where they are. */
export interface PlainGroup extends CountedEvents {
  readonly source: number;
}

/** What metering found. */
export interface Metering {
  /** In the order of days. */
  readonly groups: () => AsyncIterable<readonly PlainGroup[]>;
  /** The rows of a group, where they are to be decided one by one. */
  readonly rowsOf: (group: PlainGroup) => AsyncIterable<readonly SourceRow[]>;
  /** All rows that are not plain, in the order of S17.2. */
  readonly rest: () => AsyncIterable<readonly SourceRow[]>;
  readonly plainRows: number;
}

const REPEATED = "repeated_ids";
const STRANGE = "strange_accounts";

/** Meters sources. */
export async function meterSources(
  db: DuckDb,
  sources: readonly MeteredSource[],
  { dedupes, isLive }: MeteringOptions,
): Promise<Metering> {
  const isPushing = sources.some(({ pushed }) => pushed.length > 0);
  const repeated = dedupes && isPushing ? await tableOfRepeated(db, sources) : undefined;
  const tables = await groupTables(db, sources, { repeated, account: undefined });
  const account = await withoutStrangers(db, tables, isLive);
  const plain: PlainRows = { repeated, account };
  const plainRows = await countPlain(db, tables);
  const rests = sources.map(({ source, pushed, texts }, index) => ({
    source,
    index,
    texts,
    pushed,
    plain,
    file: FILE_OF_ROW,
  }));
  const total = sources.reduce((sum, { rows }) => sum + rows, 0);
  return {
    plainRows,
    groups: () => groupsOf(db, tables),
    rest: () => (plainRows === total ? none() : rowsIn(db, restOfRows(rests))),
    rowsOf: ({ source, schemaName, accountId, day }) => {
      const rest = rests[source];
      const pushed = rest?.pushed.find(({ schema }) => schema.name === schemaName);
      invariant(
        rest !== undefined && pushed !== undefined,
        "S17.3: a group is of a source and a schema that is pushed down",
      );
      return rowsIn(db, rowsOfGroup(rest, pushed, { accountId, day }));
    },
  };
}

async function* none(): AsyncIterable<readonly SourceRow[]> {
  // Nothing is left: no row is looked at again.
}

/** @returns the table's name; undefined where no id comes again, so that no row need be asked */
async function tableOfRepeated(db: DuckDb, sources: readonly MeteredSource[]): Promise<string | undefined> {
  await db.run(`create or replace table ${REPEATED} as ${repeatedIds(sources.map(({ source }) => source))}`);
  const [[count] = []] = await db.run(`select count(*) from ${REPEATED}`);
  return Number(count) === 0 ? undefined : REPEATED;
}

interface GroupTable {
  readonly name: string;
  readonly source: number;
  readonly pushed: PushedSchema;
}

async function groupTables(
  db: DuckDb,
  sources: readonly MeteredSource[],
  plain: PlainRows,
): Promise<readonly GroupTable[]> {
  const tables: GroupTable[] = [];
  for (const [source, { source: of, pushed }] of sources.entries()) {
    for (const schema of pushed) {
      const name = `plain_${tables.length}`;
      await db.run(`create or replace table ${name} as ${groupsOfPlain(of, schema, plain)}`);
      tables.push({ name, source, pushed: schema });
    }
  }
  return tables;
}

/** Takes away the groups of accounts that are not known, or not live. @returns a condition that leaves their rows out */
async function withoutStrangers(
  db: DuckDb,
  tables: readonly GroupTable[],
  isLive: (accountName: string) => boolean,
): Promise<string | undefined> {
  if (tables.length === 0) return undefined;
  const strange: string[] = [];
  const names = tables.map(({ name }) => `select account_id from ${name}`).join(" union ");
  for await (const rows of db.stream(names))
    for (const [name] of rows) if (!isLive(String(name))) strange.push(String(name));
  if (strange.length === 0) return undefined;
  await db.run(`create or replace table ${STRANGE} (name VARCHAR)`);
  for (let at = 0; at < strange.length; at += 1000) {
    const values = strange.slice(at, at + 1000).map((name) => `(${textExpression(name)})`);
    await db.run(`insert into ${STRANGE} values ${values.join(", ")}`);
  }
  for (const { name } of tables) await db.run(`delete from ${name} where account_id in (select name from ${STRANGE})`);
  return `account_id not in (select name from ${STRANGE})`;
}

/** A text of any characters: a statement ends at a NUL. */
function textExpression(text: string): string {
  return text.split("\0").map(quotedText).join(" || chr(0) || ");
}

async function countPlain(db: DuckDb, tables: readonly GroupTable[]): Promise<number> {
  let count = 0;
  for (const { name } of tables) {
    const [[events] = []] = await db.run(`select coalesce(sum(events), 0)::DOUBLE from ${name}`);
    count += Number(events);
  }
  return count;
}

/** Days in order: the tables are merged by their days. */
async function* groupsOf(db: DuckDb, tables: readonly GroupTable[]): AsyncIterable<readonly PlainGroup[]> {
  const most = Math.max(0, ...tables.map(({ pushed }) => pushed.meters.length));
  if (tables.length === 0) return;
  const parts = tables.map(({ name, pushed }, table) => {
    const sums = Array.from({ length: most }, (_, place) =>
      place < pushed.meters.length ? `s${place}` : `null::HUGEINT as s${place}`,
    );
    return `select ${["day", `${table} as t`, "account_id", "events", "metered", "first_at", "last_at", ...sums].join(", ")} from ${name}`;
  });
  for await (const rows of db.stream(
    `select * from (${parts.join(" union all by name ")}) order by day, t, account_id`,
  )) {
    yield rows.map((row) => groupOf(row, tables));
  }
}

function groupOf(
  [day, t, account, events, metered, first, last, ...sums]: DuckDbRow,
  tables: readonly GroupTable[],
): PlainGroup {
  const table = tables[Number(t)];
  invariant(table !== undefined, "S17.3: a group comes from one of its tables");
  const { pushed, source } = table;
  return {
    source,
    schemaName: pushed.schema.name,
    accountId: String(account),
    day: Number(day),
    events: Number(events),
    metered: Number(metered),
    first: Number(first),
    last: Number(last),
    units: pushed.meters.map(({ units }, place) => quantityOf(sums[place], scaleOfUnits(units))),
  };
}

/** A sum as the core has it; undefined where the meter counts none of the rows. */
function quantityOf(sum: DuckDbRow[number] | undefined, scale: number): Exact | undefined {
  if (sum === null || sum === undefined) return undefined;
  const exact = exactOfText(`${String(sum)}e-${scale}`);
  invariant(exact !== undefined, "S17.3: a sum of a database is a whole number");
  return exact;
}

async function* rowsIn(db: DuckDb, sql: string): AsyncIterable<readonly SourceRow[]> {
  for await (const rows of db.stream(sql)) yield rows.map(rowOf);
}

function rowOf([source, file, row, at, texts]: DuckDbRow): SourceRow {
  const { items } = texts as { readonly items: readonly unknown[] };
  return {
    source: Number(source),
    file: String(file),
    row: Number(row) + 1,
    at: at === null || at === undefined ? undefined : Number(at),
    texts: items.map(String),
  };
}
