/**
 * Events that were measured elsewhere, many at once.
 *
 * @module
 */
import type { Day, Instant } from "../../calendar/instant.ts";
import type { Units } from "../../metering/measure.ts";

/** Plain events of one account, schema and UTC day that were measured elsewhere: their ids occur nowhere else (S17.3). */
export interface CountedEvents {
  readonly schemaName: string;
  /** An id or an alias. */
  readonly accountId: string;
  readonly day: Day;
  /** How many there are, and how many of them a meter counts. */
  readonly events: number;
  readonly metered: number;
  /** The first and the last of their timestamps. */
  readonly first: Instant;
  readonly last: Instant;
  /** What they count together, by the meters of the schema in their order; undefined where a meter counts none of them. */
  readonly units: Units;
}
