/** A short plan, and the changes of a plan for one account, in the long form (book.md). */
import type { Path, Report } from "../problems.ts";
import {
  expandFixedRates,
  expandPrice,
  type LongPrice,
  PRICE_FIELDS,
  type PriceContext,
  readAmounts,
  reportConflict,
  toSlabPricing,
} from "./expand-prices.ts";
import { type FieldRules, SHORT_CARD_LISTS, type ShortCardList } from "./short-cards.ts";
import { hasValue, type JsonObject, type WrittenPlaces } from "./written-places.ts";

/** The fields of a plan beside its details. */
const PLAN_FIELDS: ReadonlySet<string> = new Set(["id", "name", "type", "status", "version", "description"]);
/** The short fields of a plan's details, with the long ones. */
export const DETAIL_FIELDS: readonly (readonly [short: string, long: string])[] = [
  ["cycle", "pricingCycleConfig"],
  ["commitment", "minimumCommitment"],
  ...Object.entries(SHORT_CARD_LISTS).map(([short, { long }]) => [short, long] as const),
];

/** @param plan of the right shape */
export function expandPlan(
  plan: JsonObject,
  path: Path,
  context: Omit<PriceContext, "currencies">,
  baseCurrency: string,
): object {
  const { places } = context;
  if (
    !["cycle", "pricingCycleConfig"].some((field) => hasValue(plan, field)) &&
    (plan["status"] ?? "ACTIVE") === "ACTIVE"
  )
    context.report([...path, "cycle"], "MISSING", { expected: "an interval such as MONTHLY" });
  const written = plan["currencies"] as readonly string[] | null | undefined;
  const currencies = written ?? [baseCurrency];
  const isOfPlan = ([key]: readonly [string, unknown]): boolean => PLAN_FIELDS.has(key);
  const details = expandDetails(
    Object.fromEntries(Object.entries(plan).filter((entry) => !isOfPlan(entry) && entry[0] !== "currencies")),
    path,
    { ...context, currencies },
  );
  places.setField(details, ["supportedCurrencies"], currencies, written ? [...path, "currencies"] : path);
  return places.record(
    {
      id: plan["id"],
      name: plan["id"],
      status: "ACTIVE",
      ...Object.fromEntries(Object.entries(plan).filter((entry) => isOfPlan(entry) && entry[1] !== null)),
      pricePlanDetails: details,
    },
    path,
    { name: [...path, hasValue(plan, "name") ? "name" : "id"] },
  );
}

/** The details of a plan, or an override. */
export function expandDetails(details: JsonObject, path: Path, context: PriceContext): object {
  const { places, report } = context;
  const long = places.record<Record<string, unknown>>({}, path);
  for (const [short, longField] of DETAIL_FIELDS) reportConflict(details, [short, longField], path, report);
  for (const [key, value] of Object.entries(details)) {
    if (value === undefined || value === null) continue;
    const place: Path = [...path, key];
    const list = Object.hasOwn(SHORT_CARD_LISTS, key) ? SHORT_CARD_LISTS[key] : undefined;
    if (key === "cycle") places.setField(long, ["pricingCycleConfig"], expandCycle(value, place, places), place);
    else if (key === "commitment") {
      const rateValues = expandFixedRates(details, key, path, context);
      places.setField(long, ["minimumCommitment"], places.record({ rateValues }, place), place);
    } else if (list !== undefined) {
      const cards = (value as readonly JsonObject[]).map((card, index) =>
        expandCard(card, list, [...place, index], context),
      );
      places.setField(long, [list.long], cards, place);
    } else long[key] = value;
  }
  return long;
}

function expandCycle(cycle: unknown, path: Path, places: WrittenPlaces): object {
  const fields: JsonObject = typeof cycle === "string" ? { interval: cycle } : (cycle as JsonObject);
  const { interval, anniversary, gracePeriod } = fields;
  const [day, month] = [fields["day"], fields["month"]] as (string | number | undefined | null)[];
  const long = places.record<Record<string, unknown>>(
    { interval },
    path,
    typeof cycle === "string" ? { interval: path } : {},
  );
  if (anniversary !== true || hasValue(fields, "day") || hasValue(fields, "month")) {
    places.setField(long, ["startOffset", "dayOffset"], String(day ?? 1), [...path, "day"]);
    const isLong = interval !== "WEEKLY" && interval !== "MONTHLY";
    if (isLong || hasValue(fields, "month"))
      places.setField(long, ["startOffset", "monthOffset"], String(month ?? 1), [...path, "month"]);
  }
  if (anniversary === true) places.setField(long, ["anniversaryCycle"], true, [...path, "anniversary"]);
  if (hasValue(fields, "gracePeriod")) long["gracePeriod"] = gracePeriod;
  return long;
}

