/**
 * How the charge of a usage card grew with the days of its cycle: what the usage up to each day comes to.
 *
 * @module
 */
import type { Book } from "../book/model/book.ts";
import { DAY_MS, type Day, dayOf, parseInstant } from "../calendar/instant.ts";
import { hasCode } from "../errors.ts";
import type { CardExplanation } from "../invoicing/explain.ts";
import type { Invoice, InvoiceLine } from "../invoicing/invoice.ts";
import { add, type Decimal, ZERO } from "../numbers/decimal.ts";
import { compareFractions, type Fraction } from "../numbers/fraction.ts";
import { bookPrices } from "./diff/book-prices.ts";
import { amountOf, type CardInputs, inputsOf, withSlabsOf } from "./diff/card-inputs.ts";

/** One day of a card's cycle. */
export interface ChargedDay {
  readonly day: Day;
  /** Units of that day alone. */
  readonly quantity: Decimal;
  /** Units from the cycle's first day to this one. */
  readonly quantitySoFar: Decimal;
  /** What these come to: exact, before rounding, with the card's bounds. */
  readonly amountSoFar: Fraction;
  /** The order of the slab that holds them; undefined below the first. */
  readonly slab: number | undefined;
}

/**
 * The days of a usage card's line, from the first that it serves to the last; the last one's amount is the line's exact
 * amount.
 *
 * @param invoice the invoice of the line, with explanations
 * @param usage what was metered on each day, for the line's account and meter
 * @returns undefined where the line is no usage card's, or is not of this usage alone
 */
export function chargeByDay(
  book: Book,
  invoice: Invoice,
  line: InvoiceLine,
  usage: ReadonlyMap<Day, Decimal>,
): readonly ChargedDay[] | undefined {
  const { explanation, quantity } = line;
  if (line.type !== "USAGE_RATE_CARD_AMOUNT" || explanation?.of !== "CARD" || quantity === undefined) return undefined;
  const inputs = pricedInputs(book, invoice, line, explanation);
  if (inputs === undefined) return undefined;
  const [from, until] = [dayOf(parseInstant(explanation.served.from)), parseInstant(explanation.served.until) / DAY_MS];
  const days: ChargedDay[] = [];
  let soFar = ZERO;
  for (let day = from; day < until; day++) {
    const used = usage.get(day) ?? ZERO;
    soFar = add(soFar, used);
    const amountSoFar = knownAmount(inputs, soFar, line.type);
    if (amountSoFar === undefined) return undefined;
    days.push({ day, quantity: used, quantitySoFar: soFar, amountSoFar, slab: slabHolding(inputs, soFar) });
  }
  const last = days.at(-1);
  return last !== undefined && compareFractions(last.amountSoFar, explanation.exact) === 0 && soFar.eq(quantity)
    ? days
    : undefined;
}

/** The inputs of a card that prices one quantity, with the slabs of the book; undefined where it is not so simple. */
function pricedInputs(
  book: Book,
  invoice: Invoice,
  line: InvoiceLine,
  explanation: CardExplanation,
): CardInputs | undefined {
  const [part, ...others] = explanation.parts;
  if (part?.quantity === undefined || part.sign !== 1 || others.length > 0) return undefined;
  const inputs = inputsOf(explanation);
  return inputs.prices && { ...inputs, prices: withSlabsOf(inputs.prices, bookPrices(book, invoice, line)) };
}

/** The charge for a quantity; undefined where it needs a slab that neither the book nor the explanation shows. */
function knownAmount(inputs: CardInputs, quantity: Decimal, name: string): Fraction | undefined {
  try {
    return amountOf({ ...inputs, counted: [{ sign: 1, quantity }] }, name);
  } catch (error) {
    if (hasCode(error, "ERR_INPUT_INVALID")) return undefined;
    throw error;
  }
}

function slabHolding({ prices }: CardInputs, quantity: Decimal): number | undefined {
  return [...(prices?.slabs.values() ?? [])].findLast(({ startAfter }) => startAfter.lt(quantity))?.order;
}
