/**
 * Recalculates a charge: prices its quantities (S7), prorates by days (S8), rounds once (S1.5), and compares the lines
 * below it.
 */
import {
  add,
  compare,
  countDays,
  toDecimal,
  toFraction,
  divide,
  fractionOrZero,
  type Fraction,
  maxFraction,
  type JsonObject,
  minFraction,
  asList,
  type Check,
  multiply,
  findNumbers,
  ONE,
  asObject,
  roundToDigits,
  subtract,
  sumFigures,
  asText,
  formatFraction,
  toWholeFraction,
  ZERO,
} from "./figures.ts";

/** A part of a charge (S13.6): a fee or the price of a quantity, with its sign and its share of days. */
export interface Part {
  readonly sign: 1 | -1;
  /** Negative if the price is subtracted. */
  readonly share: Fraction;
  readonly quantity: Fraction;
  readonly slabs: readonly Slab[];
  /** Whether it prices a row of a price table on days with one price (S18.6). */
  readonly isRow: boolean;
  /** After its own bounds, before the charge's bounds and the share. */
  readonly price: Fraction;
  readonly boundedPrice: Fraction;
}

/** The slab of a part, and the numbers in its line's text. */
interface Slab {
  readonly order: number;
  readonly units: Fraction;
  readonly amount: Fraction;
  readonly rate: Fraction;
  readonly numbers: readonly Fraction[];
}

/** A recalculated explanation. */
interface ComputedCharge {
  readonly parts: readonly Part[];
  /** The sum of the prices, before bounds. */
  readonly priceTotal: Fraction;
  /** The same, raised to 0 if the explanation says so. */
  readonly chargeTotal: Fraction;
  readonly exact: Fraction;
}

/** Which days the shares of parts are: none, runs of days that together are the served days, or each the served days. */
export type DaySharing = "NONE" | "RUNS" | "EACH";

/**
 * Recalculates an explanation: adds its parts, raises the sum to 0 and applies bounds where the explanation says so
 * (S7.4, S8.1).
 */
export function computeCharge(explanation: JsonObject, sharing: DaySharing, check: Check): ComputedCharge {
  const { served, natural, least: floor } = explanation;
  const naturalDays = toWholeFraction(countDays(natural));
  const servedDays = toWholeFraction(countDays(served ?? natural));
  const [inner, outer] = [asObject(served ?? natural), asObject(natural)];
  const isInside = asText(outer["from"]) <= asText(inner["from"]) && asText(inner["until"]) <= asText(outer["until"]);
  const isPeriod = isInside && naturalDays.numerator > 0n && servedDays.numerator >= 0n;
  check.expect(", natural", isPeriod ? natural : "whole days that contain the served days", natural);
  const parts = asList(explanation["parts"]).map((part, index) => {
    return verifyPart(part, sharing === "NONE" ? ONE : naturalDays, `, part ${index + 1}`, check);
  });
  verifyRunningQuantities(asList(explanation["parts"]), check);
  // The runs of days of a charge cover its period, except for increases and refunds (S10.2, S10.3).
  const runs = parts.filter(({ sign, share }) => sign === 1 && compare(share, ONE) !== 0);
  if (sharing === "EACH") {
    for (const { share } of parts) check.expect(", share of its parts", divide(servedDays, naturalDays), share);
  } else if (runs.length > 0 && served !== undefined && explanation["chargedBefore"] === undefined) {
    check.expect(", days of its parts", servedDays, multiply(sumFigures(runs, "share"), naturalDays));
  }
  if (floor !== undefined) check.expect(", least", ZERO, floor);
  const total = (price: "price" | "boundedPrice"): Fraction =>
    parts.reduce((sum, part) => add(sum, multiply(part[price], part.share)), ZERO);
  const raise = (amount: Fraction): Fraction => (floor === undefined ? amount : maxFraction(amount, ZERO));
  const { share, ...bounds } = asObject(explanation["bounds"]);
  const exact = applyBounds(raise(total("boundedPrice")), bounds, share === undefined ? ONE : toShare(share), check);
  check.expect(", exact", exact, explanation["exact"]);
  return { parts, priceTotal: total("price"), chargeTotal: raise(total("price")), exact };
}

