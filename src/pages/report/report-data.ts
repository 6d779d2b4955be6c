/**
 * What the report shows, as plain data: the page reads it and knows nothing else.
 *
 * Amounts, quantities and rates are exact decimals as text: the page prints them and never reckons with them. Names and
 * sentences are on one line and turn no text around them. Days are UTC days, as `YYYY-MM-DD`.
 *
 * @module
 */
import type { InvoiceType } from "../../invoicing/invoice.ts";

/** A whole report. */
export interface ReportData {
  /** The period of all invoices. Absent without invoices. */
  readonly period?: DayRange;
  /** By currency, the largest number of invoices first. */
  readonly totals: readonly CurrencyTotal[];
  /** How many events were read, and how many had each status. */
  readonly events: Readonly<Record<string, number>>;
  /** The first lines and events that are wrong, and how many there are in all. */
  readonly problems: { readonly first: readonly LineFault[]; readonly count: number };
  /** Sentences on what is worth knowing. */
  readonly notices: readonly string[];
  /** What all accounts used, meter by meter. */
  readonly usage: readonly UsageDays[];
  /** What the usage of all accounts came to, currency by currency and meter by meter. */
  readonly charges: readonly ChargeDays[];
  /** The accounts with invoices, the largest amount first; of a book too large for a page, the largest. */
  readonly accounts: readonly AccountData[];
  /** How many accounts have invoices and are not in {@link accounts}. */
  readonly leftOut: number;
  /** How many of {@link accounts}, from the first on, have details. */
  readonly detailed: number;
  /** What drafts would change. */
  readonly drafts: readonly DraftData[];
}

/** A half-open range of days. */
export interface DayRange {
  readonly from: string;
  readonly until: string;
}

/** What is billed in one currency. */
export interface CurrencyTotal {
  readonly currency: string;
  /** How many digits its minor unit has. */
  readonly digits: number;
  readonly amount: string;
  readonly accounts: number;
  readonly invoices: number;
  /** What each card comes to, over all accounts, the largest first. */
  readonly cards: readonly NamedAmount[];
}

/** An amount with a name. */
export interface NamedAmount {
  readonly label: string;
  readonly amount: string;
}

/** What is wrong with one line of a file of events. */
export interface LineFault {
  readonly place: string;
  readonly status: string;
  readonly message: string;
}

/** The usage of one meter, day by day. */
export interface UsageDays {
  readonly label: string;
  /** The first day. */
  readonly from: string;
  /** One for each day; `0` where nothing was used. */
  readonly quantities: readonly string[];
}

/** What a charge came to, day by day. */
export interface ChargeDays {
  readonly label: string;
  readonly currency: string;
  readonly from: string;
  /** What the usage from the cycle's first day to each day comes to. */
  readonly amounts: readonly string[];
}

/** One account. */
export interface AccountData {
  readonly id: string;
  readonly name: string;
  readonly customer: string;
  readonly currency: string;
  /** The sum of its invoices' totals. */
  readonly amount: string;
  /** How many invoices it has. */
  readonly invoices: number;
  /** Absent where the page would be too large with it. */
  readonly detail?: AccountDetail;
}

/** What an account opens. */
export interface AccountDetail {
  readonly usage: readonly UsageDays[];
  readonly invoices: readonly InvoiceData[];
}

/** One invoice. */
export interface InvoiceData extends DayRange {
  readonly type: InvoiceType;
  readonly status: string;
  readonly date: string;
  readonly due: string;
  readonly plan: string;
  readonly amount: string;
  /** As an invoice is printed: cards, sub-total, true-up, credits, total. */
  readonly lines: readonly LineData[];
  /** Usage that no line prices. */
  readonly unpriced: readonly { readonly label: string; readonly quantity: string }[];
  readonly notices: readonly string[];
}

/** One line of an invoice. */
export interface LineData {
  readonly kind: "card" | "part" | "total";
  readonly label: string;
  /** Whether the numbers in the label are figures, which are written as the reader writes them. */
  readonly figures?: true;
  readonly quantity?: string;
  readonly rate?: string;
  readonly amount: string;
  /** The exact amount, where it is another one. */
  readonly exact?: string;
  /** How the amount was made, in sentences. */
  readonly because?: readonly string[];
  /** Which part of the line above it is, or a card of all cards: 0 to 1, for a bar. */
  readonly share?: number;
  readonly days?: LineDays;
  readonly lines?: readonly LineData[];
}

/** How a card's line grew, day by day. */
export interface LineDays {
  readonly from: string;
  /** Units of each day. */
  readonly quantities: readonly string[];
  /** What the units up to each day come to, rounded as the line is; the last is the line's amount. */
  readonly amounts: readonly string[];
  /** The order of the slab that holds the units up to each day; 0 below the first. */
  readonly slabs: readonly number[];
  /** The events of days, by their places; absent where they are not at hand. */
  readonly events?: readonly EventsOfDay[];
}

/** The events behind the usage of a day. */
export interface EventsOfDay {
  readonly day: number;
  readonly count: number;
  /** Those that added most. */
  readonly largest: readonly { readonly id: string; readonly time: string; readonly quantity: string }[];
}

/** What a draft would change. */
export interface DraftData {
  readonly name: string;
  readonly totals: readonly DraftTotal[];
  /** The largest differences first, whatever their sign; of too many, the largest. */
  readonly accounts: readonly DraftAccount[];
  /** How many accounts were compared and are not in {@link accounts}. */
  readonly more: number;
  /** Accounts whose currency the draft has no prices in. */
  readonly leftOut: readonly string[];
}

/** Both sides and what lies between them. */
export interface AmountChange {
  readonly before: string;
  readonly after: string;
  readonly difference: string;
  /** The difference as percent of what was before, to a tenth; absent where there was nothing. */
  readonly percent?: string;
}

/** One currency of a draft. */
export interface DraftTotal extends AmountChange {
  readonly currency: string;
  readonly digits: number;
  readonly more: number;
  readonly same: number;
  readonly less: number;
  readonly quantiles: readonly { readonly percent: number; readonly difference: string }[];
}

/** One account on a draft. */
export interface DraftAccount extends AmountChange {
  readonly id: string;
  readonly name: string;
  readonly currency: string;
  /** Those that change; none where the page would be too large with them. */
  readonly lines: readonly DraftLine[];
}

/** One line on both sides. */
export interface DraftLine extends AmountChange {
  readonly label: string;
  /** What each group of inputs changes; they add up to the difference. */
  readonly causes: readonly NamedAmount[];
}
