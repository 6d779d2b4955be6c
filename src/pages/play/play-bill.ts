/** The results of the playground: problems with their lines, or invoices, curves, prices by quantity and cycles. */
import { planCurves, type CardCurve } from "../../analysis/plan-curves.ts";
import { curveEdges, priceAtQuantity } from "../../analysis/price-curve.ts";
import { parseBook } from "../../book/book.ts";
import { parseJsonDocument } from "../../book/reading/json-document.ts";
import type { Book } from "../../book/resources/book.ts";
import { mayBeProrated } from "../../book/resources/event-schema.ts";
import { DAY_MS, toInstant } from "../../calendar/instant.ts";
import { type Problem, RatebookError } from "../../errors.ts";
import { preview, type Preview } from "../../ledger/preview/preview.ts";
import type { UsageRowInput } from "../../metering/usage-rows.ts";
import { minorUnitDigits } from "../../numbers/currency.ts";
import { add, Decimal, parseDecimal, ZERO, divide, maximum, ONE, subtract } from "../../numbers/decimal.ts";
import { parseJson } from "../../numbers/json.ts";
import { priceBySlabs } from "../../rating/slab-charge.ts";
import { describeJumps, describeSlabs, formatCost, formatQuantity } from "../chart/curve-text.ts";
import { describeNotBilled, listNotBilled } from "../not-billed.ts";
import { toPrintable } from "../printable.ts";
import { type CurvePicture, drawCurve } from "./curve-picture.ts";
import { listCycles, type PlayCycles } from "./play-cycles.ts";
import { itemKey, type PlayPeriod, toPlayPeriods, withSymbol } from "./play-periods.ts";
import type { PlayState } from "./play-state.ts";
import { readDecimal, toUsageRows } from "./value-rows.ts";

/** A problem and its line in the book's text. */
export interface PlayProblem {
  readonly message: string;
  /** Absent if it isn't in the book. */
  readonly problem?: Problem;
  /** From 1; absent if it isn't in the book. */
  readonly line?: number;
  readonly column?: number;
}

export interface PlayBill {
  readonly problems: readonly PlayProblem[];
  readonly periods: readonly PlayPeriod[];
  /** The costs of items by quantity, by plan and {@link itemKey}. */
  readonly curves: ReadonlyMap<string, CardCosts>;
  readonly cycles?: PlayCycles | undefined;
  /** The checked book; absent if it has problems. */
  readonly book?: Book;
}

const EMPTY_BILL: Omit<PlayBill, "problems"> = { periods: [], curves: new Map() };

/** The maximum number of years to price: a page can't show more invoices. */
const YEARS_MAX = 10;
/** The maximum number of plans with curves. */
const PLANS_MAX = 10;
/** The largest quantity to which curves extend. */
const QUANTITY_MAX = 1e15;
/** The maximum number of event problems shown. */
const PROBLEMS_MAX = 20;

/** Prices the state with the same functions as the command line. */
export function computeBill(state: PlayState): PlayBill {
  const bookResult = parseBookText(state.book);
  if ("problems" in bookResult) return { ...EMPTY_BILL, problems: bookResult.problems };
  const { book } = bookResult;
  const partialBill = { ...EMPTY_BILL, book, curves: computeCurves(book, sumQuantities(book, state)) };
  try {
    const problem = describeRangeProblem(state);
    if (problem !== undefined) return { ...partialBill, problems: [{ message: problem }] };
    const { invoices, problems, events, unmetered } = priceState(book, state);
    return {
      ...partialBill,
      periods: toPlayPeriods(invoices, book),
      problems: [
        ...problems
          .slice(0, PROBLEMS_MAX)
          .map(({ event, message }) => ({ message: toPrintable(`event ${event}: ${message}`) })),
        ...listNotBilled({ book, read: events.read, unmetered }).map((each) => ({ message: describeNotBilled(each) })),
      ],
      cycles: listCycles(book, state),
    };
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    return { ...partialBill, problems: [{ message: toPrintable(error.message) }] };
  }
}

/** Why the range of a state can't be priced; undefined if it can. @throws {RatebookError} for an invalid date */
function describeRangeProblem({ from, until }: PlayState): string | undefined {
  if (toInstant(until) - toInstant(from) <= YEARS_MAX * 366 * DAY_MS) return undefined;
  return `cycles from ${from} until ${until}: expected ${YEARS_MAX} years at most`;
}

function priceState(book: Book, state: PlayState): Preview {
  const { events, from, until } = state;
  const lines = events.split("\n").filter((line) => line.trim() !== "");
  return preview(
    book,
    { usage: listUsageRows(book, state), events: lines.map((line) => parseJson(line)) as [] },
    { from, until, explain: true },
  );
}

/** The typed usage as rows. @throws {RatebookError} for an invalid quantity or date */
export function listUsageRows(book: Book, { usage }: PlayState): readonly UsageRowInput[] {
  const accountId = book.accounts[0]?.id ?? "";
  return usage
    .filter(({ quantity }) => quantity.trim() !== "")
    .flatMap(({ of, date, quantity, group }, index) => {
      const meterId = findMeterId(book, of);
      const meter = book.usageMeters.find(({ id }) => id === meterId);
      const id = `row ${String(index + 1).padStart(6, "0")}`;
      const row = { accountId, meterId, date, quantity: quantity.trim() };
      return toUsageRows(group === undefined ? row : { ...row, group }, meter, id);
    });
}

/** The id of a meter by its id or name. */
function findMeterId({ usageMeters }: Book, of: string): string {
  return usageMeters.find(({ id, name }) => id === of || name === of)?.id ?? of;
}

