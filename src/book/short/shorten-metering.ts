/** Event schemas and usage meters in short form (book.md). */
import { eventSchema, usageMeter } from "../resources/event-schema.ts";
import { readRuleText, withoutDefaults } from "./same-part.ts";
import { listObjects, withoutAbsent } from "./shorten-prices.ts";
import { hasValue, isObject, type JsonObject } from "./written-places.ts";

/** A change of an item to a shorter form; undefined if there is none. */
export type Shortening = (item: JsonObject) => JsonObject | undefined;

export const SCHEMA_SHORTENINGS: readonly Shortening[] = [
  (schema) => withoutDefaults(eventSchema, schema),
  shortenDeclaredFields,
  shortenEnrichments,
];

export const METER_SHORTENINGS: readonly Shortening[] = [
  (meter) => withoutDefaults(usageMeter, meter),
  ({ id, name, eventSchemaName, ...others }) =>
    eventSchemaName === undefined ? undefined : { id, name, schema: eventSchemaName, ...others },
  shortenComputation,
  ({ name, ...others }) => (name === others["id"] ? others : undefined),
];

function shortenDeclaredFields(schema: JsonObject): JsonObject {
  const shorten = (field: unknown): unknown => {
    if (!isObject(field)) return field;
    const { name, defaultUnit, ...others } = withoutAbsent(field as JsonObject);
    const short = withoutAbsent({ name, unit: defaultUnit, ...others });
    return Object.keys(short).length === 1 ? name : short;
  };
  const lists = ["attributes", "dimensions"].filter((list) => Array.isArray(schema[list]));
  const fields = lists.map((list) => [list, (schema[list] as readonly unknown[]).map(shorten)]);
  return { ...schema, ...Object.fromEntries(fields) };
}

function shortenEnrichments(schema: JsonObject): JsonObject | undefined {
  const { enrichments, ...others } = schema;
  if (!isObject(enrichments)) return undefined;
  const fields = listObjects((enrichments as JsonObject)["fields"]);
  const rulesOf = (type: string): JsonObject | undefined => {
    const ofType = fields.filter((field) => field["type"] === type);
    const rules = ofType.map(({ name, value }) => [name, readRuleText(value)] as const);
    return rules.length === 0 ? undefined : Object.fromEntries(rules);
  };
  return withoutAbsent({ ...others, computed: rulesOf("ATTRIBUTE"), computedDimensions: rulesOf("DIMENSION") });
}

/** The only computation of a meter as `count`, `sum` and `where`. */
function shortenComputation(meter: JsonObject): JsonObject | undefined {
  const { id, name, schema, aggregation, computations, ...others } = meter;
  const [only, ...more] = listObjects(computations);
  if (only === undefined || more.length > 0) return undefined;
  const rule = readRuleText(only["computation"]);
  const variable = /^attribute\.(.+)$/s.exec(String(isObject(rule) ? (rule as JsonObject)["var"] : ""));
  const where = hasValue(only, "matcher") ? toWhere(readRuleText(only["matcher"])) : {};
  if (where === undefined) return undefined;
  return withoutAbsent({
    id,
    name,
    schema,
    count: aggregation === "COUNT" ? true : undefined,
    sum: variable?.[1] ?? rule,
    where: hasValue(only, "matcher") ? where : undefined,
    ...others,
  });
}

/** The conditions of a rule by dimension; undefined for other rules. */
function toWhere(matcher: unknown): JsonObject | undefined {
  const all: unknown = isObject(matcher) ? (matcher as JsonObject)["and"] : undefined;
  const conditions = (Array.isArray(all) ? all : [matcher]).map(toCondition);
  return conditions.includes(undefined) ? undefined : Object.fromEntries(conditions as [string, unknown][]);
}

function toCondition(rule: unknown): readonly [dimension: string, condition: unknown] | undefined {
  const [operator, operands] = Object.entries(isObject(rule) ? rule : {})[0] ?? [];
  if (!Array.isArray(operands)) return undefined;
  const [variable, value] = operands as readonly unknown[];
  if (operator === "!") {
    const [dimension, values] = toCondition(variable) ?? [];
    return dimension === undefined ? undefined : [dimension, { not: values }];
  }
  const dimension = /^dimension\.(.+)$/s.exec(String(isObject(variable) ? (variable as JsonObject)["var"] : ""))?.[1];
  if (dimension === undefined) return undefined;
  return [dimension, operator === "!=" ? { not: value } : value];
}
