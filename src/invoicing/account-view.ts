/**
 * An account as invoicing sees it: plans, licenses, credits, and how much was used when.
 *
 * @module
 */
import type { Day, Instant } from "../calendar/instant.ts";
import type { MonetaryCredit } from "../credits/monetary-credits.ts";
import type { Decimal } from "../numbers/decimal.ts";
import type { GraceTerms } from "./grace-period.ts";
import type { PlanDecision, Timeline } from "./timeline.ts";

/** One change of a license's quantity, in order of arrival (S10.1). */
export interface LicenseChange {
  readonly licenseId: string;
  readonly updateType: "ABSOLUTE" | "RELATIVE";
  readonly quantity: Decimal;
  readonly effectiveFrom: Instant;
  /** When it arrived; absent: known from the start. What was charged before stays as it was (S10.3, S13.4). */
  readonly knownFrom?: Instant;
}

/** All that invoicing reads of one account. */
export interface AccountView extends GraceTerms {
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
  /** Monetary credits that were given, apart from those that plans and invoices grant. */
  readonly credits: readonly MonetaryCredit[];
  /** A meter's usage in the UTC days `[from, until)`. */
  readonly usage: (meterId: string, from: Day, until: Day) => Decimal;
  /** A feature's overage in the UTC days `[from, until)` (S11.3). */
  readonly overage: (featureId: string, from: Day, until: Day) => Decimal;
}

/** The parts of invoicing that are the same for all accounts. */
export interface BillingCatalog {
  readonly rounding: "HALF_UP" | "HALF_EVEN" | "DOWN";
  /** The meters whose usage is listed, in book order: id and name. */
  readonly meters: ReadonlyMap<string, string>;
  /** The features whose credits the events of meters consume, by the meter's id; other meters are not in it. */
  readonly featuresByMeter: ReadonlyMap<string, string>;
  /** Id and name. */
  readonly addOns: ReadonlyMap<string, string>;
  /** Id and name. */
  readonly features: ReadonlyMap<string, string>;
}
