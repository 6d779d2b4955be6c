/**
 * What the lines of a card should be: its quantities priced again (S7), by days (S8), rounded once (S1.5).
 *
 * @module
 */
import {
  add,
  ceiling,
  compare,
  divide,
  figure,
  type Fraction,
  greatest,
  isFraction,
  type Json,
  kept,
  least,
  list,
  modeOf,
  multiply,
  ONE,
  record,
  rounded,
  subtract,
  text,
  textOf,
  ZERO,
} from "./figures.ts";

const KINDS = ["USAGE", "FIXED_FEE", "LICENSE", "BILLING_ENTITLEMENT", "ENTITLEMENT_OVERAGE", "CREDIT_GRANT"] as const;
const PRICES = ["FLAT", "PER_UNIT", "PACKAGE"] as const;
const DAY_MS = 86_400_000;

/** Days of a natural period. */
interface Share {
  readonly days: Fraction;
  readonly of: Fraction;
}
/** The whole of it. */
export const WHOLE: Share = { days: ONE, of: ONE };

/** A slab of one part, priced, and as it should be explained. */
interface Slab {
  readonly order: string;
  readonly units: Fraction;
  readonly amount: Fraction;
  readonly expected: Json;
}

/** A part of a charge, and as it should be explained. */
interface Part {
  readonly sign: number;
  /** Below 0 where the price is taken off. */
  readonly share: Fraction;
  readonly quantity: Fraction;
  readonly slabs: readonly Slab[];
  /** Before its own bounds and its share, and after its bounds. */
  readonly price: Fraction;
  readonly held: Fraction;
  readonly expected: Json;
}

export function expectedCard(
  line: Json,
  how: Json,
  invoice: Json,
  digits: number,
): Json & { readonly lineItems: readonly Json[] } {
  const kind = kindOf(line) ?? "";
  const parts = partsOf(how, kind);
  const total = (price: (part: Part) => Fraction): Fraction =>
    parts.reduce((sum, part) => add(sum, multiply(price(part), part.share)), ZERO);
  const least = (amount: Fraction): Fraction => (how["least"] === undefined ? amount : greatest(amount, ZERO));
  const priced = total(({ price }) => price);
  const charged = least(priced);
  const share = kind === "BILLING_ENTITLEMENT" || kind === "CREDIT_GRANT" ? WHOLE : shareOfPeriod(how);
  const bounds = how["bounds"] === undefined ? {} : boundsIn(record(how["bounds"]));
  const exact = hold(least(total(({ held }) => held)), bounds, divide(share.days, share.of));
  const mode = modeOf(how);
  const round = (amount: Fraction): Fraction => rounded(amount, digits, mode);
  return {
    ...kept(line, "id", "description"),
    type: cardType(kind, invoice["invoiceType"] !== "STANDARD"),
    value: round(exact),
    ...exactText(exact, round(exact)),
    ...(kind === "FIXED_FEE" ? {} : { quantity: quantityOf(line, how, parts, invoice) }),
    explanation: {
      of: "CARD",
      ...kept(how, "rules"),
      parts: parts.map(({ expected }) => expected),
      ...(how["least"] === undefined ? {} : { least: ZERO }),
      ...(how["chargedBefore"] === undefined ? {} : { chargedBefore: figure(how["chargedBefore"]) }),
      ...(how["bounds"] === undefined ? {} : { bounds: { ...bounds, share } }),
      ...periodsOf(how, kind, invoice),
      exact,
      rounding: { mode, digits: figure(digits) },
    },
    lineItems: itemsBelow(line, compare(charged, priced) > 0 ? [] : parts, {
      charged: round(charged),
      value: round(exact),
      digits,
    }),
  };
}

