/** Prices in short and in long form: rates, tiers, amounts in each currency (book.md, S7). */
import { hasCode } from "../../errors.ts";
import {
  type Decimal,
  divide,
  formatDecimal,
  multiply,
  parseDecimal,
  ZERO,
  isJsonObject,
} from "../../numbers/decimal.ts";
import { type Path, quoteValue } from "../problems.ts";
import type { LongObject, Written, WrittenObject } from "./expansion.ts";
import { type FieldRules, hasValue, type JsonObject, listObjects, valueAt, withoutAbsent } from "./fields.ts";

/** The places of a price in a card, by the positions of currency and tier. */
export interface PriceLayout {
  readonly pricingModel: Path;
  /** The list of the currencies. */
  readonly currencies: Path;
  readonly slab: (currency: number, tier: number) => Path;
  readonly rate: (currency: number, tier: number) => Path;
}
const grantCurrencies: Path = ["rateDetails", "currencySlabRateDetails"];
const grantSlab = (currency: number, tier: number): Path => [...grantCurrencies, currency, "slabDetails", tier];
export const SLAB_LAYOUT: PriceLayout = {
  pricingModel: ["ratePlan", "pricingModel"],
  currencies: ["rateValues"],
  slab: (_, tier) => ["ratePlan", "slabs", tier],
  rate: (currency, tier) => ["rateValues", currency, "slabRates", tier],
};
export const GRANT_LAYOUT: PriceLayout = {
  pricingModel: ["rateDetails", "pricingModel"],
  currencies: grantCurrencies,
  slab: grantSlab,
  rate: grantSlab,
};

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
const CARD_LIMITS: FieldRules = {
  minimum: { to: ["rateConfig", "minimumRate"] },
  maximum: { to: ["rateConfig", "maximumRate"] },
};
/** The money that a card grants. */
export const GRANTED: FieldRules = { amount: { to: ["creditAmount"] } };
const TIER_LIMITS: FieldRules = {
  minimum: { to: ["slabRateConfig", "minimumRate"] },
  maximum: { to: ["slabRateConfig", "maximumRate"] },
};
/** The fields of a tier in its slab. */
const SLAB_FIELDS: FieldRules = {
  startAfter: { to: ["startAfter"] },
  upTo: { to: ["endAt"] },
  package: { to: ["slabConfig", "packageSize"] },
  chargeAtZero: { to: ["slabConfig", "chargeAtZero"] },
};
/** The amounts of a tier without a rate, and of one with a rate. */
const FLAT_AMOUNTS: FieldRules = { flat: { to: ["rate"] } };
const RATE_AMOUNTS: FieldRules = { rate: { to: ["rate"] }, flat: { to: ["slabRateConfig", "flatRate"] } };

/**
 * Expands the price of a card.
 *
 * @param currencies those of the plan
 * @returns those of the price, in the written order; none after a problem
 */
export function expandPrice(
  card: WrittenObject,
  layout: PriceLayout,
  long: LongObject,
  currencies: readonly string[],
): readonly string[] {
  const lists = ["tiers", "volumeTiers"];
  if (card.rejectBoth(["tiers"], ["volumeTiers"]) || card.rejectBoth(["rate", "flat", "chargeAtZero"], lists))
    return [];
  const list = lists.find((field) => card.has(field));
  const tiers = list === undefined ? [card] : card.list(list);
  const rates = readTiers(card, tiers, currencies);
  checkAmounts(card, Object.keys(CARD_LIMITS), currencies);
  const first = rates.flatMap((tier) => tier.field("rate") ?? tier.field("flat") ?? [])[0]?.value;
  const order = isJsonObject(first) ? Object.keys(first) : currencies;
  // The limits of a card without tiers are not those of its tier.
  const tierLimits = list === undefined ? {} : TIER_LIMITS;
  long.set(layout.pricingModel, list === "volumeTiers" ? "VOLUME" : "TIERED", card.path);
  for (const [index, currency] of order.entries()) {
    const place = [...layout.currencies, index];
    long.set([...place, "currency"], currency, card.path);
    long.set(layout.slab(index, 0).slice(0, -1), [], list === undefined ? card.path : card.pathOf(list));
    for (const [position, tier] of rates.entries()) {
      const [slab, rate] = [layout.slab(index, position), layout.rate(index, position)];
      const priceType = !tier.has("rate") ? "FLAT" : tier.has("package") ? "PACKAGE" : "PER_UNIT";
      long.set([...slab, "order"], position + 1, tier.path);
      long.set([...rate, "order"], position + 1, tier.path);
      long.copyListed(tier, SLAB_FIELDS, slab);
      long.set([...slab, "priceType"], priceType, tier.path);
      const amounts = tier.has("rate") ? RATE_AMOUNTS : FLAT_AMOUNTS;
      long.copyListed(inCurrency(tier, currency), { ...amounts, ...tierLimits }, rate);
    }
    long.copyListed(inCurrency(card, currency), CARD_LIMITS, place);
  }
  return order;
}

