/** The billing periods of the playground: their invoices, with currency symbols and the amounts of each item, and their cycles. */
import type { Book } from "../../book/resources/book.ts";
import type { CycleConfig } from "../../calendar/cycle.ts";
import {
  addDays,
  daysBetween,
  formatDate,
  formatInstant,
  type Instant,
  parseDate,
  toInstant,
  tryParseInstant,
} from "../../calendar/instant.ts";
import { formatMoney, formatNumber } from "../../invoicing/invoice-rows.ts";
import { ENGLISH } from "../../invoicing/invoice-words.ts";
import { allLines, CARD_LINE_TYPES, type Invoice, type InvoiceLine } from "../../invoicing/invoice.ts";
import { type AccountCycle, buildTimeline, cyclesIn, NO_END, type Term } from "../../invoicing/timeline.ts";
import { toDecisions } from "../../ledger/account/account-plan.ts";
import { findPlanIn } from "../../ledger/catalog.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { add, type Decimal, parseDecimal, subtract, ZERO } from "../../numbers/decimal.ts";
import { createPageRows, formatLongDate, formatLongPeriod, type PageRow } from "../invoice/invoice-lines.ts";
import type { PlayState } from "../play-state.ts";
import { toPrintable } from "../printable.ts";

export interface PlayInvoice {
  /** `Invoice, 1 to 31 January 2026, Contoso production`. */
  readonly title: string;
  readonly rows: readonly PageRow[];
  readonly notices: readonly string[];
}

/** An amount with its currency. */
export interface PlayAmount {
  readonly currency: string;
  /** Exact decimal text. */
  readonly value: string;
  /** With the symbol of the currency. */
  readonly text: string;
}

/** What an item of a plan contributes to the invoices of a period. */
export interface PlayItem {
  readonly amount: PlayAmount;
  /** Units, exact decimal text; absent for fees. */
  readonly quantity?: string | undefined;
  /** The groups of its usage that no row of its price table prices. */
  readonly unpriced: readonly string[];
}

/** The invoices of one billing period. */
export interface PlayPeriod {
  /** `January 2026`, or `1 to 15 January 2026`. */
  readonly label: string;
  /** UTC days, `YYYY-MM-DD`; the end is exclusive. */
  readonly from: string;
  readonly until: string;
  readonly invoices: readonly PlayInvoice[];
  /** One for each currency. */
  readonly totals: readonly PlayAmount[];
  /** By {@link itemKey}. */
  readonly items: Readonly<Record<string, PlayItem>>;
}

/** The key of an item by the kind of its card and the id of what it prices. */
export function itemKey(kind: string, id: string): string {
  return `${kind} ${id}`;
}

/** The key of a plan's commitment. */
export const COMMITMENT_KEY = "COMMITMENT";

/** Groups invoices by billing period; periods that overlap are one. */
export function toPlayPeriods(invoices: readonly Invoice[], book: Book): readonly PlayPeriod[] {
  const groups: { from: string; until: string; invoices: Invoice[] }[] = [];
  for (const invoice of invoices.toSorted((a, b) => toInstant(a.startDate) - toInstant(b.startDate))) {
    const [from, until] = [invoice.startDate.slice(0, 10), invoice.endDate.slice(0, 10)];
    const last = groups.at(-1);
    if (last !== undefined && from < last.until) {
      last.until = until > last.until ? until : last.until;
      last.invoices.push(invoice);
    } else groups.push({ from, until, invoices: [invoice] });
  }
  return groups.map((group) => ({
    ...group,
    label: formatPeriodLabel(group.from, group.until),
    invoices: group.invoices.map((invoice) => toPlayInvoice(invoice, book)),
    totals: sumTotals(group.invoices),
    items: sumItems(group.invoices),
  }));
}

/** A half-open period of days; a whole month by its name. */
function formatPeriodLabel(from: string, until: string): string {
  const [start, end] = [parseDate(from), parseDate(until)];
  const isMonth = from.endsWith("-01") && until.endsWith("-01") && daysBetween(start, end) <= 31;
  return isMonth
    ? formatLongDate(start).replace(/^\d+ /, "")
    : formatLongPeriod(`${from}T00:00:00Z`, `${until}T00:00:00Z`);
}

/** Whether a text is a day, `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && tryParseInstant(`${text}T00:00:00Z`) !== undefined;
}

/** A period without invoices. For days that are no dates, the first month of the examples. */
export function emptyPeriod({ from, until }: Pick<PlayPeriod, "from" | "until">): PlayPeriod {
  const isValid = [from, until].every(isDay) && from < until;
  const days = isValid ? { from, until } : { from: "2026-01-01", until: "2026-02-01" };
  return { ...days, label: formatPeriodLabel(days.from, days.until), invoices: [], totals: [], items: {} };
}

