/** Price plans, and the changes of a plan for one account, in short and in long form (book.md). */
import type * as z from "zod";

import { pricePlan, pricePlanDetails } from "../resources/price-plan.ts";
import type { LongObject, WrittenObject } from "./expansion.ts";
import {
  LONG_PRICES,
  SHORT_CARD_LISTS,
  shortenFields,
  type ShortCardList,
  hasValue,
  type JsonObject,
  listObjects,
  omitFields,
  replaceField,
  valueAt,
  withoutAbsent,
  isSamePart,
  withoutDefaults,
} from "./fields.ts";
import {
  expandAmounts,
  expandPrice,
  GRANT_LAYOUT,
  listShortPrices,
  PRICE_FIELDS,
  checkAmounts,
  GRANTED,
  inCurrency,
  SLAB_LAYOUT,
  toAmount,
} from "./prices.ts";

/** The fields of a plan beside its details. */
const PLAN_FIELDS = ["id", "name", "type", "status", "version", "description"];
/** The short fields of a plan's details, with the long ones. */
const DETAIL_FIELDS: readonly (readonly [short: string, long: string])[] = [
  ["cycle", "pricingCycleConfig"],
  ["commitment", "minimumCommitment"],
  ...Object.entries(SHORT_CARD_LISTS).map(([short, { long }]) => [short, long] as const),
];

export function expandPlan(plan: WrittenObject, long: LongObject, baseCurrency: string): void {
  const isActive = (plan.value["status"] ?? "ACTIVE") === "ACTIVE";
  if (isActive && !plan.has("cycle") && !plan.has("pricingCycleConfig"))
    plan.report("cycle", "MISSING", { expected: "an interval such as MONTHLY" });
  const detailFields = Object.keys(plan.value).filter((field) => !PLAN_FIELDS.includes(field));
  const name = plan.field("name") ?? plan.field("id");
  const status = plan.field("status") ?? { value: "ACTIVE", path: plan.path };
  long.copyFields(plan.with({ name, status }), {}, detailFields);
  const details = long.addObject(["pricePlanDetails"], plan.path);
  const currencies = plan.field("currencies");
  if (currencies === undefined) details.set(["supportedCurrencies"], [baseCurrency], plan.path);
  else details.copy(["supportedCurrencies"], currencies);
  const fields = detailFields.filter((field) => field !== "currencies");
  expandDetails(plan, details, (currencies?.value ?? [baseCurrency]) as readonly string[], fields);
}

/** Expands the details of a plan, or an override. @param fields those that are details */
export function expandDetails(
  details: WrittenObject,
  long: LongObject,
  currencies: readonly string[],
  fields: readonly string[] = Object.keys(details.value),
): void {
  for (const [short, longField] of DETAIL_FIELDS) details.rejectBoth([short], [longField]);
  for (const field of fields) {
    const written = details.field(field);
    if (written === undefined) continue;
    const list = Object.hasOwn(SHORT_CARD_LISTS, field) ? SHORT_CARD_LISTS[field] : undefined;
    if (field === "cycle") expandCycle(details, long.addObject(["pricingCycleConfig"], written.path));
    else if (field === "commitment")
      expandAmounts(details, field, long.addObject(["minimumCommitment"], written.path), currencies);
    else if (list === undefined) long.copy([field], written);
    else {
      long.set([list.long], [], written.path);
      for (const [index, card] of details.list(field).entries())
        expandCard(card, list, long.addObject([list.long, index], card.path), currencies);
    }
  }
}

