/** The cumulative charge of a usage card for each day of its cycle. */
import { type Day, dayOf, parseInstant } from "../calendar/instant.ts";
import type { CardExplanation, Invoice, InvoiceLine } from "../invoicing/invoice.ts";
import { add, type Decimal, ZERO } from "../numbers/decimal.ts";
import { compareFractions, type Fraction } from "../numbers/fraction.ts";
import type { AccountPlans } from "./diff/account-plans.ts";
import { computeAmount, type CardInputs, toCardInputs, findCardByPrices, mergePrices } from "./diff/card-inputs.ts";

/** One day of a card's cycle. */
export interface ChargedDay {
  readonly day: Day;
  /** Units on that day. */
  readonly quantity: Decimal;
  /** Units from the cycle's first day to this one. */
  readonly quantitySoFar: Decimal;
  /** The cumulative charge: exact, unrounded, with the card's bounds applied. */
  readonly amountSoFar: Fraction;
  /** The order of the slab that contains `quantitySoFar`; undefined below the first. */
  readonly slab: number | undefined;
}

/**
 * The cumulative charges of a usage card's line, for each day that it serves. The last one is the line's exact amount.
 *
 * @param plans the plans of the line's account
 * @param invoice the invoice of the line, with explanations
 * @param usage daily usage of the line's account and meter
 * @returns undefined if the line is not a usage card's, or has other usage too
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
  // A line with several quantities, such as licenses for parts of a cycle, has no cumulative quantity.
  if (part?.quantity === undefined || part.sign !== 1 || others.length > 0) return undefined;
  const inputs = readPricedInputs(plans, invoice, line, explanation);
  const [from, until] = [dayOf(parseInstant(explanation.served.from)), dayOf(parseInstant(explanation.served.until))];
  const days: ChargedDay[] = [];
  let quantitySoFar = ZERO;
  for (let day = from; day < until; day++) {
    const dayQuantity = usage.get(day) ?? ZERO;
    quantitySoFar = add(quantitySoFar, dayQuantity);
    const amountSoFar = computeAmount({ ...inputs, parts: [{ sign: 1, quantity: quantitySoFar, share: part.share }] });
    if (amountSoFar === undefined) return undefined;
    days.push({
      day,
      quantity: dayQuantity,
      quantitySoFar: quantitySoFar,
      amountSoFar,
      slab: findSlabOrder(inputs, quantitySoFar),
    });
  }
  const last = days.at(-1);
  return last !== undefined && compareFractions(last.amountSoFar, explanation.exact) === 0 && quantitySoFar.eq(quantity)
    ? days
    : undefined;
}

/** The inputs of a card's line, with all slabs of its plan. */
function readPricedInputs(
  plans: AccountPlans,
  invoice: Invoice,
  line: InvoiceLine,
  explanation: CardExplanation,
): CardInputs {
  const inputs = toCardInputs(explanation);
  const { prices } = inputs;
  const card = prices && findCardByPrices(plans.termsOfInvoice(invoice).details, prices, line, invoice.currency);
  return card === undefined || prices === undefined ? inputs : { ...inputs, prices: mergePrices(prices, card.prices) };
}

function findSlabOrder({ prices }: CardInputs, quantity: Decimal): number | undefined {
  return [...(prices?.slabs.values() ?? [])].findLast(({ startAfter }) => startAfter.lt(quantity))?.order;
}
