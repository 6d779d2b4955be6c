/**
 * Meters sources in a database: plain rows as sums by account and day, all other rows individually in arrival order
 * (S17.2, S17.3).
 */
import { type Day, type Instant, instantOfDay } from "../../calendar/instant.ts";
import { invariant, type RatebookError } from "../../errors.ts";
import type { SummedEvents, SummedGroup } from "../../ledger/preview/summed-usage.ts";
import { formatTimedKey } from "../../metering/measure-units.ts";
import { addExact, type Exact, exactOfText, formatExact, multiplyExact } from "../../numbers/exact.ts";
import type { PushedSum, PushedValues } from "../pushdown/push-meter.ts";
import { usageChangedError } from "../source.ts";
import { type PlainRowConditions, summingScale } from "./classified-rows.ts";
import type { Database, Row, Value } from "./expressions.ts";
import {
  findLayout,
  hasList,
  selectAccounts,
  selectOrderedGroups,
  type MeteredSource,
  type PlainGroupRows,
  selectRepeatedIds,
  selectRestRows,
  selectGroupRows,
} from "./metering-statements.ts";

/** Options of metering. */
interface MeteringOptions {
  /** Whether ids are remembered. Rows with a repeated id go to the core. */
  readonly dedupes: boolean;
  /** The statement that selects the hashes of repeated ids, if already known; undefined inside if there are none. */
  readonly knownRepeats?: { readonly repeatedIdsSql: string | undefined } | undefined;
  /** Whether an account name in a row is the id or an alias of an ACTIVE account. */
  readonly isActiveAccount: (accountName: string) => boolean;
}

/** A row for the core. */
export interface SourceRow {
  /** The index of its source. */
  readonly source: number;
  readonly file: string;
  /** From 1; 0 if rows have no numbers. */
  readonly row: number;
  /** The arrival time; undefined if the timestamp is invalid. */
  readonly at: Instant | undefined;
  readonly texts: readonly string[];
}

/** The sums of plain rows of one account and day, and where the rows are. */
export interface PlainGroup extends SummedEvents {
  readonly source: number;
}

/**
 * The result of metering. Every stream fails with ERR_USAGE_UNAVAILABLE if the number of rows differs from an earlier
 * count (S17.5).
 */
export interface Metering {
  /** In day order. Can be read once. */
  readonly groups: () => AsyncIterable<readonly PlainGroup[]>;
  /** The rows of groups of one day, to be metered individually, in the order of S17.2. */
  readonly rowsOf: (groups: readonly PlainGroup[]) => AsyncIterable<readonly SourceRow[]>;
  /** All rows that are not plain, in the order of S17.2. */
  readonly rest: () => AsyncIterable<readonly SourceRow[]>;
}

/** Meters sources. @throws {RatebookError} ERR_USAGE_UNAVAILABLE if the database can't be read */
export async function meterSources(
  db: Database,
  sources: readonly MeteredSource[],
  { dedupes, knownRepeats, isActiveAccount }: MeteringOptions,
): Promise<Metering> {
  const { dialect } = db;
  const total = sources.reduce((sum, { rowCount }) => sum + rowCount, 0);
  if (sources.every(({ pushedSchemas }) => pushedSchemas.length === 0)) {
    const allRowsSql = selectRestRows(sources, { repeatedIdsSql: undefined, accountCondition: undefined }, dialect);
    return { groups: noRows, rowsOf: noRows, rest: () => readRows(db, allRowsSql, total) };
  }
  const eventSources = sources.map(({ source }) => source);
  const ownRepeatedIdsSql =
    dedupes && knownRepeats === undefined ? await db.materialize(selectRepeatedIds(eventSources, dialect)) : undefined;
  const { repeatedIdsSql } = knownRepeats ?? { repeatedIdsSql: ownRepeatedIdsSql };
  const { unknownNames, pushedCount } = await countRowsAndUnknownAccounts(db, sources, isActiveAccount);
  const accountCondition =
    unknownNames.length === 0 ? undefined : dialect.isNotIn("account_id", await db.selectTexts(unknownNames));
  const plain: PlainRowConditions = { repeatedIdsSql, accountCondition };
  // The first group counts the rows that are not plain, so that they are only read if there are any.
  const groups = db.stream(selectOrderedGroups(sources, plain, dialect))[Symbol.asyncIterator]();
  const first = await groups.next();
  const head = first.done === true ? [] : first.value;
  const restCount = head.filter(isRestGroup).reduce((sum, row) => sum + readEventCount(row), 0);
  // Rows of schemas that are not pushed down, plus rows that are not plain.
  const remaining = total - pushedCount + restCount;
  return {
    groups: () => readGroups(chainRows(head, groups), sources, pushedCount),
    rest: () => (remaining === 0 ? noRows() : readRows(db, selectRestRows(sources, plain, dialect), remaining)),
    rowsOf: (rejectedGroups) => readGroupRows(db, sources, rejectedGroups, plain),
  };
}

