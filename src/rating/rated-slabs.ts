/** Slabs with their rates in one currency, checked once to price many quantities (S7.1, S7.4). */
import type { RatePlanInput, RateValueInput } from "../book/resources/rate-card.ts";
import { RatebookError } from "../errors.ts";
import { Decimal, type DecimalInput, parseValue, ZERO } from "../numbers/decimal.ts";
import { truncateText } from "../problem-table.ts";

/** The minimum and maximum of a charge (S7.4), major units, inclusive. Absent: no limit. */
export interface Bounds {
  readonly minimumRate?: Decimal;
  readonly maximumRate?: Decimal;
}

/** One slab with its rate: the units above `startAfter` up to and including `endAt`, and their price. */
export interface RatedSlab extends Bounds {
  /** 1 for the first slab. */
  readonly order: number;
  /** Units; exclusive. */
  readonly startAfter: Decimal;
  /** Units; inclusive. Absent on the last slab. */
  readonly endAt?: Decimal;
  readonly priceType: "FLAT" | "PER_UNIT" | "PACKAGE";
  /** Major units of the currency: per slab, unit or package, depending on `priceType`. */
  readonly rate: Decimal;
  /** Units per package, above 0; only for PACKAGE. */
  readonly packageSize?: Decimal;
  /** Added once if the slab is reached. */
  readonly flatRate?: Decimal;
}

/** Slabs that start at 0 and strictly ascend, with their rates. Created only by {@link joinSlabRates}. */
export interface RatedSlabs {
  readonly pricingModel: "TIERED" | "VOLUME";
  /** At least one; `slabs[i].order` is `i + 1`. */
  readonly slabs: readonly RatedSlab[];
  /** Whether a quantity of zero reaches the first slab (S7.5). */
  readonly chargeAtZero: boolean;
  /** The limits of the whole card (S7.4), if any. */
  readonly bounds?: Bounds;
}

type SlabInput = RatePlanInput["slabs"][number];
type SlabRateInput = RateValueInput["slabRates"][number];

/**
 * Checks a rate plan and one currency's rates, and joins them by order (S7.1).
 *
 * @throws {RatebookError} ERR_RATES_INVALID for: no slabs, an unknown pricing model or price type, orders that are not
 * 1 to n, slabs that do not start at 0 or do not ascend, an `endAt` that is not the next `startAfter`, a PACKAGE slab
 * without a package size, a slab without a rate or a rate without a slab, a minimum above its maximum, a value that is
 * not a decimal within S1.3
 */
export function joinSlabRates(plan: RatePlanInput, rates: RateValueInput): RatedSlabs {
  checkShape(plan, rates);
  const { pricingModel, slabs } = plan;
  const slabRates = sortRates(rates.slabRates, slabs.length);
  const ratedSlabs: RatedSlab[] = [];
  let startAfter = readStartAfter(slabs[0], 1);
  if (!startAfter.isZero()) throw invalidRatesError(`slab 1 starts after ${startAfter.toFixed()}, expected 0`);
  for (let index = 0; index < slabs.length; index += 1) {
    const slab = slabs[index];
    const rate = slabRates[index];
    const order = index + 1;
    if (slab === undefined || rate === undefined) throw invalidRatesError(`slab ${order} has no rate`);
    if (slab.order !== order)
      throw invalidRatesError(`slab ${order} has order ${quoteValue(slab.order)}, expected ${order}`);
    const next = order < slabs.length ? readStartAfter(slabs[order], order + 1) : undefined;
    if (next?.lte(startAfter)) {
      throw invalidRatesError(
        `slab ${order + 1} starts after ${next.toFixed()}, expected more than slab ${order}'s ${startAfter.toFixed()}`,
      );
    }
    checkEnd(slab, next, order);
    ratedSlabs.push(createRatedSlab(slab, rate, startAfter, next));
    if (next !== undefined) startAfter = next;
  }
  const bounds = readBounds(rates.rateConfig, "the card's");
  const chargeAtZero = readBoolean(slabs[0]?.slabConfig?.chargeAtZero);
  return bounds === undefined
    ? { pricingModel, slabs: ratedSlabs, chargeAtZero }
    : { pricingModel, slabs: ratedSlabs, chargeAtZero, bounds };
}

/** Checks types at run time, for callers without types. */
function checkShape(plan: RatePlanInput, rates: RateValueInput): void {
  if (typeof plan !== "object" || plan === null)
    throw invalidRatesError(`expected a rate plan, got ${quoteValue(plan)}`);
  if (typeof rates !== "object" || rates === null)
    throw invalidRatesError(`expected the rates of a currency, got ${quoteValue(rates)}`);
  const { pricingModel, slabs } = plan;
  if (pricingModel !== "TIERED" && pricingModel !== "VOLUME") {
    throw invalidRatesError(`the pricing model is ${quoteValue(pricingModel)}, expected TIERED or VOLUME`);
  }
  if (!Array.isArray(slabs) || slabs.length === 0) throw invalidRatesError("a rate plan needs at least one slab");
}