/** Inserts the symbol of a currency before the first number of a text, as in `-$1.50`. */
export function withSymbol(text: string, currency: string): string {
  return text.replace(/\d/, (digit) => `${currencySymbol(currency)}${digit}`);
}

/** The symbol of a currency in English texts, such as `$`, `CA$` or `CHF `. */
export function currencySymbol(currency: string): string {
  const format = new Intl.NumberFormat("en-US", { style: "currency", currency });
  const symbol = format.formatToParts(0).find(({ type }) => type === "currency")?.value ?? currency;
  return /\p{L}$/u.test(symbol) ? `${symbol}\u00A0` : symbol;
}

export function toAmount(value: Decimal, currency: string): PlayAmount {
  const text = withSymbol(formatMoney(value, minorUnitDigits(currency)), currency);
  return { currency, value: value.toFixed(), text };
}

/** How much an amount is above another one: `+ $9.00`; undefined if they are equal. */
export function describeDifference(now: PlayAmount, before: PlayAmount): string | undefined {
  const difference = subtract(parseDecimal(now.value), parseDecimal(before.value));
  if (difference.isZero()) return undefined;
  return `${difference.isNegative() ? "−" : "+"} ${toAmount(difference.abs(), now.currency).text}`;
}

function toPlayInvoice(invoice: Invoice, { accounts }: Book): PlayInvoice {
  const { invoiceType, startDate, endDate, accountId, notices, currency } = invoice;
  const name = accounts.find(({ id }) => id === accountId)?.name ?? accountId;
  return {
    title: toPrintable(`${ENGLISH.titles[invoiceType]}, ${formatLongPeriod(startDate, endDate)}, ${name}`),
    rows: [...createPageRows(invoice)].map(({ rate, amount, ...row }) => ({
      ...row,
      label: toPrintable(row.label),
      rate: rate && withSymbol(rate, currency),
      amount: amount && withSymbol(amount, currency),
    })),
    notices: notices.map(toPrintable),
  };
}

function sumTotals(invoices: readonly Invoice[]): readonly PlayAmount[] {
  const sums = new Map<string, Decimal>();
  for (const { currency, revenueInfo } of invoices)
    sums.set(currency, add(sums.get(currency) ?? ZERO, revenueInfo.value));
  return [...sums].map(([currency, sum]) => toAmount(sum, currency));
}

interface ItemSum {
  readonly currency: string;
  readonly unpriced: string[];
  value: Decimal;
  quantity: Decimal | undefined;
}

/** What items contribute. Amounts in another currency than the first one of an item are not added. */
function sumItems(invoices: readonly Invoice[]): Readonly<Record<string, PlayItem>> {
  const items = new Map<string, ItemSum>();
  for (const { currency, revenueInfo } of invoices) {
    for (const line of allLines(revenueInfo)) {
      const key = findItemKey(line);
      if (key === undefined) continue;
      const item = items.get(key) ?? { currency, value: ZERO, quantity: undefined, unpriced: [] };
      items.set(key, item);
      if (item.currency !== currency) continue;
      item.value = add(item.value, line.value);
      if (line.quantity !== undefined) item.quantity = add(item.quantity ?? ZERO, line.quantity);
    }
  }
  for (const { meterId, group, quantity } of invoices.flatMap(({ unpriced = [] }) => unpriced)) {
    const text = toPrintable(`${Object.values(group).join(", ")} (${formatNumber(quantity)})`);
    items.get(itemKey("USAGE", meterId))?.unpriced.push(text);
  }
  const toItem = ({ value, quantity, currency, unpriced }: ItemSum): PlayItem => ({
    amount: toAmount(value, currency),
    quantity: quantity?.toFixed(),
    unpriced,
  });
  return Object.fromEntries([...items].map(([key, item]) => [key, toItem(item)]));
}

/** The item of a line; undefined for other lines. */
function findItemKey({ type, id = "" }: InvoiceLine): string | undefined {
  if (type === "TRUE_UP_AMOUNT") return COMMITMENT_KEY;
  if (!CARD_LINE_TYPES.has(type)) return undefined;
  return itemKey(type.replace(/^ADVANCED_/, "").replace(/_RATE_CARD_AMOUNT$/, ""), id);
}

interface PlayTerm {
  readonly plan: string;
  /** The dates of the plan and the start of its cycles. */
  readonly description: string;
  readonly cycles: readonly PlayCycle[];
}

/** A cycle and the days in which the plan applies. */
export interface PlayCycle {
  readonly description: string;
  readonly isCut: boolean;
  /** Shares of the displayed range, from 0 to 1, for drawing. */
  readonly start: number;
  readonly end: number;
  readonly servedStart: number;
  readonly servedEnd: number;
}

