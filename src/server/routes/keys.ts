/**
 * API keys over HTTP.
 *
 * @module
 */
import * as z from "zod";

import type { KeyAccessControl } from "../access/access.ts";
import { type ApiKey, keyRequest, ROLES } from "../access/keys.ts";
import { answerCreated, type Endpoint, defineEndpoint, SUCCESS } from "../http/endpoint.ts";
import { pathId, formatTime, success, timestamp, withoutAbsent } from "../http/fields.ts";
import { listQuery } from "../http/pagination.ts";
import { createListShape, answerPage } from "../shapes/list.ts";

const fields = {
  id: z.string(),
  name: z.string().max(255),
  role: z.enum(ROLES),
  prefix: z.string().meta({ description: "The first characters of the key." }),
  status: z.enum(["ACTIVE", "REVOKED"]),
  createdAt: timestamp,
  revokedAt: timestamp.optional(),
};
const keyShape = z.strictObject(fields).meta({ id: "ApiKey" });
const createdKeyShape = z
  .strictObject({ ...fields, key: z.string().meta({ description: "The key. It can't be shown again." }) })
  .meta({ id: "CreatedApiKey" });

/** Creates, lists and revokes keys; requires the role admin. */
export function keyEndpoints({ keys }: Pick<KeyAccessControl, "keys">): readonly Endpoint[] {
  return [
    defineEndpoint({
      method: "POST",
      path: "/keys",
      id: "createKey",
      tag: "Credentials",
      summary: "Create an API key",
      access: "keys",
      body: keyRequest,
      answers: { 201: createdKeyShape },
      handle: async ({ body }) => {
        const newKey = await keys.create(body);
        return answerCreated({ ...toKeyJson(newKey), key: newKey.key });
      },
    }),
    defineEndpoint({
      method: "GET",
      path: "/keys",
      id: "listKeys",
      tag: "Credentials",
      summary: "List API keys, newest first",
      access: "keys",
      query: listQuery({}),
      answers: { 200: createListShape(keyShape, "ApiKeyList") },
      handle: async ({ paging, query }) => {
        const request = paging.readRequest({ list: "keys", query });
        const page = await keys.list(request.page);
        return answerPage(request, page, toKeyJson);
      },
    }),
    defineEndpoint({
      method: "DELETE",
      path: "/keys/{key_id}",
      id: "revokeKey",
      tag: "Credentials",
      summary: "Revoke an API key and all its tokens",
      description: "Takes effect at once on this server, and within 5 seconds on others that share the database.",
      access: "keys",
      params: z.strictObject({ key_id: pathId() }),
      answers: { 200: success },
      handle: async ({ params: { key_id: id } }) => {
        await keys.revoke(id);
        return SUCCESS;
      },
    }),
  ];
}

function toKeyJson({ id, name, role, prefix, createdAt, revokedAt }: ApiKey): z.input<typeof keyShape> {
  return withoutAbsent({
    id,
    name,
    role,
    prefix,
    status: revokedAt === undefined ? ("ACTIVE" as const) : ("REVOKED" as const),
    createdAt: formatTime(createdAt),
    revokedAt: revokedAt === undefined ? undefined : formatTime(revokedAt),
  });
}
