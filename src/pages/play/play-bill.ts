/** The results of the playground: problems with their lines, or invoices, curves, prices by quantity and cycles. */
import { type PlanCurves, planCurves, type CardCurve } from "../../analysis/plan-curves.ts";
import { curveEdges, priceAtQuantity } from "../../analysis/price-curve.ts";
import { parseBook } from "../../book/book.ts";
import { parseJsonDocument } from "../../book/reading/json-document.ts";
import type { Book } from "../../book/resources/book.ts";
import { mayBeProrated } from "../../book/resources/event-schema.ts";
import type { PricePlanDetails } from "../../book/resources/price-plan.ts";
import { DAY_MS, toInstant } from "../../calendar/instant.ts";
import { type Problem, RatebookError } from "../../errors.ts";
import { ENGLISH } from "../../invoicing/invoice-words.ts";
import type { Invoice } from "../../invoicing/invoice.ts";
import { preview, type Preview } from "../../ledger/preview/preview.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { add, Decimal, parseDecimal, ZERO, divide, maximum, ONE, subtract } from "../../numbers/decimal.ts";
import { parseJson } from "../../numbers/json.ts";
import { priceBySlabs } from "../../rating/slab-charge.ts";
import { formatCost, formatQuantity } from "../chart/curve-text.ts";
import { drawChartWithDescription, type ChartWithDescription } from "../chart/plan-chart.ts";
import { createPageRows, type PageRow, formatLongPeriod } from "../invoice/invoice-lines.ts";
import { toPrintable } from "../printable.ts";
import { listCycles, type PlayCycles } from "./play-cycles.ts";
import type { DatedQuantity, PlayState } from "./play-state.ts";
import { toUsageRows } from "./value-rows.ts";

/** A problem and its line in the book's text. */
export interface PlayProblem {
  readonly message: string;
  /** Absent if it isn't in the book. */
  readonly problem?: Problem;
  /** From 1; absent if it isn't in the book. */
  readonly line?: number;
  readonly column?: number;
}

export interface PlayInvoice {
  /** `Invoice, 1 to 31 January 2026, Contoso production`. */
  readonly title: string;
  readonly rows: readonly PageRow[];
  readonly notices: readonly string[];
}

/** A plan's chart, and its cards' prices by quantity. */
export interface PlayChart {
  readonly name: string;
  /** Draws the chart at a width in pixels. */
  readonly draw: (width: number) => ChartWithDescription;
  readonly cards: readonly CardCosts[];
}

export interface PlayBill {
  readonly problems: readonly PlayProblem[];
  readonly invoices: readonly PlayInvoice[];
  readonly charts: readonly PlayChart[];
  readonly cycles?: PlayCycles | undefined;
}

const EMPTY_BILL: Omit<PlayBill, "problems"> = { invoices: [], charts: [] };

/** The maximum number of years to price: a page can't show more invoices. */
const YEARS_MAX = 10;
/** The maximum number of plans with curves. */
const CHARTS_MAX = 10;
/** The maximum number of event problems shown. */
const PROBLEMS_MAX = 20;

/** Prices the state with the same functions as the command line. */
export function computeBill(state: PlayState): PlayBill {
  const bookResult = parseBookWithSeats(state.book, state.seats);
  if ("problems" in bookResult) return { ...EMPTY_BILL, problems: bookResult.problems };
  const { book } = bookResult;
  const charts = createCharts(book, sumQuantities(book, state));
  try {
    const problem = describeRangeProblem(state);
    if (problem !== undefined) return { ...EMPTY_BILL, charts, problems: [{ message: problem }] };
    const { invoices, problems } = priceState(book, state);
    return {
      invoices: invoices.map((invoice) => toPlayInvoice(invoice, book)),
      problems: problems
        .slice(0, PROBLEMS_MAX)
        .map(({ event, message }) => ({ message: toPrintable(`event ${event}: ${message}`) })),
      charts,
      cycles: listCycles(book, state),
    };
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    return { ...EMPTY_BILL, charts, problems: [{ message: toPrintable(error.message) }] };
  }
}

/** Why the range of a state can't be priced; undefined if it can. @throws {RatebookError} for an invalid date */
function describeRangeProblem({ from, until }: PlayState): string | undefined {
  if (toInstant(until) - toInstant(from) <= YEARS_MAX * 366 * DAY_MS) return undefined;
  return `cycles from ${from} until ${until}: expected ${YEARS_MAX} years at most`;
}

