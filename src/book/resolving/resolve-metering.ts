/**
 * Resolves event schemas, usage meters and features: parses rules and constants, and resolves settings to full keys (S11.2).
 */
import { hasCode, RatebookError } from "../../errors.ts";
import { type Decimal, formatDecimal, parseValue } from "../../numbers/decimal.ts";
import { parseRule, type Rule } from "../../rules/rule.ts";
import { mapKeepingHoles, type Path, type Report, quoteValue } from "../problems.ts";
import { resolveId, type ResolveContext, resolveSettingKey } from "../reading/references.ts";
import type { BookDocument } from "../resources/book.ts";
import type { FeatureDocument, Feature, FeatureAssociation } from "../resources/catalog-items.ts";
import {
  type EventSchemaDocument,
  type EnrichmentField,
  type EventSchema,
  type FeatureDetails,
  type UsageMeterDocument,
  type Computation,
  type UsageMeter,
  findCurrentSchemas,
} from "../resources/event-schema.ts";

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
  const { groupBy, ...others } = meter;
  return {
    ...others,
    ...(groupBy ? { groupBy } : {}),
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

/** Resolves all features, and what each event schema consumes: only one feature. */
export function resolveFeatures(
  document: BookDocument,
  context: ResolveContext,
): {
  readonly features: readonly Feature[];
  readonly featureDetails: ReadonlyMap<EventSchemaDocument, FeatureDetails>;
} {
  const featureDetails = readFeatureDetails(document.eventSchemas, context);
  const schemas = findCurrentSchemas(document.eventSchemas);
  const features = document.features.map((feature, index): Feature => {
    const { displayName, schemaAssociations: _, schemaAssocitions: __, ...rest } = feature;
    const associations = readAssociations(feature, ["features", index], context.report);
    // A schema that is named twice is associated once.
    const associatedSchemas = new Set<EventSchemaDocument>();
    return {
      ...rest,
      displayName: displayName ?? feature.billableName ?? feature.name,
      schemaAssociations: associations.list.flatMap((association, position): FeatureAssociation[] => {
        const path: Path = ["features", index, associations.field, position];
        const reference = typeof association === "string" ? { schemaName: association } : association;
        const schemaName = resolveId("eventSchemas", reference.schemaName, () => path, context);
        const schema = schemas.get(schemaName);
        if (schema === undefined) return [];
        const before = featureDetails.get(schema);
        if (before !== undefined && before.featureId !== feature.id) {
          context.report(path, "NOT_UNIQUE", {
            what: "event schema",
            other: `the feature ${quoteValue(before.featureId)}`,
          });
          return [];
        }
        const attributeName = resolveAttribute(schema, reference.attributeName ?? undefined, before, path, context);
        if (attributeName === undefined || associatedSchemas.has(schema)) return [];
        associatedSchemas.add(schema);
        featureDetails.set(schema, { featureId: feature.id, attributeName });
        return [{ schemaName, attributeName }];
      }),
    };
  });
  return { features, featureDetails };
}

/** The associations in the `featureDetails` of event schemas. */
function readFeatureDetails(
  schemas: readonly EventSchemaDocument[],
  context: ResolveContext,
): Map<EventSchemaDocument, FeatureDetails> {
  const details = new Map<EventSchemaDocument, FeatureDetails>();
  schemas.forEach((schema, index) => {
    const own = schema.featureDetails;
    if (!own) return;
    const path: Path = ["eventSchemas", index, "featureDetails"];
    const featureId = resolveId("features", own.featureId, () => [...path, "featureId"], context);
    const place = [...path, "attributeName"];
    const attributeName = resolveAttribute(schema, own.attributeName, undefined, place, context);
    if (attributeName !== undefined) details.set(schema, { featureId, attributeName });
  });
  return details;
}

/** The associations of a feature, and the field that has them. */
function readAssociations({ schemaAssociations, schemaAssocitions }: FeatureDocument, path: Path, report: Report) {
  const fields = ["schemaAssociations", "schemaAssocitions"];
  if (schemaAssociations && schemaAssocitions) report([...path, "schemaAssocitions"], "CONFLICTING_FIELDS", { fields });
  if (schemaAssociations) return { field: "schemaAssociations", list: schemaAssociations };
  return { field: "schemaAssocitions", list: schemaAssocitions ?? [] };
}

/**
 * The attribute of an association: its own, else the previously set one, else the first declared one, else none, as an
 * empty name: each event consumes 1 (S11.2).
 */
function resolveAttribute(
  schema: EventSchemaDocument,
  attributeName: string | undefined,
  before: FeatureDetails | undefined,
  path: Path,
  { report }: ResolveContext,
): string | undefined {
  const declaredNames = schema.attributes.flatMap((attribute) => [attribute.name]);
  if (attributeName === undefined) {
    return before?.attributeName ?? declaredNames[0] ?? "";
  }
  if (before !== undefined && before.attributeName !== attributeName) {
    const params = {
      options: [before.attributeName],
      reason: "the attribute in featureDetails",
      got: quoteValue(attributeName),
    };
    report(path, "NOT_AN_OPTION", params);
    return undefined;
  }
  const enrichedNames = (schema.enrichments?.fields ?? []).flatMap((field) =>
    field.type === "ATTRIBUTE" ? [field.name] : [],
  );
  if (attributeName === "" || declaredNames.includes(attributeName) || enrichedNames.includes(attributeName))
    return attributeName;
  const resources = [`attribute of the event schema ${quoteValue(schema.name)}`];
  report(path, "UNKNOWN_REFERENCE", { resources, got: quoteValue(attributeName) });
  return undefined;
}

/** Parses the rule in a field; an invalid one is reported and undefined. */
export function readRule(source: unknown, path: Path, report: Report): Rule | undefined {
  try {
    return parseRule(source);
  } catch (error) {
    if (!hasCode(error, "ERR_RULE_INVALID")) throw error;
    report(path, error.details.reason, { reason: error.message });
    return undefined;
  }
}
