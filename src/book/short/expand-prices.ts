/** Short prices into rate plans and rate values: rates, tiers, amounts in each currency (book.md, S7). */
import { hasCode } from "../../errors.ts";
import { type Decimal, divide, formatDecimal, multiply, parseDecimal, ZERO } from "../../numbers/decimal.ts";
import { quoteValue, formatPath, type Path, type Report } from "../problems.ts";
import { isDecimalLike } from "../resources/short-plan.ts";
import { hasValue, isObject, type JsonObject, type WrittenPlaces } from "./written-places.ts";

/** The fields of a card that say its price. */
export const PRICE_FIELDS = [
  "rate",
  "per",
  "flat",
  "package",
  "chargeAtZero",
  "minimum",
  "maximum",
  "tiers",
  "volumeTiers",
];

const LIMITS: ReadonlySet<string> = new Set(["minimum", "maximum"]);

/** What prices of one plan are read with. */
export interface PriceContext {
  /** The currencies of the plan. */
  readonly currencies: readonly string[];
  readonly places: WrittenPlaces;
  readonly report: Report;
}

/** A value and the path at which it was written. */
interface Written {
  readonly value: unknown;
  readonly path: Path;
}

/** A tier with its amounts by currency. */
interface Tier {
  readonly written: JsonObject;
  readonly path: Path;
  readonly rate: AmountsByCurrency | undefined;
  readonly packageSize: Written | undefined;
  readonly flat: AmountsByCurrency | undefined;
  readonly minimum: AmountsByCurrency | undefined;
  readonly maximum: AmountsByCurrency | undefined;
}
type AmountsByCurrency = ReadonlyMap<string, Written>;

/** A price in the long form. */
export interface LongPrice {
  readonly pricingModel: "TIERED" | "VOLUME";
  readonly slabs: readonly object[];
  /** By currency, in the written order. */
  readonly rates: readonly {
    readonly currency: string;
    readonly slabRates: readonly object[];
    readonly rateConfig?: object;
  }[];
}

/** Reports fields of which only one may be written. @returns whether there are several */
export function reportConflict(object: JsonObject, fields: readonly string[], path: Path, report: Report): boolean {
  const present = fields.filter((field) => hasValue(object, field));
  if (present.length < 2) return false;
  report([...path, present[0] ?? ""], "CONFLICTING_FIELDS", {
    fields: present.map((field) => formatPath([...path, field])),
  });
  return true;
}

/**
 * Reads the price of a card.
 *
 * @param path of the card
 * @returns undefined after a problem
 */
export function expandPrice(card: JsonObject, path: Path, context: PriceContext): LongPrice | undefined {
  const { report, places } = context;
  const listField = card["volumeTiers"] ? "volumeTiers" : "tiers";
  const list = card[listField] as readonly JsonObject[] | null | undefined;
  for (const field of ["tiers", "rate", "flat", "chargeAtZero"])
    if (field !== listField && list && reportConflict(card, [field, listField], path, report)) return undefined;
  const readTierAt = (tier: JsonObject, place: Path): Tier => readTier(tier, place, { written: card, path }, context);
  const tiers = list
    ? list.map((tier, index) => readTierAt(withoutNull(tier), [...path, listField, index]))
    : [readTierAt(card, path)];
  // `per` and `package` need a rate: those of a card apply to all tiers that have one.
  for (const field of ["per", "package"])
    if (hasValue(card, field) && !tiers.some(({ written }) => hasValue(written, "rate")))
      reportWithoutRate([...path, field], report);
  if (!areRising(tiers, report)) return undefined;
  const limits = {
    minimum: readAmounts(card, "minimum", path, context),
    maximum: readAmounts(card, "maximum", path, context),
  };
  const order = tiers.map(({ rate, flat }) => rate ?? flat).find((amounts) => amounts !== undefined);
  const currencies = order === undefined ? [] : [...order.keys()];
  const slabs = tiers.map((tier, index) => createSlab(tier, index, tiers[index - 1], places));
  const tiersPath = list ? [...path, listField] : path;
  return {
    pricingModel: listField === "volumeTiers" ? "VOLUME" : "TIERED",
    slabs: places.record(slabs, tiersPath),
    rates: currencies.map((currency) => ({
      currency,
      slabRates: places.record(
        tiers.map((tier, index) => createSlabRate(tier, index, { currency, hasLimits: Boolean(list), context })),
        tiersPath,
      ),
      ...createLimits(
        "rateConfig",
        { minimumRate: limits.minimum, maximumRate: limits.maximum },
        currency,
        path,
        places,
      ),
    })),
  };
}