/** A reason with figures of usage that decided a quantity (S19.1). */
const USAGE_REASON =
  /^the (?:sum of the )?(?:peak|lowest value|numbers? of different value|last value|average level)s? .*$/;

/** Verifies a part and the quantity and days in its text, if any. */
function verifyPart(part: JsonObject, periodDays: Fraction, at: string, check: Check): Part {
  const share = asObject(part["share"]);
  const sign = check.readFigure(part, "sign");
  const isWhole = compare(fractionOrZero(share["days"]), ONE) === 0 && compare(fractionOrZero(share["of"]), ONE) === 0;
  check.expect(`${at}, sign`, ONE, multiply(sign, sign));
  check.expect(`${at}, share, of`, isWhole ? ONE : periodDays, share["of"]);
  check.expect(
    `${at}, share, days`,
    minFraction(fractionOrZero(share["days"]), fractionOrZero(share["of"])),
    share["days"],
  );
  const isFee = part["quantity"] === undefined;
  const quantity = isFee ? ZERO : check.readFigure(part, "quantity");
  const days = [fractionOrZero(share["days"]), fractionOrZero(share["of"])];
  const isRow = part["row"] !== undefined;
  // The texts of groups may have any numbers.
  const sentenceNumbers = isRow ? [] : findNumbers(asText(part["because"]).replace(USAGE_REASON, ""));
  const expectedNumbers = [[], [quantity], days, [quantity, ...days]][sentenceNumbers.length] ?? [];
  check.expect(`${at}, because`, expectedNumbers.map(formatFraction).join(), sentenceNumbers.join());
  const slabs = isFee ? [] : (isRow ? verifyRowSlabs : verifySlabs)(part, quantity, at, check);
  const price = isFee ? check.readFigure(part, "rate") : slabs.reduce((sum, { amount }) => add(sum, amount), ZERO);
  const boundedPrice = applyBounds(price, asObject(part["bounds"]), ONE, check);
  return {
    sign: sign.numerator < 0n ? -1 : 1,
    share: multiply(sign, toShare(share)),
    quantity,
    slabs,
    isRow,
    price,
    boundedPrice,
  };
}

/** The running quantity of a row continues from its days before; it begins with 0 (S18.4). */
function verifyRunningQuantities(parts: readonly JsonObject[], check: Check): void {
  for (const [index, part] of parts.entries()) {
    if (part["row"] === undefined) continue;
    const [row, previous] = [asObject(part["row"]), parts[index - 1] ?? {}];
    const previousRow = asObject(previous["row"]);
    const usage = ({ when, groups }: JsonObject): string => JSON.stringify([when, groups]);
    // A row of an override and one of the plan can have the same `when`.
    const isLater = asText(previousRow["endDate"]) <= asText(row["startDate"]);
    const continues = index > 0 && isLater && usage(previousRow) === usage(row);
    const level = fractionOrZero(previousRow["before"]);
    const before = continues ? add(level, fractionOrZero(previous["quantity"])) : ZERO;
    check.expect(`, part ${index + 1}, before`, before, row["before"]);
  }
}

/**
 * Verifies that the units of rows, with free ones, those below zero and those without a row, are the units of the meter,
 * and that no more are free than the allowance of the days (S18.2, S18.4, S18.5).
 */
export function verifyRowUnits(
  explanation: JsonObject,
  unpriced: readonly JsonObject[],
  usedUnits: Fraction,
  check: Check,
): void {
  const [parts, free, belowZero] = ["parts", "free", "belowZero"].map((name) => asList(explanation[name]));
  const units = [parts, free, belowZero, unpriced].flatMap((items = []) =>
    items.map((item) => ({ quantity: check.readFigure(item, "quantity") })),
  );
  check.expect(", quantity of its rows", usedUnits, sumFigures(units, "quantity"));
  const { quantity, over, share } = asObject(explanation["allowance"]);
  if (free === undefined || free.length === 0) return;
  const allowance = roundToDigits(multiply(fractionOrZero(quantity), toShare(share)), 20, "HALF_UP");
  const shared = over === "EACH_ROW" ? free.map((row) => [row]) : [free];
  for (const rows of shared) {
    const freeUnits = sumFigures(rows, "quantity");
    check.expect(", free units", minFraction(freeUnits, allowance), freeUnits);
  }
}