/** An object with the amounts in one currency. */
export function inCurrency(owner: WrittenObject, currency: string): WrittenObject {
  const amounts = Object.keys(owner.value).flatMap((field) => {
    const { value, path } = owner.field(field) ?? {};
    if (!isJsonObject(value) || path === undefined) return [];
    const amount = Object.hasOwn(value, currency) ? { value: value[currency], path: [...path, currency] } : undefined;
    return [[field, amount] as const];
  });
  return owner.with(Object.fromEntries(amounts));
}

/** Tiers with their starts, with rates for one unit and with the packages of their card. */
function readTiers(
  card: WrittenObject,
  tiers: readonly WrittenObject[],
  currencies: readonly string[],
): readonly WrittenObject[] {
  checkUnits(card, tiers);
  let end: Written = { value: 0, path: card.path };
  return tiers.map((tier, index): WrittenObject => {
    const hasRate = tier.has("rate");
    if (tier !== card) checkUnits(tier, [tier]);
    checkAmounts(tier, Object.keys({ ...RATE_AMOUNTS, ...(tier !== card && TIER_LIMITS) }), currencies);
    if (!hasRate && !tier.has("flat")) tier.report("rate", "MISSING", { expected: "a rate or a flat amount" });
    const startAfter = end;
    end = { value: tier.value["upTo"], path: tier.pathOf("upTo") };
    checkEnd(tier, startAfter.value, index === tiers.length - 1);
    // The units of a card are those of each tier with a rate.
    const [per, packageSize] = ["per", "package"].map((unit) => tier.field(unit) ?? card.field(unit));
    const units = tier.with({ per, package: packageSize });
    units.rejectBoth(["per"], ["package"]);
    const rate = hasRate && per !== undefined ? divideRate(units) : tier.field("rate");
    return tier.with({ startAfter, rate, package: hasRate ? packageSize : undefined });
  });
}

/** Every tier but the last ends, above the one before it. */
function checkEnd(tier: WrittenObject, startAfter: unknown, isLast: boolean): void {
  const { upTo } = tier.value;
  const [start, end] = [readDecimal(startAfter), readDecimal(upTo)];
  if (!tier.has("upTo")) {
    const reason = "because another tier follows";
    if (!isLast) tier.report("upTo", "MISSING", { expected: "the last unit of the tier", reason });
  } else if (isLast && start !== undefined)
    tier.report("upTo", "UNEXPECTED_FIELD", { reason: "in the last tier, which has no end" });
  else if (start !== undefined && end?.lte(start))
    tier.report("upTo", "OUT_OF_BOUNDS", { above: formatDecimal(start), got: quoteValue(upTo) });
}

/** Reports units of a price with flat amounts only. */
function checkUnits(owner: WrittenObject, tiers: readonly WrittenObject[]): void {
  if (tiers.some((tier) => tier.has("rate")) || !tiers.some((tier) => tier.has("flat"))) return;
  for (const unit of ["per", "package"])
    if (owner.has(unit)) owner.report(unit, "UNEXPECTED_FIELD", { reason: "without a rate" });
}

