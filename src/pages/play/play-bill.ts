/**
 * What the playground shows for what was put in: problems with their places, or invoices, curves and cycles.
 *
 * @module
 */
import { parseBook } from "../../book/book.ts";
import type { Book } from "../../book/model/book.ts";
import { openDocument } from "../../book/reading/json-document.ts";
import { cyclesBetween } from "../../calendar/cycle.ts";
import { DAY_MS, formatInstant, type Instant, instantOf } from "../../calendar/instant.ts";
import { RatebookError } from "../../errors.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { printable } from "../../invoicing/printable.ts";
import { preview, type Preview } from "../../ledger/preview/preview.ts";
import { parseJson } from "../../numbers/json.ts";
import { planCurves } from "../../proof/plan-curves.ts";
import { describedChart, type DescribedChart } from "../chart/plan-chart.ts";
import { periodWords } from "../invoice/date-words.ts";
import { pageRows, type PageRow } from "../invoice/invoice-lines.ts";
import type { DatedQuantity, PlayState } from "./play-state.ts";

/** Something that is wrong, and where it is in the text of the book. */
export interface PlayProblem {
  readonly message: string;
  /** From 1; absent where it is not about the book. */
  readonly line?: number;
  readonly column?: number;
}

/** An invoice as rows. */
export interface PlayInvoice {
  /** `Invoice, 1 to 31 January 2026, Contoso production`. */
  readonly title: string;
  readonly rows: readonly PageRow[];
  readonly notices: readonly string[];
}

/** A plan's chart. */
export interface PlayChart extends DescribedChart {
  readonly name: string;
}

/** One cycle of a plan, and the days of it in which the plan is in force. */
export interface PlayCycle {
  readonly plan: string;
  readonly words: string;
  /** Shares of the range that is shown, from 0 to 1: places on a picture. */
  readonly start: number;
  readonly end: number;
  readonly servedStart: number;
  readonly servedEnd: number;
}

/** Everything that is shown. */
export interface PlayBill {
  readonly problems: readonly PlayProblem[];
  readonly invoices: readonly PlayInvoice[];
  readonly charts: readonly PlayChart[];
  readonly cycles: readonly PlayCycle[];
}

const NOTHING: Omit<PlayBill, "problems"> = { invoices: [], charts: [], cycles: [] };

/** So many problems of events are shown. */
const PROBLEMS_MAX = 20;

/** Prices the state: the same functions that the command line asks, on the same input. */
export function billOf(state: PlayState): PlayBill {
  const read = bookWith(state.book, state.seats);
  if ("problems" in read) return { ...NOTHING, problems: read.problems };
  const { book } = read;
  const charts = chartsOf(book);
  try {
    const { invoices, problems } = pricedIn(book, state);
    return {
      invoices: invoices.map((invoice) => shownInvoice(invoice, book)),
      problems: problems
        .slice(0, PROBLEMS_MAX)
        .map(({ event, message }) => ({ message: printable(`event ${event}: ${message}`) })),
      charts,
      cycles: cyclesOf(book, state),
    };
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    return { ...NOTHING, charts, problems: [{ message: printable(error.message) }] };
  }
}

function pricedIn(book: Book, { usage, events, from, until }: PlayState): Preview {
  const lines = events.split("\n").filter((line) => line.trim() !== "");
  const accountId = book.accounts[0]?.id ?? "";
  const rows = usage
    .filter(({ quantity }) => quantity.trim() !== "")
    .map(({ of, date, quantity }) => ({ accountId, meterId: idOf(book, of), date, quantity: quantity.trim() }));
  return preview(
    book,
    { usage: rows, events: lines.map((line) => parseJson(line)) as [] },
    { from, until, explain: true },
  );
}

/** The id of a meter that is named by its name. */
function idOf({ usageMeters }: Book, of: string): string {
  return usageMeters.find(({ id, name }) => id === of || name === of)?.id ?? of;
}