/** Verifies the slabs of a row: the units between its running quantities before and after its days (S18.4). */
function verifyRowSlabs(part: JsonObject, quantity: Fraction, at: string, check: Check): readonly Slab[] {
  const before = check.readFigure(asObject(part["row"]), "before");
  const after = add(before, quantity);
  const isTiered = part["pricingModel"] === "TIERED";
  check.expect(`${at}, pricingModel`, isTiered ? "TIERED" : "VOLUME", part["pricingModel"]);
  let nextOrder: Fraction | undefined;
  const slabs = asList(part["slabs"]).map((slab, index): Slab => {
    const { order, startAfter, endAt } = readSlab(slab, check);
    const isNamed = (startAfter.numerator === 0n) === (compare(order, ONE) === 0);
    const expectedOrder = isNamed ? (nextOrder ?? order) : "1 for the first slab only";
    check.expect(`${at}, slab ${index + 1}, order`, expectedOrder, slab["order"]);
    nextOrder = add(order, ONE);
    const unitsBelow = (level: Fraction): Fraction =>
      maxFraction(subtract(endAt === undefined ? level : minFraction(level, endAt), startAfter), ZERO);
    const units = isTiered ? subtract(unitsBelow(after), unitsBelow(before)) : quantity;
    return verifySlabPrice(slab, units, `${at}, slab ${index + 1}`, check);
  });
  check.expect(`${at}, slabs, quantity`, quantity, sumFigures(slabs, "units"));
  return slabs;
}

/** Verifies the slabs that a quantity reaches (S7.2, S7.5) and their prices (S7.3, S7.4). */
function verifySlabs(part: JsonObject, quantity: Fraction, at: string, check: Check): readonly Slab[] {
  const slabRows = asList(part["slabs"]);
  const isTiered = part["pricingModel"] === "TIERED";
  const isPriced = quantity.numerator === 0n || (isTiered ? slabRows.length > 0 : slabRows.length === 1);
  check.expect(`${at}, pricingModel`, isTiered ? "TIERED" : "VOLUME", part["pricingModel"]);
  check.expect(`${at}, slabs`, isPriced ? "" : "the slabs that are reached", "");
  let start = ZERO;
  return slabRows.map((slab, index): Slab => {
    const isLast = index === slabRows.length - 1;
    const { order, startAfter, endAt } = readSlab(slab, check);
    const isFirst = startAfter.numerator === 0n;
    // Quantity 0 reaches at most the first slab (S7.5).
    const isReached = compare(quantity, startAfter) > 0 || (quantity.numerator === 0n && isFirst);
    const isEnd =
      endAt === undefined ? isLast : compare(endAt, startAfter) > 0 && compare(quantity, endAt) > 0 !== isLast;
    const expectedStart = isTiered ? start : startAfter;
    const startOrReason = isReached && isEnd ? expectedStart : "the start of a slab that contains the quantity";
    check.expect(`${at}, slab ${index + 1}, startAfter`, startOrReason, slab["startAfter"]);
    const place = isTiered ? toWholeFraction(index + 1) : order;
    const isNamed = isFirst === (compare(place, ONE) === 0);
    check.expect(`${at}, slab ${index + 1}, order`, isNamed ? place : "1 for the first slab only", slab["order"]);
    start = endAt ?? start;
    const units = isTiered ? subtract(isLast ? quantity : start, startAfter) : quantity;
    return verifySlabPrice(slab, units, `${at}, slab ${index + 1}`, check);
  });
}

function readSlab(
  slab: JsonObject,
  check: Check,
): { readonly order: Fraction; readonly startAfter: Fraction; readonly endAt: Fraction | undefined } {
  const [order, startAfter] = [check.readFigure(slab, "order"), check.readFigure(slab, "startAfter")];
  return { order, startAfter, endAt: slab["endAt"] === undefined ? undefined : check.readFigure(slab, "endAt") };
}

