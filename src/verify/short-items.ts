/** Fields and meters in short form (book.md), as the parts of the long form that metering reads. */
import { asObject, asText, type JsonObject } from "./figures.ts";
import { toExactNumbers, toText } from "./rules.ts";

/** The names of declared fields. */
export function listNames(fields: unknown): readonly string[] {
  return Array.isArray(fields) ? fields.map((field) => asText(field) || asText(asObject(field)["name"])) : [];
}

/** The computed fields of a schema. */
export function listComputedFields({ computed, computedDimensions }: JsonObject): readonly JsonObject[] {
  const types = [["ATTRIBUTE", computed] as const, ["DIMENSION", computedDimensions] as const];
  return types.flatMap(([type, fields]) =>
    Object.entries(asObject(fields)).map(([name, value]) => ({ name, type, value, enrichmentType: "JSON_LOGIC" })),
  );
}

/** The computation of a meter. */
export function toComputation({ sum, where }: JsonObject): JsonObject {
  const conditions = Object.entries(asObject(where)).map(([dimension, condition]) => {
    const { not } = asObject(condition);
    const values = [toExactNumbers(not ?? condition)].flat().map(toText);
    const isOneOf = { in: [{ var: `dimension.${dimension}` }, values] };
    return not === undefined ? isOneOf : { "!": [isOneOf] };
  });
  return {
    computation: typeof sum === "string" ? { var: `attribute.${sum}` } : sum,
    matcher: conditions.length === 0 ? undefined : { and: conditions },
  };
}
