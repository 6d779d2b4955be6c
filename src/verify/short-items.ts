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

const MEASURES = [
  { field: "sum", aggregation: "SUM" },
  { field: "max", aggregation: "MAX" },
  { field: "min", aggregation: "MIN" },
  { field: "unique", aggregation: "UNIQUE_COUNT" },
  { field: "latest", aggregation: "LATEST" },
  { field: "level", aggregation: "TIME_WEIGHTED", mode: "LEVEL" },
  { field: "change", aggregation: "TIME_WEIGHTED", mode: "CHANGE" },
];

/** What a short meter measures, and how. */
export function findMeasure(meter: JsonObject): (typeof MEASURES)[number] | undefined {
  return MEASURES.find(({ field }) => (meter[field] ?? undefined) !== undefined);
}

/** The computation of a meter. */
export function toComputation(meter: JsonObject): JsonObject {
  const { where } = meter;
  const { field = "sum" } = findMeasure(meter) ?? {};
  const measured = meter[field];
  const conditions = Object.entries(asObject(where)).map(([dimension, condition]) => {
    const { not } = asObject(condition);
    const values = [toExactNumbers(not ?? condition)].flat().map(toText);
    const isOneOf = { in: [{ var: `dimension.${dimension}` }, values] };
    return not === undefined ? isOneOf : { "!": [isOneOf] };
  });
  return {
    computation:
      typeof measured === "string"
        ? { var: `${field === "unique" ? "dimension" : "attribute"}.${measured}` }
        : measured,
    matcher: conditions.length === 0 ? undefined : { and: conditions },
  };
}
