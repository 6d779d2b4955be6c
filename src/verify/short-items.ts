/** Event schemas, meters and accounts in short form (book.md), as the fields of the long form that metering reads. */
import { asObject, formatFraction, isFraction, type JsonObject, toFraction, ZERO } from "./figures.ts";

/** A schema with lists of declared fields, and computed fields as enrichments. */
export function readSchema(schema: JsonObject): JsonObject {
  const { computed, computedDimensions } = schema;
  const fields = [
    ...Object.entries(asObject(computed)).map(([name, value]) => ({ name, value, type: "ATTRIBUTE" })),
    ...Object.entries(asObject(computedDimensions)).map(([name, value]) => ({ name, value, type: "DIMENSION" })),
  ].map((field, order) => ({ ...field, order, enrichmentType: "JSON_LOGIC" }));
  return {
    ...schema,
    attributes: readNames(schema["attributes"]),
    dimensions: readNames(schema["dimensions"]),
    ...(fields.length > 0 && { enrichments: { fields } }),
  };
}

function readNames(fields: unknown): unknown {
  if (!Array.isArray(fields)) return fields;
  return fields.map((field: unknown) => (typeof field === "string" ? { name: field } : field));
}

/** A meter with its computations. */
export function readMeter(meter: JsonObject): JsonObject {
  const { schema, sum, count, where } = meter;
  if ((schema ?? undefined) === undefined) return meter;
  const named = { ...meter, eventSchemaName: schema };
  if ([sum, count].every((field) => (field ?? undefined) === undefined)) return named;
  const conditions = Object.entries(asObject(where)).map(([dimension, condition]) => toCondition(dimension, condition));
  const computation = {
    ...((sum ?? undefined) !== undefined && {
      computation: typeof sum === "string" ? { var: `attribute.${sum}` } : sum,
    }),
    ...(conditions.length > 0 && { matcher: { and: conditions } }),
  };
  return { ...named, aggregation: "computation" in computation ? "SUM" : "COUNT", computations: [computation] };
}

/** The rule of a condition on a dimension: one value, one of several, or neither. */
function toCondition(dimension: string, condition: unknown): unknown {
  const isNegated = !isFraction(condition) && Object.hasOwn(asObject(condition), "not");
  const value = isNegated ? asObject(condition)["not"] : condition;
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isOneOf = {
    in: [
      { var: `dimension.${dimension}` },
      // Dimensions are texts (S4.1).
      values.map((each) => (typeof each === "string" ? each : formatFraction(toFraction(each) ?? ZERO))),
    ],
  };
  return isNegated ? { "!": [isOneOf] } : isOneOf;
}

/** An account with its customer. */
export function readAccount(account: JsonObject): JsonObject {
  const { id, name, customerId } = account;
  return { ...account, name: name ?? id, customerId: customerId ?? id };
}
