/**
 * Usage of events in a ClickHouse table, for an engine (S17.4).
 *
 * @module
 */
import { checkEventFileMap } from "../../event-files/event-file-map.ts";
import type { UsageSource } from "../../ledger/usage-source.ts";
import type { ClickHouse } from "./connect.ts";
import type { EventColumns } from "./event-columns.ts";
import { createTableUsage } from "./table-usage.ts";

/** A table of events and its columns. */
export interface ClickHouseUsageOptions {
  /** A table or view. */
  readonly table: string;
  /** Default: the client's database. */
  readonly database?: string | undefined;
  /**
   * The columns of each part of an event, like an event file map. Default: columns named `schemaName`, `id`,
   * `accountId`, `timestamp` and like the attributes and dimensions of each schema.
   */
  readonly columns?: EventColumns | undefined;
  /** Whether ids are unique within an account. If true, duplicates are not detected and count twice. Default false. */
  readonly hasUniqueIds?: boolean | undefined;
}

/**
 * Creates a usage source for a ClickHouse table. The server sums rows if the core would provably count the same; all
 * others are metered by the core (S17.3). Nothing is cached between requests.
 *
 * The first row with an id counts, as long as S14.1 remembers the id. Ids are per account.
 *
 * @param client of `@clickhouse/client`; the caller closes it, and its `request_timeout` applies to each statement
 * @throws {RatebookError} ERR_INPUT_INVALID for invalid columns. `cells` throws ERR_USAGE_UNAVAILABLE, also if the
 * user's settings omit rows, and if requested rows change during three attempts
 */
export function clickhouseUsage(client: ClickHouse, options: ClickHouseUsageOptions): UsageSource {
  const { table, database, columns, hasUniqueIds = false } = options;
  const map = columns === undefined ? undefined : checkEventFileMap("columns", columns);
  return createTableUsage({ client, table, database, map, dedupes: !hasUniqueIds });
}
