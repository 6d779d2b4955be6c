/**
 * What a charge comes to: its quantities priced again (S7), by days (S8), rounded once (S1.5), and the lines below it.
 *
 * @module
 */
import {
  add,
  compare,
  daysOf,
  decimal,
  divide,
  figure,
  type Fraction,
  greatest,
  type Json,
  least,
  list,
  type Look,
  multiply,
  numbersIn,
  ONE,
  record,
  rounded,
  subtract,
  sumOf,
  text,
  textOf,
  whole,
  ZERO,
} from "./figures.ts";

/** A part of a charge (S13.6): a fee or the price of a quantity, its sign and its share of days. */
export interface Part {
  readonly sign: 1 | -1;
  /** Below 0 where the price is taken off. */
  readonly share: Fraction;
  readonly quantity: Fraction;
  readonly slabs: readonly Slab[];
  /** Before its bounds and its share; after its bounds. */
  readonly price: Fraction;
  readonly held: Fraction;
}

/** What a slab of a part prices, and the numbers that a line about it names. */
interface Slab {
  readonly order: number;
  readonly units: Fraction;
  readonly amount: Fraction;
  readonly rate: Fraction;
  readonly numbers: readonly Fraction[];
}

/** An explanation, computed again. */
interface Reckoned {
  readonly parts: readonly Part[];
  /** The sum of the prices, before bounds. */
  readonly priced: Fraction;
  /** The same, raised to 0 where the explanation says so. */
  readonly charged: Fraction;
  readonly exact: Fraction;
}

/** What an explanation comes to: its parts, added, raised to 0 and held to its bounds where it says so (S7.4, S8.1). */
export function reckon(how: Json, isByDays: boolean, on: Look): Reckoned {
  const { served, natural, least: floor } = how;
  const of = whole(daysOf(natural));
  const days = whole(daysOf(served ?? natural));
  const [inner, outer] = [record(served ?? natural), record(natural)];
  const isInside = text(outer["from"]) <= text(inner["from"]) && text(inner["until"]) <= text(outer["until"]);
  const isPeriod = isInside && of.over > 0n && days.over >= 0n;
  on.expect(", natural", isPeriod ? natural : "whole days that hold the served ones", natural);
  const parts = list(how["parts"]).map((part, index) => {
    return partOf(part, isByDays ? of : ONE, `, part ${index + 1}`, on);
  });
  // The runs of days of a charge make up its period; an increase and a refund are for some of them (S10.2, S10.3).
  const runs = parts.filter(({ sign, share }) => sign === 1 && compare(share, ONE) !== 0);
  if (runs.length > 0 && served !== undefined && how["chargedBefore"] === undefined) {
    on.expect(", days of its parts", days, multiply(sumOf(runs, "share"), of));
  }
  if (floor !== undefined) on.expect(", least", ZERO, floor);
  const total = (price: "price" | "held"): Fraction =>
    parts.reduce((sum, part) => add(sum, multiply(part[price], part.share)), ZERO);
  const raise = (amount: Fraction): Fraction => (floor === undefined ? amount : greatest(amount, ZERO));
  const { share, ...bounds } = record(how["bounds"]);
  const exact = hold(raise(total("held")), bounds, share === undefined ? ONE : shareIn(share), on);
  on.expect(", exact", exact, how["exact"]);
  return { parts, priced: total("price"), charged: raise(total("price")), exact };
}

/** A part of an explanation; its sentence names its quantity and its days, where it names any. */
function partOf(part: Json, of: Fraction, at: string, on: Look): Part {
  const share = record(part["share"]);
  const sign = on.read(part, "sign");
  const isWhole = compare(figure(share["days"]), ONE) === 0 && compare(figure(share["of"]), ONE) === 0;
  on.expect(`${at}, sign`, ONE, multiply(sign, sign));
  on.expect(`${at}, share, of`, isWhole ? ONE : of, share["of"]);
  on.expect(`${at}, share, days`, least(figure(share["days"]), figure(share["of"])), share["days"]);
  const isFee = part["quantity"] === undefined;
  const quantity = isFee ? ZERO : on.read(part, "quantity");
  const days = [figure(share["days"]), figure(share["of"])];
  const said = numbersIn(part["because"]);
  const named = [[], [quantity], days, [quantity, ...days]][said.length] ?? [];
  on.expect(`${at}, because`, named.map(textOf).join(), said.join());
  const slabs = isFee ? [] : slabsOf(part, quantity, at, on);
  const price = isFee ? on.read(part, "rate") : slabs.reduce((sum, { amount }) => add(sum, amount), ZERO);
  const held = hold(price, record(part["bounds"]), ONE, on);
  return { sign: sign.over < 0n ? -1 : 1, share: multiply(sign, shareIn(share)), quantity, slabs, price, held };
}