/** Verifies the units in a slab and their price: rate and flat rate, with bounds applied (S7.3, S7.4). */
function verifySlabPrice(slab: JsonObject, units: Fraction, at: string, check: Check): Slab {
  check.expect(`${at}, quantity`, units, slab["quantity"]);
  const rate = check.readFigure(slab, "rate");
  const size = slab["priceType"] === "PACKAGE" ? [check.readFigure(slab, "packageSize")] : [];
  const packages = size.map((each) => subtract(ZERO, roundToDigits(divide(subtract(ZERO, units), each), 0, "FLOOR")));
  check.expect(`${at}, packages`, packages[0], slab["packages"]);
  const multiplier = { FLAT: ONE, PER_UNIT: units, PACKAGE: packages[0] }[asText(slab["priceType"])] ?? ZERO;
  const flat = slab["flatRate"] === undefined ? ZERO : check.readFigure(slab, "flatRate");
  const amount = applyBounds(add(multiply(rate, multiplier), flat), slab, ONE, check);
  check.expect(`${at}, amount`, amount, slab["amount"]);
  const [order, startAfter, endAt] = ["order", "startAfter", "endAt"].map((name) => toFraction(slab[name]));
  const range = endAt === undefined && startAfter?.numerator === 0n ? [] : [startAfter ?? ZERO, endAt ?? []].flat();
  return { order: Number(formatFraction(order ?? ZERO)), units, amount, rate, numbers: [...range, ...size] };
}

/**
 * Verifies the lines below a card: slabs are rounded down, the missing minor units go to the largest remainders (S1.5),
 * and bounds have a line (S7.4).
 */
export function verifyLinesBelow(
  line: JsonObject,
  kind: string,
  parts: readonly Part[],
  { charged, value, digits }: { readonly charged: Fraction; readonly value: Fraction; readonly digits: number },
  check: Check,
): void {
  const items = asList(line["lineItems"]);
  const hasRows = parts.some(({ isRow }) => isRow);
  const slabs = hasRows ? listRowSlabs(parts, digits) : listCardSlabs(parts, digits);
  const unit = { numerator: 1n, denominator: 10n ** BigInt(digits) };
  const missing = divide(subtract(charged, sumFigures(slabs, "cut")), unit);
  const byRemainder = slabs.toSorted((a, b) => compare(subtract(b.exact, b.cut), subtract(a.exact, a.cut)));
  for (const [index, slab] of slabs.entries()) {
    const item = items[index] ?? {};
    const explanation = asObject(item["explanation"]);
    const more = compare(toWholeFraction(byRemainder.indexOf(slab)), missing) < 0 ? ONE : ZERO;
    check.checkNested(`, line ${index + 1} below`, (lineCheck) => {
      lineCheck.expect(", type", `${kind}_RATE_CARD_SLAB_AMOUNT`, item["type"]);
      lineCheck.expect(", id", line["id"], item["id"]);
      lineCheck.expect(", explanation, of", "SLAB", explanation["of"]);
      // A line of a price table ends with its tier, if the row has several.
      const tier = hasRows ? asText(item["description"]).split(": ").at(-1) : item["description"];
      const numbers = hasRows && slab.numbers.length === 0 ? [] : findNumbers(tier);
      lineCheck.expect(", description", slab.numbers.map(formatFraction).join(), numbers.join());
      verifyAmount(item, slab.exact, add(slab.cut, multiply(more, unit)), lineCheck);
      lineCheck.expect(", quantity", slab.units, item["quantity"]);
      lineCheck.expect(", valuePerQuantity", slab.rate, item["valuePerQuantity"]);
      lineCheck.expect(", exact", slab.exact, explanation["exact"]);
      lineCheck.expect(", digits", toWholeFraction(digits), explanation["digits"]);
      lineCheck.expect(", missing", more, explanation["missing"]);
    });
  }
  const count = slabs.length + (compare(value, charged) === 0 ? 0 : 1);
  check.expect(", lines below", count, items.length);
  for (const item of items.slice(slabs.length)) {
    check.checkNested(", adjustment", (lineCheck) => {
      const { of, bounded, charged: from } = asObject(item["explanation"]);
      lineCheck.expect(", explanation, of", "BOUNDS", of);
      lineCheck.expect(", type", "RATE_CONFIG_ADJUSTMENT_AMOUNT", item["type"]);
      lineCheck.expect(", id", line["id"], item["id"]);
      lineCheck.expect(", value", subtract(value, charged), item["value"]);
      lineCheck.expect(", bounded", value, bounded);
      lineCheck.expect(", charged", charged, from);
    });
  }
}

