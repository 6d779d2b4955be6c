/**
 * The fields of objects in short and in long form: values that are not checked yet, whether two parts mean the same, and
 * which short field has which name and place in the long form.
 */
import type * as z from "zod";

import { hasCode } from "../../errors.ts";
import { isJsonObject, formatDecimal, isDecimalObject } from "../../numbers/decimal.ts";
import { parseJson } from "../../numbers/json.ts";
import type { Path } from "../problems.ts";
import type { AddOn } from "../resources/catalog-items.ts";
import type { CardList } from "../resources/price-plan.ts";

/** An object with any fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a field is present and not null. */
export function hasValue(object: JsonObject, field: string): boolean {
  return (object[field] ?? undefined) !== undefined;
}

/** The value at a path; undefined if absent. */
export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (holder, step) =>
      typeof holder === "object" && holder !== null && Object.hasOwn(holder, step)
        ? Reflect.get(holder, step)
        : undefined,
    value,
  );
}

/** The objects of a list; empty for anything else. */
export function listObjects(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

/** An object without its fields that are null or absent. */
export function withoutAbsent(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => (value ?? undefined) !== undefined));
}

/** An object without some fields. */
export function omitFields(object: JsonObject, fields: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}

/** An object with fields in the place of another. */
export function replaceField(object: JsonObject, field: string, fields: JsonObject): JsonObject {
  const entries = Object.entries(object).flatMap((entry) => (entry[0] === field ? Object.entries(fields) : [entry]));
  return Object.fromEntries(entries);
}

/** A copy of a value in which the object at a path is replaced. */
export function replaceAt(
  value: unknown,
  [step, ...below]: Path,
  replace: (object: JsonObject) => JsonObject,
): unknown {
  if (step === undefined) return isJsonObject(value) ? replace(value) : value;
  if (Array.isArray(value))
    return value.map((item, index) => (index === step ? replaceAt(item, below, replace) : item));
  if (!isJsonObject(value)) return value;
  return { ...value, [step]: replaceAt(value[step], below, replace) };
}

/** Defaults that the schemas do not fill in. */
const UNFILLED_DEFAULTS: JsonObject = {
  anniversaryCycle: false,
  chargeAtZero: false,
  monthOffset: "NIL",
  proratedRefundMode: "NONE",
  retainStartOffsets: false,
};

/** Whether a schema reads two values, and they mean the same. */
export function isSamePart(schema: z.ZodType, first: unknown, second: unknown): boolean {
  const [one, other] = [schema.safeParse(first), schema.safeParse(second)];
  return one.success && other.success && formatComparable(one.data) === formatComparable(other.data);
}

/** A text that is equal for values with the same meaning. */
export function formatComparable(value: unknown): string {
  return JSON.stringify(toComparable(value));
}

