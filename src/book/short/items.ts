/** Event schemas, usage meters and accounts in short and in long form (book.md). */
import { formatDecimal, parseDecimal, isJsonObject } from "../../numbers/decimal.ts";
import { account, credit, licenseUpdate, planAssociation } from "../resources/account.ts";
import { eventSchema, usageMeter } from "../resources/event-schema.ts";
import type { LongObject, Written, WrittenObject } from "./expansion.ts";
import {
  DECLARED_FIELDS,
  METER_FIELDS,
  shortenFields,
  hasValue,
  type JsonObject,
  listObjects,
  withoutAbsent,
  readRuleText,
  withoutDefaults,
  ASSOCIATION_FIELDS,
  CREDIT_FIELDS,
  DAYS,
  omitFields,
  replaceField,
} from "./fields.ts";
import { expandDetails } from "./plans.ts";

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

/** The shortest name of an account. */
const NAME_MIN = 3;

/** @param currenciesOf the currencies of a plan, by id or name */
export function expandAccount(
  account: WrittenObject,
  long: LongObject,
  currenciesOf: (plan: unknown) => readonly string[],
): void {
  const id = account.field("id");
  const names = { name: account.field("name") ?? id, customerId: account.field("customerId") ?? id };
  long.copyFields(account.with(names), {}, ["plan", "from", "plans", "licenses", "credits"]);
  if (!account.has("name") && String(id?.value).length < NAME_MIN)
    account.report("name", "MISSING", { expected: "3 to 255 characters", reason: "because the id is shorter" });
  const isMixed = [
    account.rejectBoth(["plan"], ["plans", "pricePlans"]),
    account.rejectBoth(["plans"], ["pricePlans"]),
    account.rejectBoth(["licenses"], ["licenseUpdates"]),
  ].includes(true);
  if (isMixed) return;
  if (account.has("from") && !["plan", "licenses", "credits"].some((field) => account.has(field)))
    account.report("from", "UNEXPECTED_FIELD", { reason: "without a plan, licenses or credits" });
  expandPlans(account, long, currenciesOf);
  // A plan without a first day is reported already.
  const first = findFirstDay(account) ?? (account.has("plan") ? { value: undefined, path: account.path } : undefined);
  if (account.has("licenses")) expandLicenses(account, first, long);
  if (account.has("credits")) long.set(["credits"], [], account.pathOf("credits"));
  for (const [index, credit] of account.list("credits").entries()) {
    if (!credit.has("amount")) long.copy(["credits", index], credit);
    else expandCredit(credit, first, long.addObject(["credits", index], credit.path));
  }
}

function expandPlans(
  account: WrittenObject,
  long: LongObject,
  currenciesOf: (plan: unknown) => readonly string[],
): void {
  if (account.has("plan")) {
    if (!account.has("from"))
      account.report("from", "MISSING", { expected: "the first day of the plan, such as 2026-01-01" });
    long.addObject(["pricePlans", 0], account.path).copyListed(account, ASSOCIATION_FIELDS);
  }
  if (account.has("plans")) long.set(["pricePlans"], [], account.pathOf("plans"));
  for (const [index, association] of account.list("plans").entries()) {
    const made = long.addObject(["pricePlans", index], association.path);
    association.rejectBoth(["override"], ["pricePlanDetailsOverride"]);
    made.copyFields(association, ASSOCIATION_FIELDS, ["override"]);
    if (!association.has("override")) continue;
    const override = association.inner("override");
    const details = made.addObject(["pricePlanDetailsOverride"], override.path);
    expandDetails(override, details, currenciesOf(association.value["plan"]));
  }
}

/** The first day of an account: its own, or that of its first plan. */
function findFirstDay(account: WrittenObject): Written | undefined {
  return account.field("from") ?? account.list("plans")[0]?.field("from");
}