/** A price as the fields `ratePlan` and `rateValues` of a card. */
export function toSlabPricing(price: LongPrice, path: Path, places: WrittenPlaces): object {
  return {
    ratePlan: places.record({ pricingModel: price.pricingModel, slabs: price.slabs }, path),
    rateValues: places.record(
      price.rates.map((rate) => places.record(rate, path)),
      path,
    ),
  };
}

/** One amount for each currency as the field `rateValues` of a fee or commitment. */
export function expandFixedRates(
  owner: JsonObject,
  field: string,
  path: Path,
  context: PriceContext,
): object[] | undefined {
  const amounts = readAmounts(owner, field, path, context);
  if (amounts === undefined) return undefined;
  return context.places.record(
    [...amounts].map(([currency, { value, path: rate }]) =>
      context.places.record({ currency, rate: value }, rate, { rate, currency: rate }),
    ),
    [...path, field],
  );
}

/** The amount of each currency of the plan, in the written order; undefined if there is none, or after a problem. */
export function readAmounts(
  owner: JsonObject,
  field: string,
  path: Path,
  context: PriceContext,
): AmountsByCurrency | undefined {
  const value = owner[field] ?? undefined;
  const { currencies, report } = context;
  const place: Path = [...path, field];
  if (value === undefined) return undefined;
  if (isDecimalLike(value)) {
    const [only, ...others] = currencies;
    if (only !== undefined && others.length === 0) return new Map([[only, { value, path: place }]]);
    const example = currencies.map((currency) => `"${currency}": …`).join(", ");
    report(place, "NOT_ACCEPTED", { reason: `the plan has several currencies: write { ${example} }` });
    return undefined;
  }
  const amounts = new Map(
    Object.entries(value).map(([currency, amount]) => [currency, { value: amount, path: [...place, currency] }]),
  );
  for (const [currency, { path: currencyPath }] of amounts) {
    if (currencies.includes(currency)) continue;
    const reason = "a currency of the plan";
    report(currencyPath, "NOT_AN_OPTION", { options: currencies, reason, got: quoteValue(currency) });
    return undefined;
  }
  // A limit may be of some currencies only.
  const missing = LIMITS.has(field) ? [] : currencies.filter((currency) => !amounts.has(currency));
  if (missing.length > 0) report(place, "MISSING_CURRENCY", { currencies: missing });
  return missing.length > 0 ? undefined : amounts;
}

function readTier(
  written: JsonObject,
  path: Path,
  card: { readonly written: JsonObject; readonly path: Path },
  context: PriceContext,
): Tier {
  const { report } = context;
  const read = (field: string): AmountsByCurrency | undefined => readAmounts(written, field, path, context);
  const findUnit = (field: string): Written | undefined =>
    [{ written, path }, card].flatMap((owner) =>
      hasValue(owner.written, field) ? [{ value: owner.written[field], path: [...owner.path, field] }] : [],
    )[0];
  const [rate, per, packageSize] = [read("rate"), findUnit("per"), findUnit("package")];
  if (!hasValue(written, "rate") && !hasValue(written, "flat"))
    report([...path, "rate"], "MISSING", { expected: "a rate or a flat amount" });
  if (!hasValue(written, "rate") && path !== card.path)
    for (const field of ["per", "package"]) if (hasValue(written, field)) reportWithoutRate([...path, field], report);
  if (per !== undefined && packageSize !== undefined)
    report(per.path, "CONFLICTING_FIELDS", { fields: [formatPath(per.path), formatPath(packageSize.path)] });
  return {
    written,
    path,
    rate: rate && per ? divideRates(rate, per, report) : rate,
    packageSize,
    flat: read("flat"),
    minimum: read("minimum"),
    maximum: read("maximum"),
  };
}

function reportWithoutRate(path: Path, report: Report): void {
  report(path, "UNEXPECTED_FIELD", { reason: "without a rate" });
}

