/**
 * Usage whose events live in a table of ClickHouse, for an engine (S17.4).
 *
 * @module
 */
import { checkEventFileMap } from "../../event-files/event-file-map.ts";
import type { UsageSource } from "../../ledger/usage-source.ts";
import type { ClickHouse } from "./connect.ts";
import type { EventColumns } from "./event-columns.ts";
import { createTableUsage } from "./table-usage.ts";

/** Where events are. */
export interface ClickHouseUsageOptions {
  /** A table or a view. */
  readonly table: string;
  /** Default: the one that the client is connected to. */
  readonly database?: string | undefined;
  /**
   * Where each part of an event is, as a map of event files says it. Default: each part is in the column of its name, `schemaName`,
   * `id`, `accountId`, `timestamp`, and of each schema its attributes and dimensions.
   */
  readonly columns?: EventColumns | undefined;
  /** Says that no id comes twice in an account: then none is looked for, and one that does counts twice. Default false. */
  readonly hasUniqueIds?: boolean | undefined;
}

/**
 * A source over a table of ClickHouse. Rows of which it is provable that the core would count just that are summed up by the server,
 * all others are decided by the core (S17.3). Nothing of them is kept between two questions.
 *
 * Of one id the first row of its account counts, as long as S14.1 would remember it; the same id in another account is another
 * event.
 *
 * @param client of `@clickhouse/client`; whoever made it closes it, and its `request_timeout` bounds each statement
 * @throws {RatebookError} ERR_INPUT_INVALID for columns that are none; of `cells` ERR_USAGE_UNAVAILABLE, also where the user's
 * settings leave out rows, and where rows that were asked for came or went while they were read, three times
 */
export function clickhouseUsage(client: ClickHouse, options: ClickHouseUsageOptions): UsageSource {
  const { table, database, columns, hasUniqueIds = false } = options;
  const map = columns === undefined ? undefined : checkEventFileMap("columns", columns);
  return createTableUsage({ client, table, database, map, dedupes: !hasUniqueIds });
}