/** Reads the rows of all groups in one statement, because there may be as many groups as accounts. */
async function* readGroupRows(
  db: Database,
  sources: readonly MeteredSource[],
  rejectedGroups: readonly PlainGroup[],
  plain: PlainRowConditions,
): AsyncIterable<readonly SourceRow[]> {
  const parts: PlainGroupRows[] = [];
  for (const [index, meteredSource] of sources.entries()) {
    for (const pushedSchema of meteredSource.pushedSchemas) {
      const schemaGroups = rejectedGroups.filter(
        ({ source, schemaName }) => source === index && schemaName === pushedSchema.schema.name,
      );
      const [first] = schemaGroups;
      if (first === undefined) continue;
      const accounts = await db.selectTexts(schemaGroups.map(({ accountId }) => accountId));
      parts.push({ meteredSource, index, pushedSchema, day: first.day, accounts });
    }
  }
  const expectedCount = rejectedGroups.reduce((sum, { eventCount }) => sum + eventCount, 0);
  yield* readRows(db, selectGroupRows(parts, plain, db.dialect), expectedCount);
}

async function* noRows(): AsyncIterable<never> {
  // Without rows to meter individually, nothing is read again.
}

async function* chainRows(head: readonly Row[], rest: AsyncIterator<readonly Row[]>): AsyncIterable<readonly Row[]> {
  yield head;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/** The names of accounts that are unknown or not ACTIVE, and the number of rows of pushed-down schemas. */
async function countRowsAndUnknownAccounts(
  db: Database,
  sources: readonly MeteredSource[],
  isActiveAccount: (accountName: string) => boolean,
): Promise<{ readonly unknownNames: readonly string[]; readonly pushedCount: number }> {
  const unknownNames: string[] = [];
  let pushedCount = 0;
  for await (const rows of db.stream(selectAccounts(sources, db.dialect))) {
    for (const [name, count] of rows) {
      pushedCount += Number(count);
      if (name !== null && !isActiveAccount(String(name))) unknownNames.push(String(name));
    }
  }
  return { unknownNames, pushedCount };
}

/** The column indexes of a group's row. */
const [SOURCE_COLUMN, SCHEMA_COLUMN, ACCOUNT_COLUMN, DAY_COLUMN] = [0, 1, 2, 3] as const;
const [EVENTS_COLUMN, METERED_COLUMN, FIRST_AT_COLUMN, LAST_AT_COLUMN] = [4, 5, 6, 7] as const;
/** The texts of groups, then the sums, then the lists of values if there are any. */
const FIRST_TEXT_COLUMN = 8;
const CELL_COLUMNS = [SOURCE_COLUMN, SCHEMA_COLUMN, ACCOUNT_COLUMN, DAY_COLUMN] as const;

/** The group of all rows that are not plain has day -1; plain rows are never before 1970. */
function isRestGroup(row: Row): boolean {
  return Number(row[DAY_COLUMN]) < 0;
}

function readEventCount(row: Row): number {
  return Number(row[EVENTS_COLUMN]);
}

async function* readGroups(
  blocks: AsyncIterable<readonly Row[]>,
  sources: readonly MeteredSource[],
  expectedCount: number,
): AsyncIterable<readonly PlainGroup[]> {
  const { dimensionCount, meterCount } = findLayout(sources);
  const firstSum = FIRST_TEXT_COLUMN + dimensionCount;
  const layout = { firstSum, firstList: firstSum + meterCount };
  let events = 0;
  let rowsOfLast: readonly Row[] = [];
  for await (const rows of blocks) {
    events += rows.reduce((sum, row) => sum + readEventCount(row), 0);
    const cells = splitByCell([...rowsOfLast, ...rows.filter((row) => !isRestGroup(row))]);
    // The next block may continue the last cell.
    rowsOfLast = cells.pop() ?? [];
    yield cells.map((cellRows) => toPlainGroup(cellRows, sources, layout));
  }
  if (rowsOfLast.length > 0) yield [toPlainGroup(rowsOfLast, sources, layout)];
  if (events !== expectedCount) throw rowCountChangedError(expectedCount, events);
}

/** Splits rows into those of each source, schema, day and account, which are adjacent. */
function splitByCell(rows: readonly Row[]): Row[][] {
  const cells: Row[][] = [];
  let last: Row | undefined;
  for (const row of rows) {
    const isSameCell = last !== undefined && CELL_COLUMNS.every((column) => last?.[column] === row[column]);
    if (isSameCell) cells.at(-1)?.push(row);
    else cells.push([row]);
    last = row;
  }
  return cells;
}

/** The sums of the rows of one account and day: one for each group, or one without groups. */
function toPlainGroup(
  rows: readonly Row[],
  sources: readonly MeteredSource[],
  { firstSum, firstList }: { readonly firstSum: number; readonly firstList: number },
): PlainGroup {
  const [firstRow = []] = rows;
  const source = Number(firstRow[SOURCE_COLUMN]);
  const pushedSchema = sources[source]?.pushedSchemas[Number(firstRow[SCHEMA_COLUMN])];
  invariant(pushedSchema !== undefined, "S17.3: a group comes from a schema that is pushed down");
  const { meters, groupDimensions } = pushedSchema;
  const day = Number(firstRow[DAY_COLUMN]);
  const hasValues = meters.some(({ kind }) => kind !== "sum");
  const groups = rows.map((row): SummedGroup => {
    const units: (Exact | undefined)[] = [];
    for (const [index, meter] of meters.entries())
      units.push(
        meter.kind === "sum" ? toUnits(meter, row[firstSum + index], { day, change: units[index - 1] }) : undefined,
      );
    return {
      texts: groupDimensions.map(({ name }, index) => [name, String(row[FIRST_TEXT_COLUMN + index])] as const),
      units,
      values: !hasValues
        ? []
        : meters.map((meter, index) =>
            meter.kind === "sum" ? [] : toKeys(meter, row[(hasList(meter) ? firstList : firstSum) + index]),
          ),
      eventCount: Number(row[METERED_COLUMN]),
      unmeteredCount: readEventCount(row) - Number(row[METERED_COLUMN]),
    };
  });
  const numbers = (column: number): readonly number[] => rows.map((row) => Number(row[column]));
  const sum = (column: number): number => numbers(column).reduce((total, count) => total + count, 0);
  return {
    source,
    schemaName: pushedSchema.schema.name,
    accountId: String(firstRow[ACCOUNT_COLUMN]),
    day,
    eventCount: sum(EVENTS_COLUMN),
    meteredCount: sum(METERED_COLUMN),
    firstAt: Math.min(...numbers(FIRST_AT_COLUMN)),
    lastAt: Math.max(...numbers(LAST_AT_COLUMN)),
    units: meters.map((_, index) =>
      groups
        .map(({ units, values }) => units[index] ?? (values[index]?.length ? 1 : undefined))
        .reduce(addUnits, undefined),
    ),
    groups,
  };
}

function addUnits(a: Exact | undefined, b: Exact | undefined): Exact | undefined {
  return a === undefined || b === undefined ? (a ?? b) : addExact(a, b);
}

/** A sum in the core's form; undefined if the meter counts none of the rows. */
function toUnits(
  { units, isMoment }: PushedSum,
  sum: Value | undefined,
  { day, change }: { readonly day: Day; readonly change: Exact | undefined },
): Exact | undefined {
  if (sum === null || sum === undefined) return undefined;
  const exact = toExact(String(sum), summingScale(units));
  return isMoment && change !== undefined ? addExact(exact, multiplyExact(change, instantOfDay(day))) : exact;
}

/** The keys of values, as the core has them (S19.2). */
function toKeys({ kind, units }: PushedValues, result: Value | undefined): readonly string[] {
  if (result === null || result === undefined) return [];
  const values = Array.isArray(result) ? (result as readonly string[]) : [String(result)];
  if (units.kind === "text") return values;
  const { scale } = units.range;
  if (kind !== "timed") return values.map((value) => formatExact(toExact(value, scale)));
  return values.map((text) => {
    const [, at = "", value = "", id = ""] = /^(\d+) (-?\d+) (.*)$/su.exec(text) ?? [];
    return formatTimedKey(Number(at), id, toExact(value, scale));
  });
}

function toExact(whole: string, scale: number): Exact {
  const exact = exactOfText(`${whole}e-${scale}`);
  invariant(exact !== undefined, "S17.3: a database returns whole numbers");
  return exact;
}

async function* readRows(db: Database, sql: string, expectedCount: number): AsyncIterable<readonly SourceRow[]> {
  let count = 0;
  for await (const rows of db.stream(sql)) {
    count += rows.length;
    yield rows.map(toSourceRow);
  }
  if (count !== expectedCount) throw rowCountChangedError(expectedCount, count);
}

function toSourceRow([source, file, row, at, texts]: Row): SourceRow {
  return {
    source: Number(source),
    file: String(file),
    row: Number(row) + 1,
    at: at === null || at === undefined ? undefined : Number(at),
    texts: Array.isArray(texts) ? texts.map(String) : [],
  };
}

function rowCountChangedError(expectedCount: number, actualCount: number): RatebookError<"ERR_USAGE_UNAVAILABLE"> {
  return usageChangedError(
    `the usage changed while it was being read (${expectedCount} rows, then ${actualCount}), so nothing was priced`,
  );
}
