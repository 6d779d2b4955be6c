/**
 * External usage, which decisions on accounts read besides the ledger's own (S17.4).
 *
 * @module
 */
import type { Day, Instant } from "../calendar/instant.ts";
import type { Catalog } from "./catalog.ts";
import type { AccountRecord, BilledUsage, LedgerCell } from "./records.ts";
import type { LedgerView } from "./view.ts";

/** A query for the external usage of some accounts. */
export interface ExternalUsageQuery {
  readonly catalog: Catalog;
  readonly records: readonly AccountRecord[];
  /** From this day to that of `upTo`. */
  readonly from: Day;
  /** Usage dated after this instant is excluded (S17.2). */
  readonly upTo: Instant;
}

/** The external usage of some accounts, unordered. */
export interface ExternalUsage {
  readonly open: readonly LedgerCell[];
  readonly billed: readonly BilledUsage[];
}

/** Reads external usage. */
export interface ExternalUsageReads {
  /**
   * Reads the external usage of accounts: as billed for days stored with an invoice, current for others. Undefined if
   * all events are ingested.
   *
   * @throws {RatebookError} ERR_USAGE_UNAVAILABLE
   */
  externalUsage(view: Pick<LedgerView, "keptUsage">, query: ExternalUsageQuery): Promise<ExternalUsage | undefined>;
}
