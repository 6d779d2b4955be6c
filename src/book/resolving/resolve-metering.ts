/**
 * Resolves event schemas and usage meters: parses rules and constants, and resolves settings to full keys.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { type Decimal, formatDecimal, parseValue } from "../../numbers/decimal.ts";
import type { Path, Report } from "../problems.ts";
import { resolveId, type ResolveContext, resolveSettingKey } from "../reading/references.ts";
import type { EventSchemaDocument, EnrichmentField, EventSchema, FeatureDetails } from "../resources/event-schema.ts";
import { readRule } from "../resources/rule-fields.ts";
import type { UsageMeterDocument, Computation, UsageMeter } from "../resources/usage-meter.ts";
import { quoteValue } from "../wording.ts";

/** Resolves one version of an event schema. */
export function resolveEventSchema(
  schema: EventSchemaDocument,
  featureDetails: FeatureDetails | undefined,
  path: Path,
  context: ResolveContext,
): EventSchema {
  const enrichmentsPath = [...path, "enrichments"];
  const dependencies = schema.enrichments?.dependencies ?? [];
  const fields = schema.enrichments?.fields ?? [];
  return {
    ...schema,
    featureDetails,
    enrichments: {
      dependencies: dependencies.map((dependency, index) => ({
        ...dependency,
        // An ARCHIVED version is history: its dependencies may be gone.
        key: resolveSettingKey(
          dependency.key,
          schema.status === "ARCHIVED",
          [...enrichmentsPath, "dependencies", index, "key"],
          context,
        ),
      })),
      fields: mapKeepingHoles(fields, (field, index) =>
        resolveField(field, [...enrichmentsPath, "fields", index, "value"], context.report),
      ),
    },
  };
}

/** Resolves a usage meter. */
export function resolveUsageMeter(meter: UsageMeterDocument, path: Path, context: ResolveContext): UsageMeter {
  return {
    ...meter,
    displayName: meter.displayName ?? meter.billableName ?? meter.name,
    eventSchemaName: resolveId("eventSchemas", meter.eventSchemaName, () => [...path, "eventSchemaName"], context),
    computations: mapKeepingHoles(meter.computations, (step, index) =>
      resolveComputation(step, [...path, "computations", index], context.report),
    ),
  };
}

function resolveComputation(
  step: UsageMeterDocument["computations"][number],
  path: Path,
  report: Report,
): Computation | undefined {
  const { matcher, computation, ...rest } = step;
  const rules: { matcher?: Computation["matcher"]; computation?: Computation["computation"] } = {};
  for (const [field, source] of [
    ["matcher", matcher],
    ["computation", computation],
  ] as const) {
    if (source === undefined || source === null) continue;
    const rule = readRule(source, [...path, field], report);
    if (rule === undefined) return undefined;
    rules[field] = rule;
  }
  return { ...rest, ...rules };
}

function resolveField(
  field: NonNullable<EventSchemaDocument["enrichments"]>["fields"][number],
  path: Path,
  report: Report,
): EnrichmentField | undefined {
  const { enrichmentType, value, ...rest } = field;
  switch (enrichmentType) {
    case "JSON_LOGIC": {
      const rule = readRule(value, path, report);
      return rule === undefined ? undefined : { ...rest, enrichmentType, value: rule };
    }
    case "JSON_LOGIC_FROM_DEPENDENCY":
      if (typeof value === "string") return { ...rest, enrichmentType, value };
      report(path, "WRONG_TYPE", { expected: "the name of a dependency", got: quoteValue(value) });
      return undefined;
    case "VALUE": {
      const constant = readConstant(value, field.type, path, report);
      return constant === undefined ? undefined : { ...rest, enrichmentType, value: constant };
    }
  }
}

function readConstant(
  value: unknown,
  type: EnrichmentField["type"],
  path: Path,
  report: Report,
): Decimal | string | undefined {
  if (type === "DIMENSION" && typeof value === "string") return value;
  try {
    const decimal = parseValue(value);
    return type === "ATTRIBUTE" ? decimal : formatDecimal(decimal);
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
    const expected = type === "ATTRIBUTE" ? "a decimal" : "a string or a decimal";
    report(path, "WRONG_TYPE", { expected, got: quoteValue(value) });
    return undefined;
  }
}

/** Maps a list; undefined results become holes. */
function mapKeepingHoles<T, U>(list: readonly T[], mapItem: (item: T, index: number) => U | undefined): U[] {
  const result: U[] = [];
  result.length = list.length;
  list.forEach((item, index) => {
    const mappedItem = mapItem(item, index);
    if (mappedItem !== undefined) result[index] = mappedItem;
  });
  return result;
}
