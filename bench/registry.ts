import { backtestBenches } from "./analysis/backtest.ts";
import type { Bench } from "./bench.ts";
import { clickHouseBenches } from "./cli/clickhouse-tables.ts";
import { cliBenches } from "./cli/event-files.ts";
import { ndjsonBenches } from "./cli/ndjson-files.ts";
import { parquetBenches } from "./cli/parquet-files.ts";
import { parquetValueBenches } from "./cli/parquet-values.ts";
import { engineBenches } from "./engine/memory.ts";
import { overdueAccountBenches } from "./engine/overdue-account.ts";
import { invoicingBenches } from "./invoicing/compute-invoices.ts";
import { meteringBenches } from "./metering/metering.ts";
import { packageBenches } from "./package/sizes.ts";
import { rateTableBenches } from "./rating/rate-tables.ts";
import { requestCostBenches } from "./rating/request-costs.ts";
import { ratingBenches } from "./rating/slabs.ts";
import { ruleBenches } from "./rules/rules.ts";
import { serverBenches } from "./server/ingest.ts";
import { blockBenches } from "./server/longest-blocks.ts";
import { singleBenches } from "./server/single-events.ts";
import { billAgeBenches } from "./store/bill-run-by-age.ts";
import { billRunBenches } from "./store/bill-runs.ts";
import { creditListBenches } from "./store/credit-lists.ts";
import { externalUsageBenches } from "./store/external-usage.ts";
import { invoiceListBenches } from "./store/invoice-lists.ts";
import { keyedIngestBenches } from "./store/keyed-ingest.ts";
import { storeBenches } from "./store/postgres.ts";
import { retentionBenches } from "./store/retention.ts";

/** All benchmarks in the order in which they run. */
export const BENCHES: readonly Bench[] = [
  ...ruleBenches,
  ...meteringBenches,
  ...ratingBenches,
  ...rateTableBenches,
  ...requestCostBenches,
  ...invoicingBenches,
  ...backtestBenches,
  ...cliBenches,
  ...parquetBenches,
  ...parquetValueBenches,
  ...ndjsonBenches,
  ...clickHouseBenches,
  ...storeBenches,
  ...keyedIngestBenches,
  ...billRunBenches,
  ...billAgeBenches,
  ...creditListBenches,
  ...externalUsageBenches,
  ...retentionBenches,
  ...invoiceListBenches,
  ...engineBenches,
  ...overdueAccountBenches,
  ...serverBenches,
  ...singleBenches,
  ...blockBenches,
  ...packageBenches,
];
