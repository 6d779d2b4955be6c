/** The service: liveness, readiness, the OpenAPI document, the playground, and API keys and tokens (service-reference: Authentication). */
import * as z from "zod";

import type { Engine } from "../../engine/engine.ts";
import { RatebookError } from "../../errors.ts";
import { stringifyJson } from "../../numbers/json.ts";
import { readPage, readPolicy, embedData } from "../../pages/page-file.ts";
import { findFirstPlanDay, createStateFromBook } from "../../pages/play-state.ts";
import type { KeyAccessControl } from "../access/access.ts";
import { type ApiKey, keyRequest, ROLES } from "../access/credentials.ts";
import { createListShape, answerPage, toAnswer } from "../http/answers.ts";
import { type Endpoint, defineEndpoint, SUCCESS, JSON_TYPE, answerCreated, answerOk } from "../http/endpoint.ts";
import { Refusal } from "../http/failures.ts";
import { success, pathId, timestamp } from "../http/fields.ts";
import { listQuery } from "../http/pagination.ts";

/** How long the store may take to answer, in milliseconds. */
const READY_MS = 3000;

/** The maximum length of the price plans in the page, as JSON. The page can only edit a few of them. */
const PRICE_PLANS_LENGTH = 1 << 20;

const HEALTH_ENDPOINTS = [
  defineEndpoint({
    method: "GET",
    path: "/health",
    id: "health",
    tag: "Service",
    summary: "Check whether the server runs",
    access: "public",
    answers: { 200: success },
    handle: async () => SUCCESS,
  }),
  defineEndpoint({
    method: "GET",
    path: "/ready",
    id: "ready",
    tag: "Service",
    summary: "Check whether the server and its database are available",
    access: "public",
    answers: { 200: success },
    handle: async ({ engine }) => {
      await withTimeout(READY_MS, engine.store.read.configurationRevision());
      return SUCCESS;
    },
  }),
];

/** The page, for callers with read permission. It is a single file and sends nothing back. */
const PLAYGROUND_ENDPOINT = defineEndpoint({
  method: "GET",
  path: "/play",
  id: "playground",
  tag: "Service",
  summary: "Get the playground with the organization's price plans",
  description:
    "An HTML page in which you change plans and usage and see the invoice. It contains the products, the newest account " +
    "that has a price plan, with its customer and credits, that account's plans, and the newest other plans, up to " +
    "1 MiB of plans in total. It contains no usage, and sends nothing.",
  answers: { 200: "html" },
  handle: async ({ engine }) => {
    const html = embedData(await readPage("play"), JSON.stringify({ state: await readPageState(engine) }));
    return {
      status: 200,
      body: html,
      contentType: "text/html; charset=utf-8",
      headers: { "content-security-policy": readPolicy(html) },
    };
  },
});

/** @param serializeDocument returns the OpenAPI document for a base URL as JSON */
export function serviceEndpoints(serializeDocument: (baseUrl: string) => Promise<string>): readonly Endpoint[] {
  return [
    ...HEALTH_ENDPOINTS,
    defineEndpoint({
      method: "GET",
      path: "/openapi.json",
      id: "openApi",
      tag: "Service",
      summary: "Get this document",
      access: "public",
      answers: {
        200: z.looseObject({ openapi: z.string(), info: z.looseObject({}), paths: z.looseObject({}) }).meta({
          id: "OpenApi",
          description: "An OpenAPI 3.1 document.",
        }),
      },
      handle: async ({ baseUrl }) => {
        const body = await serializeDocument(baseUrl());
        return { status: 200, body, contentType: JSON_TYPE };
      },
    }),
    PLAYGROUND_ENDPOINT,
  ];
}

async function withTimeout(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new RatebookError("ERR_STORE_UNAVAILABLE", "the database does not answer", {})),
      milliseconds,
    );
  });
  try {
    await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

async function readPageState(engine: Engine): Promise<ReturnType<typeof createStateFromBook>> {
  const { book } = await engine.exportBook({ accountsMax: 1, pricePlansLength: PRICE_PLANS_LENGTH });
  // Groups refer to accounts that are not included.
  const bookWithoutGroups = { ...book, invoiceGroups: undefined };
  return createStateFromBook(stringifyJson(bookWithoutGroups, 2), "", findFirstPlanDay(bookWithoutGroups));
}

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
        const request = await paging.readRequest({ list: "keys", query });
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
  return toAnswer(keyShape, { ...key, status: key.revokedAt === undefined ? "ACTIVE" : "REVOKED" });
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