/** The cycles of the first account, and the first and last day of the timeline. */
export interface PlayCycles {
  readonly from: string;
  readonly until: string;
  readonly terms: readonly PlayTerm[];
}

/** The maximum number of cycles shown. */
const CYCLES_MAX = 40;

/** The cycles that overlap the selected days. */
export function listCycles({ accounts, pricePlans }: Book, { from, until }: PlayState): PlayCycles | undefined {
  const [account] = accounts;
  if (account === undefined) return undefined;
  const timeline = buildTimeline(toDecisions(account, findPlanIn(pricePlans)));
  const cycles = cyclesIn(timeline, parseDate(from), parseDate(until)).slice(0, CYCLES_MAX);
  const start = Math.min(...cycles.map(({ natural }) => natural.start));
  const end = Math.max(...cycles.map(({ natural }) => natural.end));
  if (cycles.length === 0) return undefined;
  const toShare = (at: Instant): number => (at - start) / (end - start);
  const names = new Map(pricePlans.map(({ id, name }) => [id, name]));
  const hasAnniversary = (term: Term): boolean => term.plan.details.pricingCycleConfig?.anniversaryCycle === true;
  const terms = [...new Set(cycles.map(({ term }) => term))].map((term) => ({
    plan: toPrintable(names.get(term.plan.planId) ?? term.plan.planId),
    description: `${describeTerm(term)}; ${describeCycleStart(term.plan.cycleConfig)}${hasAnniversary(term) ? ", the anniversary of taking the plan" : ""}`,
    cycles: cycles.filter((cycle) => cycle.term === term).map((cycle) => toPlayCycle(cycle, toShare)),
  }));
  return { from: formatLongDate(start), until: formatLongDate(addDays(end, -1)), terms };
}

/** The cycle of the first account before or after some days, as its first day and the day after it; undefined if there is none. */
export function findNextCycle(
  { accounts: [account], pricePlans }: Book,
  { from, until }: Pick<PlayState, "from" | "until">,
  direction: "earlier" | "later",
): Pick<PlayState, "from" | "until"> | undefined {
  if (account === undefined) return undefined;
  const start = direction === "later" ? parseDate(until) : addDays(parseDate(from), -1);
  const timeline = buildTimeline(toDecisions(account, findPlanIn(pricePlans)));
  const [cycle] = cyclesIn(timeline, start, addDays(start, 1));
  return cycle && { from: formatDate(cycle.start), until: formatDate(cycle.end) };
}

function toPlayCycle(cycle: AccountCycle, toShare: (at: Instant) => number): PlayCycle {
  const { start, end, natural } = cycle;
  const isCut = start !== natural.start || end !== natural.end;
  return {
    description: describeCycle(cycle, isCut),
    isCut,
    start: toShare(natural.start),
    end: toShare(natural.end),
    servedStart: toShare(start),
    servedEnd: toShare(end),
  };
}

function describeCycle({ start, end, natural, term }: AccountCycle, isCut: boolean): string {
  const days = daysBetween(start, end);
  const naturalDays = daysBetween(natural.start, natural.end);
  const range = formatLongPeriod(formatInstant(start), formatInstant(end));
  if (!isCut) return `${range}: the whole cycle of ${naturalDays} days`;
  const cuts = [
    ...(start === natural.start ? [] : [`the plan begins on ${formatLongDate(term.from)}`]),
    ...(end === natural.end ? [] : [`it ends before ${formatLongDate(end)}`]),
  ];
  return `${range}: cut, because ${cuts.join(" and ")}; prorated charges are ${days}/${naturalDays}`;
}

function describeTerm({ from, until }: Term): string {
  return until >= NO_END
    ? `from ${formatLongDate(from)} on`
    : formatLongPeriod(formatInstant(from), formatInstant(until));
}

const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const INTERVAL_NOUNS: Readonly<Record<CycleConfig["interval"], string>> = {
  WEEKLY: "week",
  MONTHLY: "month",
  QUARTERLY: "quarter",
  HALF_YEARLY: "half-year",
  ANNUALLY: "year",
};

/** Describes when cycles start: `a cycle begins on day 15 of month 2 of each quarter`. */
function describeCycleStart({ interval, dayOffset, monthOffset }: CycleConfig): string {
  if (interval === "WEEKLY") return `a cycle begins each ${WEEKDAYS[Number(dayOffset) - 1] ?? ""}`;
  const day = dayOffset === "LAST" ? "the last day" : `day ${dayOffset}`;
  const month = monthOffset === null ? "" : ` of month ${monthOffset}`;
  return `a cycle begins on ${day}${month} of each ${INTERVAL_NOUNS[interval]}`;
}
