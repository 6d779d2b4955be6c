/**
 * Features in answers (service-reference: Feature).
 *
 * @module
 */
import * as z from "zod";

import type { Feature } from "../../book/resources/catalog-items.ts";
import type { StoredResource } from "../../engine/configured-resources.ts";
import { formatTime, timestamp, withoutAbsent } from "../http/fields.ts";

export const featureShape = z
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

export function toFeatureJson({ item, createdAt, updatedAt }: StoredResource<Feature>): z.input<typeof featureShape> {
  const { id, name, displayName, billableName, description } = item;
  const schemaAssociations = item.schemaAssociations.map(({ schemaName }) => schemaName);
  return withoutAbsent({
    id,
    name,
    displayName,
    billableName,
    description,
    schemaAssociations,
    schemaAttributes: [...item.schemaAssociations],
    schemaCount: schemaAssociations.length,
    createdAt: formatTime(createdAt),
    updatedAt: formatTime(updatedAt),
  });
}
