/**
 * Sources metered by a database: plain rows as sums by account and day, all other rows one by one in the order of their arrival
 * (S17.2, S17.3).
 *
 * @module
 */
import type { Instant } from "../../calendar/instant.ts";
import { invariant, RatebookError } from "../../errors.ts";
import type { CountedEvents } from "../../ledger/preview/counted-events.ts";
import type { Exact } from "../../numbers/exact.ts";
import { exactOfText } from "../../numbers/exact.ts";
import type { Database, Row, Value } from "./dialect.ts";
import { type PlainRows, scaleOfUnits } from "./judged-rows.ts";
import {
  accountsOfRows,
  groupsInOrder,
  type MeteredSource,
  type PlainGroupRows,
  repeatedIds,
  restOfRows,
  rowsOfGroups,
} from "./statements.ts";

/** How sources are metered. */
export interface MeteringOptions {
  /** Whether ids are remembered: rows whose id comes again go to the core. */
  readonly dedupes: boolean;
  /** The hashes of ids that occur more than once, where they are known already: a statement, or undefined where none does. */
  readonly known?: { readonly repeated: string | undefined } | undefined;
  /** Whether the name in a row is that of an account that is known and ACTIVE. */
  readonly isLive: (accountName: string) => boolean;
}

/** A row for the core. */
export interface SourceRow {
  /** The index of its source among those that were given. */
  readonly source: number;
  readonly file: string;
  /** From 1; 0 where rows have no numbers. */
  readonly row: number;
  /** When it arrives; undefined where its timestamp is none. */
  readonly at: Instant | undefined;
  readonly texts: readonly string[];
}

/** Plain rows of one account and day, and where they are. */
export interface PlainGroup extends CountedEvents {
  readonly source: number;
}

/** What metering found. Every stream ends with ERR_USAGE_UNAVAILABLE where other rows came than were counted before (S17.5). */
export interface Metering {
  /** In the order of days. To be read once. */
  readonly groups: () => AsyncIterable<readonly PlainGroup[]>;
  /** The rows of groups of one day, where they are to be decided one by one; in the order of S17.2. */
  readonly rowsOf: (groups: readonly PlainGroup[]) => AsyncIterable<readonly SourceRow[]>;
  /** All rows that are not plain, in the order of S17.2. */
  readonly rest: () => AsyncIterable<readonly SourceRow[]>;
}

/** Meters sources. @throws {RatebookError} ERR_USAGE_UNAVAILABLE where the database cannot be read */
export async function meterSources(
  db: Database,
  sources: readonly MeteredSource[],
  { dedupes, known, isLive }: MeteringOptions,
): Promise<Metering> {
  const { dialect } = db;
  const total = sources.reduce((sum, { rows }) => sum + rows, 0);
  if (sources.every(({ pushed }) => pushed.length === 0)) {
    const all = restOfRows(sources, { repeated: undefined, account: undefined }, dialect);
    return { groups: none, rowsOf: none, rest: () => rowsIn(db, all, total) };
  }
  const ids = sources.map(({ source }) => source);
  const searched = dedupes && known === undefined ? await db.keep(repeatedIds(ids, dialect)) : undefined;
  const { repeated } = known ?? { repeated: searched };
  const { strange, events } = await accountsOf(db, sources, isLive);
  const account = strange.length === 0 ? undefined : dialect.isNotIn("account_id", await db.listed(strange));
  const plain: PlainRows = { repeated, account };
  // What is not plain comes first of all groups: how much it is says whether any row must be looked at again.
  const groups = db.stream(groupsInOrder(sources, plain, dialect))[Symbol.asyncIterator]();
  const first = await groups.next();
  const head = first.done === true ? [] : first.value;
  const unplain = head.filter(isOfUnplain).reduce((sum, row) => sum + eventsOf(row), 0);
  const left = total - events + unplain;
  return {
    groups: () => groupsIn(chained(head, groups), sources, events),
    rest: () => (left === 0 ? none() : rowsIn(db, restOfRows(sources, plain, dialect), left)),
    rowsOf: (refused) => rowsOfRefused(db, sources, refused, plain),
  };
}