/** @param details whose cycle is an interval or an object */
function expandCycle(details: WrittenObject, long: LongObject): void {
  const cycle = details.inner("cycle");
  const interval = cycle.field("interval") ?? details.field("cycle");
  const [day, month] = [cycle.value["day"], cycle.value["month"]] as (string | number | null | undefined)[];
  const isAnniversary = cycle.value["anniversary"] === true;
  long.copyFields(cycle.with({ interval }), {}, ["day", "month", "anniversary"]);
  if (!isAnniversary || cycle.has("day") || cycle.has("month")) {
    const hasMonth = !["WEEKLY", "MONTHLY"].includes(String(interval?.value)) || cycle.has("month");
    long.set(["startOffset", "dayOffset"], String(day ?? 1), cycle.pathOf("day"));
    if (hasMonth) long.set(["startOffset", "monthOffset"], String(month ?? 1), cycle.pathOf("month"));
  }
  if (isAnniversary) long.set(["anniversaryCycle"], true, cycle.pathOf("anniversary"));
}

function expandCard(card: WrittenObject, list: ShortCardList, long: LongObject, currencies: readonly string[]): void {
  const isGrant = list.price === "grant";
  const priceFields = isGrant ? [...PRICE_FIELDS, "amount"] : PRICE_FIELDS;
  const longPrice = LONG_PRICES[list.price];
  if (!checkFields(card, list)) return;
  long.copyFields(card, list.fields, ["name", ...priceFields, ...(isGrant ? ["for"] : [])]);
  if (isGrant && !card.has("grantDetails")) expandExpiry(card, long);
  if (card.rejectBoth(priceFields, [...longPrice, ...TABLE_FIELDS]) || TABLE_FIELDS.some((field) => card.has(field)))
    return;
  if (longPrice.some((field) => card.has(field))) {
    const missing = longPrice.find((field) => !card.has(field));
    if (missing !== undefined) card.report(missing, "MISSING", { expected: longPrice.join(" and ") });
    return;
  }
  if (!priceFields.some((field) => card.has(field)))
    card.report("rate", "MISSING", { expected: list.price === "amounts" ? "a rate" : "a rate or tiers" });
  else if (list.price === "amounts") expandAmounts(card, "rate", long, currencies);
  else if (isGrant) expandGrant(card, long, currencies);
  else expandPrice(card, SLAB_LAYOUT, long, currencies);
}

/** The fields of a usage card with a price table, which is the same in both forms. */
const TABLE_FIELDS = ["rateTable", "rows", "multiply"];

/** Reports missing fields, and fields beside the long objects that they are in. @returns whether there are none of these */
function checkFields(card: WrittenObject, { fields }: ShortCardList): boolean {
  return Object.entries(fields).every(([field, { to, expected }]) => {
    const longField = String(to[0]);
    if (expected !== undefined && !card.has(field) && !card.has(longField)) card.report(field, "MISSING", { expected });
    return to.length === 1 || !card.rejectBoth([field], [longField]);
  });
}

/** When the credits of a grant expire. */
function expandExpiry(card: WrittenObject, long: LongObject): void {
  const duration = card.field("for");
  const type = duration === undefined ? "NO_EXPIRY" : duration.value === "CYCLE" ? "PRICING_CYCLE" : "CUSTOM";
  long.set(["grantDetails", "expiryType"], type, card.pathOf("for"));
  if (duration !== undefined && type === "CUSTOM") long.copy(["grantDetails", "expiryDuration"], duration);
}

/** The price of granted money, and the amount in each currency. */
function expandGrant(card: WrittenObject, long: LongObject, currencies: readonly string[]): void {
  if (!card.has("amount")) card.report("amount", "MISSING", { expected: "the money that is granted" });
  checkAmounts(card, ["amount"], currencies);
  for (const [index, currency] of expandPrice(card, GRANT_LAYOUT, long, currencies).entries())
    long.copyListed(inCurrency(card, currency), GRANTED, [...GRANT_LAYOUT.currencies, index]);
}

/** The long form of an item of a list; undefined if it is wrong. */
export type ExpandItem = (list: string, item: JsonObject) => JsonObject | undefined;

