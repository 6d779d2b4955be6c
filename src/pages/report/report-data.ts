/**
 * The data of a report: everything that the page shows.
 *
 * Amounts, quantities and rates are exact decimals as text; the page prints them and never calculates with them. Days are
 * UTC days, `YYYY-MM-DD`. In a page, texts are single lines without bidirectional marks, and undefined fields are absent.
 */
import type { InvoiceType } from "../../invoicing/invoice.ts";
import type { NotBilled } from "../not-billed.ts";

/** A whole report. */
export interface ReportData {
  /** The period of all invoices, or without them of those that drafts are compared with. Absent if there are none. */
  readonly period?: DayRange | undefined;
  /** By currency, most invoices first. */
  readonly totals: readonly CurrencyTotal[];
  /** The number of events read, and by status. */
  readonly events: Readonly<Record<string, number>>;
  /** The first invalid lines and events, and the total number. */
  readonly problems: { readonly first: readonly LineFault[]; readonly count: number };
  /** Usage that is not billed; shown first. */
  readonly notBilled: readonly NotBilled[];
  /** Notes for the reader, one sentence each. */
  readonly notices: readonly string[];
  /** The usage of all accounts by meter. */
  readonly usage: readonly UsageDays[];
  /** The charges of all accounts by day, one for each currency that has some. */
  readonly charges: readonly ChargeDays[];
  /** The accounts with invoices, largest amount first; if there are too many, only the largest. */
  readonly accounts: readonly AccountData[];
  /** The number of accounts with invoices that are not in {@link accounts}. */
  readonly leftOut: number;
  /** The number of accounts with invoices that have no usage. */
  readonly withoutUsage: number;
  /** The number of {@link accounts} with details, which are the first ones. */
  readonly detailed: number;
  readonly drafts: readonly DraftData[];
}

/** The number of items with a column in the table of accounts. */
export const ITEM_COLUMNS = 3;

/** A half-open range of days. */
interface DayRange {
  readonly from: string;
  readonly until: string;
}

/** The totals of one currency. */
export interface CurrencyTotal {
  readonly currency: string;
  readonly amount: string;
  readonly accounts: number;
  readonly invoices: number;
  /** What credits paid. Absent if they paid nothing. */
  readonly credits?: string | undefined;
  /** The invoice with the largest total, by its account. */
  readonly largest: ShareOfTotal;
  /** The total of each card over all accounts before credits, largest first. */
  readonly cards: readonly ItemTotal[];
}

/** An amount and its share of a total. */
interface ShareOfTotal extends NamedAmount {
  /** 0 to 1; absent unless both amounts are positive. */
  readonly share?: number | undefined;
}

/** The total of one card over all accounts. */
export interface ItemTotal extends ShareOfTotal {
  /** Absent for cards without a quantity. */
  readonly quantity?: string | undefined;
  readonly unit?: string | undefined;
}

/** An amount with a name. */
export interface NamedAmount {
  readonly label: string;
  readonly amount: string;
}

/** A problem in a line of an event file. */
export interface LineFault {
  readonly place: string;
  readonly message: string;
}

/** The daily usage of one meter. */
export interface UsageDays {
  readonly label: string;
  /** The first day. */
  readonly from: string;
  /** One for each day; `0` without usage. */
  readonly quantities: readonly string[];
}

/** What each day's usage added to the charges of one currency. */
export interface ChargeDays {
  readonly currency: string;
  /** The first day. */
  readonly from: string;
  /** Largest first. */
  readonly series: readonly ChargeSeries[];
}

/** The charges of one item, or of all items that have no series of their own. */
export interface ChargeSeries {
  /** The label of the item; empty for others. */
  readonly label: string;
  /** The number of items in the series, if it is that of the others. */
  readonly others?: number | undefined;
  /** One for each day; they add up to the rounded charge. */
  readonly amounts: readonly string[];
}

/** One account. */
export interface AccountData {
  readonly id: string;
  readonly name: string;
  readonly customer: string;
  readonly currency: string;
  /** The name of its last plan, with the version from the second on. */
  readonly plan: string;
  /** The sum of its invoice totals. */
  readonly amount: string;
  /** What is charged for the first items of {@link CurrencyTotal.cards}, before credits; at most {@link ITEM_COLUMNS}. */
  readonly items: readonly string[];
  /** The number of invoices. */
  readonly invoices: number;
  /** Absent if the page would be too large. */
  readonly detail?: AccountDetail | undefined;
}