function toComparable(value: unknown): unknown {
  if (isDecimalObject(value)) return { decimal: formatDecimal(value) };
  if (Array.isArray(value)) return value.map(toComparable);
  if (!isJsonObject(value)) return value;
  const fields = Object.entries(withRules(withSlabEnds(value))).flatMap(([key, field]) => {
    const comparable = toComparable(field);
    const isEmpty = isJsonObject(comparable) && Object.keys(comparable).length === 0;
    return (comparable ?? undefined) === undefined || isEmpty || UNFILLED_DEFAULTS[key] === comparable
      ? []
      : [[key, comparable] as const];
  });
  return Object.fromEntries(fields.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** An object whose slabs all have an order and, but for the last, an end. */
function withSlabEnds(object: JsonObject): JsonObject {
  const key = ["slabs", "slabDetails"].find((each) => Array.isArray(object[each]));
  if (key === undefined) return object;
  const slabs = object[key] as readonly JsonObject[];
  const complete = slabs.map((slab, index) => ({
    ...slab,
    order: slab["order"] ?? index + 1,
    endAt: slab["endAt"] ?? slabs[index + 1]?.["startAfter"],
  }));
  return { ...object, [key]: complete };
}

/** An object whose rules are objects, where they were written as texts. */
function withRules(object: JsonObject): JsonObject {
  const isComputed = object["enrichmentType"] === "JSON_LOGIC";
  const fields = ["matcher", "computation", ...(isComputed ? ["value"] : [])];
  const rules = fields.filter((field) => typeof object[field] === "string");
  return { ...object, ...Object.fromEntries(rules.map((field) => [field, readRuleText(object[field])])) };
}

/** A rule that may be written as a text. */
export function readRuleText(rule: unknown): unknown {
  if (typeof rule !== "string") return rule;
  try {
    return parseJson(rule);
  } catch (error) {
    if (hasCode(error, "ERR_JSON_INVALID")) return rule;
    throw error;
  }
}

/** An object without its fields that are null or have the value that they have if absent. */
export function withoutDefaults(schema: z.ZodObject, object: JsonObject): JsonObject {
  const isDefault = ([key, value]: readonly [string, unknown]): boolean => {
    if ((value ?? undefined) === undefined) return true;
    const field = Object.hasOwn(schema.shape, key) ? schema.shape[key] : undefined;
    const isSimple = Array.isArray(value) ? value.length === 0 : !isJsonObject(value);
    return field !== undefined && isSimple && isSamePart(field as z.ZodType, value, undefined);
  };
  return Object.fromEntries(Object.entries(object).filter((entry) => !isDefault(entry)));
}

/** A short field in the long form. */
export interface FieldRule {
  /** The path below the long object; a number is the position in a list. */
  readonly to: Path;
  /** The long value of a short one; default the same. */
  readonly toLong?: (value: unknown) => unknown;
  /** The short value of a long one, undefined if there is none; default the same. */
  readonly toShort?: (value: unknown) => unknown;
  /** What a short object must have here, for a message. */
  readonly expected?: string;
}
/** The short fields of an object that have another name or place in the long form. */
export type FieldRules = Readonly<Record<string, FieldRule>>;

/** The fields of a long object with their short names, in their order. */
export function shortenFields(object: JsonObject, rules: FieldRules): JsonObject {
  const fields = Object.entries(object).flatMap(([field, value]) => {
    const short = Object.entries(rules).filter(([, { to }]) => to[0] === field);
    if (short.length === 0) return [[field, value] as const];
    return short.map(([name, { to, toShort }]) => {
      const part = valueAt(object, to) ?? undefined;
      return [name, part === undefined || toShort === undefined ? part : toShort(part)] as const;
    });
  });
  return withoutAbsent(Object.fromEntries(fields));
}

/** A short list of cards. */
export interface ShortCardList {
  readonly long: CardList;
  /** The field of a short card with the priced item. */
  readonly item: "meter" | "id" | "feature";
  /** The type of its add-ons, which need not be listed; absent for other items. */
  readonly addOnType?: AddOn["type"];
  /** The kind of price; cards in long form have its field. */
  readonly price: keyof typeof LONG_PRICES;
  readonly fields: FieldRules;
}
/** The fields of long cards with the price. */
export const LONG_PRICES = { slabs: ["ratePlan", "rateValues"], amounts: ["rateValues"], grant: ["rateDetails"] };

/** A flag for one of two values. */
function choice(to: string, whenTrue: string, whenFalse: string): FieldRule {
  return {
    to: [to],
    toLong: (value) => (value === true ? whenTrue : whenFalse),
    toShort: (value) => (value === whenTrue ? true : undefined),
  };
}

const PRORATE: FieldRule = { to: ["enableProration"], toShort: (value) => (value === true ? true : undefined) };
const TIMING: FieldRule = { to: ["invoiceTiming"], toShort: (value) => (value === "IN_ADVANCE" ? value : undefined) };
const ONCE = choice("type", "ONE_TIME", "RECURRING");
const RECURRENCE: FieldRules = {
  everyCycles: { to: ["recurrenceConfig", "interval"] },
  afterCycles: { to: ["recurrenceConfig", "offset"] },
};
const FEATURE: FieldRules = { feature: { to: ["featureId"] } };

export const SHORT_CARD_LISTS: Readonly<Record<string, ShortCardList>> = {
  usage: {
    long: "usageRateCards",
    item: "meter",
    price: "slabs",
    fields: { meter: { to: ["usageMeterId"] }, prorate: PRORATE },
  },
  fees: {
    long: "fixedFeeRateCards",
    item: "id",
    addOnType: "FIXED_FEE",
    price: "amounts",
    fields: { prorate: PRORATE, timing: TIMING, once: ONCE, ...RECURRENCE },
  },
  licenses: {
    long: "licenseRateCards",
    item: "id",
    addOnType: "LICENSE",
    price: "slabs",
    fields: {
      prorate: PRORATE,
      timing: TIMING,
      max: { to: ["config", "maxQuantity"] },
      refund: choice("proratedRefundMode", "CREDITS", "NONE"),
    },
  },
  entitlements: {
    long: "billingEntitlementRateCards",
    item: "feature",
    price: "slabs",
    fields: {
      ...FEATURE,
      quantity: { to: ["featureConfigs", 0, "featureCreditLimit"], expected: "the units that are granted" },
      for: { to: ["featureConfigs", 0, "effectiveUntil"], expected: "a duration such as P1M" },
      timing: TIMING,
      ...RECURRENCE,
    },
  },
  credits: {
    long: "creditGrantRateCards",
    item: "id",
    addOnType: "CREDIT_GRANT",
    price: "grant",
    fields: {
      for: { to: ["grantDetails", "expiryDuration"] },
      priority: { to: ["grantDetails", "priority"] },
      appliesTo: { to: ["grantDetails", "applicableEntityIds"] },
      timing: TIMING,
      once: ONCE,
      ...RECURRENCE,
    },
  },
  overages: {
    long: "entitlementOverageRateCards",
    item: "feature",
    price: "slabs",
    fields: {
      ...FEATURE,
      max: { to: ["maxQuantity"] },
      everyCycles: { to: ["billingConfig", "interval"] },
      afterCycles: { to: ["billingConfig", "startOffset"] },
    },
  },
};

export const DAYS: FieldRules = { from: { to: ["effectiveFrom"] }, until: { to: ["effectiveUntil"] } };
export const ASSOCIATION_FIELDS: FieldRules = { plan: { to: ["pricePlanId"] }, ...DAYS };
export const CREDIT_FIELDS: FieldRules = { amount: { to: ["creditAmount"] }, ...DAYS };
export const METER_FIELDS: FieldRules = { schema: { to: ["eventSchemaName"] } };
export const DECLARED_FIELDS: FieldRules = { unit: { to: ["defaultUnit"] } };

/** Fields of the long form and their short names, for messages. */
export const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ...[ASSOCIATION_FIELDS, CREDIT_FIELDS, METER_FIELDS, DECLARED_FIELDS]
    .concat(Object.values(SHORT_CARD_LISTS).map(({ fields }) => fields))
    .flatMap((rules) => Object.entries(rules))
    .flatMap(([name, { to }]) => to.map((step) => [String(step), name] as const)),
  ["supportedCurrencies", "currencies"],
  ["minimumRate", "minimum"],
  ["maximumRate", "maximum"],
]);
