/** The service: liveness, readiness, the OpenAPI document, the playground, and API keys and tokens (service-reference: Authentication). */
import * as z from "zod";

import type { Engine } from "../../engine/engine.ts";
import { RatebookError } from "../../errors.ts";
import { stringifyJson } from "../../numbers/json.ts";
import { readPage, readPolicy, embedData } from "../../pages/page-file.ts";
import { findFirstPlanDay, createStateFromBook } from "../../pages/play-state.ts";
import type { KeyAccessControl } from "../access/access.ts";
import { type ApiKey, type CreatedApiKey, keyRequest, ROLES } from "../access/credentials.ts";
import { toAnswer } from "../http/answers.ts";
import { type Endpoint, defineEndpoint, SUCCESS, JSON_TYPE, answerOk } from "../http/endpoint.ts";
import { Refusal } from "../http/failures.ts";
import { success, timestamp } from "../http/fields.ts";
import { ResourceEndpoints } from "./resource-endpoints.ts";

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

const KEYS = new ResourceEndpoints<ApiKey>({
  tag: "Credentials",
  path: "/keys",
  access: "keys",
  idName: "key_id",
  shape: keyShape,
  toJson: toKeyJson,
});

/** Issues tokens; creates, lists and revokes keys, which requires the role admin. */
export function keyEndpoints(access: KeyAccessControl): readonly Endpoint[] {
  const { keys } = access;
  return [
    authenticateEndpoint(access),
    KEYS.with({
      shape: createdKeyShape,
      toJson: (newKey: CreatedApiKey) => ({ ...toKeyJson(newKey), key: newKey.key }),
    }).create({
      id: "createKey",
      summary: "Create an API key",
      body: keyRequest,
      status: 201,
      run: ({ body }) => keys.create(body),
    }),
    KEYS.list({
      id: "listKeys",
      summary: "List API keys, newest first",
      answerId: "ApiKeyList",
      run: (_engine, _filters, page) => keys.list(page),
    }),
    KEYS.remove({
      id: "revokeKey",
      summary: "Revoke an API key and all its tokens",
      description: "Takes effect at once on this server, and within 5 seconds on others that share the database.",
      run: ({ id }) => keys.revoke(id),
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
