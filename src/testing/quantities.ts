/**
 * The cards of a plan that price a quantity, and quantities at and next to the edges of their slabs and packages (S7).
 *
 * @module
 */
import type { Arbitrary } from "fast-check";

import type { RatePlanInput, RateValueInput } from "../book/resources/rates.ts";
import { RatebookError } from "../errors.ts";
import { add, Decimal, parseDecimal, minimum, multiply, ONE, ZERO } from "../numbers/decimal.ts";
import { rejection } from "../problem-table.ts";
import { fastCheck } from "./fast-check.ts";
import type { PlanInput } from "./plan-arbitrary.ts";

/** A card whose price depends on a quantity. */
export interface QuantityCard {
  /** The id of the meter, add-on or feature. */
  readonly id: string;
  readonly kind: "usage" | "seats" | "overage";
  readonly ratePlan: RatePlanInput;
  readonly rateValues: readonly RateValueInput[];
  /** The largest quantity that the card allows; absent if unlimited. */
  readonly maxQuantity?: Decimal;
}

/** The cards of a plan that price a quantity, in plan order. */
export function listQuantityCards({ pricePlanDetails }: PlanInput): readonly QuantityCard[] {
  const { usageRateCards, licenseRateCards, entitlementOverageRateCards } = pricePlanDetails;
  return [
    ...(usageRateCards ?? []).map(({ usageMeterId, ratePlan, rateValues }) => ({
      id: usageMeterId,
      kind: "usage" as const,
      ratePlan,
      rateValues,
    })),
    ...(licenseRateCards ?? []).map(({ id, ratePlan, rateValues, config }) => ({
      id,
      kind: "seats" as const,
      ratePlan,
      rateValues,
      ...toMaxQuantity(config?.maxQuantity),
    })),
    ...(entitlementOverageRateCards ?? []).map(({ featureId, ratePlan, rateValues, maxQuantity }) => ({
      id: featureId,
      kind: "overage" as const,
      ratePlan,
      rateValues,
      ...toMaxQuantity(maxQuantity),
    })),
  ];
}

function toMaxQuantity(quantity: unknown): { readonly maxQuantity?: Decimal } {
  return quantity === undefined || quantity === null ? {} : { maxQuantity: parseDecimal(quantity) };
}

/**
 * The cards of {@link listQuantityCards}, at least one.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for a plan without any
 */
export function requireQuantityCards(plan: PlanInput): readonly QuantityCard[] {
  const cards = listQuantityCards(plan);
  if (cards.length > 0) return cards;
  const message = "expected a usage, license or overage card: no card of this plan is priced by quantity";
  throw new RatebookError("ERR_INPUT_INVALID", message, {
    problems: [rejection("$.pricePlanDetails", "NOT_SUPPORTED", message)],
  });
}

const STEP = new Decimal("0.01");

/** The edges of a card's slabs and first packages. */
export function findEdges({ ratePlan: { slabs }, maxQuantity }: QuantityCard): readonly Decimal[] {
  const edges = slabs.flatMap(({ startAfter, endAt, slabConfig }) => {
    const start = parseDecimal(startAfter);
    const size = slabConfig?.packageSize;
    const packages =
      size === undefined || size === null
        ? []
        : [1, 2, 3].map((count) => multiply(parseDecimal(size), new Decimal(count)));
    return [
      start,
      ...(endAt === undefined || endAt === null ? [] : [parseDecimal(endAt)]),
      ...packages,
      ...packages.map((at) => add(start, at)),
    ];
  });
  return maxQuantity === undefined ? edges : [...edges, maxQuantity].map((edge) => minimum(edge, maxQuantity));
}

/**
 * Quantities of a card, from 0 to its maximum: two thirds at or next to an edge of a slab or package, the others up to
 * twice the last edge.
 */
export function quantityArbitrary(card: QuantityCard): Arbitrary<Decimal> {
  const fc = fastCheck();
  const edges = findEdges(card);
  const last = edges.reduce((maxQuantity, edge) => (edge.gt(maxQuantity) ? edge : maxQuantity), ONE);
  const hundredths = Math.min(Math.ceil(last.toNumber() * 200) + 1000, Number.MAX_SAFE_INTEGER);
  const offset = fc.constantFrom(ZERO, STEP, STEP.negated(), ONE, ONE.negated());
  const atEdge = fc.tuple(fc.constantFrom(...edges), offset).map(([edge, step]) => add(edge, step));
  const anywhere = fc.integer({ min: 0, max: hundredths }).map((units) => new Decimal(`${units}e-2`));
  return fc.oneof({ weight: 2, arbitrary: atEdge }, { weight: 1, arbitrary: anywhere }).map((quantity) => {
    const boundedQuantity = card.maxQuantity === undefined ? quantity : minimum(quantity, card.maxQuantity);
    return boundedQuantity.isNegative() ? ZERO : boundedQuantity;
  });
}

/**
 * A quantity as decimal text for each meter, license and feature that a plan prices by quantity, by id. Edges of slabs
 * and packages are favored.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for a plan without quantity prices; ERR_REFUSED without fast-check
 */
export function quantitiesArbitrary(plan: PlanInput): Arbitrary<Readonly<Record<string, string>>> {
  const ids = requireQuantityCards(plan).map((card): [string, Arbitrary<string>] => [
    card.id,
    quantityArbitrary(card).map((quantity) => quantity.toFixed()),
  ]);
  return fastCheck().record(Object.fromEntries(ids));
}
