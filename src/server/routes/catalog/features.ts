/**
 * Features over HTTP (S11.2).
 *
 * @module
 */
import * as z from "zod";

import { feature } from "../../../book/resources/catalog-items.ts";
import { label } from "../../../book/resources/fields.ts";
import { type Endpoint, defineEndpoint, answerOk } from "../../http/endpoint.ts";
import { pathId, withoutAbsent } from "../../http/fields.ts";
import { listQuery } from "../../http/pagination.ts";
import { withWireNames } from "../../http/wire-names.ts";
import { featureShape, toFeatureJson } from "../../shapes/feature.ts";
import { createListShape, answerPage } from "../../shapes/list.ts";

const TAG = "Features";
const { name, billableName, schemaAssociations, schemaAssocitions } = feature.shape;
/** Limited in requests only; stored descriptions may be longer. */
const description = label;
const associations = {
  schemaAssocitions: schemaAssocitions.meta({
    description:
      "Names of event schemas, or each with the attribute that says how many credits an event takes; empty: 1.",
  }),
  schemaAssociations: schemaAssociations.meta({ description: "The same, in the other spelling." }),
};
const params = z.strictObject({ feature_id: pathId() });

export const FEATURE_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/features",
    id: "createFeature",
    tag: TAG,
    summary: "Make a feature",
    description:
      "A schema's events take the credits of one feature. A name alone means the first attribute that the schema declares; " +
      "where it declares none, each event takes 1.",
    access: "write",
    body: z.strictObject({ name, billableName, description, ...associations }),
    answers: { 200: featureShape },
    handle: async ({ engine, body }) =>
      answerOk(toFeatureJson(await withWireNames(findSpelling(body), engine.features.create(withoutAbsent(body))))),
  }),
  defineEndpoint({
    method: "GET",
    path: "/features",
    id: "listFeatures",
    tag: TAG,
    summary: "List features, newest first",
    access: "read",
    query: listQuery({}),
    answers: { 200: createListShape(featureShape, "FeatureList") },
    handle: async ({ engine, paging, query }) => {
      const request = paging.readRequest({ list: "features", query });
      return answerPage(request, await engine.features.list({ page: request.page }), toFeatureJson);
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/features/{feature_id}",
    id: "getFeature",
    tag: TAG,
    summary: "Get a feature",
    access: "read",
    params,
    answers: { 200: featureShape },
    handle: async ({ engine, params: { feature_id: id } }) => answerOk(toFeatureJson(await engine.features.get(id))),
  }),
  defineEndpoint({
    method: "PATCH",
    path: "/features/{feature_id}",
    id: "updateFeature",
    tag: TAG,
    summary: "Change a feature",
    description:
      "The associations that are given replace the ones before. A name alone keeps the attribute that is set, else it means " +
      "the first that the schema declares; where it declares none, each event takes 1.",
    access: "write",
    params,
    body: z.strictObject({ name: name.optional(), billableName, description, ...associations }),
    answers: { 200: featureShape },
    handle: async ({ engine, params: { feature_id: id }, body }) =>
      answerOk(toFeatureJson(await withWireNames(findSpelling(body), engine.features.update(id, body)))),
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
