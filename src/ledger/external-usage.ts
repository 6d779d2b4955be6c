/**
 * Usage whose events live elsewhere, as decisions on accounts read it beside that of the ledger (S17.4).
 *
 * @module
 */
import type { Day, Instant } from "../calendar/instant.ts";
import type { Catalog } from "./catalog.ts";
import type { AccountRecord, BilledUsage, LedgerCell } from "./records.ts";

/** The usage elsewhere that is needed of some accounts. */
export interface ExternalUsageQuery {
  readonly catalog: Catalog;
  readonly records: readonly AccountRecord[];
  /** Days from this one up to that of `upTo`. */
  readonly from: Day;
  /** Usage dated after this instant has not arrived yet (S17.2). */
  readonly upTo: Instant;
}

/** Usage elsewhere of some accounts, in no order. */
export interface ExternalUsage {
  readonly open: readonly LedgerCell[];
  readonly billed: readonly BilledUsage[];
}

/** The part of an engine's view that reads usage elsewhere. */
export interface ExternalUsageReads {
  /**
   * The usage elsewhere of these accounts: of days that were kept with an invoice as they were, of others as the source has
   * them now. Undefined where all events are ingested.
   *
   * @throws {RatebookError} ERR_USAGE_UNAVAILABLE
   */
  externalUsage(query: ExternalUsageQuery): Promise<ExternalUsage | undefined>;
}
