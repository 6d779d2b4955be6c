/**
 * The interface through which an engine reads external usage, from files or a warehouse (S17.4), and a source over rows of
 * usage cells, from a file or any program (S17.1).
 */
import type { Book } from "../book/resources/book.ts";
import type { UsageMeter } from "../book/resources/event-schema.ts";
import { type Day, type Instant, instantOfDay } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import { checkRowDimensions, readUsageRow, toUsageGroup, type UsageRowInput } from "../metering/usage-rows.ts";
import type { UsageCell } from "../metering/usage.ts";
import { compareIds } from "../numbers/compare-ids.ts";
import { decimalOfExact, type Exact, exactOfDecimal } from "../numbers/exact.ts";
import type { AccountRecord } from "./records.ts";
import { quoteText } from "./refusals.ts";

/** An account in a query. */
export interface UsageAccount {
  readonly id: string;
  /** Its current aliases, which rows may use (S16.6). */
  readonly aliases: readonly string[];
  /** For settings that rules read (S4.2): those of the customer apply if the account has none. */
  readonly customerId: string;
}

/** A query for cells. */
export interface CellQuery {
  /**
   * The configuration for metering rows: its ACTIVE event schemas and meters, and settings. It has no accounts. The
   * same object until the configuration changes, so it can key a cache.
   */
  readonly book: Book;
  /** The event schemas whose events are in the source; none of them consumes a feature. One or more. */
  readonly schemas: readonly string[];
  /** By id, ascending by code points. One or more. */
  readonly accounts: readonly UsageAccount[];
  /** UTC days `[from, until)`, by the rows' own timestamps. */
  readonly from: Day;
  readonly until: Day;
  /** Rows dated after this instant are excluded (S17.2). Cells of a whole day are dated at its start. */
  readonly upTo: Instant;
  /**
   * Until when an accepted event of one of these accounts reserves its id, exclusive, by the event's timestamp: for
   * some time, and while its cycle is open (S14.1).
   */
  readonly idHeldUntil: (accountId: string, at: Instant) => Instant;
}

/** A source of external usage. It may receive several queries at a time. */
export interface UsageSource {
  /** Its kind and address, for people: `the table usage.events of ClickHouse`. Without credentials. */
  readonly name: string;
  /**
   * The cells of these accounts, schemas and days, in chunks: accounts by {@link UsageAccount} id in the order of the
   * query, all cells of one before those of the next. Cells of one account, meter and day add up; quantities may be 0.
   * Counts must be those of ratebook for the same rows (S17.3). It may end only after everything was read. If it
   * throws, the engine reports ERR_USAGE_UNAVAILABLE and ignores the cells that came before (S17.5).
   */
  cells(query: CellQuery): AsyncIterable<readonly UsageCell[]>;
}

/** The accounts of a query, in its order. */
export function usageAccountsOf(records: readonly AccountRecord[]): readonly UsageAccount[] {
  return records
    .map(({ id, customerId, aliases }) => ({ id, customerId, aliases: aliases.map(({ alias }) => alias) }))
    .sort((a, b) => compareIds(a.id, b.id));
}

/** The error for usage that cannot be read. */
export function usageUnavailableError(name: string, cause: unknown): RatebookError<"ERR_USAGE_UNAVAILABLE"> {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `the usage in ${name} cannot be read: ${why}`;
  return new RatebookError("ERR_USAGE_UNAVAILABLE", message, {}, { cause });
}

/** Rows of usage, and how to detect changes. */
export interface UsageRowsInput {
  /** A short description for people; see {@link UsageSource.name}. */
  readonly name: string;
  /** All rows, in any order; those of one account, meter and day add up. Read again when the stamp changes. */
  readonly read: () => AsyncIterable<UsageRowInput> | Iterable<UsageRowInput>;
  /** A text that changes when the rows do; without it they never change. */
  readonly stamp?: () => Promise<string>;
}

/**
 * A source over rows of usage cells, which it keeps in memory: some 50 bytes each. A row counts from the start of its
 * day. Rows of accounts that the engine does not have are ignored, as their events would be. Every query fails if a row
 * is invalid, has an unknown meter, or belongs to a schema whose events are ingested: otherwise usage would be missing
 * or billed twice.
 */
