/**
 * Resolves features and the event schemas that consume them, with the consumed attribute (S11.2).
 *
 * @module
 */
import type { Path } from "../problems.ts";
import { resolveId, type ResolveContext } from "../reading/references.ts";
import type { BookDocument } from "../resources/book.ts";
import type { FeatureDocument, Feature, FeatureAssociation } from "../resources/catalog-items.ts";
import type { FeatureDetails } from "../resources/event-schema.ts";
import { findCurrentSchemas, type EventSchemaDocument } from "../resources/event-schema.ts";
import { quoteValue } from "../wording.ts";

/** The features of a document, and what each event schema consumes. */
export interface ResolvedFeatures {
  readonly features: readonly Feature[];
  readonly featureDetails: ReadonlyMap<EventSchemaDocument, FeatureDetails>;
}

/** Resolves all features and the feature details of event schemas; a schema can consume only one feature. */
export function resolveFeatures(document: BookDocument, context: ResolveContext): ResolvedFeatures {
  const ownFeatureDetails = readFeatureDetails(document.eventSchemas, context);
  const featureDetails = new Map(ownFeatureDetails);
  const schemas = findCurrentSchemas(document.eventSchemas);
  const features = document.features.map((feature, index): Feature => {
    const { displayName, schemaAssociations: _, schemaAssocitions: __, ...rest } = feature;
    const associations = readAssociations(feature, ["features", index], context);
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
): ReadonlyMap<EventSchemaDocument, FeatureDetails> {
  const details = new Map<EventSchemaDocument, FeatureDetails>();
  schemas.forEach((schema, index) => {
    const schemaDetails = schema.featureDetails;
    if (schemaDetails === undefined || schemaDetails === null) return;
    const path: Path = ["eventSchemas", index, "featureDetails"];
    const featureId = resolveId("features", schemaDetails.featureId, () => [...path, "featureId"], context);
    const attributeName = resolveAttribute(
      schema,
      schemaDetails.attributeName,
      undefined,
      [...path, "attributeName"],
      context,
    );
    if (attributeName !== undefined) details.set(schema, { featureId, attributeName });
  });
  return details;
}

function readAssociations(
  feature: FeatureDocument,
  path: Path,
  { report }: ResolveContext,
): { field: string; list: NonNullable<FeatureDocument["schemaAssociations"]> } {
  const { schemaAssociations, schemaAssocitions } = feature;
  const hasBoth = (schemaAssociations ?? undefined) !== undefined && (schemaAssocitions ?? undefined) !== undefined;
  if (hasBoth)
    report([...path, "schemaAssocitions"], "CONFLICTING_FIELDS", {
      fields: ["schemaAssociations", "schemaAssocitions"],
    });
  if (schemaAssociations !== undefined && schemaAssociations !== null) {
    return { field: "schemaAssociations", list: schemaAssociations };
  }
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