/** The rate for `per` units as the rate for one, exactly. */
function divideRate(tier: WrittenObject): Written {
  const { rate, per } = tier.value;
  const units = readDecimal(per);
  const path = tier.pathOf("rate");
  if (units === undefined || units.lte(ZERO)) {
    tier.report("per", "OUT_OF_BOUNDS", { above: 0, got: quoteValue(per) });
    return { value: rate, path };
  }
  const divideByUnits = (amount: Decimal, currency?: string): string => {
    const unitRate = divide(amount, units);
    const reason = `${formatDecimal(amount)} per ${formatDecimal(units)} units is no exact decimal for one unit`;
    const [owner, field] = currency === undefined ? [tier, "rate"] : [tier.inner("rate"), currency];
    if (!multiply(unitRate, units).eq(amount)) owner.report(field, "NOT_ACCEPTED", { reason });
    return formatDecimal(unitRate);
  };
  return { value: mapAmount(rate, divideByUnits), path };
}

/** Changes an amount, or that of each currency; what is no decimal stays, for the long form to report. */
function mapAmount(
  amount: unknown,
  change: (amount: Decimal, currency?: string) => unknown,
  currency?: string,
): unknown {
  if (isJsonObject(amount))
    return Object.fromEntries(Object.entries(amount).map(([key, each]) => [key, mapAmount(each, change, key)]));
  const decimal = readDecimal(amount);
  return decimal === undefined ? amount : change(decimal, currency);
}

/** Reports amounts that are not in the currencies of the plan. */
export function checkAmounts(owner: WrittenObject, fields: readonly string[], currencies: readonly string[]): void {
  for (const field of fields.filter((each) => owner.has(each))) {
    const amount = owner.value[field];
    if (!isJsonObject(amount)) {
      const example = currencies.map((currency) => `"${currency}": …`).join(", ");
      const reason = `the plan has several currencies: write { ${example} }`;
      if (currencies.length > 1) owner.report(field, "NOT_ACCEPTED", { reason });
      continue;
    }
    const unknown = Object.keys(amount).find((currency) => !currencies.includes(currency));
    const missing = currencies.filter((currency) => !Object.hasOwn(amount, currency));
    const params = { options: currencies, reason: "a currency of the plan", got: quoteValue(unknown) };
    if (unknown !== undefined) owner.inner(field).report(unknown, "NOT_AN_OPTION", params);
    // A limit may be of some currencies only.
    else if (missing.length > 0 && !Object.hasOwn(CARD_LIMITS, field))
      owner.report(field, "MISSING_CURRENCY", { currencies: missing });
  }
}

/** Expands one amount for each currency, as fees and commitments have it. */
export function expandAmounts(
  owner: WrittenObject,
  field: string,
  long: LongObject,
  currencies: readonly string[],
): void {
  const amount = owner.value[field];
  checkAmounts(owner, [field], currencies);
  for (const [index, currency] of (isJsonObject(amount) ? Object.keys(amount) : currencies).entries()) {
    const rate = inCurrency(owner, currency).field(field);
    long.set(["rateValues", index, "currency"], currency, rate?.path ?? owner.path);
    if (rate !== undefined) long.copy(["rateValues", index, "rate"], rate);
  }
}

/** A decimal; undefined for anything else, which the long form reports. */
function readDecimal(value: unknown): Decimal | undefined {
  try {
    return parseDecimal(value);
  } catch (error) {
    if (hasCode(error, "ERR_NUMBER_INVALID")) return undefined;
    throw error;
  }
}

/** The units that a small rate is for. */
const UNITS = 1_000_000;
/** Rates for one unit are small below this; a person writes them for many units. */
const SMALL_RATE = parseDecimal("0.0001");
/** A whole number with fewer digits is the same as a double. */
const SAFE_DIGITS = 15;

