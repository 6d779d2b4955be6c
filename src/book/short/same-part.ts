/** Whether two parts of a book mean the same: absent, null and the default are equal (book.md). */
import type * as z from "zod";

import { hasCode } from "../../errors.ts";
import { formatDecimal, isDecimalObject, isJsonObject } from "../../numbers/decimal.ts";
import { parseJson } from "../../numbers/json.ts";
import { type JsonObject } from "./json-object.ts";

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
