/**
 * Recomputes an amount from its explanation alone, with separate whole-number fractions: no code of rating or invoicing
 * is used, and no amount in the explanation is used unchecked (S13.6).
 */

/** A decimal in an explanation: a text, a JSON number, or a decimal object. */
type Value = string | number | { toFixed(): string };

/** The explanation of a slab, as data. */
interface SlabFacts {
  readonly order: number;
  readonly startAfter: Value;
  readonly endAt?: Value;
  readonly priceType: "FLAT" | "PER_UNIT" | "PACKAGE";
  readonly quantity: Value;
  readonly rate: Value;
  readonly packageSize?: Value;
  readonly packages?: Value;
  readonly flatRate?: Value;
  readonly minimumRate?: Value;
  readonly maximumRate?: Value;
  readonly amount: Value;
}

interface BoundFacts {
  readonly minimumRate?: Value;
  readonly maximumRate?: Value;
}

/** The explanation of a card's or a true-up's amount, as data. */
export interface ExplanationFacts {
  readonly parts: readonly {
    readonly sign: 1 | -1;
    readonly share: { readonly days: number; readonly of: number };
    readonly quantity?: Value;
    readonly pricingModel?: "TIERED" | "VOLUME";
    readonly slabs?: readonly SlabFacts[];
    readonly bounds?: BoundFacts;
    readonly rate?: Value;
  }[];
  readonly least?: Value;
  readonly bounds?: BoundFacts & { readonly share: { readonly days: number; readonly of: number } };
}

/** An exact fraction; the denominator is above 0. */
export interface Ratio {
  readonly over: bigint;
  readonly under: bigint;
}

/**
 * The exact amount of an explanation.
 *
 * @throws if a slab of it does not match its own facts
 */
export function recompute(explanation: ExplanationFacts): Ratio {
  let total: Ratio = { over: 0n, under: 1n };
  for (const { sign, share, slabs, rate, quantity, pricingModel, bounds } of explanation.parts) {
    const price = slabs === undefined ? toRatio(rate ?? 0) : priceOfSlabs(slabs, toRatio(quantity ?? 0), pricingModel);
    const shared = times(hold(price, bounds), { over: BigInt(share.days), under: BigInt(share.of) });
    total = plus(total, { over: BigInt(sign) * shared.over, under: shared.under });
  }
  if (explanation.least !== undefined) total = hold(total, { minimumRate: explanation.least });
  const { bounds } = explanation;
  return bounds === undefined ? total : hold(total, bounds, bounds.share);
}

/** Rounds once, to `digits` after the point, as a decimal text. */
export function roundOnce({ over, under }: Ratio, digits: number, mode: "HALF_UP" | "HALF_EVEN" | "DOWN"): string {
  const negative = over < 0n;
  const numerator = (negative ? -over : over) * 10n ** BigInt(digits);
  let units = numerator / under;
  const twice = 2n * (numerator % under);
  if (mode === "HALF_UP" && twice >= under) units += 1n;
  if (mode === "HALF_EVEN" && (twice > under || (twice === under && units % 2n === 1n))) units += 1n;
  const text = units.toString().padStart(digits + 1, "0");
  const point = text.length - digits;
  const plain = digits === 0 ? text : `${text.slice(0, point)}.${text.slice(point)}`;
  return negative && units !== 0n ? `-${plain}` : plain;
}

/** A decimal as a fraction. */
export function toRatio(value: Value): Ratio {
  const text = typeof value === "object" ? value.toFixed() : String(value);
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text);
  if (match === null) throw new Error(`${text} is not a decimal`);
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const power = Number(exponent) - fraction.length;
  const digits = BigInt(`${sign}${whole}${fraction}`);
  return power < 0
    ? { over: digits, under: 10n ** BigInt(-power) }
    : { over: digits * 10n ** BigInt(power), under: 1n };
}

/** Negative, 0 or positive as a is less than, equal to or greater than b. */
export function compareRatios(a: Ratio, b: Ratio): number {
  const difference = a.over * b.under - b.over * a.under;
  return difference < 0n ? -1 : Number(difference > 0n);
}

function priceOfSlabs(slabs: readonly SlabFacts[], quantity: Ratio, model: "TIERED" | "VOLUME" | undefined): Ratio {
  let total: Ratio = { over: 0n, under: 1n };
  for (const slab of slabs) {
    const units = unitsIn(slab, quantity, model);
    same(units, slab.quantity, `the quantity of slab ${slab.order}`);
    const amount = priceOfSlab(slab, units);
    same(amount, slab.amount, `the amount of slab ${slab.order}`);
    total = plus(total, amount);
  }
  return total;
}

function unitsIn({ startAfter, endAt }: SlabFacts, quantity: Ratio, model: "TIERED" | "VOLUME" | undefined): Ratio {
  if (model === "VOLUME") return quantity;
  const top = endAt !== undefined && compareRatios(quantity, toRatio(endAt)) > 0 ? toRatio(endAt) : quantity;
  const start = toRatio(startAfter);
  return plus(top, { over: -start.over, under: start.under });
}

function priceOfSlab(slab: SlabFacts, units: Ratio): Ratio {
  const rate = toRatio(slab.rate);
  let price: Ratio;
  if (slab.priceType === "FLAT") price = rate;
  else if (slab.priceType === "PER_UNIT") price = times(rate, units);
  else {
    const size = toRatio(slab.packageSize ?? 0);
    const packages = (units.over * size.under + units.under * size.over - 1n) / (units.under * size.over);
    same({ over: packages, under: 1n }, slab.packages ?? -1, `the packages of slab ${slab.order}`);
    price = times(rate, { over: packages, under: 1n });
  }
  return hold(plus(price, toRatio(slab.flatRate ?? 0)), slab);
}

function hold(amount: Ratio, bounds: BoundFacts | undefined, share?: { days: number; of: number }): Ratio {
  const part = { over: BigInt(share?.days ?? 1), under: BigInt(share?.of ?? 1) };
  let quantity = amount;
  if (bounds?.minimumRate !== undefined) {
    const minimum = times(toRatio(bounds.minimumRate), part);
    if (compareRatios(quantity, minimum) < 0) quantity = minimum;
  }
  if (bounds?.maximumRate !== undefined) {
    const maximum = times(toRatio(bounds.maximumRate), part);
    if (compareRatios(quantity, maximum) > 0) quantity = maximum;
  }
  return quantity;
}

function same(actual: Ratio, printedValue: Value, what: string): void {
  if (compareRatios(actual, toRatio(printedValue)) !== 0) throw new Error(`${what} is not what its facts give`);
}

function plus(a: Ratio, b: Ratio): Ratio {
  return { over: a.over * b.under + b.over * a.under, under: a.under * b.under };
}

function times(a: Ratio, b: Ratio): Ratio {
  return { over: a.over * b.over, under: a.under * b.under };
}