/** The slabs that a quantity reaches (S7.2, S7.5), and what each costs (S7.3, S7.4). */
function slabsOf(part: Json, quantity: Fraction, at: string, on: Look): readonly Slab[] {
  const given = list(part["slabs"]);
  const isTiered = part["pricingModel"] === "TIERED";
  const isPriced = quantity.over === 0n || (isTiered ? given.length > 0 : given.length === 1);
  on.expect(`${at}, pricingModel`, isTiered ? "TIERED" : "VOLUME", part["pricingModel"]);
  on.expect(`${at}, slabs`, isPriced ? "" : "the slabs that are reached", "");
  let start = ZERO;
  return given.map((slab, index): Slab => {
    const isLast = index === given.length - 1;
    const order = on.read(slab, "order");
    const startAfter = on.read(slab, "startAfter");
    const endAt = slab["endAt"] === undefined ? undefined : on.read(slab, "endAt");
    const isFirst = startAfter.over === 0n;
    // At quantity zero only the first slab can be reached (S7.5).
    const isReached = compare(quantity, startAfter) > 0 || (quantity.over === 0n && isFirst);
    const isEnd =
      endAt === undefined ? isLast : compare(endAt, startAfter) > 0 && compare(quantity, endAt) > 0 !== isLast;
    const expected = isTiered ? start : startAfter;
    const holds = isReached && isEnd ? expected : "the start of a slab that holds the quantity";
    on.expect(`${at}, slab ${index + 1}, startAfter`, holds, slab["startAfter"]);
    const place = isTiered ? whole(index + 1) : order;
    const isNamed = isFirst === (compare(place, ONE) === 0);
    on.expect(`${at}, slab ${index + 1}, order`, isNamed ? place : "1 for the first slab alone", slab["order"]);
    start = endAt ?? start;
    const units = isTiered ? subtract(isLast ? quantity : start, startAfter) : quantity;
    on.expect(`${at}, slab ${index + 1}, quantity`, units, slab["quantity"]);
    const { amount, rate, size } = priceOf(slab, units, `${at}, slab ${index + 1}`, on);
    const range = endAt === undefined ? (isFirst ? [] : [startAfter]) : [startAfter, endAt];
    return { order: Number(textOf(order)), units, amount, rate, numbers: [...range, ...size] };
  });
}

/** What units cost in a slab: by its rate, with its flat rate, held to its bounds (S7.3, S7.4). */
function priceOf(
  slab: Json,
  units: Fraction,
  at: string,
  on: Look,
): { readonly amount: Fraction; readonly rate: Fraction; readonly size: readonly Fraction[] } {
  const rate = on.read(slab, "rate");
  const size = slab["priceType"] === "PACKAGE" ? [on.read(slab, "packageSize")] : [];
  const packages = size.map((each) => subtract(ZERO, rounded(divide(subtract(ZERO, units), each), 0, "FLOOR")));
  on.expect(`${at}, packages`, packages[0], slab["packages"]);
  const times = { FLAT: ONE, PER_UNIT: units, PACKAGE: packages[0] }[text(slab["priceType"])] ?? ZERO;
  const flat = slab["flatRate"] === undefined ? ZERO : on.read(slab, "flatRate");
  const amount = hold(add(multiply(rate, times), flat), slab, ONE, on);
  on.expect(`${at}, amount`, amount, slab["amount"]);
  return { amount, rate, size };
}