/** The fields of a usage card with a price table, which is the same in both forms. */
const TABLE_FIELDS = ["rateTable", "rows", "multiply"];

function expandCard(card: JsonObject, list: ShortCardList, path: Path, context: PriceContext): object {
  const { places, report } = context;
  const isGrant = list.price === "grant";
  const other = ["name", ...PRICE_FIELDS, ...(isGrant ? ["amount", "for"] : [])];
  checkFields(card, list.fields, path, report);
  const long = expandFields(card, list.fields, new Set(other), path, places);
  if (isGrant) expandExpiry(card, long, path, context);
  const shortPrice = [...PRICE_FIELDS, "amount"].find((field) => hasValue(card, field) && other.includes(field));
  const longPrice = { slabs: "ratePlan", amounts: "rateValues", grant: "rateDetails" }[list.price];
  if (shortPrice === undefined) {
    if (!hasValue(card, longPrice) && !TABLE_FIELDS.some((field) => hasValue(card, field)))
      report([...path, "rate"], "MISSING", { expected: list.price === "amounts" ? "a rate" : "a rate or tiers" });
    return long;
  }
  if (reportConflict(card, [shortPrice, longPrice, ...TABLE_FIELDS], path, report)) return long;
  if (list.price === "amounts") {
    places.setField(long, ["rateValues"], expandFixedRates(card, "rate", path, context), [...path, "rate"]);
    return long;
  }
  const price = expandPrice(card, path, context);
  if (price === undefined) return long;
  return Object.assign(long, isGrant ? expandGrant(card, price, path, context) : toSlabPricing(price, path, places));
}

/** Short fields and the long field of their objects exclude each other; without the latter, some are required. */
function checkFields(card: JsonObject, rules: FieldRules, path: Path, report: Report): void {
  for (const [key, { to, expected }] of Object.entries(rules)) {
    const longField = String(to[0]);
    if (to.length > 1 && reportConflict(card, [key, longField], path, report)) return;
    if (expected !== undefined && !hasValue(card, key) && !hasValue(card, longField))
      report([...path, key], "MISSING", { expected });
  }
}

/** When the credits of a grant expire. */
function expandExpiry(card: JsonObject, long: object, path: Path, { places, report }: PriceContext): void {
  if (reportConflict(card, ["for", "grantDetails"], path, report) || hasValue(card, "grantDetails")) return;
  const place: Path = [...path, "for"];
  const lasting = card["for"] ?? undefined;
  const expiryType = lasting === undefined ? "NO_EXPIRY" : lasting === "CYCLE" ? "PRICING_CYCLE" : "CUSTOM";
  places.setField(long, ["grantDetails", "expiryType"], expiryType, place);
  if (expiryType === "CUSTOM") places.setField(long, ["grantDetails", "expiryDuration"], lasting, place);
}

/** The price of granted money: for each currency the amount, and slabs with their rates. */
function expandGrant(card: JsonObject, price: LongPrice, path: Path, context: PriceContext): object {
  const { places, report } = context;
  const amounts = readAmounts(card, "amount", path, context);
  if (!hasValue(card, "amount")) report([...path, "amount"], "MISSING", { expected: "the money that is granted" });
  const currencySlabRateDetails = price.rates.map(({ currency, slabRates }) => {
    const amount = amounts?.get(currency);
    const slabDetails = slabRates.map((rate, index) =>
      places.record({ ...price.slabs[index], ...rate }, path, {
        ...places.fieldsOf(price.slabs[index]),
        ...places.fieldsOf(rate),
      }),
    );
    const fields = { creditAmount: amount?.path ?? path };
    return places.record({ currency, creditAmount: amount?.value, slabDetails }, path, fields);
  });
  const rateDetails = { pricingModel: price.pricingModel, currencySlabRateDetails };
  return { rateDetails: places.record(rateDetails, path) };
}

/** An object whose short fields have their long names and places; other fields stay. */
export function expandFields(
  object: JsonObject,
  rules: FieldRules,
  omitted: ReadonlySet<string>,
  path: Path,
  places: WrittenPlaces,
): Record<string, unknown> {
  const long = places.record<Record<string, unknown>>({}, path);
  for (const [key, value] of Object.entries(object)) {
    if (value === undefined || value === null || omitted.has(key)) continue;
    const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
    if (rule === undefined) long[key] = value;
    else places.setField(long, rule.to, rule.toLong?.(value) ?? value, [...path, key]);
  }
  return long;
}