/** A book whose first account holds these seats, or what is wrong with it. */
export function bookWith(
  text: string,
  seats: readonly DatedQuantity[],
): { readonly book: Book } | { readonly problems: readonly PlayProblem[] } {
  const document = openDocument(text);
  if (!("value" in document)) {
    const { line, column, message } = document;
    return { problems: [{ message: printable(`not JSON: ${message}`), line, column }] };
  }
  try {
    return { book: parseBook(withSeats(document.value, seats)) };
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    const problems = "problems" in error.details ? error.details.problems : [{ path: "$", message: error.message }];
    const placed = [...document.repeated, ...problems].map((problem) => ({
      message: printable(`${problem.path}: ${problem.message}`),
      ...document.placeOf(problem),
    }));
    return { problems: placed };
  }
}

/** The value of a book with the seats that were typed, where any were. */
export function withSeats(book: unknown, seats: readonly DatedQuantity[]): unknown {
  const typed = seats.filter(({ quantity }) => quantity.trim() !== "");
  if (typed.length === 0 || typeof book !== "object" || book === null) return book;
  const { accounts } = book as { readonly accounts?: unknown };
  if (!Array.isArray(accounts)) return book;
  const [first, ...others] = accounts as readonly unknown[];
  if (typeof first !== "object" || first === null) return book;
  const licenseUpdates = typed.map(({ of, date, quantity }) => ({
    licenseId: of,
    quantity: quantity.trim(),
    effectiveFrom: date,
  }));
  return { ...book, accounts: [{ ...first, licenseUpdates }, ...others] };
}

const TITLES: Readonly<Record<Invoice["invoiceType"], string>> = {
  STANDARD: "Invoice",
  STANDARD_ADVANCED: "Invoice in advance",
  AD_HOC: "Invoice at once",
};

/** An invoice as rows. */
export function shownInvoice(invoice: Invoice, { accounts }: Book): PlayInvoice {
  const { invoiceType, startDate, endDate, accountId, notices } = invoice;
  const name = accounts.find(({ id }) => id === accountId)?.name ?? accountId;
  return {
    title: printable(`${TITLES[invoiceType]}, ${periodWords(startDate, endDate)}, ${name}`),
    rows: pageRows(invoice).map((row) => ({ ...row, label: printable(row.label) })),
    notices: notices.map(printable),
  };
}

function chartsOf(book: Book): readonly PlayChart[] {
  const names = new Map(
    [...book.usageMeters, ...book.addOns, ...book.features].map(({ id, displayName }) => [id, displayName]),
  );
  return book.pricePlans.flatMap(({ name, pricePlanDetails }) => {
    if ((pricePlanDetails.supportedCurrencies ?? []).length === 0) return [];
    try {
      return [{ name: printable(name), ...describedChart(name, planCurves(pricePlanDetails, { names })) }];
    } catch (error) {
      // A currency in which some card has no rate is told where the plan is priced.
      if (error instanceof RatebookError) return [];
      throw error;
    }
  });
}

/** So many cycles are shown. */
const CYCLES_MAX = 40;

function cyclesOf({ accounts, pricePlans }: Book, { from, until }: PlayState): readonly PlayCycle[] {
  const [start, end] = [instantOf(`${from}T00:00:00Z`), instantOf(`${until}T00:00:00Z`)];
  return (accounts[0]?.pricePlans ?? []).flatMap(({ pricePlanId, effectiveFrom, effectiveUntil }) => {
    const plan = pricePlans.find(({ id }) => id === pricePlanId);
    const config = plan?.pricePlanDetails.pricingCycleConfig;
    if (plan === undefined || !config || config.anniversaryCycle === true) return [];
    const ends = effectiveUntil ?? Number.MAX_SAFE_INTEGER;
    const share = (at: Instant): number => Math.min(1, Math.max(0, (at - start) / (end - start)));
    return cyclesBetween(config, start, end)
      .slice(0, CYCLES_MAX)
      .flatMap((cycle): PlayCycle[] => {
        const served = { start: Math.max(cycle.start, effectiveFrom), end: Math.min(cycle.end, ends) };
        if (served.start >= served.end) return [];
        const days = (served.end - served.start) / DAY_MS;
        const of = (cycle.end - cycle.start) / DAY_MS;
        const range = periodWords(formatInstant(served.start), formatInstant(served.end));
        return [
          {
            plan: printable(plan.name),
            words: days === of ? `${range}: the whole cycle of ${of} days` : `${range}: ${days} of ${of} days`,
            start: share(cycle.start),
            end: share(cycle.end),
            servedStart: share(served.start),
            servedEnd: share(served.end),
          },
        ];
      });
  });
}