/** The lines below a card: slabs cut down, missing units to the largest remainders (S1.5), and what bounds changed (S7.4). */
export function verifyBelow(
  line: Json,
  kind: string,
  parts: readonly Part[],
  { charged, value, digits }: { readonly charged: Fraction; readonly value: Fraction; readonly digits: number },
  on: Look,
): void {
  const items = list(line["lineItems"]);
  const orders = new Set(parts.flatMap(({ slabs }) => slabs.map(({ order }) => order)));
  const slabs = [...orders]
    .toSorted((a, b) => a - b)
    .map((order) => {
      const here = parts.flatMap((part) => {
        const slabs = part.slabs.filter((slab) => slab.order === order);
        return slabs.map((slab) => ({ ...slab, sign: part.sign, share: part.share, quantity: slab.units }));
      });
      const exact = here.reduce((sum, { amount, share }) => add(sum, multiply(amount, share)), ZERO);
      const { rate, numbers } = here.at(-1) ?? { rate: ZERO, numbers: [] };
      const units = subtract(mostOf(here, 1), mostOf(here, -1));
      return { exact, cut: rounded(exact, digits, "FLOOR"), units, rate, numbers };
    });
  const unit = { over: 1n, under: 10n ** BigInt(digits) };
  const missing = divide(subtract(charged, sumOf(slabs, "cut")), unit);
  const byRest = slabs.toSorted((a, b) => compare(subtract(b.exact, b.cut), subtract(a.exact, a.cut)));
  for (const [index, slab] of slabs.entries()) {
    const item = items[index] ?? {};
    const how = record(item["explanation"]);
    const more = compare(whole(byRest.indexOf(slab)), missing) < 0 ? ONE : ZERO;
    on.below(`, line ${index + 1} below`, (at) => {
      at.expect(", type", `${kind}_RATE_CARD_SLAB_AMOUNT`, item["type"]);
      at.expect(", id", line["id"], item["id"]);
      at.expect(", explanation, of", "SLAB", how["of"]);
      at.expect(", description", slab.numbers.map(textOf).join(), numbersIn(item["description"]).join());
      verifyAmount(item, slab.exact, add(slab.cut, multiply(more, unit)), at);
      at.expect(", quantity", slab.units, item["quantity"]);
      at.expect(", valuePerQuantity", slab.rate, item["valuePerQuantity"]);
      at.expect(", exact", slab.exact, how["exact"]);
      at.expect(", digits", whole(digits), how["digits"]);
      at.expect(", missing", more, how["missing"]);
    });
  }
  const count = slabs.length + (compare(value, charged) === 0 ? 0 : 1);
  on.expect(", lines below", count, items.length);
  for (const item of items.slice(slabs.length)) {
    on.below(", adjustment", (at) => {
      const { of, bounded, charged: from } = record(item["explanation"]);
      at.expect(", explanation, of", "BOUNDS", of);
      at.expect(", type", "RATE_CONFIG_ADJUSTMENT_AMOUNT", item["type"]);
      at.expect(", id", line["id"], item["id"]);
      at.expect(", value", subtract(value, charged), item["value"]);
      at.expect(", bounded", value, bounded);
      at.expect(", charged", charged, from);
    });
  }
}

/** The rounded amount of a line, and the exact one beside it where they differ. */
export function verifyAmount(line: Json, exact: Fraction, value: Fraction, on: Look): void {
  on.expect(", value", value, line["value"]);
  on.expect(", exactValue", compare(exact, value) === 0 ? undefined : decimal(exact), line["exactValue"]);
}

/** Amounts are rounded once, as the explanation says, to the digits of the currency (S1.5). */
export function roundingOf(how: Json, digits: number, on: Look): (amount: Fraction) => Fraction {
  const { mode, digits: said } = record(how["rounding"]);
  const known = (["HALF_UP", "HALF_EVEN", "DOWN"] as const).find((each) => each === mode) ?? "HALF_UP";
  on.expect(", rounding, mode", known, mode);
  on.expect(", rounding, digits", whole(digits), said);
  return (amount) => rounded(amount, digits, known);
}

/** Held to a minimum and a maximum, each times a share (S7.4). */
function hold(amount: Fraction, bounds: Json, share: Fraction, on: Look): Fraction {
  const [low, high] = ["minimumRate", "maximumRate"].map((name) => {
    return bounds[name] === undefined ? undefined : multiply(on.read(bounds, name), share);
  });
  const raised = low === undefined ? amount : greatest(amount, low);
  return high === undefined ? raised : least(raised, high);
}

function shareIn(share: unknown): Fraction {
  const { days, of } = record(share);
  return divide(figure(days), figure(of));
}

/** The most units of those with this sign, and no less than none. */
export function mostOf(of: readonly Pick<Part, "sign" | "quantity">[], sign: 1 | -1): Fraction {
  return of.filter((each) => each.sign === sign).reduce((most, { quantity }) => greatest(most, quantity), ZERO);
}
