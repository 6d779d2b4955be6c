import * as z from "zod";

import { declaredFields, eventSchema } from "../../book/resources/event-schema.ts";
/**
 * Event schemas over HTTP (S4.4).
 *
 * @module
 */
import type { PageOptions } from "../../engine/pages.ts";
import { created, type Endpoint, endpoint, ok, SUCCESS } from "../http/endpoint.ts";
import { success, version, withoutAbsent } from "../http/fields.ts";
import { listQuery } from "../http/pagination.ts";
import { eventSchemaShape, shownEventSchema } from "../shapes/event-schema.ts";
import { boundedPage, listOf, okPage } from "../shapes/list.ts";

const TAG = "Event schemas";
const { name, description, enrichments, eventLevelRevenue } = eventSchema.shape;
const { status } = eventSchemaShape.shape;
/** In its path, `+` is a space as `%20` is: names have spaces and no plus. */
const params = z.strictObject({
  event_schema_name: z
    .string()
    .min(1)
    .max(50)
    .transform((text) => text.replaceAll("+", " "))
    .meta({ description: "`+` and `%20` are both a space." }),
});
const answers = { 200: eventSchemaShape };

/** The endpoints of event schemas. */
export const EVENT_SCHEMA_ENDPOINTS: readonly Endpoint[] = [
  endpoint({
    method: "POST",
    path: "/event_schema",
    id: "createEventSchema",
    tag: TAG,
    summary: "Make an event schema",
    description: "It begins as a DRAFT; of a name that was archived, as its next version.",
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
      created(shownEventSchema(await engine.eventSchemas.create(withoutAbsent(body)))),
  }),
  endpoint({
    method: "GET",
    path: "/event_schema",
    id: "listEventSchemas",
    tag: TAG,
    summary: "List the latest version of each event schema, newest first",
    access: "read",
    query: listQuery({ status: status.optional() }),
    answers: { 200: listOf(eventSchemaShape, "EventSchemaList") },
    handle: async ({ engine, paging, query }) => {
      const asked = paging.open({ list: "event_schema", query });
      const list = (page: PageOptions): ReturnType<typeof engine.eventSchemas.list> =>
        engine.eventSchemas.list({ filter: asked.filters, page });
      return okPage(asked, await boundedPage(asked, list, shownEventSchema));
    },
  }),
  endpoint({
    method: "GET",
    path: "/event_schema/{event_schema_name}",
    id: "getEventSchema",
    tag: TAG,
    summary: "Get an event schema",
    access: "read",
    params,
    query: z.strictObject({ version }),
    answers,
    handle: async ({ engine, params: { event_schema_name: of }, query }) =>
      ok(shownEventSchema(await engine.eventSchemas.get(of, query.version))),
  }),
  endpoint({
    method: "PATCH",
    path: "/event_schema/{event_schema_name}",
    id: "updateEventSchema",
    tag: TAG,
    summary: "Change an event schema, or move it to another state",
    description:
      "Lists of a DRAFT are replaced. While it is ACTIVE they are additions, which make the next version; what is there " +
      "already stays as it is. `status` is a move, made after the other changes.",
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
    handle: async ({ engine, params: { event_schema_name: of }, body }) =>
      ok(shownEventSchema(await engine.eventSchemas.update(of, body))),
  }),
  endpoint({
    method: "GET",
    path: "/event_schema/{event_schema_name}/versions",
    id: "listEventSchemaVersions",
    tag: TAG,
    summary: "List all versions of an event schema, newest first",
    access: "read",
    params,
    query: listQuery({}),
    answers: { 200: listOf(eventSchemaShape, "EventSchemaVersionList") },
    handle: async ({ engine, paging, params: { event_schema_name: of }, query }) => {
      const asked = paging.open({ list: `event_schema_versions:${of}`, query });
      const list = (page: PageOptions): ReturnType<typeof engine.eventSchemas.versions> =>
        engine.eventSchemas.versions(of, { page });
      return okPage(asked, await boundedPage(asked, list, shownEventSchema));
    },
  }),
  endpoint({
    method: "POST",
    path: "/event_schema/{event_schema_name}/activate",
    id: "activateEventSchema",
    tag: TAG,
    summary: "Make an event schema ACTIVE",
    access: "write",
    params,
    answers,
    handle: async ({ engine, params: { event_schema_name: of } }) =>
      ok(shownEventSchema(await engine.eventSchemas.activate(of))),
  }),
  endpoint({
    method: "POST",
    path: "/event_schema/{event_schema_name}/deactivate",
    id: "deactivateEventSchema",
    tag: TAG,
    summary: "Make an event schema INACTIVE",
    description: "Refused while an ACTIVE meter uses it.",
    access: "write",
    params,
    answers,
    handle: async ({ engine, params: { event_schema_name: of } }) =>
      ok(shownEventSchema(await engine.eventSchemas.deactivate(of))),
  }),
  endpoint({
    method: "DELETE",
    path: "/event_schema/{event_schema_name}",
    id: "archiveEventSchema",
    tag: TAG,
    summary: "Archive an event schema that is a DRAFT or INACTIVE",
    access: "write",
    params,
    answers: { 200: success },
    handle: async ({ engine, params: { event_schema_name: of } }) => {
      await engine.eventSchemas.archive(of);
      return SUCCESS;
    },
  }),
];