/** What details of a plan are shortened with. */
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
  return DETAIL_FIELDS.reduce((short, [name, longName]) => {
    const isLong = hasValue(short, longName);
    const field = isLong ? longName : name;
    const value = short[field] as JsonObject;
    const list = SHORT_CARD_LISTS[name];
    if (!hasValue(short, field) || (list === undefined && !isLong)) return short;
    if (list !== undefined) {
      const cards = listObjects(value).map((card) => shortenCard(card, name, { list, isLong }, context));
      return cards.includes(undefined) ? short : replaceField(short, field, { [name]: cards });
    }
    const shortValue = name === "cycle" ? shortenCycle(value) : toFixedAmount(value);
    return isSameDetail(name, longName, value, shortValue, context)
      ? replaceField(short, field, { [name]: shortValue })
      : short;
  }, details);
}

/** The fixed amount of a fee or commitment. */
function toFixedAmount(holder: JsonObject): unknown {
  return toAmount(holder, ["rateValues"], (index) => ["rateValues", index, "rate"]);
}

/** Whether a detail in short form means the same as the long one. */
function isSameDetail(name: string, longName: string, long: unknown, short: unknown, context: DetailsContext): boolean {
  const schema = (pricePlanDetails.shape as Readonly<Record<string, z.ZodType>>)[longName];
  return schema !== undefined && isSamePart(schema, long, expandDetail(name, longName, short, context));
}

/** The long form of a detail of a plan. */
function expandDetail(name: string, longName: string, value: unknown, { expand, currencies }: DetailsContext): unknown {
  const plan = { id: "plan", status: "DRAFT", currencies, [name]: value };
  return valueAt(expand("pricePlans", plan), ["pricePlanDetails", longName]);
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

/** @param isLong whether the card is in long form; otherwise it may have long fields @returns undefined if it cannot be said */
function shortenCard(
  card: JsonObject,
  name: string,
  { list, isLong }: { readonly list: ShortCardList; readonly isLong: boolean },
  context: DetailsContext,
): JsonObject | undefined {
  const longFields = [...LONG_PRICES[list.price], ...Object.values(list.fields).map(({ to }) => String(to[0]))];
  if (!isLong && !longFields.some((field) => hasValue(card, field))) return card;
  const [long] = isLong ? [card] : listObjects(expandDetail(name, list.long, [card], context));
  const short = listShortCards({ ...long, name: card["name"] }, list).find((each) =>
    isSameDetail(name, list.long, [long], [each], context),
  );
  return isLong ? short : (short ?? card);
}

/** The short forms of a card, the best first: what cannot be said stays long. */
function listShortCards(card: JsonObject, list: ShortCardList): readonly JsonObject[] {
  const longPrice = Object.fromEntries(LONG_PRICES[list.price].map((field) => [field, card[field]]));
  const simpleFields = Object.fromEntries(Object.entries(list.fields).filter(([, { to }]) => to.length === 1));
  return [...listPrices(card, list), longPrice].flatMap((price) =>
    [list.fields, simpleFields].map((rules) => {
      const fields = shortenFields(omitFields(card, LONG_PRICES[list.price]), rules);
      const { [list.item]: item, name, quantity, for: duration, ...others } = fields;
      const isCycle = rules === list.fields && valueAt(card, ["grantDetails", "expiryType"]) === "PRICING_CYCLE";
      // What is sold comes before its price.
      const sold = { quantity, amount: price["amount"], for: isCycle ? "CYCLE" : duration };
      return withoutAbsent({ [list.item]: item, name, ...sold, ...price, ...others });
    }),
  );
}

function listPrices(card: JsonObject, { price }: ShortCardList): readonly JsonObject[] {
  if (price === "amounts") return [{ rate: toFixedAmount(card) }];
  if (price === "slabs") return listShortPrices(card, SLAB_LAYOUT);
  const { currencies } = GRANT_LAYOUT;
  const amount = toAmount(card, currencies, (index) => [...currencies, index, "creditAmount"]);
  return listShortPrices(card, GRANT_LAYOUT).map((each) => ({ amount, ...each }));
}
