/**
 * Features and the event schemas that consume them: every association says which attribute is taken (S11.2).
 *
 * @module
 */
import type { Feature, FeatureAssociation } from "../model/catalog-items.ts";
import type { FeatureDetails } from "../model/metering.ts";
import type { Path } from "../problems.ts";
import type { BookDocument } from "../reading/document.ts";
import { idAt, type Resolving } from "../reading/references.ts";
import type { FeatureDocument } from "../resources/catalog-items.ts";
import { currentSchemas, type EventSchemaDocument } from "../resources/event-schema.ts";
import { shown } from "../sentences.ts";

/** The features of a document, and what each of its event schemas consumes. */
export interface ResolvedFeatures {
  readonly features: readonly Feature[];
  readonly featureDetails: ReadonlyMap<EventSchemaDocument, FeatureDetails>;
}

/** Resolves all features and what event schemas say of them; a schema serves one feature. */
export function resolveFeatures(document: BookDocument, resolving: Resolving): ResolvedFeatures {
  const own = ownDetails(document.eventSchemas, resolving);
  const featureDetails = new Map(own);
  const schemas = currentSchemas(document.eventSchemas);
  const features = document.features.map((feature, at): Feature => {
    const { displayName, schemaAssociations: _, schemaAssocitions: __, ...rest } = feature;
    const given = associationsOf(feature, ["features", at], resolving);
    // A schema that is named twice is associated once.
    const listed = new Set<EventSchemaDocument>();
    return {
      ...rest,
      displayName: displayName ?? feature.billableName ?? feature.name,
      schemaAssociations: given.list.flatMap((association, position): FeatureAssociation[] => {
        const path: Path = ["features", at, given.field, position];
        const named = typeof association === "string" ? { schemaName: association } : association;
        const schemaName = idAt("eventSchemas", named.schemaName, () => path, resolving);
        const schema = schemas.get(schemaName);
        if (schema === undefined) return [];
        const before = featureDetails.get(schema);
        if (before !== undefined && before.featureId !== feature.id) {
          resolving.report(
            path,
            `the event schema ${shown(schemaName)} already serves the feature ${shown(before.featureId)}`,
          );
          return [];
        }
        const attributeName = attributeOf(schema, named.attributeName ?? undefined, before, path, resolving);
        if (attributeName === undefined || listed.has(schema)) return [];
        listed.add(schema);
        featureDetails.set(schema, { featureId: feature.id, attributeName });
        return [{ schemaName, attributeName }];
      }),
    };
  });
  return { features, featureDetails };
}

/** The associations that event schemas have in `featureDetails`. */
function ownDetails(
  schemas: readonly EventSchemaDocument[],
  resolving: Resolving,
): ReadonlyMap<EventSchemaDocument, FeatureDetails> {
  const details = new Map<EventSchemaDocument, FeatureDetails>();
  schemas.forEach((schema, at) => {
    const given = schema.featureDetails;
    if (given === undefined || given === null) return;
    const path: Path = ["eventSchemas", at, "featureDetails"];
    const featureId = idAt("features", given.featureId, () => [...path, "featureId"], resolving);
    const attributeName = attributeOf(schema, given.attributeName, undefined, [...path, "attributeName"], resolving);
    if (attributeName !== undefined) details.set(schema, { featureId, attributeName });
  });
  return details;
}

function associationsOf(
  feature: FeatureDocument,
  path: Path,
  { report }: Resolving,
): { field: string; list: NonNullable<FeatureDocument["schemaAssociations"]> } {
  const { schemaAssociations, schemaAssocitions } = feature;
  const both = (schemaAssociations ?? undefined) !== undefined && (schemaAssocitions ?? undefined) !== undefined;
  if (both) report([...path, "schemaAssocitions"], "expected schemaAssociations or schemaAssocitions, got both");
  if (schemaAssociations !== undefined && schemaAssociations !== null) {
    return { field: "schemaAssociations", list: schemaAssociations };
  }
  return { field: "schemaAssocitions", list: schemaAssocitions ?? [] };
}

/**
 * The attribute that an association takes: the one it names, else the one set before, else the first that is declared, else
 * none, which is an empty name: each event takes 1 (S11.2).
 */
function attributeOf(
  schema: EventSchemaDocument,
  given: string | undefined,
  before: FeatureDetails | undefined,
  path: Path,
  { report }: Resolving,
): string | undefined {
  const declared = schema.attributes.flatMap((attribute) => [attribute.name]);
  if (given === undefined) {
    return before?.attributeName ?? declared[0] ?? "";
  }
  if (before !== undefined && before.attributeName !== given) {
    report(
      path,
      `expected the attribute ${shown(before.attributeName)}, which the event schema ${shown(schema.name)} names in featureDetails, got ${shown(given)}`,
    );
    return undefined;
  }
  const enriched = (schema.enrichments?.fields ?? []).flatMap((field) =>
    field.type === "ATTRIBUTE" ? [field.name] : [],
  );
  if (given === "" || declared.includes(given) || enriched.includes(given)) return given;
  report(
    path,
    `expected an attribute of the event schema ${shown(schema.name)}, declared or enriched, got ${shown(given)}`,
  );
  return undefined;
}
