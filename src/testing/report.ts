/**
 * fast-check, the cards of a plan that price a quantity, quantities at and next to their edges (S7), and the output of a
 * failing law: the plan and usage of the smallest counterexample, as tables.
 */
import { createRequire } from "node:module";

import type * as Module from "fast-check";
import type { Arbitrary } from "fast-check";

import { toBookInput } from "../book/book.ts";
import type { BookInput } from "../book/resources/book.ts";
import type { RateBoundsInput, RatePlanInput, RateValueInput } from "../book/resources/rate-card.ts";
import { rateTable } from "../book/resources/rate-table.ts";
import type { ShortPlanInput } from "../book/resources/short-plan.ts";
import { RatebookError } from "../errors.ts";
import { type DecimalInput, add, Decimal, parseDecimal, minimum, multiply, ONE, ZERO } from "../numbers/decimal.ts";
import { rejection } from "../problem-table.ts";
import { toSlabPricing } from "../rating/rated-table.ts";
import { describeGroup } from "../rating/table-charge.ts";

/** The module's exports. */
export type FastCheck = typeof Module;

/**
 * Loads fast-check on the first call, so that the conformance suite of stores works without it.
 *
 * @throws {RatebookError} ERR_REFUSED if it is not installed, with what to install
 */
export function fastCheck(load: (name: string) => unknown = createRequire(import.meta.url)): FastCheck {
  try {
    return load("fast-check") as FastCheck;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== "MODULE_NOT_FOUND") throw error;
    throw new RatebookError(
      "ERR_REFUSED",
      "the arbitraries and laws of ratebook/testing need the package fast-check, which is not installed: npm install --save-dev fast-check@4",
      {},
      { cause: error },
    );
  }
}

/** A value to test a law with, or an arbitrary of such values. */
export type ValueOrArbitrary<Value> = Value | Arbitrary<Value>;

/** An arbitrary of only this value, or the given one. */
export function toArbitrary<Value extends object>(subject: ValueOrArbitrary<Value>): Arbitrary<Value> {
  return "generate" in subject && typeof subject.generate === "function"
    ? subject
    : fastCheck().constant(subject as Value);
}

/** A price plan in input form. */
export type PlanInput = NonNullable<BookInput["pricePlans"]>[number];
/** A price plan in short or long form. */
export type AnyPlanInput = PlanInput | ShortPlanInput;

type TableRow = readonly string[];

/** A table with two spaces between columns, indented by four spaces. */
export function formatTable(head: TableRow, rows: readonly TableRow[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) => `    ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}`.trimEnd())
    .join("\n");
}

/** Makes fast-check print `text` for a value instead of its fields. @returns the value */
export function withPrintedText<Value extends object>(value: Value, text: (value: Value) => string): Value {
  return Object.defineProperty(value, fastCheck().toStringMethod, { value: () => `\n${text(value)}\n` });
}

/** A card to print, with slabs, of any kind. */
type PrintableCard = Pick<QuantityCard, "id" | "ratePlan" | "rateValues"> & { readonly kind: string };

/** A card's slabs in one currency, with rates, flat rates and bounds. */
export function formatCard({ id, kind, ratePlan, rateValues }: PrintableCard, currency: string): string {
  const value = rateValues.find((each) => each.currency === currency);
  const rows = ratePlan.slabs.map(({ order, startAfter, priceType, slabConfig }, index): TableRow => {
    const ratesOfSlab = value?.slabRates.find((each) => each.order === order);
    const size = slabConfig?.packageSize;
    return [
      formatInput(startAfter),
      formatInput(ratePlan.slabs[index + 1]?.startAfter) || "…",
      priceType === "PACKAGE" ? `PACKAGE of ${formatInput(size)}` : priceType,
      formatInput(ratesOfSlab?.rate),
      formatInput(ratesOfSlab?.slabRateConfig?.flatRate),
      formatBounds(ratesOfSlab?.slabRateConfig),
    ];
  });
  const bounds = formatBounds(value?.rateConfig);
  const head = `  ${kind} ${id}, ${ratePlan.pricingModel}, ${currency}${bounds === "" ? "" : `, ${bounds}`}`;
  return `${head}\n${formatTable(["above", "up to", "type", "rate", "flat", "bounds"], rows)}`;
}

function formatBounds(bounds: RateBoundsInput | null | undefined): string {
  const [low, high] = [formatInput(bounds?.minimumRate), formatInput(bounds?.maximumRate)];
  return [low && `at least ${low}`, high && `at most ${high}`].filter((text) => text !== "").join(", ");
}

