/**
 * `ratebook/vectors`: test cases that any engine of this kind should agree on, each with its rule and calculation.
 *
 * @module
 */
import { createRequire } from "node:module";

/** What another service does in the same case, according to its public documentation or code. */
export interface ServiceComparison {
  readonly service: string;
  /** False if its rule can give another figure. */
  readonly agrees: boolean;
  /** Its rule, in one sentence. */
  readonly what: string;
  /** The page that documents it. */
  readonly source: string;
}

/** A test case: input and expected result. Decimals are texts, dates are UTC days. */
export type Vector =
  | PriceVector
  | TableVector
  | QuantityVector
  | InvoicesVector
  | CyclesVector
  | ProrationVector
  | RemaindersVector
  | CreditsVector;

/** The price of a quantity, slab by slab (S7). */
export interface PriceVector extends VectorBase {
  readonly kind: "price";
  readonly input: { readonly ratePlan: VectorRatePlan; readonly rateValue: VectorRateValue; readonly quantity: string };
  readonly expected: {
    readonly amount: string;
    readonly slabs: readonly { readonly order: number; readonly quantity: string; readonly amount: string }[];
    /** The change by the card's bounds. */
    readonly adjustment: string;
  };
}

/** The price of usage by groups and days with a price table (S18). */
export interface TableVector extends VectorBase {
  readonly kind: "table";
  readonly input: {
    /** The dimensions of groups, in their order. */
    readonly groupBy: readonly string[];
    readonly currency: string;
    /** As in a book. */
    readonly rateTable: object;
    /** Of an override, as in a book. */
    readonly rows?: readonly object[];
    /** Of an override. */
    readonly multiply?: string;
    readonly served: VectorDays;
    readonly natural: VectorDays;
    readonly usage: readonly (VectorGroupQuantity & { readonly date: string })[];
  };
  readonly expected: {
    readonly amount: string;
    /** The change by the card's limits. */
    readonly adjustment: string;
    /** In the order of rows, groups and days. */
    readonly lines: readonly (VectorGroupQuantity &
      VectorDays & { readonly tier: number; readonly rate: string; readonly amount: string })[];
    /** The units that an allowance makes free, by row. */
    readonly free?: readonly { readonly when: Readonly<Record<string, string>>; readonly quantity: string }[];
    /** Usage without a row. */
    readonly unpriced?: readonly VectorGroupQuantity[];
    /** Usage whose price or quantity is below zero. */
    readonly belowZero?: readonly VectorGroupQuantity[];
  };
}

/** The quantity of a meter that does not sum its events, in a period (S19). */
export interface QuantityVector extends VectorBase {
  readonly kind: "quantity";
  readonly input: {
    /** As in a book in short form, without id and schema. */
    readonly meter: object;
    readonly period: VectorDays;
    /** Of one account, in any order. */
    readonly events: readonly {
      readonly id: string;
      readonly timestamp: string;
      readonly attributes: Readonly<Record<string, string>>;
      readonly dimensions: Readonly<Record<string, string>>;
    }[];
  };
  readonly expected: { readonly quantity: string };
}

/** The invoices of a book in short form and its events. */
export interface InvoicesVector extends VectorBase {
  readonly kind: "invoices";
  readonly input: { readonly book: object; readonly events: readonly object[] };
  readonly expected: {
    readonly invoices: readonly {
      readonly accountId: string;
      readonly from: string;
      readonly until: string;
      readonly value: string;
      /** The lines without lines below them, other than 0. */
      readonly lines: readonly { readonly type: string; readonly id?: string; readonly value: string }[];
      readonly unpriced?: readonly VectorGroupQuantity[];
    }[];
  };
}

/** The start days of the cycles that overlap `[from, until)` (S6). */
export interface CyclesVector extends VectorBase {
  readonly kind: "cycles";
  readonly input: { readonly pricingCycleConfig: VectorCycle; readonly from: string; readonly until: string };
  readonly expected: { readonly starts: readonly string[] };
}

/** The share of an amount that is charged for the served days (S8), rounded once (S1.5). */
export interface ProrationVector extends VectorBase {
  readonly kind: "proration";
  readonly input: {
    readonly amount: string;
    readonly served: VectorDays;
    readonly natural: VectorDays;
    /** Decimal places. */
    readonly digits: number;
    readonly rounding: "HALF_UP" | "HALF_EVEN" | "DOWN";
  };
  readonly expected: { readonly days: number; readonly of: number; readonly amount: string };
}

/** The distribution of a rounded amount to the lines below it (S1.5). */
export interface RemaindersVector extends VectorBase {
  readonly kind: "remainders";
  readonly input: { readonly amounts: readonly string[]; readonly digits: number; readonly rounding: "HALF_UP" };
  readonly expected: { readonly value: string; readonly lines: readonly string[] };
}

/** How much each credit pays of each line (S12); lines are numbered from 0. */
export interface CreditsVector extends VectorBase {
  readonly kind: "credits";
  readonly input: {
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

/** The fields of every vector. */
interface VectorBase {
  readonly id: string;
  /** The rule number in `docs/reference/semantics.md`. */
  readonly rule: string;
  /** The manual calculation. */
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

/** Units of a group, which is its texts by dimension. */
export interface VectorGroupQuantity {
  readonly group: Readonly<Record<string, string>>;
  readonly quantity: string;
}

/** Whole days `[from, until)`. */
export interface VectorDays {
  readonly from: string;
  readonly until: string;
}

/** A line that credits can pay. */
export interface VectorLine {
  readonly kind: "USAGE" | "FIXED_FEE" | "CREDIT_GRANT" | "TRUE_UP";
  readonly id: string;
  readonly value: string;
}

/** A credit with its remaining amount. */
export interface VectorCredit {
  readonly id: string;
  readonly left: string;
  readonly priority: number;
  readonly effectiveFrom: string;
  /** Exclusive. */
  readonly effectiveUntil?: string;
  /** Absent if it can pay any line. */
  readonly applicableEntityIds?: readonly string[];
}

/** All vectors: the content of `docs/vectors/vectors.json`. */
export const vectors: readonly Vector[] = (
  createRequire(import.meta.url)("ratebook/vectors/vectors.json") as { readonly vectors: readonly Vector[] }
).vectors;