/** What the line of a slab shows. */
interface SlabLine {
  readonly exact: Fraction;
  readonly cut: Fraction;
  readonly units: Fraction;
  readonly rate: Fraction;
  readonly numbers: readonly Fraction[];
}

/** The lines of a price table: the slabs of its parts, one by one (S18.6). */
function listRowSlabs(parts: readonly Part[], digits: number): readonly SlabLine[] {
  return parts.flatMap(({ slabs, share }) =>
    slabs.map((slab) => {
      const exact = multiply(slab.amount, share);
      return { ...slab, exact, cut: roundToDigits(exact, digits, "FLOOR") };
    }),
  );
}

/** The slabs of all parts, by order. */
function listCardSlabs(parts: readonly Part[], digits: number): readonly SlabLine[] {
  const orders = new Set(parts.flatMap(({ slabs }) => slabs.map(({ order }) => order)));
  return [...orders]
    .toSorted((a, b) => a - b)
    .map((order) => {
      const sameOrderSlabs = parts.flatMap((part) => {
        const slabs = part.slabs.filter((slab) => slab.order === order);
        return slabs.map((slab) => ({ ...slab, sign: part.sign, share: part.share, quantity: slab.units }));
      });
      const exact = sameOrderSlabs.reduce((sum, { amount, share }) => add(sum, multiply(amount, share)), ZERO);
      const { rate, numbers } = sameOrderSlabs.at(-1) ?? { rate: ZERO, numbers: [] };
      const units = subtract(largestQuantity(sameOrderSlabs, 1), largestQuantity(sameOrderSlabs, -1));
      return { exact, cut: roundToDigits(exact, digits, "FLOOR"), units, rate, numbers };
    });
}

/** Verifies the rounded amount of a line, and the exact amount shown if it differs. */
export function verifyAmount(line: JsonObject, exact: Fraction, value: Fraction, check: Check): void {
  check.expect(", value", value, line["value"]);
  check.expect(", exactValue", compare(exact, value) === 0 ? undefined : toDecimal(exact), line["exactValue"]);
}

/**
 * Returns a function that rounds amounts to the digits of the currency, by the mode that the explanation names (S1.5).
 */
export function verifyRounding(explanation: JsonObject, digits: number, check: Check): (amount: Fraction) => Fraction {
  const { mode, digits: roundingDigits } = asObject(explanation["rounding"]);
  const roundingMode = (["HALF_UP", "HALF_EVEN", "DOWN"] as const).find((each) => each === mode) ?? "HALF_UP";
  check.expect(", rounding, mode", roundingMode, mode);
  check.expect(", rounding, digits", toWholeFraction(digits), roundingDigits);
  return (amount) => roundToDigits(amount, digits, roundingMode);
}

/** Applies a minimum and a maximum, each multiplied by a share (S7.4). */
function applyBounds(amount: Fraction, bounds: JsonObject, share: Fraction, check: Check): Fraction {
  const [low, high] = ["minimumRate", "maximumRate"].map((name) => {
    return bounds[name] === undefined ? undefined : multiply(check.readFigure(bounds, name), share);
  });
  const atLeastMinimum = low === undefined ? amount : maxFraction(amount, low);
  return high === undefined ? atLeastMinimum : minFraction(atLeastMinimum, high);
}

function toShare(share: unknown): Fraction {
  const { days, of } = asObject(share);
  return divide(fractionOrZero(days), fractionOrZero(of));
}

/** The largest quantity of the parts with this sign; at least 0. */
export function largestQuantity(parts: readonly Pick<Part, "sign" | "quantity">[], sign: 1 | -1): Fraction {
  return parts
    .filter((each) => each.sign === sign)
    .reduce((largest, { quantity }) => maxFraction(largest, quantity), ZERO);
}
