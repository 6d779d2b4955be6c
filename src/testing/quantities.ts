/**
 * The cards of a plan that are priced by quantity, and quantities near which their price changes: edges of slabs and packages,
 * and what lies beside them (S7).
 *
 * @module
 */
import type { Arbitrary } from "fast-check";

import type { RatePlanInput, RateValueInput } from "../book/model/rate-card.ts";
import { RatebookError } from "../errors.ts";
import { add, Decimal, parseDecimal, least, multiply, ONE, ZERO } from "../numbers/decimal.ts";
import { fastCheck } from "./fast-check.ts";
import type { PlanInput } from "./plan-arbitrary.ts";

/** A card whose price depends on a quantity. */
export interface QuantityCard {
  /** The meter, add-on or feature. */
  readonly id: string;
  readonly kind: "usage" | "seats" | "overage";
  readonly ratePlan: RatePlanInput;
  readonly rateValues: readonly RateValueInput[];
  /** The largest quantity there can be, where the card bounds it. */
  readonly most?: Decimal;
}

/** The cards of a plan whose price depends on a quantity, in the plan's order. */
export function quantityCardsOf({ pricePlanDetails }: PlanInput): readonly QuantityCard[] {
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
      ...mostOf(config?.maxQuantity),
    })),
    ...(entitlementOverageRateCards ?? []).map(({ featureId, ratePlan, rateValues, maxQuantity }) => ({
      id: featureId,
      kind: "overage" as const,
      ratePlan,
      rateValues,
      ...mostOf(maxQuantity),
    })),
  ];
}

function mostOf(quantity: unknown): { readonly most?: Decimal } {
  return quantity === undefined || quantity === null ? {} : { most: parseDecimal(quantity) };
}

/**
 * The cards of {@link quantityCardsOf}, for a law that needs one.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for a plan without any
 */
export function pricedCardsOf(plan: PlanInput): readonly QuantityCard[] {
  const cards = quantityCardsOf(plan);
  if (cards.length > 0) return cards;
  const message = "expected a usage, license or overage card: nothing of this plan is priced by a quantity";
  throw new RatebookError("ERR_INPUT_INVALID", message, { problems: [{ path: "$.pricePlanDetails", message }] });
}

const STEP = new Decimal("0.01");

/** The quantities at which a card's price may turn or jump: the edges of its slabs and its first packages. */
export function edgesOf({ ratePlan: { slabs }, most }: QuantityCard): readonly Decimal[] {
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
  return most === undefined ? edges : [...edges, most].map((edge) => least(edge, most));
}

/**
 * Quantities of one card, 0 or more and at most what the card allows: two of three at an edge of a slab or a package or right
 * beside it, the others up to twice the last edge.
 */
export function quantityOf(card: QuantityCard): Arbitrary<Decimal> {
  const fc = fastCheck();
  const edges = edgesOf(card);
  const last = edges.reduce((most, edge) => (edge.gt(most) ? edge : most), ONE);
  const hundredths = Math.min(Math.ceil(last.toNumber() * 200) + 1000, Number.MAX_SAFE_INTEGER);
  const beside = fc.constantFrom(ZERO, STEP, STEP.negated(), ONE, ONE.negated());
  const atEdge = fc.tuple(fc.constantFrom(...edges), beside).map(([edge, step]) => add(edge, step));
  const anywhere = fc.integer({ min: 0, max: hundredths }).map((units) => new Decimal(`${units}e-2`));
  return fc.oneof({ weight: 2, arbitrary: atEdge }, { weight: 1, arbitrary: anywhere }).map((quantity) => {
    const held = card.most === undefined ? quantity : least(quantity, card.most);
    return held.isNegative() ? ZERO : held;
  });
}

/**
 * A quantity, as decimal text, for each meter, license and feature that a plan prices by quantity, by id. Edges of slabs and
 * packages are drawn more often than what lies between them.
 *
 * @throws {RatebookError} ERR_INPUT_INVALID for a plan that prices nothing by quantity; ERR_REFUSED without fast-check
 */
export function quantitiesFor(plan: PlanInput): Arbitrary<Readonly<Record<string, string>>> {
  const ids = pricedCardsOf(plan).map((card): [string, Arbitrary<string>] => [
    card.id,
    quantityOf(card).map((quantity) => quantity.toFixed()),
  ]);
  return fastCheck().record(Object.fromEntries(ids));
}