/** The rows of all groups in one statement: there may be as many groups as accounts. */
async function* rowsOfRefused(
  db: Database,
  sources: readonly MeteredSource[],
  refused: readonly PlainGroup[],
  plain: PlainRows,
): AsyncIterable<readonly SourceRow[]> {
  const parts: PlainGroupRows[] = [];
  for (const [index, metered] of sources.entries()) {
    for (const pushed of metered.pushed) {
      const own = refused.filter(({ source, schemaName }) => source === index && schemaName === pushed.schema.name);
      const [first] = own;
      if (first === undefined) continue;
      const accounts = await db.listed(own.map(({ accountId }) => accountId));
      parts.push({ metered, index, pushed, day: first.day, accounts });
    }
  }
  const expected = refused.reduce((sum, { events }) => sum + events, 0);
  yield* rowsIn(db, rowsOfGroups(parts, plain, db.dialect), expected);
}

async function* none(): AsyncIterable<never> {
  // Nothing is left: no row is looked at again.
}

async function* chained(head: readonly Row[], rest: AsyncIterator<readonly Row[]>): AsyncIterable<readonly Row[]> {
  yield head;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/** The names of accounts that are not known, or not live, and how many rows there are of schemas that are pushed down. */
async function accountsOf(
  db: Database,
  sources: readonly MeteredSource[],
  isLive: (accountName: string) => boolean,
): Promise<{ readonly strange: readonly string[]; readonly events: number }> {
  const strange: string[] = [];
  let events = 0;
  for await (const rows of db.stream(accountsOfRows(sources, db.dialect))) {
    for (const [name, count] of rows) {
      events += Number(count);
      if (name !== null && !isLive(String(name))) strange.push(String(name));
    }
  }
  return { strange, events };
}

/** The places of a group's parts in its row. */
const SOURCE = 0;
const SCHEMA = 1;
const DAY = 3;
const EVENTS = 4;

function isOfUnplain(row: Row): boolean {
  return Number(row[DAY]) < 0;
}

function eventsOf(row: Row): number {
  return Number(row[EVENTS]);
}

async function* groupsIn(
  blocks: AsyncIterable<readonly Row[]>,
  sources: readonly MeteredSource[],
  expected: number,
): AsyncIterable<readonly PlainGroup[]> {
  let events = 0;
  for await (const rows of blocks) {
    events += rows.reduce((sum, row) => sum + eventsOf(row), 0);
    yield rows.filter((row) => !isOfUnplain(row)).map((row) => groupOf(row, sources));
  }
  if (events !== expected) throw changed(expected, events);
}

function groupOf(row: Row, sources: readonly MeteredSource[]): PlainGroup {
  const [, , account, day, events, metered, first, last, ...sums] = row;
  const source = Number(row[SOURCE]);
  const pushed = sources[source]?.pushed[Number(row[SCHEMA])];
  invariant(pushed !== undefined, "S17.3: a group comes from a schema that is pushed down");
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
function quantityOf(sum: Value | undefined, scale: number): Exact | undefined {
  if (sum === null || sum === undefined) return undefined;
  const exact = exactOfText(`${String(sum)}e-${scale}`);
  invariant(exact !== undefined, "S17.3: a sum of a database is a whole number");
  return exact;
}

async function* rowsIn(db: Database, sql: string, expected: number): AsyncIterable<readonly SourceRow[]> {
  let count = 0;
  for await (const rows of db.stream(sql)) {
    count += rows.length;
    yield rows.map(rowOf);
  }
  if (count !== expected) throw changed(expected, count);
}

function rowOf([source, file, row, at, texts]: Row): SourceRow {
  return {
    source: Number(source),
    file: String(file),
    row: Number(row) + 1,
    at: at === null || at === undefined ? undefined : Number(at),
    texts: Array.isArray(texts) ? texts.map(String) : [],
  };
}

function changed(expected: number, found: number): RatebookError<"ERR_USAGE_UNAVAILABLE"> {
  return new RatebookError(
    "ERR_USAGE_UNAVAILABLE",
    `the usage changed while it was read (${expected} rows, then ${found}): nothing is priced from it`,
    {},
  );
}
