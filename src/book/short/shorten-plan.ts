/** A price plan, and the changes of a plan for one account, in short form (book.md). */
import { pricePlan, pricePlanDetails } from "../resources/price-plan.ts";
import { DETAIL_FIELDS } from "./expand-plan.ts";
import { isSamePart, withoutDefaults } from "./same-part.ts";
import { SHORT_CARD_LISTS, type ShortCardList } from "./short-cards.ts";
import { listShortPrices, listObjects, toAmount, withoutAbsent } from "./shorten-prices.ts";
import { hasValue, isObject, type JsonObject } from "./written-places.ts";

/** The long form of an item of a list; undefined if it is wrong. */
export type ExpandItem = (list: string, item: JsonObject) => JsonObject | undefined;

/** What details of a plan are written with. */
interface DetailsContext {
  readonly expand: ExpandItem;
  readonly currencies: unknown;
}

/** A plan without details, if they can be said in short form; else unchanged. */
export function shortenPlan(plan: JsonObject, baseCurrency: string, expand: ExpandItem): JsonObject {
  const long = expand("pricePlans", plan);
  if (long === undefined) return plan;
  const details = (long["pricePlanDetails"] ?? {}) as JsonObject;
  const flat = hasValue(plan, "pricePlanDetails") ? flattenPlan(plan, details, baseCurrency) : plan;
  const currencies = details["supportedCurrencies"] ?? [baseCurrency];
  const candidate = shortenDetails(flat, { expand, currencies });
  return isSamePart(pricePlan, long, expand("pricePlans", candidate)) ? candidate : plan;
}

/** The fields of a plan and its details in one object; drafts say so, active plans and usual currencies do not. */
function flattenPlan(plan: JsonObject, details: JsonObject, baseCurrency: string): JsonObject {
  const { pricePlanDetails: _, status, name, id, ...others } = withoutDefaults(pricePlan, plan);
  const { supportedCurrencies, pricingCycleConfig, ...prices } = withoutDefaults(pricePlanDetails, details);
  const isUsual = JSON.stringify(supportedCurrencies) === JSON.stringify([baseCurrency]);
  return withoutAbsent({
    id,
    name: name === id ? undefined : name,
    status: status === "ACTIVE" ? undefined : (status ?? "DRAFT"),
    ...others,
    currencies: isUsual ? undefined : supportedCurrencies,
    pricingCycleConfig,
    ...prices,
  });
}

/** Details or an override with the short names of all fields that have one and can be said. */
export function shortenDetails(details: JsonObject, context: DetailsContext): JsonObject {
  let short = details;
  for (const [name, longName] of DETAIL_FIELDS) {
    const list = Object.hasOwn(SHORT_CARD_LISTS, name) ? SHORT_CARD_LISTS[name] : undefined;
    const field = list === undefined || hasValue(details, longName) ? longName : name;
    if (!hasValue(details, field)) continue;
    const value = details[field];
    const shortValue =
      list !== undefined
        ? shortenCards(value, { name, list, isLong: field === longName }, context)
        : name === "cycle"
          ? shortenCycle(value as JsonObject)
          : toAmount(listObjects((value as JsonObject)["rateValues"]), "rate");
    const isSaid = list !== undefined || isSameDetail(name, longName, { long: value, short: shortValue }, context);
    if (shortValue !== undefined && isSaid) short = replaceField(short, field, { [name]: shortValue });
  }
  return short;
}

/** Whether a detail is the same in both forms. */
function isSameDetail(
  name: string,
  longName: string,
  value: { readonly long: unknown; readonly short: unknown },
  context: DetailsContext,
): boolean {
  const schema = pricePlanDetails.shape[longName as keyof typeof pricePlanDetails.shape];
  return isSamePart(schema, value.long, expandDetail(name, longName, value.short, context));
}

/** The long form of a detail, from a plan with nothing else. */
function expandDetail(name: string, longName: string, value: unknown, { expand, currencies }: DetailsContext): unknown {
  const plan = expand("pricePlans", { id: "plan", status: "DRAFT", currencies, [name]: value });
  return ((plan?.["pricePlanDetails"] ?? {}) as JsonObject)[longName];
}

/** An object with fields in the place of another. */
export function replaceField(object: JsonObject, field: string, fields: JsonObject): JsonObject {
  const entries = Object.entries(object).flatMap((entry) => (entry[0] === field ? Object.entries(fields) : [entry]));
  return Object.fromEntries(entries);
}

function shortenCycle(config: JsonObject): unknown {
  const { interval, startOffset, anniversaryCycle, gracePeriod } = config;
  const { dayOffset, monthOffset } = (startOffset ?? {}) as JsonObject;
  const toOffset = (offset: unknown): unknown =>
    typeof offset === "string" && /^\d{1,2}$/.test(offset) ? Number(offset) : offset;
  const isFirst = (offset: unknown): boolean => offset === undefined || toOffset(offset) === 1 || offset === "NIL";
  const isAnniversary = anniversaryCycle === true;
  const cycle = withoutAbsent({
    interval,
    day: isFirst(dayOffset) && !(isAnniversary && startOffset) ? undefined : toOffset(dayOffset),
    month: isFirst(monthOffset ?? undefined) ? undefined : toOffset(monthOffset),
    anniversary: isAnniversary ? true : undefined,
    gracePeriod,
  });
  return Object.keys(cycle).length === 1 ? interval : cycle;
}

