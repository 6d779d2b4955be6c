/** Laws of one plan's prices: more usage never costs less, and no price jumps at a slab edge (S7). */
import type { Arbitrary, IPropertyWithHooks } from "fast-check";

import { priceCurve } from "../analysis/price-curve.ts";
import type { RateValueInput } from "../book/resources/rate-card.ts";
import {
  add,
  type DecimalInput,
  Decimal,
  parseDecimal,
  maximum,
  multiply,
  ONE,
  subtract,
  formatDecimal,
  ZERO,
} from "../numbers/decimal.ts";
import { priceQuantity } from "../rating/slab-charge.ts";
import { fastCheck, toArbitrary, type ValueOrArbitrary } from "./fast-check.ts";
import type { AnyPlanInput } from "./plan-arbitrary.ts";
import {
  findEdges,
  listPricedCards,
  requireQuantityCards,
  type QuantityCard,
  quantityArbitrary,
  formatCard,
  withPrintedText,
  formatTable,
} from "./report.ts";

/** A card in one currency. */
interface CardCase {
  readonly planId: string;
  readonly card: QuantityCard;
  readonly currency: string;
  /** The card's rates in the currency. */
  readonly rates: RateValueInput;
}

/** Every card of a plan that prices a quantity, and every row of a price table, in each currency. */
function cardCaseArbitrary(plan: ValueOrArbitrary<AnyPlanInput>): Arbitrary<CardCase> {
  return toArbitrary(plan).chain((generatedPlan) => {
    const cases = requireQuantityCards(generatedPlan, listPricedCards).flatMap((card) =>
      card.rateValues.map((rates) => ({ planId: generatedPlan.id, card, currency: rates.currency, rates })),
    );
    return fastCheck().constantFrom(...cases);
  });
}

/** The exact price of a quantity on a card. */
function priceCase({ card, rates }: CardCase, quantity: Decimal): Decimal {
  return priceQuantity(card.ratePlan, rates, quantity).amount;
}

function formatCase(cardCase: CardCase, rows: readonly (readonly string[])[]): string {
  return `plan ${cardCase.planId}\n${formatCard(cardCase.card, cardCase.currency)}\n${formatTable(["quantity", "price"], rows)}`;
}

/**
 * The law that a larger quantity never costs less, for each usage, license and overage card of a plan, and each row of
 * a price table, in each currency; exact, before rounding (S7.2, S7.4). Fees and the minimum commitment can't break it: they don't fall as a quantity
 * grows.
 *
 * @param plan in short or long form
 * @throws {RatebookError} ERR_INPUT_INVALID for a plan without quantity prices; ERR_BOOK_INVALID for a wrong short form;
 * ERR_REFUSED without fast-check
 * @example
 * ```ts
 * test("more never costs less", () => {
 *   fc.assert(neverDecreases(plan));
 * });
 * ```
 */
export function neverDecreases(plan: ValueOrArbitrary<AnyPlanInput>): IPropertyWithHooks<[QuantityPair]> {
  const fc = fastCheck();
  const pairs = cardCaseArbitrary(plan).chain((cardCase) =>
    fc.tuple(quantityArbitrary(cardCase.card), quantityArbitrary(cardCase.card)).map(([a, b]): QuantityPair => {
      const [less, more] = a.lte(b) ? [a, b] : [b, a];
      return withPrintedText({ ...cardCase, less, more }, (pair) =>
        formatCase(
          pair,
          [less, more].map((quantity) => [formatDecimal(quantity), formatDecimal(priceCase(pair, quantity))]),
        ),
      );
    }),
  );
  return fc.property(pairs, (pair) => {
    const [less, more] = [priceCase(pair, pair.less), priceCase(pair, pair.more)];
    if (more.gte(less)) return;
    const { card, currency } = pair;
    throw new Error(
      `the price falls: ${formatDecimal(pair.less)} of ${card.id} cost ${formatDecimal(less)} ${currency}, ${formatDecimal(pair.more)} cost ${formatDecimal(more)} ${currency}`,
    );
  });
}

/** Two quantities of a card, the smaller first. */
export interface QuantityPair extends CardCase {
  readonly less: Decimal;
  readonly more: Decimal;
}

/**
 * The law that no price jumps at a slab edge: just above the edge, a quantity costs at most `share` more than at it.
 * The first package of a slab doesn't count as a jump, and neither does a price that starts from 0.
 *
 * @param plan in short or long form
 * @param share of the price at the edge: `0.2` for 20 %, 0 for no increase
 * @throws {RatebookError} ERR_INPUT_INVALID for a plan without quantity prices; ERR_NUMBER_INVALID for an invalid
 * share; ERR_REFUSED without fast-check
 */
export function noJumpAbove(
  plan: ValueOrArbitrary<AnyPlanInput>,
  share: DecimalInput,
): IPropertyWithHooks<[PriceEdge]> {
  const fc = fastCheck();
  const maxShare = parseDecimal(share);
  const edges = cardCaseArbitrary(plan).chain((cardCase) =>
    fc.constantFrom(...findPriceEdges(cardCase)).map((edge) =>
      withPrintedText({ ...cardCase, ...edge }, ({ at, before, above }) =>
        formatCase(cardCase, [
          [formatDecimal(at), formatDecimal(before)],
          [`just above ${formatDecimal(at)}`, formatDecimal(above)],
        ]),
      ),
    ),
  );
  return fc.property(edges, ({ card, currency, at, before, above, firstPackagePrice }) => {
    const jump = subtract(subtract(above, before), firstPackagePrice);
    if (before.lte(ZERO) || jump.lte(multiply(before, maxShare))) return;
    throw new Error(
      `the price jumps by more than ${formatDecimal(multiply(maxShare, new Decimal(100)))}%: ${formatDecimal(at)} of ${card.id} cost ${formatDecimal(before)} ${currency}, any more costs ${formatDecimal(above)} ${currency}`,
    );
  });
}

/** The prices at and just above a slab edge. */
export interface PriceEdge extends CardCase {
  /** The last quantity of the slab below. */
  readonly at: Decimal;
  readonly before: Decimal;
  /** The price just above it. */
  readonly above: Decimal;
  /** The price of the first package of the slab above; 0 without packages. */
  readonly firstPackagePrice: Decimal;
}

/** The edges between a card's slabs; 0 for a card with one slab. */
function findPriceEdges({ card, rates }: CardCase): readonly [Edge, ...Edge[]] {
  const last = findEdges(card).reduce(maximum, ONE);
  const { atZero, pieces } = priceCurve(card.ratePlan, rates, { upTo: add(multiply(last, new Decimal(2)), ONE) });
  const edges = pieces.flatMap((piece, index): readonly Edge[] => {
    const before = pieces[index - 1];
    const isReached = card.maxQuantity === undefined || piece.from.quantity.lt(card.maxQuantity);
    if (before === undefined || before.slab === piece.slab || !isReached) return [];
    const slab = card.ratePlan.slabs[piece.slab - 1];
    const rate = rates.slabRates.find(({ order }) => order === slab?.order)?.rate ?? 0;
    const firstPackagePrice = slab?.priceType === "PACKAGE" ? maximum(parseDecimal(rate), ZERO) : ZERO;
    return [{ at: piece.from.quantity, before: before.last, above: piece.first, firstPackagePrice }];
  });
  const [first = { at: ZERO, before: atZero, above: atZero, firstPackagePrice: ZERO }, ...rest] = edges;
  return [first, ...rest];
}

type Edge = Omit<PriceEdge, keyof CardCase>;
