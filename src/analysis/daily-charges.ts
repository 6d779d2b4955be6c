/**
 * How the charge of a usage card grew with the days of its cycle: what the usage up to each day comes to.
 *
 * @module
 */
import { DAY_MS, type Day, dayOf, parseInstant } from "../calendar/instant.ts";
import type { CardExplanation } from "../invoicing/explain.ts";
import type { Invoice, InvoiceLine } from "../invoicing/invoice.ts";
import { add, type Decimal, ZERO } from "../numbers/decimal.ts";
import { compareFractions, type Fraction } from "../numbers/fraction.ts";
import type { AccountPlans } from "./diff/account-plans.ts";
import { computeAmount, type CardInputs, toCardInputs } from "./diff/card-inputs.ts";
import { findCardByPrices, mergePrices } from "./diff/card-prices.ts";

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
 * @param plans those of the line's account
 * @param invoice the invoice of the line, with explanations
 * @param usage what was metered on each day, for the line's account and meter
 * @returns undefined where the line is no usage card's, or is not of this usage alone
 */
export function computeDailyCharges(
  plans: AccountPlans,
  invoice: Invoice,
  line: InvoiceLine,
  usage: ReadonlyMap<Day, Decimal>,
): readonly ChargedDay[] | undefined {
  const { explanation, quantity } = line;
  if (line.type !== "USAGE_RATE_CARD_AMOUNT" || explanation?.of !== "CARD" || quantity === undefined) return undefined;
  const [part, ...others] = explanation.parts;
  // Of several quantities, as of the seats held for stretches of days, none is that of the days so far.
  if (part?.quantity === undefined || part.sign !== 1 || others.length > 0) return undefined;
  const inputs = readPricedInputs(plans, invoice, line, explanation);
  const [from, until] = [dayOf(parseInstant(explanation.served.from)), parseInstant(explanation.served.until) / DAY_MS];
  const days: ChargedDay[] = [];
  let soFar = ZERO;
  for (let day = from; day < until; day++) {
    const dayQuantity = usage.get(day) ?? ZERO;
    soFar = add(soFar, dayQuantity);
    const amountSoFar = computeAmount({ ...inputs, parts: [{ sign: 1, quantity: soFar, share: part.share }] });
    if (amountSoFar === undefined) return undefined;
    days.push({ day, quantity: dayQuantity, quantitySoFar: soFar, amountSoFar, slab: findSlabOrder(inputs, soFar) });
  }
  const last = days.at(-1);
  return last !== undefined && compareFractions(last.amountSoFar, explanation.exact) === 0 && soFar.eq(quantity)
    ? days
    : undefined;
}

/** The inputs of a card's line, with the slabs of its plan. */
function readPricedInputs(
  plans: AccountPlans,
  invoice: Invoice,
  line: InvoiceLine,
  explanation: CardExplanation,
): CardInputs {
  const inputs = toCardInputs(explanation);
  const { prices } = inputs;
  const card = prices && findCardByPrices(plans.forInvoice(invoice).details, prices, line, invoice.currency);
  return card === undefined || prices === undefined ? inputs : { ...inputs, prices: mergePrices(prices, card.prices) };
}

function findSlabOrder({ prices }: CardInputs, quantity: Decimal): number | undefined {
  return [...(prices?.slabs.values() ?? [])].findLast(({ startAfter }) => startAfter.lt(quantity))?.order;
}
