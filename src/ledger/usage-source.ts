/**
 * The port through which an engine reads usage whose events live elsewhere: in files, in a warehouse (S17.4).
 *
 * @module
 */
import type { Book } from "../book/model/book.ts";
import type { Day, Instant } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import type { UsageCell } from "../metering/usage.ts";
import { compareIds } from "./compare-ids.ts";
import type { AccountRecord } from "./records.ts";

/** An account whose usage is asked for. */
export interface UsageAccount {
  readonly id: string;
  /** Other names by which rows may call it (S16.6): those that it has now. */
  readonly aliases: readonly string[];
  /** For settings that rules read (S4.2): those of the customer count where the account has none. */
  readonly customerId: string;
}

/** Which cells are asked for. */
export interface CellQuery {
  /**
   * The configuration by which rows are metered: the event schemas and meters that are ACTIVE in it, and settings. It has no
   * accounts. The same object until the configuration changes, so that what is compiled of it may be kept.
   */
  readonly book: Book;
  /** Event schemas of the book whose events live in the source; none of them consumes a feature. One or more. */
  readonly schemas: readonly string[];
  /** By id, ascending by code points. One or more. */
  readonly accounts: readonly UsageAccount[];
  /** UTC days `[from, until)`, by the rows' own timestamps. */
  readonly from: Day;
  readonly until: Day;
  /** Rows dated after this instant have not arrived yet (S17.2). Cells of a whole day count from the beginning of their day. */
  readonly upTo: Instant;
  /**
   * Until when an accepted event of one of these accounts holds its id, exclusive, by the event's own instant: for some time, and as
   * long as its cycle is open (S14.1).
   */
  readonly idHeldUntil: (accountId: string, at: Instant) => Instant;
}

/** Usage whose events live elsewhere. One may be asked several questions at a time. */
export interface UsageSource {
  /** Its kind and its address, for people: `the table usage.events of ClickHouse`. Without credentials. */
  readonly name: string;
  /**
   * The cells of accounts, meters of these schemas and days, a few at a time: accounts in the order of the query, each by the id of
   * {@link UsageAccount}, all cells of one before those of the next. Several of one account, meter and day add up; there may be
   * some whose quantity is 0. What was counted is what ratebook would count of the same rows (S17.3).
   *
   * It ends only when everything was read: whatever is thrown, of whichever kind, the engine takes for a source that cannot be read
   * (ERR_USAGE_UNAVAILABLE), and decides nothing by the cells that came before (S17.5).
   */
  cells(query: CellQuery): AsyncIterable<readonly UsageCell[]>;
}

/** The accounts of a question, in its order. */
export function usageAccountsOf(records: readonly AccountRecord[]): readonly UsageAccount[] {
  return records
    .map(({ id, customerId, aliases }) => ({ id, customerId, aliases: aliases.map(({ alias }) => alias) }))
    .sort((a, b) => compareIds(a.id, b.id));
}

/** Usage that cannot be read, and why. */
export function usageUnavailable(name: string, cause: unknown): RatebookError<"ERR_USAGE_UNAVAILABLE"> {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `the usage in ${name} cannot be read: ${why}`;
  return new RatebookError("ERR_USAGE_UNAVAILABLE", message, {}, { cause });
}