function createRatedSlab(
  slab: SlabInput,
  slabRate: SlabRateInput,
  startAfter: Decimal,
  endAt: Decimal | undefined,
): RatedSlab {
  const { order, priceType } = slab;
  if (priceType !== "FLAT" && priceType !== "PER_UNIT" && priceType !== "PACKAGE") {
    throw invalidRatesError(
      `slab ${order} has price type ${quoteValue(priceType)}, expected FLAT, PER_UNIT or PACKAGE`,
    );
  }
  const rate = readSlabField(slabRate.rate, order, "rate");
  const config = slabRate.slabRateConfig;
  if (priceType !== "PACKAGE" && (config === undefined || config === null)) {
    return endAt === undefined ? { order, startAfter, priceType, rate } : { order, startAfter, endAt, priceType, rate };
  }
  return {
    order,
    startAfter,
    ...(endAt !== undefined && { endAt }),
    priceType,
    rate,
    ...(priceType === "PACKAGE" && { packageSize: readPackageSize(slab) }),
    ...(isPresent(config?.flatRate) && { flatRate: readSlabField(config.flatRate, order, "flatRate") }),
    ...readBounds(config, `slab ${order}'s`),
  };
}

function readPackageSize(slab: SlabInput): Decimal {
  const size = slab.slabConfig?.packageSize;
  if (!isPresent(size)) throw invalidRatesError(`slab ${slab.order} has price type PACKAGE but no packageSize`);
  const packageSize = readSlabField(size, slab.order, "packageSize");
  if (packageSize.lte(ZERO)) {
    throw invalidRatesError(`slab ${slab.order} has packageSize ${packageSize.toFixed()}, expected more than 0`);
  }
  return packageSize;
}

/** The rates in slab order, each exactly once. */
function sortRates(rates: readonly SlabRateInput[] | undefined, slabCount: number): readonly SlabRateInput[] {
  if (!Array.isArray(rates)) throw invalidRatesError("expected an array of slabRates for each currency");
  const slabRates: readonly SlabRateInput[] = rates;
  if (slabRates.length <= slabCount && slabRates.every((rate, index) => rate?.order === index + 1)) return slabRates;
  if (!slabRates.every((rate) => typeof rate === "object" && rate !== null))
    throw invalidRatesError("expected an object for each slab rate");
  const sorted = slabRates.toSorted((a, b) => a.order - b.order);
  for (const [index, { order }] of sorted.entries()) {
    if (order === index + 1 && order <= slabCount) continue;
    if (index < slabCount && order > index + 1 && order <= slabCount)
      throw invalidRatesError(`slab ${index + 1} has no rate`);
    if (index > 0 && order === index) throw invalidRatesError(`slab ${order} has two rates`);
    throw invalidRatesError(`a rate has order ${quoteValue(order)}, expected 1 to ${slabCount}, each once`);
  }
  return sorted;
}

function readStartAfter(slab: SlabInput | undefined, order: number): Decimal {
  return readSlabField(slab?.startAfter, order, "startAfter");
}

function checkEnd(slab: SlabInput, next: Decimal | undefined, order: number): void {
  if (!isPresent(slab.endAt)) return;
  const endAt = readSlabField(slab.endAt, order, "endAt");
  if (next === undefined)
    throw invalidRatesError(`slab ${order} ends at ${endAt.toFixed()}, but the last slab has no end`);
  if (!endAt.eq(next)) {
    throw invalidRatesError(
      `slab ${order} ends at ${endAt.toFixed()}, expected ${next.toFixed()}, where slab ${order + 1} starts`,
    );
  }
}

function readBounds(config: RateValueInput["rateConfig"], owner: string): Bounds | undefined {
  if (config === undefined || config === null) return undefined;
  const read = (field: "minimumRate" | "maximumRate"): Decimal | undefined =>
    isPresent(config[field]) ? readDecimalField(config[field], `${owner} ${field}`) : undefined;
  const [minimumRate, maximumRate] = [read("minimumRate"), read("maximumRate")];
  if (minimumRate === undefined && maximumRate === undefined) return undefined;
  if (minimumRate !== undefined && maximumRate !== undefined && minimumRate.gt(maximumRate)) {
    throw invalidRatesError(
      `${owner} minimumRate ${minimumRate.toFixed()} is above its maximumRate ${maximumRate.toFixed()}`,
    );
  }
  return { ...(minimumRate !== undefined && { minimumRate }), ...(maximumRate !== undefined && { maximumRate }) };
}

/** Configuration values are text or numbers (S7.4): `"true"` is true. */
function readBoolean(value: string | boolean | null | undefined): boolean {
  if (!isPresent(value) || value === false || value === "false") return false;
  if (value === true || value === "true") return true;
  throw invalidRatesError(`slab 1 has chargeAtZero ${quoteValue(value)}, expected "true" or "false"`);
}

function isPresent<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

function readSlabField(value: DecimalInput | undefined, order: number, field: string): Decimal {
  // Build the message only if needed: this runs for every field of every slab.
  return isCheckedDecimal(value) ? value : readDecimalField(value, `slab ${order}'s ${field}`);
}

function readDecimalField(value: DecimalInput | undefined, owner: string): Decimal {
  if (isCheckedDecimal(value)) return value;
  try {
    return parseValue(value);
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    throw invalidRatesError(`${owner}: ${error.message}`, error);
  }
}

/** Whether a value is a Decimal that needs no parsing. */
export function isCheckedDecimal(value: unknown): value is Decimal {
  return typeof value === "object" && value?.constructor === Decimal && (value as Decimal).isFinite();
}

function quoteValue(value: unknown): string {
  return truncateText(JSON.stringify(value) ?? "missing");
}

function invalidRatesError(message: string, cause?: unknown): RatebookError<"ERR_RATES_INVALID"> {
  return new RatebookError("ERR_RATES_INVALID", message, {}, cause === undefined ? undefined : { cause });
}
