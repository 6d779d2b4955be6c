/** Short event schemas and usage meters in the long form (book.md). */
import { formatDecimal, parseDecimal } from "../../numbers/decimal.ts";
import type { Path } from "../problems.ts";
import { expandFields, hasValue } from "./expand-plan.ts";
import { type PriceContext, reportConflict } from "./expand-prices.ts";
import { isObject, type JsonObject } from "./written-places.ts";

type Context = Pick<PriceContext, "places" | "report">;

export function expandEventSchema(schema: JsonObject, path: Path, { places, report }: Context): object {
  const computedFields = ["computed", "computedDimensions"];
  const long = expandFields(schema, {}, new Set(["attributes", "dimensions", ...computedFields]), path, places);
  for (const list of ["attributes", "dimensions"]) {
    if (!hasValue(schema, list)) continue;
    const declared = (schema[list] as readonly unknown[]).map((field, index) => {
      const place: Path = [...path, list, index];
      if (typeof field === "string") return places.record({ name: field }, place, { name: place });
      return expandFields(field as JsonObject, { unit: { to: ["defaultUnit"] } }, new Set(), place, places);
    });
    places.setField(long, [list], declared, [...path, list]);
  }
  const present = computedFields.filter((field) => hasValue(schema, field));
  if (present[0] === undefined || reportConflict(schema, [present[0], "enrichments"], path, report)) return long;
  const fields = present.flatMap((field) =>
    Object.entries(schema[field] as JsonObject).map(([name, value]) => ({ field, name, value })),
  );
  const enrichments = fields.map(({ field, name, value }, index) => {
    const place: Path = [...path, field, name];
    const type = field === "computed" ? "ATTRIBUTE" : "DIMENSION";
    return places.record({ name, type, value, order: index + 1 }, place, { value: place, name: place });
  });
  return Object.assign(long, { enrichments: places.record({ fields: enrichments }, path) });
}

export function expandMeter(meter: JsonObject, path: Path, { places, report }: Context): object {
  const { id } = meter;
  const rules = { schema: { to: ["eventSchemaName"] } };
  const long = expandFields(meter, rules, new Set(["count", "sum", "where"]), path, places);
  if (!hasValue(meter, "name") && typeof id === "string" && /^[\w-]*$/.test(id))
    places.setField(long, ["name"], id, [...path, "id"]);
  const short = ["count", "sum", "where"].filter((field) => hasValue(meter, field));
  for (const field of ["computations", "aggregation"])
    if (short[0] !== undefined && reportConflict(meter, [short[0], field], path, report)) return long;
  if (hasValue(meter, "computations")) return long;
  if (reportConflict(meter, ["count", "sum"], path, report)) return long;
  if (!hasValue(meter, "count") && !hasValue(meter, "sum")) {
    report([...path, "sum"], "MISSING", { expected: 'what the meter adds up, or "count": true' });
    return long;
  }
  places.setField(long, ["aggregation"], hasValue(meter, "sum") ? "SUM" : "COUNT", path);
  const { sum, where } = meter;
  places.setField(long, ["computations", 0, "order"], 1, path);
  if (hasValue(meter, "where"))
    places.setField(long, ["computations", 0, "matcher"], toMatcher(where as JsonObject), [...path, "where"]);
  if (hasValue(meter, "sum")) {
    const rule = typeof sum === "string" ? { var: `attribute.${sum}` } : sum;
    places.setField(long, ["computations", 0, "computation"], rule, [...path, "sum"]);
  }
  return long;
}

/** The JSON-logic rule of conditions by dimension. */
export function toMatcher(where: JsonObject): unknown {
  const conditions = Object.entries(where).map(([dimension, condition]) => {
    const variable = { var: `dimension.${dimension}` };
    if (!isObject(condition) || Array.isArray(condition)) return toComparison("==", variable, condition);
    const { not } = condition as JsonObject;
    return Array.isArray(not) ? { "!": [toComparison("==", variable, not)] } : toComparison("!=", variable, not);
  });
  return conditions.length === 1 ? conditions[0] : { and: conditions };
}

function toComparison(operator: string, variable: object, value: unknown): object {
  // Dimensions are texts (S4.1).
  const toText = (each: unknown): unknown => (typeof each === "number" ? formatDecimal(parseDecimal(each)) : each);
  return Array.isArray(value) ? { in: [variable, value.map(toText)] } : { [operator]: [variable, toText(value)] };
}
