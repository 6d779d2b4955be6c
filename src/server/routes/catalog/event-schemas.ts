/**
 * Event schemas over HTTP (S4.4).
 *
 * @module
 */
import * as z from "zod";

import { declaredFields, eventSchema } from "../../../book/resources/event-schema.ts";
import type { PageOptions } from "../../../engine/pages.ts";
import { answerCreated, type Endpoint, defineEndpoint, answerOk, SUCCESS } from "../../http/endpoint.ts";
import { success, version, withoutAbsent } from "../../http/fields.ts";
import { listQuery } from "../../http/pagination.ts";
import { eventSchemaShape, toEventSchemaJson } from "../../shapes/event-schema.ts";
import { readBoundedPage, createListShape, answerPage } from "../../shapes/list.ts";

const TAG = "Event schemas";
const { name, description, enrichments, eventLevelRevenue } = eventSchema.shape;
const { status } = eventSchemaShape.shape;
/** In its path, `+` means a space like `%20`, because names can contain spaces but no plus. */
const params = z.strictObject({
  event_schema_name: z
    .string()
    .min(1)
    .max(50)
    .transform((text) => text.replaceAll("+", " "))
    .meta({ description: "`+` and `%20` are both a space." }),
});
const answers = { 200: eventSchemaShape };

export const EVENT_SCHEMA_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "POST",
    path: "/event_schema",
    id: "createEventSchema",
    tag: TAG,
    summary: "Create an event schema",
    description: "The event schema starts as a DRAFT; for the name of an archived schema, as its next version.",
    access: "write",
    body: z.strictObject({
      name,
      description,
      attributes: declaredFields,
      dimensions: declaredFields,
      enrichments,
      eventLevelRevenue,
    }),
    answers: { 201: eventSchemaShape },
    handle: async ({ engine, body }) =>
      answerCreated(toEventSchemaJson(await engine.eventSchemas.create(withoutAbsent(body)))),
  }),
  defineEndpoint({
    method: "GET",
    path: "/event_schema",
    id: "listEventSchemas",
    tag: TAG,
    summary: "List the latest version of each event schema, newest first",
    access: "read",
    query: listQuery({ status: status.optional() }),
    answers: { 200: createListShape(eventSchemaShape, "EventSchemaList") },
    handle: async ({ engine, paging, query }) => {
      const request = paging.readRequest({ list: "event_schema", query });
      const listSchemas = (page: PageOptions): ReturnType<typeof engine.eventSchemas.list> =>
        engine.eventSchemas.list({ filter: request.filters, page });
      return answerPage(request, await readBoundedPage(request, listSchemas, toEventSchemaJson));
    },
  }),
  defineEndpoint({
    method: "GET",
    path: "/event_schema/{event_schema_name}",
    id: "getEventSchema",
    tag: TAG,
    summary: "Get an event schema",
    access: "read",
    params,
    query: z.strictObject({ version }),
    answers,
    handle: async ({ engine, params: { event_schema_name: schemaName }, query }) =>
      answerOk(toEventSchemaJson(await engine.eventSchemas.get(schemaName, query.version))),
  }),
  defineEndpoint({
    method: "PATCH",
    path: "/event_schema/{event_schema_name}",
    id: "updateEventSchema",
    tag: TAG,
    summary: "Change an event schema, or move it to another state",
    description:
      "In a DRAFT, lists are replaced. In an ACTIVE schema they are added, which creates the next version; existing " +
      "items stay. `status` changes the state after the other changes.",
    access: "write",
    params,
    body: z.strictObject({
      description,
      status: status.optional(),
      attributes: declaredFields.optional(),
      dimensions: declaredFields.optional(),
      enrichments,
    }),
    answers,
    handle: async ({ engine, params: { event_schema_name: schemaName }, body }) =>
      answerOk(toEventSchemaJson(await engine.eventSchemas.update(schemaName, body))),
  }),
  defineEndpoint({
    method: "GET",
    path: "/event_schema/{event_schema_name}/versions",
    id: "listEventSchemaVersions",
    tag: TAG,
    summary: "List all versions of an event schema, newest first",
    access: "read",
    params,
    query: listQuery({}),
    answers: { 200: createListShape(eventSchemaShape, "EventSchemaVersionList") },
    handle: async ({ engine, paging, params: { event_schema_name: schemaName }, query }) => {
      const request = paging.readRequest({ list: `event_schema_versions:${schemaName}`, query });
      const listSchemas = (page: PageOptions): ReturnType<typeof engine.eventSchemas.versions> =>
        engine.eventSchemas.versions(schemaName, { page });
      return answerPage(request, await readBoundedPage(request, listSchemas, toEventSchemaJson));
    },
  }),
  defineEndpoint({
    method: "POST",
    path: "/event_schema/{event_schema_name}/activate",
    id: "activateEventSchema",
    tag: TAG,
    summary: "Activate an event schema",
    access: "write",
    params,
    answers,
    handle: async ({ engine, params: { event_schema_name: schemaName } }) =>
      answerOk(toEventSchemaJson(await engine.eventSchemas.activate(schemaName))),
  }),
  defineEndpoint({
    method: "POST",
    path: "/event_schema/{event_schema_name}/deactivate",
    id: "deactivateEventSchema",
    tag: TAG,
    summary: "Deactivate an event schema",
    description: "Rejected while an ACTIVE usage meter uses it.",
    access: "write",
    params,
    answers,
    handle: async ({ engine, params: { event_schema_name: schemaName } }) =>
      answerOk(toEventSchemaJson(await engine.eventSchemas.deactivate(schemaName))),
  }),
  defineEndpoint({
    method: "DELETE",
    path: "/event_schema/{event_schema_name}",
    id: "archiveEventSchema",
    tag: TAG,
    summary: "Archive an event schema that is a DRAFT or INACTIVE",
    access: "write",
    params,
    answers: { 200: success },
    handle: async ({ engine, params: { event_schema_name: schemaName } }) => {
      await engine.eventSchemas.archive(schemaName);
      return SUCCESS;
    },
  }),
];