/** Rates for `per` units as rates for one, exactly. */
function divideRates(rates: AmountsByCurrency, per: Written, report: Report): AmountsByCurrency {
  const units = readDecimal(per.value);
  if (units === undefined || !units.gt(ZERO)) {
    report(per.path, "OUT_OF_BOUNDS", { above: 0, got: quoteValue(per.value) });
    return rates;
  }
  return new Map(
    [...rates].map(([currency, written]) => {
      const rate = readDecimal(written.value);
      const unitRate = rate === undefined ? undefined : divide(rate, units);
      if (rate === undefined || unitRate === undefined) return [currency, written];
      if (!multiply(unitRate, units).eq(rate)) {
        const reason = `${formatDecimal(rate)} per ${formatDecimal(units)} units is no exact decimal for one unit`;
        report(written.path, "NOT_ACCEPTED", { reason });
      }
      return [currency, { ...written, value: formatDecimal(unitRate) }];
    }),
  );
}

/** Every tier but the last ends, above the one before it. */
function areRising(tiers: readonly Tier[], report: Report): boolean {
  let previous = ZERO;
  return tiers.every(({ written, path }, index) => {
    const upTo = written["upTo"] ?? undefined;
    const place: Path = [...path, "upTo"];
    if (index === tiers.length - 1) {
      if (upTo === undefined) return true;
      report(place, "UNEXPECTED_FIELD", { reason: "in the last tier, which has no end" });
      return false;
    }
    if (upTo === undefined) {
      report(place, "MISSING", { expected: "the last unit of the tier", reason: "because another tier follows" });
      return false;
    }
    const end = readDecimal(upTo);
    if (end === undefined) return true;
    if (!end.gt(previous)) {
      report(place, "OUT_OF_BOUNDS", { above: formatDecimal(previous), got: quoteValue(upTo) });
      return false;
    }
    previous = end;
    return true;
  });
}

function createSlab(
  { written, path, rate, packageSize }: Tier,
  index: number,
  before: Tier | undefined,
  places: WrittenPlaces,
): object {
  const isPackage = rate !== undefined && packageSize !== undefined;
  const config = places.record(
    {
      ...(isPackage && { packageSize: packageSize.value }),
      ...(hasValue(written, "chargeAtZero") && { chargeAtZero: written["chargeAtZero"] }),
    },
    path,
    { packageSize: packageSize?.path ?? path },
  );
  const startPath: Path = before === undefined ? path : [...before.path, "upTo"];
  return places.record(
    {
      order: index + 1,
      startAfter: before === undefined ? 0 : before.written["upTo"],
      ...(hasValue(written, "upTo") && { endAt: written["upTo"] }),
      priceType: rate === undefined ? "FLAT" : isPackage ? "PACKAGE" : "PER_UNIT",
      ...(Object.keys(config).length > 0 && { slabConfig: config }),
    },
    path,
    { startAfter: startPath, endAt: [...path, "upTo"] },
  );
}

function createSlabRate(
  { path, rate, flat, minimum, maximum }: Tier,
  index: number,
  {
    currency,
    hasLimits,
    context: { places },
  }: { readonly currency: string; readonly hasLimits: boolean; readonly context: PriceContext },
): object {
  const main = (rate ?? flat)?.get(currency);
  const limits = {
    ...(rate !== undefined && { flatRate: flat }),
    ...(hasLimits && { minimumRate: minimum, maximumRate: maximum }),
  };
  return places.record(
    { order: index + 1, rate: main?.value, ...createLimits("slabRateConfig", limits, currency, path, places) },
    path,
    { rate: main?.path ?? path },
  );
}

/** An object of amounts in one currency, in a field; empty if there are none. */
function createLimits(
  field: string,
  amounts: Readonly<Record<string, AmountsByCurrency | undefined>>,
  currency: string,
  path: Path,
  places: WrittenPlaces,
): object {
  const present = Object.entries(amounts).flatMap(([name, values]) => {
    const amount = values?.get(currency);
    return amount === undefined ? [] : [[name, amount] as const];
  });
  if (present.length === 0) return {};
  const limits = Object.fromEntries(present.map(([name, { value }]) => [name, value]));
  const paths = Object.fromEntries(present.map(([name, amount]) => [name, amount.path]));
  return { [field]: places.record(limits, path, paths) };
}

/** A decimal; undefined for a text that is none, which the long form reports. */
export function readDecimal(value: unknown): Decimal | undefined {
  try {
    return parseDecimal(value);
  } catch (error) {
    if (hasCode(error, "ERR_NUMBER_INVALID")) return undefined;
    throw error;
  }
}

/** An object without fields that are null, which means the same as absent. */
export function withoutNull(object: JsonObject): JsonObject {
  return isObject(object) ? Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null)) : {};
}
