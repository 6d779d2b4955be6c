/**
 * `ratebook/warehouse`: usage of events in a database that sums them.
 *
 * @module
 */
export type { CellQuery, UsageAccount, UsageSource } from "./ledger/external-usage.ts";
export type { ClickHouse } from "./warehouse/clickhouse/table.ts";
export type { ColumnOrigin, EventColumns } from "./warehouse/clickhouse/usage.ts";
export { clickhouseUsage, type ClickHouseUsageOptions } from "./warehouse/clickhouse/usage.ts";
