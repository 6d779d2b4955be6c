/** Features over HTTP (S11.2). */
import * as z from "zod";

import { type Feature, feature } from "../../../book/resources/catalog-items.ts";
import { label } from "../../../book/resources/fields.ts";
import type { StoredResource } from "../../../engine/configured-resources.ts";
import { toAnswer } from "../../http/answers.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { withWireNames } from "../../http/failures.ts";
import { formatTime, timestamp, withoutAbsent } from "../../http/fields.ts";
import { ResourceEndpoints } from "../resource-endpoints.ts";

const featureShape = z
  .strictObject({
    id: z.string(),
    name: z.string().max(255),
    displayName: z.string().max(255).meta({ description: "The billableName, else the name." }),
    billableName: z.string().max(255).optional(),
    description: z.string().optional(),
    schemaAssociations: z.array(z.string()).max(50).meta({ description: "Names of event schemas." }),
    schemaAttributes: z
      .array(z.strictObject({ schemaName: z.string(), attributeName: z.string() }))
      .max(50)
      .meta({
        description:
          "The attribute of each schema with the credits that an event consumes; empty: each event consumes 1.",
      }),
    schemaCount: z.int().min(0).max(50),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: "Feature" });

function toFeatureJson({ item, createdAt, updatedAt }: StoredResource<Feature>): z.input<typeof featureShape> {
  return toAnswer(featureShape, {
    ...item,
    schemaAssociations: item.schemaAssociations.map(({ schemaName }) => schemaName),
    schemaAttributes: item.schemaAssociations,
    schemaCount: item.schemaAssociations.length,
    createdAt: formatTime(createdAt),
    updatedAt: formatTime(updatedAt),
  });
}

const { name, billableName, schemaAssociations, schemaAssocitions } = feature.shape;
/** Limited in requests only; stored descriptions may be longer. */
const description = label;
const associations = {
  schemaAssocitions: schemaAssocitions.meta({
    description:
      "Names of event schemas, or each with the attribute that contains the credits an event consumes; if it is empty, each event consumes 1.",
  }),
  schemaAssociations: schemaAssociations.meta({ description: "The same field, spelled correctly." }),
};
const FEATURES = new ResourceEndpoints<StoredResource<Feature>>({
  tag: "Features",
  path: "/features",
  methods: (engine) => engine.features,
  idName: "feature_id",
  shape: featureShape,
  toJson: toFeatureJson,
});

export const FEATURE_ENDPOINTS: readonly Endpoint[] = [
  FEATURES.create({
    id: "createFeature",
    summary: "Create a feature",
    description:
      "The events of a schema consume credits of one feature. If only the schema's name is given, its first attribute is used; " +
      "if it has none, each event consumes 1.",
    body: z.strictObject({ name, billableName, description, ...associations }),
    status: 200,
    run: (engine, body) => withWireNames(findSpelling(body), engine.features.create(withoutAbsent(body))),
  }),
  FEATURES.list({ id: "listFeatures", summary: "List features, newest first", answerId: "FeatureList" }),
  FEATURES.get({ id: "getFeature", summary: "Get a feature" }),
  FEATURES.update({
    id: "updateFeature",
    summary: "Change a feature",
    description:
      "Associations replace the existing ones. If only the schema's name is given, the current attribute is kept. Without one, " +
      "the schema's first attribute is used; if it has none, each event consumes 1.",
    body: z.strictObject({ name: name.optional(), billableName, description, ...associations }),
    run: (engine, id, body) => withWireNames(findSpelling(body), engine.features.update(id, body)),
  }),
];

/** The field names that a request uses, for errors. */
function findSpelling(body: {
  readonly schemaAssociations?: unknown;
  readonly schemaAssocitions?: unknown;
}): Readonly<Record<string, string>> {
  const usesReferenceSpelling = (body.schemaAssociations ?? undefined) === undefined;
  return usesReferenceSpelling ? { schemaAssociations: "schemaAssocitions" } : {};
}
