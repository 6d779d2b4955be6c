/** API keys and tokens over HTTP (service-reference: Authentication). */
import * as z from "zod";

import type { KeyAccessControl } from "../access/access.ts";
import { type ApiKey, keyRequest, ROLES } from "../access/keys.ts";
import { createListShape, answerPage, toAnswer } from "../http/answers.ts";
import { answerCreated, type Endpoint, defineEndpoint, SUCCESS, answerOk } from "../http/endpoint.ts";
import { Refusal } from "../http/failures.ts";
import { pathId, formatTime, success, timestamp } from "../http/fields.ts";
import { listQuery } from "../http/pagination.ts";

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

/** Issues tokens; creates, lists and revokes keys, which requires the role admin. */
export function keyEndpoints(access: KeyAccessControl): readonly Endpoint[] {
  const { keys } = access;
  return [
    authenticateEndpoint(access),
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
        return answerPage(request, { ...page, items: page.items.map(toKeyJson) });
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

function toKeyJson(key: ApiKey): z.input<typeof keyShape> {
  const { createdAt, revokedAt } = key;
  return toAnswer(keyShape, {
    ...key,
    status: revokedAt === undefined ? "ACTIVE" : "REVOKED",
    createdAt: formatTime(createdAt),
    revokedAt: revokedAt === undefined ? undefined : formatTime(revokedAt),
  });
}

/** Issues a token for the calling key. */
function authenticateEndpoint(access: KeyAccessControl): Endpoint {
  return defineEndpoint({
    method: "POST",
    path: "/authenticate",
    id: "authenticate",
    tag: "Credentials",
    summary: "Create a token",
    description:
      "A JWT, valid for 24 hours unless its key is revoked before. A request with a token returns that token.",
    access: "any",
    answers: { 200: z.strictObject({ token: z.string() }).meta({ id: "Token" }) },
    handle: async ({ caller, credential }) => {
      if (caller === undefined || credential === undefined) throw new Refusal(401, "expected a credential");
      return answerOk({ token: await access.tokenFor({ caller, credential }) });
    },
  });
}