function priceState(book: Book, { usage, events, from, until }: PlayState): Preview {
  const lines = events.split("\n").filter((line) => line.trim() !== "");
  const accountId = book.accounts[0]?.id ?? "";
  const rows = usage
    .filter(({ quantity }) => quantity.trim() !== "")
    .flatMap(({ of, date, quantity }, index) => {
      const meterId = findMeterId(book, of);
      const meter = book.usageMeters.find(({ id }) => id === meterId);
      const id = `row ${String(index + 1).padStart(6, "0")}`;
      return toUsageRows({ accountId, meterId, date, quantity: quantity.trim() }, meter, id);
    });
  return preview(
    book,
    { usage: rows, events: lines.map((line) => parseJson(line)) as [] },
    { from, until, explain: true },
  );
}

/** The id of a meter by its id or name. */
function findMeterId({ usageMeters }: Book, of: string): string {
  return usageMeters.find(({ id, name }) => id === of || name === of)?.id ?? of;
}

/** A book whose first account has these license quantities, or its problems. */
export function parseBookWithSeats(
  text: string,
  seats: readonly DatedQuantity[],
): { readonly book: Book } | { readonly problems: readonly PlayProblem[] } {
  const document = parseJsonDocument(text);
  if (!("value" in document)) {
    const { line, column, message } = document;
    return { problems: [{ message: toPrintable(`not JSON: ${message}`), line, column }] };
  }
  try {
    return { book: parseBook(withSeats(document.value, seats)) };
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    const problems = "problems" in error.details ? error.details.problems : [{ path: "$", message: error.message }];
    const locatedProblems = [...document.repeatedKeys, ...problems].map((problem) => ({
      message: toPrintable(`${problem.path}: ${problem.message}`),
      ...("code" in problem ? { problem } : {}),
      ...document.findPlace(problem),
    }));
    return { problems: locatedProblems };
  }
}

/** Adds typed license quantities, if any, to a parsed book. */
function withSeats(book: unknown, seats: readonly DatedQuantity[]): unknown {
  const filledRows = seats.filter(({ quantity }) => quantity.trim() !== "");
  if (filledRows.length === 0 || typeof book !== "object" || book === null) return book;
  const { accounts } = book as { readonly accounts?: unknown };
  if (!Array.isArray(accounts)) return book;
  const [first, ...others] = accounts as readonly unknown[];
  if (typeof first !== "object" || first === null) return book;
  const licenseUpdates = filledRows.map(({ of, date, quantity }) => ({
    licenseId: of,
    quantity: quantity.trim(),
    effectiveFrom: date,
  }));
  return { ...book, accounts: [{ ...first, licenses: undefined, licenseUpdates }, ...others] };
}

/** Converts an invoice to rows. */
export function toPlayInvoice(invoice: Invoice, { accounts }: Book): PlayInvoice {
  const { invoiceType, startDate, endDate, accountId, notices } = invoice;
  const name = accounts.find(({ id }) => id === accountId)?.name ?? accountId;
  return {
    title: toPrintable(`${ENGLISH.titles[invoiceType]}, ${formatLongPeriod(startDate, endDate)}, ${name}`),
    rows: [...createPageRows(invoice)].map((row) => ({ ...row, label: toPrintable(row.label) })),
    notices: notices.map(toPrintable),
  };
}

/** The sum of typed usage and the last license quantities, by id. */
function sumQuantities(book: Book, { usage, seats }: PlayState): ReadonlyMap<string, Decimal> {
  const quantities = new Map<string, Decimal>();
  for (const [rows, isSum] of [
    [usage, true],
    [seats, false],
  ] as const) {
    for (const { of, quantity } of rows) {
      const id = isSum ? findMeterId(book, of) : of;
      const isLevel = book.usageMeters.some((meter) => meter.id === id && mayBeProrated(meter));
      const combine = isSum && isLevel ? maximum : add;
      try {
        quantities.set(id, combine(isSum ? (quantities.get(id) ?? ZERO) : ZERO, parseDecimal(quantity.trim())));
      } catch (error) {
        // Invalid numbers are reported when the usage is priced.
        if (!(error instanceof RatebookError)) throw error;
      }
    }
  }
  return quantities;
}