/** A list of cards. */
interface CardsPlace {
  readonly name: string;
  readonly list: ShortCardList;
  /** Whether the cards are in long form; otherwise they may have long fields. */
  readonly isLong: boolean;
}

/** @returns undefined if a card cannot be said in short form */
function shortenCards(cards: unknown, place: CardsPlace, context: DetailsContext): readonly unknown[] | undefined {
  const short = listObjects(cards).map((card) => shortenCard(card, place, context));
  return short.includes(undefined) ? undefined : short;
}

function shortenCard(card: JsonObject, { name, list, isLong }: CardsPlace, context: DetailsContext): unknown {
  const { long: longName, fields } = list;
  const longFields = new Set([...PRICES[list.price], "grantDetails", ...Object.values(fields).map(({ to }) => to[0])]);
  if (!isLong && !Object.keys(card).some((field) => longFields.has(field) && !Object.hasOwn(fields, field)))
    return card;
  const long = isLong ? [card] : expandDetail(name, longName, [card], context);
  const short = listShortCards(card, list).find((each) =>
    isSameDetail(name, longName, { long, short: [each] }, context),
  );
  const isShorter = short !== undefined && Object.keys(short).some((field) => !Object.hasOwn(card, field));
  return isLong || isShorter ? short : card;
}

/** The fields with the price of a long card. */
const PRICES = { slabs: ["ratePlan", "rateValues"], amounts: ["rateValues"], grant: ["rateDetails"] } as const;

/** The short forms of a card, the best first: what cannot be said stays long. */
function listShortCards(card: JsonObject, list: ShortCardList): readonly JsonObject[] {
  const longPrice = Object.fromEntries(PRICES[list.price].map((field) => [field, card[field]]));
  const prices = [...listPrices(card, list), longPrice];
  return prices.flatMap((price) => [false, true].map((keepsObjects) => shortenFields(card, list, price, keepsObjects)));
}

/**
 * A card with the short names of its fields.
 *
 * @param keepsObjects whether fields inside objects of the long form stay there
 */
function shortenFields(card: JsonObject, list: ShortCardList, price: JsonObject, keepsObjects: boolean): JsonObject {
  const short: Record<string, unknown> = { [list.item]: card[list.item] };
  const omitted = new Set<unknown>([...PRICES[list.price], list.item]);
  if (list.price === "grant" && !keepsObjects) {
    short["for"] = readExpiry(card["grantDetails"]);
    omitted.add("grantDetails");
  }
  for (const [name, { to, toShort }] of Object.entries(list.fields)) {
    if (keepsObjects && to.length > 1) continue;
    const value = to.reduce<unknown>((part, step) => (isObject(part) ? Reflect.get(part, step) : undefined), card);
    omitted.add(to[0]);
    short[name] = (value ?? undefined) === undefined ? card[name] : toShort ? toShort(value) : value;
  }
  const { [list.item]: item, quantity, for: duration, ...fields } = short;
  const others = Object.entries(card).filter(([field]) => !omitted.has(field));
  // What is sold comes before its price.
  const sold = list.price === "grant" ? {} : { quantity, for: duration };
  return withoutAbsent({
    [list.item]: item,
    ...sold,
    ...price,
    for: duration,
    ...fields,
    ...Object.fromEntries(others),
  });
}

function listPrices(card: JsonObject, { price }: ShortCardList): readonly JsonObject[] {
  const { ratePlan, rateValues, rateDetails } = card;
  const rates = listObjects(rateValues);
  if (price === "amounts" && rates.length > 0) return [{ rate: toAmount(rates, "rate") }];
  if (price === "slabs" && isObject(ratePlan)) {
    const { pricingModel, slabs } = ratePlan as JsonObject;
    return listShortPrices({ pricingModel, slabs: listObjects(slabs), rates });
  }
  if (price !== "grant" || !isObject(rateDetails)) return [];
  const { pricingModel, currencySlabRateDetails } = rateDetails as JsonObject;
  const currencies = listObjects(currencySlabRateDetails);
  // The slabs of all currencies are the same, but for their rates.
  const toSlabs = (details: JsonObject): readonly JsonObject[] =>
    listObjects(details["slabDetails"]).map((slab, index) => ({ ...slab, order: slab["order"] ?? index + 1 }));
  const slabs = toSlabs(currencies[0] ?? {});
  const slabRates = currencies.map((details) => ({ currency: details["currency"], slabRates: toSlabs(details) }));
  const amount = toAmount(currencies, "creditAmount");
  return listShortPrices({ pricingModel, slabs, rates: slabRates }).map((each) => ({ amount, ...each }));
}

function readExpiry(grantDetails: unknown): unknown {
  const { expiryType, expiryDuration } = (grantDetails ?? {}) as JsonObject;
  return expiryType === "PRICING_CYCLE" ? "CYCLE" : expiryDuration;
}