export function usageFromRows({ name, read, stamp = async () => "" }: UsageRowsInput): UsageSource {
  let lastRead: { readonly stamp: string; readonly rows: Promise<RowsByAccount> } | undefined;
  const readCurrentRows = async (): Promise<RowsByAccount> => {
    const currentStamp = await stamp();
    if (lastRead?.stamp !== currentStamp) lastRead = { stamp: currentStamp, rows: groupRows(read()) };
    const { rows } = lastRead;
    try {
      const currentRows = await rows;
      if ((await stamp()) !== currentStamp)
        throw usageRowsUnavailableError(`${name} changed while it was read; try again`);
      return currentRows;
    } catch (error) {
      // A failed read is not cached: the next query tries again.
      if (lastRead?.rows === rows) lastRead = undefined;
      throw error;
    }
  };
  return {
    name,
    async *cells(query) {
      const rows = await readCurrentRows();
      const kinds = checkKinds(rows.kinds, query);
      for (const account of query.accounts) {
        const cells = [...iterateAccountCells(rows, kinds, account, query)];
        if (cells.length > 0) yield cells;
      }
    },
  };
}

/** A meter and the dimensions of its rows' groups, in the order of their texts. */
interface RowKind {
  readonly meterId: string;
  readonly dimensions: readonly string[];
}

/** A kind with its meter, and the indices of the texts of a group in the order of the meter's dimensions. */
interface CheckedKind {
  readonly meter: UsageMeter;
  readonly places: readonly number[];
}

/** A row, without its account. */
type PackedRow = readonly [kind: number, day: Day, quantity: Exact, texts: readonly string[] | undefined];

interface RowsByAccount {
  readonly kinds: readonly RowKind[];
  /** By account name in the rows; one row after another, as four consecutive values. */
  readonly byName: ReadonlyMap<string, readonly PackedRow[number][]>;
}

async function groupRows(rows: AsyncIterable<UsageRowInput> | Iterable<UsageRowInput>): Promise<RowsByAccount> {
  const kinds = new Map<string, RowKind>();
  const indexes = new Map<string, number>();
  const byName = new Map<string, PackedRow[number][]>();
  for await (const row of rows) {
    const { accountId, meterId, day, quantity, group } = readUsageRow(row);
    const dimensions = Object.keys(group ?? {});
    const key = group === undefined ? meterId : JSON.stringify([meterId, dimensions]);
    const kind = indexes.get(key) ?? kinds.size;
    if (kind === kinds.size) {
      kinds.set(key, { meterId, dimensions });
      indexes.set(key, kind);
    }
    let accountRows = byName.get(accountId);
    if (accountRows === undefined) byName.set(accountId, (accountRows = []));
    accountRows.push(kind, day, exactOfDecimal(quantity), group && Object.values(group));
  }
  return { kinds: [...kinds.values()], byName };
}

/**
 * Checks that all rows are of meters that can be queried, and have their groups.
 *
 */
function checkKinds(kinds: readonly RowKind[], { book, schemas }: CellQuery): readonly CheckedKind[] {
  const meters = new Map(book.usageMeters.map((meter) => [meter.id, meter]));
  return kinds.map(({ meterId, dimensions }) => {
    const meter = meters.get(meterId);
    if (meter === undefined) throw usageRowsUnavailableError(`it has rows of the unknown meter ${quoteText(meterId)}`);
    const { eventSchemaName: schemaName } = meter;
    if (!schemas.includes(schemaName)) {
      const conflict = `but events of its schema ${quoteText(schemaName)} are ingested`;
      throw usageRowsUnavailableError(`it has rows of the meter ${quoteText(meterId)}, ${conflict}`);
    }
    return { meter, places: checkRowDimensions(dimensions, meter).map((dimension) => dimensions.indexOf(dimension)) };
  });
}

function* iterateAccountCells(
  { byName }: RowsByAccount,
  kinds: readonly CheckedKind[],
  account: UsageAccount,
  query: CellQuery,
): Iterable<UsageCell> {
  for (const name of [account.id, ...account.aliases]) {
    const rows = byName.get(name) ?? [];
    for (let at = 0; at < rows.length; at += 4) {
      const [kindIndex, day, exact, texts] = rows.slice(at, at + 4) as unknown as PackedRow;
      if (day < query.from || day >= query.until || instantOfDay(day) > query.upTo) continue;
      const kind = kinds[kindIndex];
      if (kind === undefined) continue;
      const { meter, places } = kind;
      const ordered = texts && places.map((place) => texts[place] ?? "");
      const quantity = decimalOfExact(exact);
      const group = ordered && toUsageGroup(ordered, meter, { day, quantity });
      yield { accountId: account.id, meterId: meter.id, day, quantity, ...(group && { group }) };
    }
  }
}

function usageRowsUnavailableError(message: string): RatebookError<"ERR_USAGE_UNAVAILABLE"> {
  return new RatebookError("ERR_USAGE_UNAVAILABLE", message, {});
}