/** The quantity of a card's line: what is priced less what was paid already. */
function quantityOf(line: Json, how: Json, parts: readonly Part[], invoice: Json): Fraction | string {
  const most = (sign: number): Fraction =>
    mostOf(parts.filter((part) => part.sign === sign).map(({ quantity }) => quantity));
  // An increase counts above what was charged, not above what paid for it (S10.3).
  if (how["least"] !== undefined) {
    const above = subtract(most(1), figure(how["chargedBefore"]));
    return above.over > 0n || parts.length === 0 ? above : "more than was charged before";
  }
  const priced = subtract(most(1), most(-1));
  const used = kindOf(line) === "USAGE" ? figure(usageLine(invoice, line["id"])?.["quantity"] ?? 0) : priced;
  // Below zero is priced as zero (S7.5).
  return compare(greatest(used, ZERO), priced) === 0 ? used : "the quantity that was priced";
}

/** The most of these units, and no less than none. */
function mostOf(units: readonly Fraction[]): Fraction {
  return units.reduce(greatest, ZERO);
}

/** The lines below a card: slabs cut down, missing units to the largest remainders (S1.5), and what bounds changed (S7.4). */
function itemsBelow(
  line: Json,
  parts: readonly Part[],
  { charged, value, digits }: { charged: Fraction; value: Fraction; digits: number },
): readonly Json[] {
  const items = list(line["lineItems"]);
  const all = parts.flatMap((part) => part.slabs.map((slab) => ({ ...slab, part })));
  const orders = [...new Set(all.map(({ order }) => order))].toSorted((a, b) => Number(a) - Number(b));
  const slabs = orders.map((order) => {
    const here = all.filter((slab) => slab.order === order);
    const most = (sign: number): Fraction =>
      mostOf(here.filter(({ part }) => part.sign === sign).map(({ units }) => units));
    const exact = here.reduce((sum, { amount, part }) => add(sum, multiply(amount, part.share)), ZERO);
    return {
      expected: here.at(-1)?.expected ?? {},
      units: subtract(most(1), most(-1)),
      exact,
      cut: rounded(exact, digits, "FLOOR"),
    };
  });
  const unit = divide(ONE, figure(10 ** digits));
  const lacking = subtract(
    charged,
    slabs.reduce((sum, { cut }) => add(sum, cut), ZERO),
  );
  const missing = rounded(divide(lacking, unit), 0, "DOWN").over;
  const byRest = slabs.toSorted((a, b) => compare(subtract(b.exact, b.cut), subtract(a.exact, a.cut)));
  const expected = slabs.map((slab, index): Json => {
    const more = byRest.indexOf(slab) < missing ? ONE : ZERO;
    const rounded = add(slab.cut, multiply(more, unit));
    return {
      id: line["id"],
      type: `${kindOf(line) ?? ""}_RATE_CARD_SLAB_AMOUNT`,
      description: wordsOf(slab.expected),
      value: rounded,
      ...exactText(slab.exact, rounded),
      quantity: slab.units,
      valuePerQuantity: slab.expected["rate"],
      explanation: { of: "SLAB", ...rulesOf(items[index]), exact: slab.exact, digits: figure(digits), missing: more },
    };
  });
  const adjustment = subtract(value, charged);
  if (adjustment.over === 0n) return expected;
  const explanation = { of: "BOUNDS", ...rulesOf(items[slabs.length]), bounded: value, charged };
  const description = "adjustment to the card's minimum or maximum";
  return [
    ...expected,
    { id: line["id"], type: "RATE_CONFIG_ADJUSTMENT_AMOUNT", description, value: adjustment, explanation },
  ];
}

/** The quantities or the fee of a card, priced. */
function partsOf(how: Json, kind: string): readonly Part[] {
  const given = list(how["parts"]);
  const period = shareOfPeriod(how);
  const difference = how["least"] !== undefined;
  let left = period.days;
  return given.map((part, index): Part => {
    // A price that was paid already is taken off that of the part before, for the same days (S10.3).
    const paid = difference && / already paid/.test(text(part["because"]));
    const sign = paid ? -1 : 1;
    const said = record((paid ? given[index - 1] : part)?.["share"]);
    const [saidDays, saidOf] = [figure(said["days"]), figure(said["of"])];
    // The runs of days of a license make up the period (S10.2); an increase is for the days that its sentence says.
    const days = difference || index < given.length - 1 ? saidDays : left;
    left = subtract(left, saidDays);
    const whole = compare(saidDays, ONE) === 0 && compare(saidOf, ONE) === 0;
    const prorated = !whole && (kind === "FIXED_FEE" || kind === "LICENSE");
    const share = prorated ? { days: kind === "LICENSE" ? days : period.days, of: period.of } : WHOLE;
    const price = kind === "FIXED_FEE" ? priceOfFee(part) : priceOfQuantity(part, kind);
    const quantity = figure(part["quantity"]);
    const expected = {
      because: becauseOf(text(part["because"]), quantity, share),
      sign: figure(sign),
      share,
      ...price.expected,
    };
    return { ...price, quantity, sign, share: multiply(figure(sign), divide(share.days, share.of)), expected };
  });
}