/** The short forms of a price with slabs, the best first; none for anything else. */
export function listShortPrices(card: JsonObject, layout: PriceLayout): readonly JsonObject[] {
  const slabs = listObjects(valueAt(card, layout.slab(0, 0).slice(0, -1)));
  if (slabs.length === 0) return [];
  const tiers = slabs.map((slab, index): JsonObject => {
    const amounts = slab["priceType"] === "FLAT" ? FLAT_AMOUNTS : RATE_AMOUNTS;
    const rules = { ...amounts, ...TIER_LIMITS };
    const { rate, flat, ...limits } = shortenAmounts(card, layout, rules, (currency) => layout.rate(currency, index));
    return withoutAbsent({
      upTo: slab["endAt"] ?? slabs[index + 1]?.["startAfter"],
      rate,
      package: valueAt(slab, ["slabConfig", "packageSize"]),
      flat,
      chargeAtZero: String(valueAt(slab, ["slabConfig", "chargeAtZero"])) === "true" ? true : undefined,
      ...limits,
    });
  });
  const limits = shortenAmounts(card, layout, CARD_LIMITS, (currency) => [...layout.currencies, currency]);
  const isVolume = valueAt(card, layout.pricingModel) === "VOLUME";
  const hasSmallRate = tiers.some(({ rate }) => listAmounts(rate).some(isSmall));
  const toPrice = (list: readonly JsonObject[], per?: number): JsonObject => {
    const [first = {}, ...others] = list;
    if (others.length === 0 && !isVolume && !hasValue(first, "minimum") && !hasValue(first, "maximum")) {
      const { rate, ...rest } = first;
      return withoutAbsent({ rate, per, ...rest, ...limits });
    }
    const isShared = list.every((tier) => hasValue(tier, "rate") && tier["package"] === first["package"]);
    const shared = isShared ? { package: first["package"] } : {};
    const ownFields = list.map((tier) => (isShared ? withoutAbsent({ ...tier, package: undefined }) : tier));
    return withoutAbsent({ per, ...shared, [isVolume ? "volumeTiers" : "tiers"]: ownFields, ...limits });
  };
  const plain = toPrice(tiers);
  if (!hasSmallRate || tiers.some((tier) => hasValue(tier, "package"))) return [plain];
  const forUnits = tiers.map((tier) => withoutAbsent({ ...tier, rate: mapAmount(tier["rate"], multiplyRate) }));
  return [toPrice(forUnits, UNITS), plain];
}

/** The amounts of a card by their short names. @param placeOf the place of the amounts in a currency */
function shortenAmounts(
  card: JsonObject,
  { currencies }: PriceLayout,
  rules: FieldRules,
  placeOf: (currency: number) => Path,
): JsonObject {
  return Object.fromEntries(
    Object.entries(rules).map(([field, { to }]) => [
      field,
      toAmount(card, currencies, (currency) => [...placeOf(currency), ...to]),
    ]),
  );
}

/** The amount of the only currency, or that of each. @param list the place of the currencies */
export function toAmount(object: JsonObject, list: Path, placeOf: (currency: number) => Path): unknown {
  const currencies = listObjects(valueAt(object, list)).map(({ currency }) => String(currency));
  const amounts = currencies.map((currency, index) => [currency, valueAt(object, placeOf(index))] as const);
  if (amounts.length === 1) return amounts[0]?.[1];
  const present = withoutAbsent(Object.fromEntries(amounts));
  return Object.keys(present).length === 0 ? undefined : present;
}

function listAmounts(amount: unknown): readonly unknown[] {
  return isJsonObject(amount) ? Object.values(amount) : [amount];
}

function isSmall(rate: unknown): boolean {
  const decimal = readDecimal(rate);
  return decimal !== undefined && !decimal.isZero() && decimal.abs().lt(SMALL_RATE);
}

/** A rate for many units. */
function multiplyRate(rate: Decimal): number | string {
  const product = multiply(rate, parseDecimal(UNITS));
  const text = formatDecimal(product);
  return product.isInteger() && text.length < SAFE_DIGITS ? Number(text) : text;
}
