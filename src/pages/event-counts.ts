/** The number of events by outcome, in words. */
import type { IngestStatus } from "../ledger/outcome.ts";

/** The words that follow the number of events: for one event, and for several if they differ. */
const OUTCOME_WORDS: Readonly<Record<IngestStatus | "BAD_LINE", readonly [one: string, several?: string]>> = {
  BAD_LINE: ["unreadable"],
  INGESTION_REFUSED: ["malformed"],
  INGESTION_FAILED_DUPLICATE_EVENT: ["duplicate", "duplicates"],
  INGESTION_FAILED_ACCOUNT_NOT_FOUND: ["for an unknown account", "for unknown accounts"],
  INGESTION_FAILED_SCHEMA_NOT_DEFINED: ["with an unknown event schema", "with unknown event schemas"],
  INGESTION_FAILED: ["invalid"],
  INGESTION_FAILED_PAST_GRACE_PERIOD: ["too late"],
  INGESTION_FAILED_ENRICHMENT_FAILED: ["with a field that can't be computed", "with fields that can't be computed"],
  INGESTION_FAILED_UNITS_INVALID: ["with an invalid quantity", "with invalid quantities"],
  INGESTION_FAILED_INSUFFICIENT_CREDITS: ["without enough feature credits"],
  INGESTION_COMPLETED_NO_MATCHING_METERS: ["without a meter for its schema", "without a meter for their schema"],
  INGESTION_COMPLETED_EVENT_NOT_METERED: ["matched no meter"],
  INGESTION_COMPLETED_EVENT_NOT_BILLED: ["without a price plan"],
  INGESTION_COMPLETED_EVENT_METERED: ["metered"],
};

/** Describes the number of events with one outcome: `613 matched no meter`. */
export function describeEventCount(
  status: string,
  count: number,
  formatNumber: (count: number) => string = String,
): string {
  const words = OUTCOME_WORDS as Readonly<Record<string, readonly [string, string?] | undefined>>;
  const [one, several = one] = words[status] ?? [status];
  return `${formatNumber(count)} ${count === 1 ? one : several}`;
}