type Price = Pick<Part, "slabs" | "price" | "held" | "expected">;

function priceOfFee(part: Json): Price {
  const rate = figure(part["rate"]);
  return { slabs: [], price: rate, held: rate, expected: { rate } };
}

function priceOfQuantity(part: Json, kind: string): Price {
  const quantity = figure(part["quantity"]);
  const slabs = slabsOf(part, quantity);
  const price = slabs.reduce((sum, { amount }) => add(sum, amount), ZERO);
  const bounds = part["bounds"] === undefined || kind !== "LICENSE" ? undefined : boundsIn(record(part["bounds"]));
  const missing = slabs.length === 0 && quantity.over !== 0n;
  const expected = {
    quantity,
    pricingModel: part["pricingModel"] === "VOLUME" ? "VOLUME" : "TIERED",
    slabs: missing ? "the slabs that are reached" : slabs.map((slab) => slab.expected),
    ...(bounds === undefined ? {} : { bounds }),
  };
  return { slabs, price, held: bounds === undefined ? price : hold(price, bounds, ONE), expected };
}

/** The slabs that a quantity reaches (S7.2, S7.5), and what each costs (S7.3, S7.4). */
function slabsOf(part: Json, quantity: Fraction): readonly Slab[] {
  const tiered = part["pricingModel"] !== "VOLUME";
  const given = list(part["slabs"]).slice(0, tiered ? Infinity : 1);
  let start = ZERO;
  return given.map((slab, index) => {
    const last = index === given.length - 1;
    const startAfter = tiered ? start : figure(slab["startAfter"]);
    const endAt = slab["endAt"] === undefined ? undefined : figure(slab["endAt"]);
    start = endAt ?? start;
    const first = startAfter.over === 0n;
    // At quantity zero only the first slab can be reached (S7.5).
    const reached = compare(quantity, startAfter) > 0 || (quantity.over === 0n && first);
    const ends = endAt === undefined ? last : compare(endAt, startAfter) > 0 && compare(quantity, endAt) > 0 !== last;
    const units = tiered ? subtract(last ? quantity : start, startAfter) : quantity;
    const order = tiered ? figure(index + 1) : figure(slab["order"]);
    const { amount, terms } = priceOfSlab(slab, units);
    const expected: Json = {
      order: first === (compare(order, ONE) === 0) ? order : "1 for the first slab alone",
      startAfter: reached && ends ? startAfter : "the start of a slab that holds the quantity",
      ...(endAt === undefined ? {} : { endAt }),
      quantity: units,
      ...terms,
      amount,
    };
    return { order: textOf(order), units, amount, expected };
  });
}

/** What units cost in a slab: by its rate, with its flat rate, held to its bounds (S7.3, S7.4). */
function priceOfSlab(slab: Json, units: Fraction): { readonly amount: Fraction; readonly terms: Json } {
  const rate = figure(slab["rate"]);
  const flatRate = figure(slab["flatRate"]);
  const packageSize = figure(slab["packageSize"]);
  const packages = ceiling(divide(units, packageSize));
  const priceType = PRICES.find((each) => each === slab["priceType"]) ?? "FLAT";
  const price = priceType === "FLAT" ? rate : multiply(rate, priceType === "PACKAGE" ? packages : units);
  const bounds = boundsIn(slab);
  const terms = {
    priceType,
    rate,
    ...(priceType === "PACKAGE" ? { packageSize, packages } : {}),
    ...(slab["flatRate"] === undefined ? {} : { flatRate }),
    ...bounds,
  };
  return { amount: hold(add(price, flatRate), bounds, ONE), terms };
}

