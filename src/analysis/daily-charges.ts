/** The cumulative charge of a usage card for each day of its cycle. */
import type { GroupUsage } from "../book/resources/event-schema.ts";
import type { Cycle } from "../calendar/cycle.ts";
import { type Day, dayOf, parseInstant } from "../calendar/instant.ts";
import type { CardExplanation, Invoice, InvoiceLine } from "../invoicing/invoice.ts";
import { add, type Decimal, ZERO } from "../numbers/decimal.ts";
import { compareFractions, type Fraction } from "../numbers/fraction.ts";
import { type FindTable, hasTable } from "../rating/rated-table.ts";
import { chargeByTable } from "../rating/table-charge.ts";
import { ruleLink } from "../rulebook.ts";
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

/** The usage of a line's meter by group, for cards with a price table. */
export interface GroupedUsage {
  readonly groups: readonly GroupUsage[];
  readonly findTable: FindTable;
}

/**
 * The cumulative charges of a usage card's line, for each day that it serves. The last one is the line's exact amount.
 *
 * @param plans the plans of the line's account
 * @param invoice the invoice of the line, with explanations
 * @param usage daily usage of the line's account and meter
 * @param grouped the same by group; without it, a line of a price table has no days
 * @returns undefined if the line is not a usage card's, or has other usage too
 */
export function computeDailyCharges(
  plans: AccountPlans,
  invoice: Invoice,
  line: InvoiceLine,
  usage: ReadonlyMap<Day, Decimal>,
  grouped?: GroupedUsage,
): readonly ChargedDay[] | undefined {
  const { explanation, quantity } = line;
  if (line.type !== "USAGE_RATE_CARD_AMOUNT" || explanation?.of !== "CARD" || quantity === undefined) return undefined;
  const priceDay =
    (grouped && createTablePricing(plans, invoice, line, grouped)) ?? createSlabPricing(plans, invoice, line);
  if (priceDay === undefined) return undefined;
  const [from, until] = [dayOf(parseInstant(explanation.served.from)), dayOf(parseInstant(explanation.served.until))];
  const days: ChargedDay[] = [];
  let quantitySoFar = ZERO;
  for (let day = from; day < until; day++) {
    const dayQuantity = usage.get(day) ?? ZERO;
    quantitySoFar = add(quantitySoFar, dayQuantity);
    const price = priceDay(day, quantitySoFar);
    if (price === undefined) return undefined;
    days.push({ day, quantity: dayQuantity, quantitySoFar, ...price });
  }
  const last = days.at(-1);
  return last !== undefined && compareFractions(last.amountSoFar, explanation.exact) === 0 && quantitySoFar.eq(quantity)
    ? days
    : undefined;
}

/** Prices the units from the cycle's first day to a day, in order of the days; undefined if the price is unknown. */
type PriceDay = (day: Day, quantitySoFar: Decimal) => Pick<ChargedDay, "amountSoFar" | "slab"> | undefined;

/** Undefined for a line with several quantities, such as licenses for parts of a cycle: it has no cumulative quantity. */
function createSlabPricing(plans: AccountPlans, invoice: Invoice, line: InvoiceLine): PriceDay | undefined {
  const { explanation } = line;
  if (explanation?.of !== "CARD") return undefined;
  const [part, ...others] = explanation.parts;
  if (part?.quantity === undefined || part.sign !== 1 || others.length > 0) return undefined;
  const inputs = readPricedInputs(plans, invoice, line, explanation);
  return (_day, quantitySoFar) => {
    const amountSoFar = computeAmount({ ...inputs, parts: [{ sign: 1, quantity: quantitySoFar, share: part.share }] });
    return amountSoFar && { amountSoFar, slab: findSlabOrder(inputs, quantitySoFar) };
  };
}

/** Undefined unless the plan of the invoice prices the line with a table. */
function createTablePricing(
  plans: AccountPlans,
  invoice: Invoice,
  { id: meterId = "", explanation }: InvoiceLine,
  { groups, findTable }: GroupedUsage,
): PriceDay | undefined {
  const cards = plans.termsOfInvoice(invoice).details.flatMap(({ usageRateCards }) => usageRateCards);
  const card = cards.find(({ usageMeterId }) => usageMeterId === meterId);
  if (explanation?.of !== "CARD" || card === undefined || !hasTable(card)) return undefined;
  const table = findTable(card, invoice.currency);
  const period = { served: toCycle(explanation.served), natural: toCycle(explanation.natural) };
  const terms = { isProrated: explanation.rules.includes(ruleLink("S19.4")) };
  const sortedGroups = groups
    .filter(({ day }) => day >= dayOf(period.served.start) && day < dayOf(period.served.end))
    .sort((a, b) => a.day - b.day);
  let count = 0;
  let amountSoFar: Fraction | undefined;
  return (day, quantity) => {
    const end = sortedGroups.findIndex((usage) => usage.day > day);
    const countSoFar = end === -1 ? sortedGroups.length : end;
    if (amountSoFar === undefined || countSoFar > count) {
      const usage = { meterId, quantity, groups: sortedGroups.slice(0, countSoFar) };
      amountSoFar = chargeByTable(table, usage, period, terms).bounded;
      count = countSoFar;
    }
    return { amountSoFar, slab: undefined };
  };
}

function toCycle({ from, until }: CardExplanation["served"]): Cycle {
  return { start: parseInstant(from), end: parseInstant(until) };
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