function expandLicenses(account: WrittenObject, first: Written | undefined, long: LongObject): void {
  const licenses = account.inner("licenses");
  let count = 0;
  long.set(["licenseUpdates"], [], licenses.path);
  for (const [licenseId, value] of Object.entries(licenses.value)) {
    const path = licenses.pathOf(licenseId);
    if (!Array.isArray(value) && first === undefined)
      licenses.report(licenseId, "MISSING", {
        expected: "a list of { from, quantity }",
        reason: "because the account has no from",
      });
    const changes = Array.isArray(value)
      ? licenses.list(licenseId)
      : [licenses.inner(licenseId).with({ from: first, quantity: { value, path } })];
    for (const change of changes) {
      const update = long.addObject(["licenseUpdates", count++], change.path);
      update.set(["licenseId"], licenseId, path);
      update.copyFields(change, DAYS);
    }
  }
}

function expandCredit(credit: WrittenObject, first: Written | undefined, long: LongObject): void {
  const from = credit.field("from") ?? first;
  long.copyFields(credit.with({ from }), CREDIT_FIELDS);
  if (from === undefined)
    credit.report("from", "MISSING", { expected: "the first day", reason: "because the account has no from" });
}

/**
 * @param baseCurrency the invoice currency of accounts that say none
 * @param shortenOverride shortens the changes of a plan for one account
 */
export function accountShortenings(
  baseCurrency: string,
  shortenOverride: (plan: unknown, override: JsonObject) => JsonObject,
): readonly Shortening[] {
  return [
    (item) => withoutDefaults(account, item),
    ({ invoiceCurrency, ...others }) => (invoiceCurrency === baseCurrency ? others : undefined),
    shortenAssociations,
    (item) => shortenOverrides(item, shortenOverride),
    shortenLicenses,
    shortenCredits,
    omitName,
  ];
}

/** The plans of an account; the only one is `plan` and `from`, if it says no more. */
function shortenAssociations(item: JsonObject): JsonObject | undefined {
  if (!hasValue(item, "pricePlans")) return undefined;
  const plans = listObjects(item["pricePlans"]).map((association) =>
    shortenFields(withoutDefaults(planAssociation, association), ASSOCIATION_FIELDS),
  );
  const [only = {}, ...more] = plans;
  return replaceField(item, "pricePlans", more.length === 0 && Object.keys(only).length === 2 ? only : { plans });
}

function shortenOverrides(
  item: JsonObject,
  shortenOverride: (plan: unknown, override: JsonObject) => JsonObject,
): JsonObject {
  const plans = listObjects(item["plans"]).map((association) => {
    const override = association["pricePlanDetailsOverride"];
    if (!isJsonObject(override)) return association;
    const short = shortenOverride(association["plan"], override);
    return replaceField(association, "pricePlanDetailsOverride", { override: short });
  });
  return replaceField(item, "plans", { plans });
}

function readFirstDay({ from, plans }: JsonObject): unknown {
  return from ?? listObjects(plans)[0]?.["from"];
}

/** Quantities by license: a number where it begins with the account. */
function shortenLicenses(item: JsonObject): JsonObject | undefined {
  if (!hasValue(item, "licenseUpdates")) return undefined;
  const licenses = new Map<string, JsonObject[]>();
  for (const update of listObjects(item["licenseUpdates"])) {
    const { licenseId, effectiveFrom, quantity, ...others } = withoutDefaults(licenseUpdate, update);
    const changes = licenses.get(String(licenseId)) ?? [];
    licenses.set(String(licenseId), [...changes, { from: effectiveFrom, quantity, ...others }]);
  }
  const first = readFirstDay(item);
  const short = [...licenses].map(([id, changes]) => {
    const [only, ...more] = changes;
    return [id, more.length === 0 && only?.["from"] === first ? only?.["quantity"] : changes];
  });
  return replaceField(item, "licenseUpdates", { licenses: Object.fromEntries(short) });
}

/** Credits without a first day begin with the account. */
function shortenCredits(item: JsonObject): JsonObject | undefined {
  if (!hasValue(item, "credits")) return undefined;
  const first = readFirstDay(item);
  const credits = listObjects(item["credits"]).map((each) => {
    if (hasValue(each, "amount")) return each;
    const short = shortenFields(withoutDefaults(credit, each), CREDIT_FIELDS);
    return short["from"] === first ? omitFields(short, ["from"]) : short;
  });
  return { ...item, credits };
}
