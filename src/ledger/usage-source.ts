/**
 * The interface through which an engine reads external usage, from files or a warehouse (S17.4).
 *
 * @module
 */
import type { Book } from "../book/resources/book.ts";
import type { Day, Instant } from "../calendar/instant.ts";
import { RatebookError } from "../errors.ts";
import type { UsageCell } from "../metering/usage.ts";
import { compareIds } from "./compare-ids.ts";
import type { AccountRecord } from "./records.ts";

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
