/**
 * Resolves event schemas and usage meters: rules are parsed, constants read, settings named by their full key.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { type Decimal, formatDecimal, parseValue } from "../../numbers/decimal.ts";
import type { Computation, EnrichmentField, EventSchema, FeatureDetails, UsageMeter } from "../model/metering.ts";
import type { Path, Report } from "../problems.ts";
import { idAt, type Resolving, settingKeyAt } from "../reading/references.ts";
import type { EnrichmentFieldDocument, EventSchemaDocument } from "../resources/event-schema.ts";
import { ruleAt } from "../resources/rule-fields.ts";
import type { ComputationDocument, UsageMeterDocument } from "../resources/usage-meter.ts";
import { shown } from "../sentences.ts";

/** Resolves one version of an event schema. */
export function resolveEventSchema(
  schema: EventSchemaDocument,
  featureDetails: FeatureDetails | undefined,
  path: Path,
  resolving: Resolving,
): EventSchema {
  const at = [...path, "enrichments"];
  const dependencies = schema.enrichments?.dependencies ?? [];
  const fields = schema.enrichments?.fields ?? [];
  return {
    ...schema,
    featureDetails,
    enrichments: {
      dependencies: dependencies.map((dependency, index) => ({
        ...dependency,
        // An ARCHIVED version is history: what it depended on may be gone.
        key: settingKeyAt(
          dependency.key,
          schema.status === "ARCHIVED",
          [...at, "dependencies", index, "key"],
          resolving,
        ),
      })),
      fields: holeyMap(fields, (field, index) =>
        resolveField(field, [...at, "fields", index, "value"], resolving.report),
      ),
    },
  };
}

/** Resolves a usage meter. */
export function resolveUsageMeter(meter: UsageMeterDocument, path: Path, resolving: Resolving): UsageMeter {
  return {
    ...meter,
    displayName: meter.displayName ?? meter.billableName ?? meter.name,
    eventSchemaName: idAt("eventSchemas", meter.eventSchemaName, () => [...path, "eventSchemaName"], resolving),
    computations: holeyMap(meter.computations, (step, index) =>
      resolveComputation(step, [...path, "computations", index], resolving.report),
    ),
  };
}

function resolveComputation(step: ComputationDocument, path: Path, report: Report): Computation | undefined {
  const { matcher, computation, ...rest } = step;
  const rules: { matcher?: Computation["matcher"]; computation?: Computation["computation"] } = {};
  for (const [field, source] of [
    ["matcher", matcher],
    ["computation", computation],
  ] as const) {
    if (source === undefined || source === null) continue;
    const rule = ruleAt(source, [...path, field], report);
    if (rule === undefined) return undefined;
    rules[field] = rule;
  }
  return { ...rest, ...rules };
}

function resolveField(field: EnrichmentFieldDocument, path: Path, report: Report): EnrichmentField | undefined {
  const { enrichmentType, value, ...rest } = field;
  switch (enrichmentType) {
    case "JSON_LOGIC": {
      const rule = ruleAt(value, path, report);
      return rule === undefined ? undefined : { ...rest, enrichmentType, value: rule };
    }
    case "JSON_LOGIC_FROM_DEPENDENCY":
      if (typeof value === "string") return { ...rest, enrichmentType, value };
      report(path, `expected the name of a dependency, got ${shown(value)}`);
      return undefined;
    case "VALUE": {
      const constant = constantOf(value, field.type, path, report);
      return constant === undefined ? undefined : { ...rest, enrichmentType, value: constant };
    }
  }
}

function constantOf(
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
    report(path, `expected ${type === "ATTRIBUTE" ? "a decimal" : "a text or a decimal"}, got ${shown(value)}`);
    return undefined;
  }
}

/** Maps a list; what comes out as undefined becomes a hole. */
function holeyMap<T, U>(list: readonly T[], change: (item: T, index: number) => U | undefined): U[] {
  const result: U[] = [];
  result.length = list.length;
  list.forEach((item, index) => {
    const changed = change(item, index);
    if (changed !== undefined) result[index] = changed;
  });
  return result;
}