/** All charges of a plan: a table for each card, a line for each fee, grant and commitment. */
export function formatPlan({ id, pricePlanDetails: details }: PlanInput): string {
  const currencies = details.supportedCurrencies ?? ["USD"];
  const cards = [
    ...listPricedCards({ id, name: id, pricePlanDetails: details }),
    ...(details.billingEntitlementRateCards ?? []).map(({ featureId, ...card }) => ({
      ...card,
      id: featureId,
      kind: "entitlement",
    })),
  ];
  const tables = cards.flatMap((card) => currencies.map((currency) => formatCard(card, currency)));
  const lines = [
    ...(details.billingEntitlementRateCards ?? []).map(
      ({ featureId, featureConfigs }) =>
        `  grants ${featureConfigs.map(({ featureCreditLimit }) => formatInput(featureCreditLimit)).join(" + ")} of ${featureId}`,
    ),
    ...(details.fixedFeeRateCards ?? []).map(
      (card) => `  fee ${card.id}: ${formatRates(card.rateValues)}, ${card.invoiceTiming ?? "IN_ARREARS"}`,
    ),
    ...(details.creditGrantRateCards ?? []).map((card) => `  credits ${card.id}`),
    ...(details.minimumCommitment ? [`  at least ${formatRates(details.minimumCommitment.rateValues)}`] : []),
  ];
  return [`plan ${id}`, ...tables, ...lines].join("\n");
}

function formatRates(values: readonly { readonly currency: string; readonly rate: DecimalInput }[]): string {
  return values.map(({ currency, rate }) => `${formatInput(rate)} ${currency}`).join(", ");
}

/** The plans of a book's accounts, and the plan of each account. */
export function formatBook(book: BookInput): string {
  const associations = (book.accounts ?? []).flatMap(({ id, pricePlans }) =>
    (pricePlans ?? []).map(({ pricePlanId, effectiveFrom, effectiveUntil }): TableRow => [
      id,
      pricePlanId,
      effectiveFrom,
      effectiveUntil ?? "…",
    ]),
  );
  const plans = (book.pricePlans ?? []).filter(({ id, name }) =>
    associations.some(([, plan]) => plan === id || plan === name),
  );
  const accounts = formatTable(["account", "plan", "from", "until"], associations);
  return [...plans.map(formatPlan), accounts].join("\n");
}

/** A number as plain text; empty if undefined. */
function formatInput(value: DecimalInput | null | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? value.toFixed() : String(value);
}

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
    ...(usageRateCards ?? []).flatMap(({ usageMeterId, ratePlan, rateValues, rateTable }) =>
      ratePlan && rateValues && !rateTable ? [{ id: usageMeterId, kind: "usage" as const, ratePlan, rateValues }] : [],
    ),
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

/** The cards that price a quantity, and the rows of price tables. */
export function listPricedCards(plan: PlanInput): readonly QuantityCard[] {
  return [...listQuantityCards(plan), ...listRowCards(plan)];
}

/**
 * The rows of the price tables of a plan's usage cards, each price as a card: its slabs price the units of the row, or
 * of each group (S18.3).
 */
function listRowCards({ pricePlanDetails }: PlanInput): readonly QuantityCard[] {
  const { usageRateCards, supportedCurrencies } = pricePlanDetails;
  return (usageRateCards ?? []).flatMap(({ usageMeterId, rateTable: table }) => {
    if (!table) return [];
    const { per, rows } = rateTable.parse(table);
    return rows.map((row): QuantityCard => {
      const pricings = (supportedCurrencies ?? ["USD"]).map((currency) =>
        toSlabPricing(row, { per: per ?? ONE, factor: ONE, currency }),
      );
      const usage = `${describeGroup(row.when ?? {})}${row.from ? ` from ${row.from}` : ""}`;
      return {
        id: `${usageMeterId} (${usage})`,
        kind: "usage",
        ratePlan: pricings[0]?.ratePlan ?? { pricingModel: "TIERED", slabs: [] },
        rateValues: pricings.map(({ rateValue }) => rateValue),
      };
    });
  });
}

function toMaxQuantity(quantity: unknown): { readonly maxQuantity?: Decimal } {
  return quantity === undefined || quantity === null ? {} : { maxQuantity: parseDecimal(quantity) };
}

/**
 * The cards of a plan, at least one.
 *
 * @param plan in any form
 * @param listCards default {@link listQuantityCards}
 * @throws {RatebookError} ERR_INPUT_INVALID for a plan without any; ERR_BOOK_INVALID for a wrong short form
 */
export function requireQuantityCards(plan: AnyPlanInput, listCards = listQuantityCards): readonly QuantityCard[] {
  const cards = (toBookInput({ pricePlans: [plan] }).pricePlans ?? []).flatMap(listCards);
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
  const last = edges.reduce((largest, edge) => (edge.gt(largest) ? edge : largest), ONE);
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
 * @param plan in short or long form
 * @throws {RatebookError} ERR_INPUT_INVALID for a plan without quantity prices; ERR_BOOK_INVALID for a wrong short form;
 * ERR_REFUSED without fast-check
 */
export function quantitiesArbitrary(plan: AnyPlanInput): Arbitrary<Readonly<Record<string, string>>> {
  const ids = requireQuantityCards(plan).map((card): [string, Arbitrary<string>] => [
    card.id,
    quantityArbitrary(card).map((quantity) => quantity.toFixed()),
  ]);
  return fastCheck().record(Object.fromEntries(ids));
}