/** The rules that an explanation cites are its own words. */
function rulesOf(item: Json | undefined): Json {
  return kept(record(item?.["explanation"]), "rules");
}

/** A slab in words: which units it prices, and how. */
function wordsOf({ startAfter, endAt, priceType, packageSize }: Json): string {
  const start = textOf(figure(startAfter));
  const range =
    endAt === undefined
      ? start === "0"
        ? "all units"
        : `above ${start}`
      : `above ${start} to ${textOf(figure(endAt))}`;
  const price =
    { FLAT: "flat", PER_UNIT: "per unit" }[text(priceType)] ?? `per package of ${textOf(figure(packageSize))}`;
  return `${range}, ${price}`;
}

/** The served and the natural period: whole days, one inside the other (S6.7). */
function periodsOf(how: Json, kind: string, { startDate, endDate }: Json): Json {
  const [served, natural] = [record(how["served"]), record(how["natural"])];
  const inside = text(natural["from"]) <= text(served["from"]) && text(served["until"]) <= text(natural["until"]);
  const whole = daysOf(served) >= 0 && daysOf(natural) > 0 && inside;
  return {
    served: kind === "USAGE" ? { from: startDate, until: endDate } : served,
    natural: whole ? natural : "whole days that hold the served ones",
  };
}

/** The days of a charge's served and natural periods. */
export function shareOfPeriod(how: Json): Share {
  return { days: figure(daysOf(record(how["served"]))), of: figure(daysOf(record(how["natural"]))) };
}

/** A part's sentence with the quantity and the days that it should name. */
function becauseOf(words: string, quantity: Fraction, { days, of }: Share): string {
  return words
    .replace(/^-?[\d.]+/, textOf(quantity))
    .replace(/\d+ of \d+ days/, `${textOf(days)} of ${textOf(of)} days`);
}

function boundsIn(holder: Json): Json {
  const names = ["minimumRate", "maximumRate"].filter((name) => holder[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, figure(holder[name])]));
}

/** Held to a minimum and a maximum, each times a share (S7.4). */
function hold(amount: Fraction, { minimumRate, maximumRate }: Json, share: Fraction): Fraction {
  const held = isFraction(minimumRate) ? greatest(amount, multiply(minimumRate, share)) : amount;
  return isFraction(maximumRate) ? least(held, multiply(maximumRate, share)) : held;
}

/** The exact amount stands beside the rounded one where they differ. */
function exactText(exact: Fraction, value: Fraction): Json {
  return compare(exact, value) === 0 ? {} : { exactValue: textOf(exact) };
}

/** The usage of a meter that an invoice shows. */
export function usageLine(invoice: Json, meterId: unknown): Json | undefined {
  return list(record(invoice["usageInfo"])["lineItems"]).find(({ id }) => id === meterId);
}

/** `USAGE` of a usage card's line; undefined of a line that is no card's. */
export function kindOf({ type }: Json): (typeof KINDS)[number] | undefined {
  return KINDS.find((kind) => type === cardType(kind, false) || type === cardType(kind, true));
}

/** The type of a card's line (S13.2). */
function cardType(kind: string, inAdvance: boolean): string {
  if (inAdvance) return kind === "FIXED_FEE" ? "ADVANCED_FIXED_FEE" : `ADVANCED_${kind}_RATE_CARD_AMOUNT`;
  return `${kind}_RATE_CARD_AMOUNT`;
}

/** The days of a period of whole UTC days; −1 of anything else. */
export function daysOf({ from, until }: Json): number {
  const days = (Date.parse(text(until)) - Date.parse(text(from))) / DAY_MS;
  const whole = [from, until].every((each) => /^\d{4}-\d\d-\d\dT00:00:00\.000Z$/.test(text(each)));
  return whole && Number.isInteger(days) ? days : -1;
}
