/** Event schemas and usage meters in short and in long form (book.md). */
import { formatDecimal, parseDecimal, isJsonObject } from "../../numbers/decimal.ts";
import { eventSchema, usageMeter } from "../resources/event-schema.ts";
import type { LongObject, Written, WrittenObject } from "./expansion.ts";
import { DECLARED_FIELDS, METER_FIELDS, shortenFields } from "./fields.ts";
import { hasValue, type JsonObject, listObjects, withoutAbsent } from "./json-object.ts";
import { readRuleText, withoutDefaults } from "./same-part.ts";

/** The fields of a short schema with computed fields, and the type of each in the long form. */
const COMPUTED = { computed: "ATTRIBUTE", computedDimensions: "DIMENSION" };
const DECLARED = ["attributes", "dimensions"];

export function expandEventSchema(schema: WrittenObject, long: LongObject): void {
  const computed = Object.keys(COMPUTED);
  long.copyFields(schema, {}, [...DECLARED, ...computed]);
  for (const list of DECLARED.filter((field) => schema.has(field))) {
    long.set([list], [], schema.pathOf(list));
    for (const [index, field] of (schema.value[list] as readonly unknown[]).entries()) {
      const written = schema.inner(list, index);
      const declared = long.addObject([list, index], written.path);
      if (isJsonObject(field)) declared.copyFields(written, DECLARED_FIELDS);
      else declared.set(["name"], field, written.path);
    }
  }
  if (schema.rejectBoth(computed, ["enrichments"])) return;
  let count = 0;
  for (const [field, type] of Object.entries(COMPUTED)) {
    const rules = schema.inner(field);
    for (const [name, value] of Object.entries(rules.value)) {
      const path = rules.pathOf(name);
      const enrichment = long.addObject(["enrichments", "fields", count++], path);
      for (const [key, part] of Object.entries({ name, type, value, order: count })) enrichment.set([key], part, path);
    }
  }
}

/** The short fields that say what a meter measures, with their aggregations. */
const MEASURES: Readonly<Record<string, { readonly aggregation: string; readonly mode?: string }>> = {
  count: { aggregation: "COUNT" },
  sum: { aggregation: "SUM" },
  max: { aggregation: "MAX" },
  min: { aggregation: "MIN" },
  unique: { aggregation: "UNIQUE_COUNT" },
  latest: { aggregation: "LATEST" },
  level: { aggregation: "TIME_WEIGHTED", mode: "LEVEL" },
  change: { aggregation: "TIME_WEIGHTED", mode: "CHANGE" },
};
export const METER_MEASURES: readonly string[] = Object.keys(MEASURES);

export function expandMeter(meter: WrittenObject, long: LongObject): void {
  const id = meter.field("id");
  long.copyFields(meter.with({ name: meter.field("name") ?? id }), METER_FIELDS, [...METER_MEASURES, "where"]);
  const reason = "because the id has characters that a name cannot have";
  if (!meter.has("name") && !/^[\w-]*$/.test(String(id?.value)))
    meter.report("name", "MISSING", { expected: "a name", reason });
  if (meter.rejectBoth([...METER_MEASURES, "where"], ["computations", "aggregation"])) return;
  const measures = METER_MEASURES.filter((field) => meter.has(field));
  const [measure = "count", other] = measures;
  if ((other !== undefined && meter.rejectBoth([measure], [other])) || meter.has("computations")) return;
  if (measures.length === 0)
    meter.report("sum", "MISSING", { expected: `"count": true, or one of ${METER_MEASURES.slice(1).join(", ")}` });
  expandMeasure(meter, measure, long);
}

/** The aggregation of a short field, its conditions and its computation. */
function expandMeasure(meter: WrittenObject, measure: string, long: LongObject): void {
  const fields = MEASURES[measure];
  if (fields?.mode !== undefined && meter.rejectBoth([measure], ["mode"])) return;
  for (const [field, value] of Object.entries(fields ?? {})) long.set([field], value, meter.path);
  long.set(["computations", 0, "order"], 1, meter.path);
  const where = meter.field("where");
  if (where !== undefined) expandConditions(meter, where, long);
  const measured = measure === "count" ? undefined : meter.field(measure);
  if (measured !== undefined)
    long.set(["computations", 0, "computation"], toComputation(measured.value, measure), measured.path);
}

function expandConditions(meter: WrittenObject, { value, path }: Written, long: LongObject): void {
  if (Object.keys(value as JsonObject).length === 0)
    meter.report("where", "MISSING", { expected: 'a condition, such as { "region": "eu" }' });
  long.set(["computations", 0, "matcher"], toMatcher(value as JsonObject), path);
}

/** The rule of a short field, which may name a field of events. */
function toComputation(value: unknown, measure: string): unknown {
  return typeof value === "string" ? { var: `${fieldKind(measure)}.${value}` } : value;
}

/** The kind of field that the text of a short field names: different values are mostly those of a dimension. */
function fieldKind(measure: string): string {
  return measure === "unique" ? "dimension" : "attribute";
}

