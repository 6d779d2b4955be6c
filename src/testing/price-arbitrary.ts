/** Random slabs with rates and bounds (S7), and price tables: rows for groups and days, with an allowance and limits (S18). */
import type { Arbitrary } from "fast-check";

import type { RatePlanInput, RateValueInput } from "../book/resources/rate-card.ts";
import type { RateRowInput, RateTableInput } from "../book/resources/rate-table.ts";
import { add, Decimal } from "../numbers/decimal.ts";
import { fastCheck } from "./report.ts";

/** A slab with its rate. */
export interface SlabRow {
  /** Exclusive start in units; the slab ends at the next row's start, inclusive. */
  readonly after: number | string;
  readonly type?: "FLAT" | "PER_UNIT" | "PACKAGE";
  /** Major units per unit, per package or for the whole slab, depending on its type. */
  readonly rate: number | string;
  /** Units; only with type PACKAGE. */
  readonly packageSize?: number | string;
  /** Whether the slab is charged at quantity 0 (S7.5). */
  readonly chargeAtZero?: boolean | "true" | "false";
  readonly flatRate?: number | string;
  readonly minimumRate?: number | string;
  readonly maximumRate?: number | string;
}

/** Bounds of a whole card, in major units (S7.4). */
export interface CardBounds {
  readonly minimumRate?: number | string;
  readonly maximumRate?: number | string;
}

/** A random card: its slabs with their rates, and its bounds. */
export interface SlabCard {
  readonly rows: readonly SlabRow[];
  readonly bounds: CardBounds;
}

/** The slabs and rates of a card in a plan. */
export interface SlabPricing {
  readonly ratePlan: RatePlanInput;
  readonly rateValues: RateValueInput[];
}

/** A rate plan of these slabs. */
export function createRatePlan(pricingModel: "TIERED" | "VOLUME", rows: readonly SlabRow[]): RatePlanInput {
  return {
    pricingModel,
    slabs: rows.map(({ after, type, packageSize, chargeAtZero }, index) => ({
      order: index + 1,
      startAfter: after,
      endAt: rows[index + 1]?.after ?? null,
      priceType: type ?? "PER_UNIT",
      slabConfig: { packageSize, chargeAtZero },
    })),
  };
}

/** The rates of these slabs. */
export function createRateValue(rows: readonly SlabRow[], rateConfig?: CardBounds, currency = "USD"): RateValueInput {
  return {
    currency,
    slabRates: rows.map(({ rate, flatRate, minimumRate, maximumRate }, index) => ({
      order: index + 1,
      rate,
      slabRateConfig: { flatRate, minimumRate, maximumRate },
    })),
    ...(rateConfig && { rateConfig: { ...rateConfig } }),
  };
}

/** Decimal texts in hundredths, from 0 to `maxHundredths`. */
export function hundredthsArbitrary(maxHundredths: number): Arbitrary<string> {
  return fastCheck()
    .integer({ min: 0, max: maxHundredths })
    .map((units) => new Decimal(`${units}e-2`).toFixed());
}

export function pricingModelArbitrary(): Arbitrary<"TIERED" | "VOLUME"> {
  return fastCheck().constantFrom("TIERED", "VOLUME");
}

/** No bounds, one, or both with the minimum at most the maximum. */
function boundsArbitrary(amounts: Arbitrary<string>): Arbitrary<CardBounds> {
  const fc = fastCheck();
  return fc
    .tuple(fc.option(amounts, { nil: undefined }), fc.option(amounts, { nil: undefined }))
    .map(([low, high]) => ({
      ...(low !== undefined && { minimumRate: low }),
      ...(high !== undefined && {
        maximumRate: low === undefined ? high : add(new Decimal(low), new Decimal(high)).toFixed(),
      }),
    }));
}

/**
 * Cards with every price type, flat rates and bounds.
 *
 * @param widths widths of slabs and packages, in units, above 0
 * @param amounts rates and bounds, in major units
 * @param slabsMax the maximum number of slabs
 */