/** The book of a text, or its problems. */
export function parseBookText(text: string): { readonly book: Book } | { readonly problems: readonly PlayProblem[] } {
  const document = parseJsonDocument(text);
  if (!("value" in document)) {
    const { line, column, message } = document;
    return { problems: [{ message: toPrintable(`not JSON: ${message}`), line, column }] };
  }
  try {
    return { book: parseBook(document.value) };
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

/** The sum of typed usage and the last license quantities, by id. */
function sumQuantities(book: Book, { usage }: PlayState): ReadonlyMap<string, Decimal> {
  const quantities = new Map<string, Decimal>();
  for (const { of, quantity } of usage) {
    const id = findMeterId(book, of);
    const isLevel = book.usageMeters.some((meter) => meter.id === id && mayBeProrated(meter));
    const combine = isLevel ? maximum : add;
    try {
      quantities.set(id, combine(quantities.get(id) ?? ZERO, parseDecimal(quantity.trim())));
    } catch (error) {
      // Invalid numbers are reported when the usage is priced.
      if (!(error instanceof RatebookError)) throw error;
    }
  }
  for (const { licenseId, quantity } of book.accounts[0]?.licenseUpdates ?? []) quantities.set(licenseId, quantity);
  return quantities;
}

function computeCurves(book: Book, quantities: ReadonlyMap<string, Decimal>): ReadonlyMap<string, CardCosts> {
  const names = new Map(
    [...book.usageMeters, ...book.addOns, ...book.features].map(({ id, displayName }) => [id, displayName]),
  );
  const costs = book.pricePlans.slice(0, PLANS_MAX).flatMap(({ id, pricePlanDetails }) => {
    if ((pricePlanDetails.supportedCurrencies ?? []).length === 0) return [];
    try {
      const { cards, currency } = planCurves(pricePlanDetails, { names });
      const extend = (card: CardCurve, quantity: Decimal): CardCurve => {
        const upTo = quantity.toSignificantDigits(1, Decimal.ROUND_UP);
        const { cards: longer } = planCurves(pricePlanDetails, { names, upTo });
        return longer[cards.indexOf(card)] ?? card;
      };
      return cards.map(
        (card) =>
          [
            curveKey(id, itemKey(card.kind, card.id)),
            computeCardCosts(card, { currency, quantities, extend }),
          ] as const,
      );
    } catch (error) {
      // Missing rates of a currency are reported when the plan is priced.
      if (error instanceof RatebookError) return [];
      throw error;
    }
  });
  return new Map(costs);
}

/** The key of a curve. @param key of the item */
export function curveKey(planId: string, key: string): string {
  return `${planId} ${key}`;
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
  /** Of the item. */
  readonly key: string;
  readonly name: string;
  readonly currency: string;
  /** The prices in sentences. */
  readonly description: string;
  /** Draws the curve up to a quantity: that of the plan, or more if the shown quantity is larger. */
  readonly draw: (quantity: string) => CurvePicture;
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

interface CostContext {
  readonly currency: string;
  /** Typed usage of meters and quantities of licenses, by id. */
  readonly quantities: ReadonlyMap<string, Decimal>;
  /** The curve up to a larger quantity. */
  readonly extend: (card: CardCurve, quantity: Decimal) => CardCurve;
}

function computeCardCosts(card: CardCurve, { currency, quantities, extend }: CostContext): CardCosts {
  const digits = minorUnitDigits(currency);
  const readQuantity = (text: string): Decimal | undefined => {
    const quantity = readDecimal(text);
    return quantity?.isNegative() === true ? undefined : quantity;
  };
  return {
    key: itemKey(card.kind, card.id),
    name: toPrintable(card.name),
    currency,
    description: [...describeSlabs(card, digits), ...describeJumps(card, digits).map(({ sentence }) => sentence)].join(
      ". ",
    ),
    draw: (text) => {
      const quantity = readQuantity(text);
      const isBeyond = quantity !== undefined && quantity.gt(card.upTo) && quantity.lte(QUANTITY_MAX);
      return drawCurve(isBeyond ? extend(card, quantity) : card, currency, quantity);
    },
    upTo: card.upTo.toFixed(),
    quantity: (quantities.get(card.id) ?? divide(card.upTo, parseDecimal(2)).ceil()).toFixed(),
    edges: findEdgeQuantities(card).map((quantity) => computeCost(card, quantity, currency)),
    costAt: (text) => {
      const quantity = readQuantity(text);
      try {
        return quantity && computeCost(card, quantity, currency);
      } catch (error) {
        // The price needs too many digits.
        if (error instanceof RatebookError) return undefined;
        throw error;
      }
    },
  };
}

function findEdgeQuantities({ card, upTo }: CardCurve): readonly Decimal[] {
  const slabEdges = curveEdges(card).filter(({ isSlabEdge }) => isSlabEdge);
  const quantities = slabEdges.flatMap(({ at: { quantity } }) => [quantity, add(quantity.floor(), ONE)]);
  const distinctQuantities = new Map([ONE, ...quantities, upTo].map((quantity) => [quantity.toFixed(), quantity]));
  return [...distinctQuantities.values()].filter((quantity) => quantity.lte(upTo)).slice(0, EDGES_MAX);
}

function computeCost({ slabs, total, upTo }: CardCurve, quantity: Decimal, currency: string): CostPoint {
  const digits = minorUnitDigits(currency);
  const toAmountText = (amount: Decimal): string => withSymbol(formatCost(amount, digits), currency);
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
