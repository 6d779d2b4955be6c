/** The input of invoicing for one account: plans, licenses, credits, and usage over time. */
import type { UsageMeter } from "../book/resources/event-schema.ts";
import type { Day, Instant } from "../calendar/instant.ts";
import type { MonetaryCredit } from "../credits/monetary-credits.ts";
import type { AggregatedUsage, MeterUsage } from "../metering/keyed-usage.ts";
import type { Decimal } from "../numbers/decimal.ts";
import type { FindTable } from "../rating/rated-table.ts";
import type { GraceTerms, PlanDecision, Timeline } from "./timeline.ts";

/** One change of a license's quantity, in order of arrival (S10.1). */
export interface LicenseChange {
  readonly licenseId: string;
  readonly updateType: "ABSOLUTE" | "RELATIVE";
  readonly quantity: Decimal;
  readonly effectiveFrom: Instant;
  /** When it arrived; absent: known from the start. Earlier charges do not change (S10.3, S13.4). */
  readonly knownFrom?: Instant;
}

/** The data of one account that invoicing reads. */
export interface AccountView extends GraceTerms, MeterUsage, Partial<Pick<AggregatedUsage, "usageByKey">> {
  readonly accountId: string;
  readonly customerId: string;
  readonly currency: string;
  /** Days from invoice date to due date (S13.1). */
  readonly netTermDays: number;
  /** In order of decision. */
  readonly decisions: readonly PlanDecision[];
  /** Built from all decisions. */
  readonly timeline: Timeline;
  /** In order of arrival. */
  readonly licenseChanges: readonly LicenseChange[];
  /** Monetary credits, except those granted by plans and invoices. */
  readonly credits: readonly MonetaryCredit[];
  /** A feature's overage in the UTC days `[from, until)` (S11.3). */
  readonly overage: (featureId: string, from: Day, until: Day) => Decimal;
}

/** The data that is the same for all accounts. */
export interface BillingCatalog {
  readonly rounding: "HALF_UP" | "HALF_EVEN" | "DOWN";
  /** The names of the meters whose usage is listed, by id, in book order. */
  readonly meters: ReadonlyMap<string, string>;
  /** The features whose credits a meter's events consume, by meter id; other meters are omitted. */
  readonly featuresByMeter: ReadonlyMap<string, string>;
  /** Those of which the quantity is no sum (S19). */
  readonly keyedMeters: ReadonlyMap<string, UsageMeter>;
  /** Those of them that carry over. */
  readonly levelMeters: ReadonlyMap<string, UsageMeter>;
  /** The price tables of usage cards (S18). */
  readonly findTable: FindTable;
  /** Names by id. */
  readonly addOns: ReadonlyMap<string, string>;
  /** Names by id. */
  readonly features: ReadonlyMap<string, string>;
}