export function slabCardArbitrary(
  widths: Arbitrary<string>,
  amounts: Arbitrary<string>,
  slabsMax = 6,
): Arbitrary<SlabCard> {
  const fc = fastCheck();
  const row = fc.record({
    width: widths,
    type: fc.constantFrom("PER_UNIT" as const, "FLAT" as const, "PACKAGE" as const),
    rate: amounts,
    packageSize: widths,
    chargeAtZero: fc.boolean(),
    flatRate: fc.option(amounts, { nil: undefined }),
    bounds: boundsArbitrary(amounts),
  });
  return fc.record({
    rows: fc.array(row, { minLength: 1, maxLength: slabsMax }).map((rowParts) => {
      let nextStart = new Decimal(0);
      return rowParts.map(({ width, bounds, flatRate, chargeAtZero, ...rest }, index): SlabRow => {
        const start = nextStart.toFixed();
        nextStart = add(nextStart, new Decimal(width));
        // Only the first slab can be charged at quantity 0 (S7.5).
        return {
          ...rest,
          after: start,
          chargeAtZero: chargeAtZero && index === 0,
          ...bounds,
          ...(flatRate !== undefined && { flatRate }),
        };
      });
    }),
    bounds: boundsArbitrary(amounts),
  });
}

/** Cards whose units and amounts are in hundredths. */
export function decimalCardArbitrary(slabsMax?: number): Arbitrary<SlabCard> {
  const widths = fastCheck()
    .integer({ min: 1, max: 5001 })
    .map((units) => new Decimal(`${units}e-2`).toFixed());
  return slabCardArbitrary(widths, hundredthsArbitrary(2000), slabsMax);
}

/** Texts of dimensions; {@link bookArbitrary} has a rule about the first. */
const TEXTS = ["lab", "eu", "us"];
/** Days of the accounts of {@link bookArbitrary}. */
const DAYS = ["2024-02-15", "2024-03-10", "2024-05-01"];

type Tier = NonNullable<RateRowInput["tiers"]>[number];

/** Slabs as tiers; those of dated rows have only rates (S18.4). */
function toTiers(slabs: readonly SlabRow[], isDated: boolean, countsByGroup: boolean): Tier[] {
  return slabs.map(({ type, rate, packageSize, flatRate, minimumRate, maximumRate, chargeAtZero }, index) => {
    const upTo = slabs[index + 1]?.after;
    if (isDated) return { upTo, rate };
    const price = type === "FLAT" ? { flat: rate } : { rate, flat: flatRate };
    return {
      upTo,
      ...price,
      ...(type === "PACKAGE" && { package: packageSize }),
      minimum: minimumRate,
      maximum: maximumRate,
      ...(chargeAtZero === true && !countsByGroup && { chargeAtZero }),
    };
  });
}

/**
 * Valid price tables. A row names the first dimensions, so that no two with equally many hold for one group.
 *
 * @param dimensions by which the meter groups its usage
 */
export function rateTableArbitrary(dimensions: readonly string[]): Arbitrary<RateTableInput> {
  const fc = fastCheck();
  const price = fc.record({ model: pricingModelArbitrary(), card: decimalCardArbitrary(3) });
  const row = fc.record({
    texts: fc.array(fc.constantFrom(...TEXTS), { maxLength: dimensions.length }),
    slabsOver: fc.constantFrom("ROW" as const, "GROUP" as const),
    first: price,
    later: fc.uniqueArray(fc.record({ from: fc.constantFrom(...DAYS), price }), {
      selector: ({ from }) => from,
      maxLength: 2,
    }),
  });
  const rows = fc.uniqueArray(row, { selector: ({ texts }) => texts.join(), minLength: 1, maxLength: 4 });
  return fc
    .record({
      rows,
      bounds: decimalCardArbitrary(1).map(({ bounds }) => bounds),
      per: fc.constantFrom(undefined, 1000),
      volumeOver: fc.constantFrom("ROW" as const, "ALL_ROWS" as const),
      allowance: fc.option(
        fc.record({ quantity: fc.nat(30), over: fc.constantFrom("ALL_ROWS" as const, "EACH_ROW" as const) }),
        { nil: undefined },
      ),
    })
    .map(({ rows: rowParts, bounds, ...terms }) => ({
      ...terms,
      minimum: bounds.minimumRate,
      maximum: bounds.maximumRate,
      rows: rowParts.flatMap(({ texts, slabsOver, first, later }) =>
        [{ from: undefined, price: first }, ...later].map(({ from, price: { model, card } }): RateRowInput => {
          const tiers = toTiers(card.rows, later.length > 0, slabsOver === "GROUP");
          return {
            when: Object.fromEntries(texts.map((text, index) => [dimensions[index] ?? "", text])),
            from,
            slabsOver,
            ...(model === "VOLUME" ? { volumeTiers: tiers } : { tiers }),
          };
        }),
      ),
    }));
}
