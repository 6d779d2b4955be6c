/**
 * `ratebook/vectors`: figures that any engine of this kind should agree on, each with its rule and its working.
 *
 * @module
 */
import { createRequire } from "node:module";

/** What another service does in the same case, by its public documentation or code. */
export interface ServiceComparison {
  readonly service: string;
  /** False where its rule can come to another figure. */
  readonly agrees: boolean;
  readonly what: string;
  /** The page that says so. */
  readonly source: string;
}

/** One case: what is given, and what must come out. Decimals are texts, dates are UTC days. */
export type Vector = PriceVector | CyclesVector | ProrationVector | RemaindersVector | CreditsVector;

/** What the price of a quantity is, slab by slab (S7). */
export interface PriceVector extends VectorBase {
  readonly kind: "price";
  readonly given: { readonly ratePlan: VectorRatePlan; readonly rateValue: VectorRateValue; readonly quantity: string };
  readonly expected: {
    readonly amount: string;
    readonly slabs: readonly { readonly order: number; readonly quantity: string; readonly amount: string }[];
    /** What the card's bounds changed. */
    readonly adjustment: string;
  };
}

/** On which days the cycles begin that meet `[from, until)` (S6). */
export interface CyclesVector extends VectorBase {
  readonly kind: "cycles";
  readonly given: { readonly pricingCycleConfig: VectorCycle; readonly from: string; readonly until: string };
  readonly expected: { readonly starts: readonly string[] };
}

/** Which share of an amount is charged for the days served (S8), rounded once (S1.5). */
export interface ProrationVector extends VectorBase {
  readonly kind: "proration";
  readonly given: {
    readonly amount: string;
    readonly served: VectorDays;
    readonly natural: VectorDays;
    /** After the point. */
    readonly digits: number;
    readonly rounding: "HALF_UP" | "HALF_EVEN" | "DOWN";
  };
  readonly expected: { readonly days: number; readonly of: number; readonly amount: string };
}

/** How a rounded value is shared among the lines below it (S1.5). */
export interface RemaindersVector extends VectorBase {
  readonly kind: "remainders";
  readonly given: { readonly amounts: readonly string[]; readonly digits: number; readonly rounding: "HALF_UP" };
  readonly expected: { readonly value: string; readonly lines: readonly string[] };
}

/** Which credit pays how much of which line (S12); lines are numbered from 0. */
export interface CreditsVector extends VectorBase {
  readonly kind: "credits";
  readonly given: {
    readonly lines: readonly VectorLine[];
    /** In the order in which they were granted. */
    readonly credits: readonly VectorCredit[];
    readonly digits: number;
  };
  readonly expected: {
    readonly taken: readonly {
      readonly creditId: string;
      readonly paid: readonly { readonly line: number; readonly amount: string }[];
    }[];
  };
}

/** What every vector has. */
interface VectorBase {
  readonly id: string;
  /** The number of the rule of `docs/reference/semantics.md`. */
  readonly rule: string;
  /** How the figures were worked out by hand. */
  readonly because: string;
  readonly others?: readonly ServiceComparison[];
}

/** As in a book. */
export interface VectorRatePlan {
  readonly pricingModel: "TIERED" | "VOLUME";
  readonly slabs: {
    readonly order: number;
    readonly startAfter: string;
    readonly endAt?: string;
    readonly priceType: "FLAT" | "PER_UNIT" | "PACKAGE";
    readonly slabConfig?: { readonly packageSize?: string; readonly chargeAtZero?: string };
  }[];
}

/** As in a book. */
export interface VectorRateValue {
  readonly currency: string;
  readonly slabRates: {
    readonly order: number;
    readonly rate: string;
    readonly slabRateConfig?: {
      readonly minimumRate?: string;
      readonly maximumRate?: string;
      readonly flatRate?: string;
    };
  }[];
  readonly rateConfig?: { readonly minimumRate?: string; readonly maximumRate?: string };
}

/** As in a book. */
export interface VectorCycle {
  readonly interval: string;
  readonly startOffset?: { readonly dayOffset: string; readonly monthOffset: string };
  readonly anniversaryCycle?: boolean;
}

/** Whole days `[from, until)`. */
export interface VectorDays {
  readonly from: string;
  readonly until: string;
}

/** A line that credits may pay. */
export interface VectorLine {
  readonly kind: "USAGE" | "FIXED_FEE" | "CREDIT_GRANT" | "TRUE_UP";
  readonly id: string;
  readonly value: string;
}

/** A credit, and what is left of it. */
export interface VectorCredit {
  readonly id: string;
  readonly left: string;
  readonly priority: number;
  readonly effectiveFrom: string;
  /** Exclusive. */
  readonly effectiveUntil?: string;
  /** Absent: it pays any line. */
  readonly applicableEntityIds?: readonly string[];
}

/** All vectors: the content of `docs/vectors/vectors.json`. */
export const vectors: readonly Vector[] = (
  createRequire(import.meta.url)("../docs/vectors/vectors.json") as { readonly vectors: readonly Vector[] }
).vectors;
