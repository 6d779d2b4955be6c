/** Short event schemas and usage meters in the long form (book.md). */
import { formatDecimal, parseDecimal } from "../../numbers/decimal.ts";
import type { Path } from "../problems.ts";
import { expandFields } from "./expand-plan.ts";
import { type PriceContext, reportConflict } from "./expand-prices.ts";
import { hasValue, isObject, type JsonObject } from "./written-places.ts";

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

export function expandMeter(meter: JsonObject, path: Path, context: Context): object {
  const { places, report } = context;
  const { id } = meter;
  const rules = { schema: { to: ["eventSchemaName"] } };
  const long = expandFields(meter, rules, new Set(["count", "sum", "where"]), path, places);
  if (!hasValue(meter, "name")) {
    places.setField(long, ["name"], id, [...path, "id"]);
    if (!/^[\w-]*$/.test(String(id)))
      report([...path, "name"], "MISSING", {
        expected: "a name",
        reason: "because the id has characters that a name cannot have",
      });
  }
  const short = ["count", "sum", "where"].find((field) => hasValue(meter, field)) ?? "";
  const pairs = [
    [short, "computations"],
    [short, "aggregation"],
    ["count", "sum"],
  ];
  const isMixed = pairs.some((fields) => reportConflict(meter, fields, path, report));
  if (!isMixed && !hasValue(meter, "computations")) expandComputation(meter, long, path, context);
  return long;
}

/** What a meter counts or adds up, as its only computation. */
function expandComputation(meter: JsonObject, long: object, path: Path, { places, report }: Context): void {
  const { sum, where } = meter;
  if (!hasValue(meter, "sum") && !hasValue(meter, "count"))
    report([...path, "sum"], "MISSING", { expected: 'what the meter adds up, or "count": true' });
  places.setField(long, ["aggregation"], hasValue(meter, "sum") ? "SUM" : "COUNT", path);
  places.setField(long, ["computations", 0, "order"], 1, path);
  if (hasValue(meter, "where")) {
    const wherePath: Path = [...path, "where"];
    if (Object.keys(where as JsonObject).length === 0)
      report(wherePath, "MISSING", { expected: 'a condition, such as { "region": "eu" }' });
    places.setField(long, ["computations", 0, "matcher"], toMatcher(where as JsonObject), wherePath);
  }
  if (!hasValue(meter, "sum")) return;
  const rule = typeof sum === "string" ? { var: `attribute.${sum}` } : sum;
  places.setField(long, ["computations", 0, "computation"], rule, [...path, "sum"]);
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
