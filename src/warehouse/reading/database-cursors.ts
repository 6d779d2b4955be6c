/**
 * Rows of a database as cursors: one over sums of plain rows, one over all other rows, which the core decides one by one.
 *
 * @module
 */
import type { Book } from "../../book/model/book.ts";
import { DAY_MS, tryParseInstant } from "../../calendar/instant.ts";
import { invariant } from "../../errors.ts";
import { exactOfText, formatExact } from "../../numbers/exact.ts";
import type { CsvMap } from "../../records/csv-map.ts";
import type { EventCursor } from "../../records/event-cursor.ts";
import type { EventSink } from "../../records/event-sink.ts";
import { type EventMaker, eventMaker } from "../../records/mapped-event.ts";
import { planPush, textRange } from "../pushing/push-schema.ts";
import { type ColumnType, rangeOfPart, unfitFor } from "../source.ts";
import type { Database } from "../statements/dialect.ts";
import { type Metering, meterSources, type PlainGroup, type SourceRow } from "../statements/metered-source.ts";
import type { MeteredSource } from "../statements/statements.ts";
import { columnIn, columnsNamedBy, sourceOf } from "./mapped-source.ts";

/** How a database is read. */
export interface DatabaseReading {
  readonly book: Pick<Book, "eventSchemas" | "usageMeters" | "accounts">;
  /** Whether plain rows are summed by the database; without, every row goes to the core. */
  readonly isPushing: boolean;
  /** Whether ids are remembered (S14.1). */
  readonly dedupes: boolean;
  /** The hashes of ids that occur more than once, where they are known already: a statement, or undefined where none does. */
  readonly known?: { readonly repeated: string | undefined };
}

/** Rows that were looked at, and what their columns are. */
export interface FoundRows {
  /** What a statement reads. */
  readonly from: string;
  /** The type of each column, by its name. */
  readonly columns: ReadonlyMap<string, ColumnType>;
  readonly rows: number;
  /** An expression that names the file or the table of a row. */
  readonly file: string;
  /** @throws {RatebookError} ERR_USAGE_UNAVAILABLE where they are not what they were when they were looked at */
  readonly checkUnchanged: () => Promise<void>;
}

/** Rows of a database with the map of their columns. */
export interface MappedRows {
  readonly found: FoundRows;
  readonly map: CsvMap;
  /** The map's file, for messages. */
  readonly mapFile: string;
  /** Whether none of the rows is summed, whatever else is. */
  readonly isOfCore?: boolean;
}

/**
 * Opens cursors over rows of a database, which are its only readers, and close it.
 *
 * @throws {RatebookError} ERR_USAGE_UNAVAILABLE or ERR_INPUT_INVALID where they cannot be read
 */
export async function openDatabaseCursors(
  db: Database & { readonly close: () => Promise<void> },
  inputs: readonly MappedRows[],
  sink: EventSink,
  { book, isPushing, dedupes, known }: DatabaseReading,
): Promise<readonly EventCursor[]> {
  const bound = inputs.map((input) => bind(input, isPushing && input.isOfCore !== true ? book : undefined));
  const sources = bound.map(({ metered }) => metered);
  const metering = await meterSources(db, sources, { dedupes, isLive: liveAccounts(book), known });
  const shared: Shared = {
    metering,
    makers: bound.map(({ make }) => make),
    sink,
    close: async (isRead) => {
      try {
        if (isRead) for (const { found } of inputs) await found.checkUnchanged();
      } finally {
        await db.close();
      }
    },
  };
  return [groupCursor(shared), restCursor(shared)];
}

interface Shared {
  readonly metering: Metering;
  readonly makers: readonly EventMaker<readonly string[]>[];
  readonly sink: EventSink;
  readonly close: (isRead: boolean) => Promise<void>;
}

function bind(
  { found, map, mapFile }: MappedRows,
  book: DatabaseReading["book"] | undefined,
): { readonly metered: MeteredSource; readonly make: EventMaker<readonly string[]> } {
  const { from, columns, file, rows } = found;
  const named = columnsNamedBy(map);
  const source = sourceOf(map, { from, columns, name: mapFile });
  const headed = named.map((column) => columnIn(columns, column));
  const types = headed.map(({ type }) => type.type);
  const make = eventMaker<readonly string[]>(map, (name) => {
    const place = named.indexOf(name);
    return (record) => record[place] ?? "";
  });
  const plan =
    book === undefined
      ? undefined
      : planPush(book, (name, bounds) => rangeOfPart(source.attributes.get(name), bounds) ?? textRange(name, bounds));
  const pushed = [...(plan?.pushed.values() ?? [])].filter(
    ({ attributes, dimensions }) =>
      unfitFor(source, { attributes: attributes.map(({ name }) => name), dimensions }) === undefined,
  );
  return {
    metered: { source, pushed, columns: headed, file, rows },
    make: (record, row) =>
      make(
        record.map((text, place) => plainText(text, types[place])),
        row,
      ),
  };
}

