/** Rate plans and rate values as short prices (book.md, S7). */
import { type Decimal, formatDecimal, multiply, parseDecimal } from "../../numbers/decimal.ts";
import { readDecimal } from "./expand-prices.ts";
import { isObject, type JsonObject } from "./written-places.ts";

/** The units that a small rate is for. */
const UNITS = 1_000_000;
/** Rates for one unit are small below this; a person writes them for many units. */
const SMALL_RATE = parseDecimal("0.0001");

/** A price with slabs in the long form. */
export interface SlabPrice {
  readonly pricingModel: unknown;
  readonly slabs: readonly JsonObject[];
  /** By currency. */
  readonly rates: readonly JsonObject[];
}

/** The short forms of a price, the best first. */
export function listShortPrices(price: SlabPrice): readonly JsonObject[] {
  const plain = shortenPrice(price, undefined);
  return hasSmallRates(price) ? [shortenPrice(price, UNITS), plain] : [plain];
}

/** An amount of one currency, or of each. @param field its name in the objects of the currencies */
export function toAmount(values: readonly JsonObject[], field: string): unknown {
  const present = values.filter((value) => (value[field] ?? undefined) !== undefined);
  if (values.length === 1) return present[0]?.[field];
  if (present.length === 0) return undefined;
  return Object.fromEntries(present.map((value) => [value["currency"], value[field]]));
}

function shortenPrice({ pricingModel, slabs, rates }: SlabPrice, per: number | undefined): JsonObject {
  const tiers = slabs.map((slab, index) => {
    const slabRates = rates.map((rate) => {
      const slabRate = findSlabRate(rate, slab["order"] ?? index + 1);
      return { currency: rate["currency"], ...slabRate, ...(slabRate?.["slabRateConfig"] as object | undefined) };
    });
    const { packageSize, chargeAtZero } = (slab["slabConfig"] ?? {}) as JsonObject;
    const isFlat = slab["priceType"] === "FLAT";
    const main = isFlat || per === undefined ? slabRates : slabRates.map((rate) => multiplyRate(rate, per));
    return withoutAbsent({
      upTo: slab["endAt"] ?? slabs[index + 1]?.["startAfter"],
      rate: isFlat ? undefined : toAmount(main, "rate"),
      package: packageSize,
      flat: toAmount(slabRates, isFlat ? "rate" : "flatRate"),
      chargeAtZero: String(chargeAtZero) === "true" ? true : undefined,
      minimum: toAmount(slabRates, "minimumRate"),
      maximum: toAmount(slabRates, "maximumRate"),
    });
  });
  const limits = rates.map((rate) => ({ currency: rate["currency"], ...(rate["rateConfig"] as object | undefined) }));
  const ofCard = { minimum: toAmount(limits, "minimumRate"), maximum: toAmount(limits, "maximumRate") };
  const [only] = tiers;
  if (tiers.length === 1 && pricingModel === "TIERED" && only && !("minimum" in only) && !("maximum" in only)) {
    const { rate, ...others } = only;
    return withoutAbsent({ rate, per, ...others, ...ofCard });
  }
  // The package of a card is that of each tier.
  const isShared = only !== undefined && tiers.every((tier) => "rate" in tier && tier["package"] === only["package"]);
  const list = isShared ? tiers.map((tier) => withoutAbsent({ ...tier, package: undefined })) : tiers;
  return withoutAbsent({
    per,
    package: isShared ? only["package"] : undefined,
    [pricingModel === "VOLUME" ? "volumeTiers" : "tiers"]: list,
    ...ofCard,
  });
}

function findSlabRate(rate: JsonObject, order: unknown): JsonObject | undefined {
  const slabRates: unknown = rate["slabRates"];
  return Array.isArray(slabRates) ? (slabRates as readonly JsonObject[]).find((each) => each["order"] === order) : {};
}

/** Whether a person would write the rates for many units, which packages exclude. */
function hasSmallRates({ slabs, rates }: SlabPrice): boolean {
  const isSmall = (rate: Decimal | undefined): boolean =>
    rate !== undefined && !rate.isZero() && rate.abs().lt(SMALL_RATE);
  const unitSlabs = slabs.filter((slab) => slab["priceType"] === "PER_UNIT");
  const hasSmallRate = (slab: JsonObject): boolean =>
    rates.some((rate) => isSmall(readDecimal(findSlabRate(rate, slab["order"])?.["rate"])));
  return unitSlabs.some(hasSmallRate) && !slabs.some((slab) => slab["priceType"] === "PACKAGE");
}

function multiplyRate(slabRate: JsonObject, per: number): JsonObject {
  const rate = readDecimal(slabRate["rate"]);
  if (rate === undefined) return slabRate;
  const product = multiply(rate, parseDecimal(per));
  const text = formatDecimal(product);
  return { ...slabRate, rate: product.isInteger() && text.length < SAFE_DIGITS ? Number(text) : text };
}
/** A whole number with fewer digits is the same as a double. */
const SAFE_DIGITS = 15;

/** An object without its absent fields. */
export function withoutAbsent(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => (value ?? undefined) !== undefined));
}

/** The objects of a list; empty for anything else. */
export function listObjects(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter((item): item is JsonObject => isObject(item)) : [];
}