/** The details of an account. */
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
  /** In print order: cards, sub-total, true-up, credits, total. */
  readonly lines: readonly LineData[];
  /** Usage that no line prices. */
  readonly unpriced: readonly UnpricedQuantity[];
  readonly notices: readonly string[];
}

/** The usage of a meter. */
interface UnpricedQuantity {
  readonly label: string;
  readonly quantity: string;
  readonly unit?: string | undefined;
}

/** One line of an invoice. */
export interface LineData {
  readonly kind: "card" | "part" | "total";
  readonly label: string;
  /** Whether the numbers in the label are quantities, to be localized. */
  readonly figures?: true | undefined;
  /** On a line of a price table whose price is not for all days. */
  readonly period?: DayRange | undefined;
  /** On a line of a price table with tiers: its units, such as `first 1,000, each`. */
  readonly tier?: string | undefined;
  readonly quantity?: string | undefined;
  readonly unit?: string | undefined;
  readonly rate?: string | undefined;
  /** Whether the rate is for a million units. */
  readonly isRatePerMillion?: true | undefined;
  readonly amount: string;
  /** The exact amount, if it differs. */
  readonly exact?: string | undefined;
  /** The calculation of the amount, in sentences. */
  readonly because?: readonly string[] | undefined;
  /** The share of the line above, or of all cards: 0 to 1, for a bar. */
  readonly share?: number | undefined;
  readonly days?: LineDays | undefined;
  readonly lines?: readonly LineData[] | undefined;
}

/** The cumulative charge of a card's line by day. */
export interface LineDays {
  readonly from: string;
  /** Units on each day. */
  readonly quantities: readonly string[];
  /** The cumulative charge, rounded as the line is. The last is the line's amount. */
  readonly amounts: readonly string[];
  /**
   * The tier that the cumulative units reach, by its order from 1, each with the index of the day on which it is first
   * reached. Absent if all days are in the first tier.
   */
  readonly tiers?: readonly (readonly [day: number, tier: number])[] | undefined;
  /** The events of days, by index; absent if not available. */
  readonly events?: readonly EventsOfDay[] | undefined;
}

/** The events of a day's usage. */
export interface EventsOfDay {
  readonly day: number;
  readonly count: number;
  /** The largest ones. */
  readonly largest: readonly { readonly id: string; readonly time: string; readonly quantity: string }[];
}

/** The effect of a draft. */
export interface DraftData {
  /** Its file; without one, its plan. */
  readonly name: string;
  /** The plan with its version, and how accounts move to it. */
  readonly plan: string;
  readonly totals: readonly DraftTotal[];
  /** Largest absolute difference first; if there are too many, only the largest. */
  readonly accounts: readonly DraftAccount[];
  /** The number of compared accounts that are not in {@link accounts}. */
  readonly more: number;
  /** Accounts whose currency the draft does not support. */
  readonly leftOut: readonly string[];
}

/** Amounts on both sides and their difference. */
export interface AmountChange {
  readonly before: string;
  readonly after: string;
  readonly difference: string;
  /** The difference in percent of the amount before, with one decimal place; absent if that was 0. */
  readonly percent?: string | undefined;
}

/** The total in one currency. */
export interface DraftTotal extends AmountChange {
  readonly currency: string;
  readonly more: number;
  readonly same: number;
  readonly less: number;
  /** Half of the accounts have at most this difference. */
  readonly median: string;
  /** The lines summed over all accounts, as those of an account. */
  readonly items: readonly DraftLine[];
}

/** One account on a draft. */
export interface DraftAccount extends AmountChange {
  readonly id: string;
  readonly name: string;
  readonly currency: string;
  /**
   * The lines that change, largest absolute difference first, then one for all others. Empty if nothing changes, or if the
   * page would be too large.
   */
  readonly lines: readonly DraftLine[];
}

/** One line on both sides. */
export interface DraftLine extends AmountChange {
  readonly label: string;
  /** The change by each group of inputs, in words. They add up to the difference. */
  readonly causes: readonly NamedAmount[];
}