/** The curves of a plan. If it has only one card, they extend beyond the typed quantity. */
function computeExtendedCurves(
  plan: PricePlanDetails,
  names: ReadonlyMap<string, string>,
  quantities: ReadonlyMap<string, Decimal>,
): PlanCurves {
  const curves = planCurves(plan, { names });
  const [card, ...others] = curves.cards;
  const quantity = card === undefined || others.length > 0 ? undefined : quantities.get(card.id);
  if (card === undefined || quantity === undefined || quantity.lte(card.upTo)) return curves;
  return planCurves(plan, { names, upTo: quantity.toSignificantDigits(1, Decimal.ROUND_UP) });
}

function createCharts(book: Book, quantities: ReadonlyMap<string, Decimal>): readonly PlayChart[] {
  const names = new Map(
    [...book.usageMeters, ...book.addOns, ...book.features].map(({ id, displayName }) => [id, displayName]),
  );
  return book.pricePlans.slice(0, CHARTS_MAX).flatMap(({ name, pricePlanDetails }) => {
    if ((pricePlanDetails.supportedCurrencies ?? []).length === 0) return [];
    try {
      const curves = computeExtendedCurves(pricePlanDetails, names, quantities);
      return [
        {
          name: toPrintable(name),
          draw: (width) => drawChartWithDescription(name, curves, width),
          cards: computeCardCosts(curves, quantities),
        },
      ];
    } catch (error) {
      // Missing rates of a currency are reported when the plan is priced.
      if (error instanceof RatebookError) return [];
      throw error;
    }
  });
}

export interface CostPoint {
  readonly quantity: string;
  /** The price of the card alone. */
  readonly amount: string;
  /** Per unit; absent at 0. */
  readonly average?: string;
  /** The price of one more unit. */
  readonly next: string;
  /** The price of the whole cycle; absent beyond the curve. */
  readonly total?: string;
}

/** A card whose price depends on a quantity. */
export interface CardCosts {
  readonly name: string;
  readonly currency: string;
  /** The largest quantity of the curve. */
  readonly upTo: string;
  /** The typed quantity, otherwise half of the curve's range. */
  readonly quantity: string;
  /** At slab edges and just above them. */
  readonly edges: readonly CostPoint[];
  /** The price at a decimal text; undefined if it is invalid or negative. */
  readonly costAt: (quantity: string) => CostPoint | undefined;
}

/** The maximum number of edges shown. */
const EDGES_MAX = 12;

/** The costs of each card of a plan. @param quantitiesById typed usage of meters and quantities of licenses, by id */
function computeCardCosts(
  { cards, currency }: PlanCurves,
  quantitiesById: ReadonlyMap<string, Decimal>,
): readonly CardCosts[] {
  const digits = minorUnitDigits(currency);
  return cards.map((card) => ({
    name: toPrintable(card.name),
    currency,
    upTo: card.upTo.toFixed(),
    quantity: (quantitiesById.get(card.id) ?? divide(card.upTo, parseDecimal(2)).ceil()).toFixed(),
    edges: findEdgeQuantities(card).map((quantity) => computeCost(card, quantity, digits)),
    costAt: (text) => {
      try {
        const quantity = parseDecimal(text.trim());
        return quantity.isNegative() ? undefined : computeCost(card, quantity, digits);
      } catch (error) {
        // The text is not a number, or its price needs too many digits.
        if (error instanceof RatebookError) return undefined;
        throw error;
      }
    },
  }));
}

function findEdgeQuantities({ card, upTo }: CardCurve): readonly Decimal[] {
  const slabEdges = curveEdges(card).filter(({ isSlabEdge }) => isSlabEdge);
  const quantities = slabEdges.flatMap(({ at: { quantity } }) => [quantity, add(quantity.floor(), ONE)]);
  const distinctQuantities = new Map([ONE, ...quantities, upTo].map((quantity) => [quantity.toFixed(), quantity]));
  return [...distinctQuantities.values()].filter((quantity) => quantity.lte(upTo)).slice(0, EDGES_MAX);
}

function computeCost({ slabs, total, upTo }: CardCurve, quantity: Decimal, digits: number): CostPoint {
  const toAmountText = (amount: Decimal): string => formatCost(amount, digits);
  const { amount } = priceBySlabs(slabs, quantity);
  const next = subtract(priceBySlabs(slabs, add(quantity, ONE)).amount, amount);
  return {
    quantity: formatQuantity(quantity),
    amount: toAmountText(amount),
    ...(quantity.isZero() ? {} : { average: toAmountText(divide(amount, quantity)) }),
    next: toAmountText(next),
    ...(maximum(quantity, upTo).eq(upTo) ? { total: toAmountText(priceAtQuantity(total, quantity)) } : {}),
  };
}