/** One text for one number, whatever the type of its column: a decimal of two places says `1.00`, a double `1.0` (S4.1). */
function plainText(text: string, type: ColumnType["type"] | undefined): string {
  if (text === "" || (type !== "decimal" && type !== "double" && type !== "float")) return text;
  // A double means its shortest text, which is JavaScript's.
  const short = type === "double" ? String(Number(text)) : text;
  const exact = exactOfText(short);
  return exact === undefined ? short : formatExact(exact);
}

/** Whether a name is an id or an alias of an account that takes events (S16.6). */
function liveAccounts({ accounts }: Pick<Book, "accounts">): (name: string) => boolean {
  const live = new Map<string, boolean>();
  for (const { aliases, status } of accounts)
    if (status !== "ARCHIVED") for (const alias of aliases) live.set(alias, true);
  for (const { id, status } of accounts) live.set(id, status !== "ARCHIVED");
  return (name) => live.get(name) === true;
}

/** A row as a head: an event, or why it is none. */
type Head = { readonly row: SourceRow; readonly event: { readonly timestamp: string } | string };

function headOf(row: SourceRow, makers: readonly EventMaker<readonly string[]>[]): Head {
  const event = makers[row.source]?.(row.texts, row.row) ?? "";
  const at = typeof event === "string" ? undefined : tryParseInstant(event.timestamp);
  invariant(at === row.at || typeof event === "string", "S17.2: the database and the core read the same instant");
  return { row, event };
}

function takeRow({ row, event }: Head, sink: EventSink): boolean {
  return typeof event === "string" ? sink.badLine(row.file, row.row, event) : sink.event(row.file, row.row, event);
}

/** All rows that are not plain, as they arrive. */
function restCursor({ metering, makers, sink }: Shared): EventCursor {
  const blocks = metering.rest()[Symbol.asyncIterator]();
  let rows: readonly SourceRow[] = [];
  let next = 0;
  let head: Head | undefined;
  return {
    get file() {
      return head?.row.file ?? "";
    },
    get line() {
      return head?.row.row ?? 0;
    },
    get at() {
      return head?.row.at;
    },
    advance() {
      const row = rows[next++];
      head = row === undefined ? undefined : headOf(row, makers);
      return row !== undefined;
    },
    async fill() {
      const block = await blocks.next();
      [rows, next] = [block.done === true ? [] : block.value, 0];
      return block.done !== true;
    },
    take: () => head === undefined || takeRow(head, sink),
    close: async () => undefined,
  };
}

/**
 * Sums of plain rows, each at the beginning of its day. Where the core does not take a sum, its rows follow one by one, those of
 * a day together. It is the first to be opened, and closes what all have in common, once nothing has changed meanwhile.
 */
function groupCursor({ metering, makers, sink, close }: Shared): EventCursor {
  const blocks = metering.groups()[Symbol.asyncIterator]();
  let groups: readonly PlainGroup[] = [];
  let next = 0;
  let group: PlainGroup | undefined;
  let isRead = false;
  /** Those of the day that were not taken as a whole. */
  let refused: PlainGroup[] = [];
  /** Their rows, once all groups of the day were gone through. */
  let rows: AsyncIterator<readonly SourceRow[]> | undefined;
  let block: readonly SourceRow[] = [];
  let place = 0;
  let head: Head | undefined;
  const nextGroups = async (): Promise<void> => {
    while (next >= groups.length && !isRead) {
      const read = await blocks.next();
      [groups, next] = [read.done === true ? [] : read.value, 0];
      isRead = read.done === true;
    }
  };
  const isDayOver = (): boolean => refused.length > 0 && groups[next]?.day !== refused[0]?.day;
  return {
    file: "",
    line: 0,
    get at() {
      return head === undefined ? group && group.day * DAY_MS : head.row.at;
    },
    advance() {
      const row = block[place++];
      head = row === undefined ? undefined : headOf(row, makers);
      if (head !== undefined) return true;
      if (rows !== undefined || isDayOver()) return false;
      group = groups[next++];
      return group !== undefined;
    },
    async fill() {
      if (rows === undefined) await nextGroups();
      if (isDayOver()) {
        rows = metering.rowsOf(refused)[Symbol.asyncIterator]();
        refused = [];
      }
      if (rows === undefined) return next < groups.length;
      const read = await rows.next();
      [block, place] = [read.done === true ? [] : read.value, 0];
      if (read.done === true) rows = undefined;
      return read.done !== true || next < groups.length || !isRead;
    },
    take() {
      if (head !== undefined) return takeRow(head, sink);
      if (group !== undefined && !sink.counted(group)) refused.push(group);
      return true;
    },
    close: async () => close(isRead),
  };
}