/** The JSON-logic rule of conditions by dimension. */
function toMatcher(where: JsonObject): unknown {
  const conditions = Object.entries(where).map(([dimension, condition]) => {
    const variable = { var: `dimension.${dimension}` };
    if (!isJsonObject(condition)) return toComparison("==", variable, condition);
    const { not } = condition;
    return Array.isArray(not) ? { "!": [toComparison("==", variable, not)] } : toComparison("!=", variable, not);
  });
  return conditions.length === 1 ? conditions[0] : { and: conditions };
}

function toComparison(operator: string, variable: object, value: unknown): object {
  // Dimensions are texts (S4.1).
  const toText = (each: unknown): unknown => (typeof each === "string" ? each : formatDecimal(parseDecimal(each)));
  return Array.isArray(value) ? { in: [variable, value.map(toText)] } : { [operator]: [variable, toText(value)] };
}

/** A change of an item to a shorter form; undefined if there is none. */
export type Shortening = (item: JsonObject) => JsonObject | undefined;

/** Omits a name that is the id. */
export const omitName: Shortening = ({ name, ...others }) => (name === others["id"] ? others : undefined);

export const SCHEMA_SHORTENINGS: readonly Shortening[] = [
  (schema) => withoutDefaults(eventSchema, schema),
  shortenDeclaredFields,
  shortenEnrichments,
];

export const METER_SHORTENINGS: readonly Shortening[] = [
  (meter) => withoutDefaults(usageMeter, meter),
  ({ id, name, ...others }) => {
    const { schema, ...fields } = shortenFields(others, METER_FIELDS);
    return withoutAbsent({ id, name, schema, ...fields });
  },
  shortenComputation,
  omitName,
];

function shortenDeclaredFields(schema: JsonObject): JsonObject {
  const shorten = (field: unknown): unknown => {
    if (!isJsonObject(field)) return field;
    const { name, unit, ...others } = shortenFields(field, DECLARED_FIELDS);
    const short = withoutAbsent({ name, unit, ...others });
    return Object.keys(short).length === 1 ? name : short;
  };
  const lists = DECLARED.filter((list) => Array.isArray(schema[list]));
  return {
    ...schema,
    ...Object.fromEntries(lists.map((list) => [list, (schema[list] as readonly unknown[]).map(shorten)])),
  };
}

function shortenEnrichments({ enrichments, ...others }: JsonObject): JsonObject | undefined {
  if (!isJsonObject(enrichments)) return undefined;
  const fields = listObjects(enrichments["fields"]);
  const computed = Object.entries(COMPUTED).map(([field, type]) => {
    const rules = fields.filter((each) => each["type"] === type).map(({ name, value }) => [name, readRuleText(value)]);
    return [field, rules.length === 0 ? undefined : Object.fromEntries(rules)];
  });
  return withoutAbsent({ ...others, ...Object.fromEntries(computed) });
}

/** The only computation of a meter as `count`, `sum` and `where`. */
function shortenComputation({
  id,
  name,
  schema,
  aggregation,
  mode,
  computations,
  ...others
}: JsonObject): JsonObject | undefined {
  const [only, ...more] = listObjects(computations);
  const measure = METER_MEASURES.find(
    (field) => MEASURES[field]?.aggregation === aggregation && MEASURES[field]?.mode === mode,
  );
  if (only === undefined || more.length > 0 || measure === undefined) return undefined;
  const rule = readRuleText(only["computation"]);
  const where = hasValue(only, "matcher") ? toWhere(readRuleText(only["matcher"])) : undefined;
  const measured = measure === "count" ? true : (readVariable(rule, fieldKind(measure)) ?? rule);
  return withoutAbsent({ id, name, schema, [measure]: measured, where, ...others });
}

/** The name of a field of a kind that a rule reads; undefined for other rules. */
function readVariable(rule: unknown, kind: string): string | undefined {
  const variable = isJsonObject(rule) ? String(rule["var"]) : "";
  return variable.startsWith(`${kind}.`) ? variable.slice(kind.length + 1) : undefined;
}

/** The conditions of a rule by dimension; undefined for other rules. */
function toWhere(matcher: unknown): JsonObject | undefined {
  const all = isJsonObject(matcher) ? matcher["and"] : undefined;
  const conditions = (Array.isArray(all) ? all : [matcher]).map(toCondition);
  return conditions.includes(undefined) ? undefined : Object.fromEntries(conditions as [string, unknown][]);
}

function toCondition(rule: unknown): readonly [dimension: string, condition: unknown] | undefined {
  const [operator, operands] = Object.entries(isJsonObject(rule) ? rule : {})[0] ?? [];
  if (!Array.isArray(operands)) return undefined;
  const [variable, value] = operands as readonly unknown[];
  if (operator === "!") {
    const [dimension, values] = toCondition(variable) ?? [];
    return dimension === undefined ? undefined : [dimension, { not: values }];
  }
  const dimension = readVariable(variable, "dimension");
  return dimension === undefined ? undefined : [dimension, operator === "!=" ? { not: value } : value];
}
