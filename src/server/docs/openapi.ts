/** The OpenAPI 3.1 document, generated from the schemas that validate requests and answers, and its page. */
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance, FastifyRequest } from "fastify";
import * as z from "zod";

import { DECIMAL_FORMAT } from "../../book/resources/fields.ts";
import { runToCompletion, type Steps } from "../../numbers/steps.ts";
import type { AccessControl } from "../access/access.ts";
import { type Endpoint, JSON_TYPE, type RoutePath } from "../http/endpoint.ts";
import { ERROR_HEADERS } from "../http/failures.ts";
import { failure, FORMAT_DESCRIPTIONS } from "../http/fields.ts";
import { describeField, describeMeaning, findFieldOwner, TAG_DESCRIPTIONS } from "./descriptions.ts";
import { BODY_EXAMPLES } from "./examples.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** Failures of every endpoint, by status. */
const FAILURES: Readonly<Record<number, string>> = {
  400: "The request is malformed or out of bounds, names an unknown id in its body or query, or breaks a rule.",
  401: "The credential is missing or invalid.",
  403: "The role of the credential doesn't allow the request.",
  404: "The id, version or path is unknown.",
  405: "The path doesn't have this method; `Allow` lists its methods.",
  408: "The request arrived too slowly.",
  409: "The id, name or alias is taken, the idempotency key belongs to another request, or a concurrent write won.",
  413: "The body is too large.",
  415: "The body is not JSON in UTF-8, or is compressed.",
  422: "The event was refused, or the account or feature is unknown.",
  429: "Too many requests; retry after `Retry-After` seconds.",
  431: "The headers are too large.",
  500: "An internal error.",
  503: "The database or external usage is unavailable; retry after `Retry-After` seconds.",
};
/** Failures of public endpoints. */
const PUBLIC_FAILURES: readonly number[] = [400, 404, 405, 408, 429, 431, 500, 503];

/** The version of the API, independent of the package version. */
const API_VERSION = "1.0";

export function createOpenApiDocument(endpoints: readonly Endpoint[]): JsonObject {
  return runToCompletion(createOpenApiDocumentInSteps(endpoints));
}

/** Like {@link createOpenApiDocument}, one endpoint per step. */
export function* createOpenApiDocumentInSteps(endpoints: readonly Endpoint[]): Steps<JsonObject> {
  const components = new Map<string, unknown>();
  const toSchema: ToSchema = (schema, owner = "") => toJsonSchema(schema, components, owner);
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const endpoint of endpoints) {
    (paths[endpoint.path] ??= {})[endpoint.method.toLowerCase()] = toOperation(endpoint, toSchema);
    yield;
  }
  toSchema(failure);
  return {
    openapi: "3.1.0",
    info: {
      title: "ratebook",
      version: API_VERSION,
      description: "Usage-based billing: send events, get exact and explained invoices.",
    },
    security: [{ bearer: [] }],
    tags: [...new Set(endpoints.map(({ tag }) => tag))].map((name) => ({ name, description: TAG_DESCRIPTIONS[name] })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An API key, or a token from POST /authenticate." },
      },
      schemas: Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))),
    },
  };
}

function toOperation(endpoint: Endpoint, toSchema: ToSchema): JsonObject {
  const { id, tag, summary, description, access, params, query, body, bodyRequired = true } = endpoint;
  const parameters = [...toParameters("path", params, toSchema), ...toParameters("query", query, toSchema)];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(access === "public" ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: bodyRequired, content: toBodyContent(id, toSchema(body, id)) } }),
    responses: { ...toResponses(endpoint, toSchema), ...toFailureResponses(endpoint) },
  };
}

function toBodyContent(id: string, schema: JsonObject): JsonObject {
  const example = BODY_EXAMPLES[id];
  return { "application/json": { schema, ...(example === undefined ? {} : { example }) } };
}

function toParameters(
  location: "path" | "query",
  schema: z.ZodObject | undefined,
  toSchema: ToSchema,
): readonly JsonObject[] {
  if (schema === undefined) return [];
  return Object.entries(schema.shape).map(([name, field]) => {
    const { description: ownDescription, ...rest } = toSchema(field as z.ZodType);
    const required = location === "path" || !(field as z.ZodType).safeParse(undefined).success;
    const fieldName = name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    const description = joinDescriptions(location, fieldName, ownDescription as string | undefined);
    return { name, in: location, required, ...(description === undefined ? {} : { description }), schema: rest };
  });
}

/** Descriptions of successful responses, by status. */
const RESPONSE_DESCRIPTIONS: Readonly<Record<string, string>> = {
  201: "Created.",
  202: "Accepted.",
  207: "Accepted, except for events whose outcome is a failure.",
};

const HTML_CONTENT: JsonObject = { "text/html": { schema: { type: "string" } } };

function toResponses({ answers, html = false }: Endpoint, toSchema: ToSchema): JsonObject {
  return Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => [
      status,
      {
        description: RESPONSE_DESCRIPTIONS[status] ?? "Success.",
        headers: {
          "x-request-id": { description: "Identifies the request in the server's log.", schema: { type: "string" } },
        },
        content:
          schema === "html"
            ? HTML_CONTENT
            : { "application/json": { schema: toSchema(schema) }, ...(html ? HTML_CONTENT : {}) },
      },
    ]),
  );
}

function toFailureResponses({ access, answers }: Endpoint): JsonObject {
  const statuses = access === "public" ? PUBLIC_FAILURES : Object.keys(FAILURES).map(Number);
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  const responses = statuses
    .filter((status) => answers[status] === undefined)
    .map((status) => [status, { description: FAILURES[status], headers: FAILURE_HEADERS, content }]);
  return {
    ...Object.fromEntries(responses),
    default: { description: "Any other error.", headers: FAILURE_HEADERS, content },
  };
}

const FAILURE_HEADERS: JsonObject = {
  [ERROR_HEADERS.code]: {
    description:
      "The error code; for invalid input, the code of the first problem. Absent if the request was refused before it reached an operation.",
    schema: { type: "string" },
  },
  [ERROR_HEADERS.path]: {
    description: "For invalid input, the JSON path of the first problem, such as `$.effectiveFrom`.",
    schema: { type: "string", maxLength: 200 },
  },
};

/** The JSON schema of a zod schema. @param owner see {@link addDescriptions} */
type ToSchema = (schema: z.ZodType, owner?: string) => JsonObject;

/** The JSON schema of a zod schema. Schemas with an id become components. */
function toJsonSchema(schema: z.ZodType, components: Map<string, unknown>, owner: string): JsonObject {
  const { $defs, ...ownSchema } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" });
  for (const [name, definition] of Object.entries($defs ?? {}))
    components.set(name, addDescriptions(linkComponents(definition), name));
  return addDescriptions(linkComponents(ownSchema), owner) as JsonObject;
}

/** Keys that components omit, because their place in the document identifies them. */
const OMITTED_KEYS: ReadonlySet<string> = new Set(["$schema", "$id", "id"]);

/** The bounds of safe integers, which are omitted. */
const SAFE_INTEGER_BOUNDS: ReadonlySet<unknown> = new Set([Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);

/** Adds descriptions to fields without one. @param owner the operation, component or field that the schema belongs to */
function addDescriptions(value: unknown, owner: string): unknown {
  if (Array.isArray(value)) return value.map((part) => addDescriptions(part, owner));
  if (typeof value !== "object" || value === null) return value;
  const parts = Object.entries(value).map(([name, part]) => [
    name,
    name === "properties" ? describeFields(part, owner) : addDescriptions(part, owner),
  ]);
  return Object.fromEntries(parts);
}

function describeFields(properties: object, owner: string): object {
  const fields = Object.entries(properties).map(([field, schema]) => {
    const schemaWithDescriptions = addDescriptions(schema, findFieldOwner(owner, field)) as JsonObject;
    const description = joinDescriptions(owner, field, schemaWithDescriptions["description"] as string | undefined);
    return [field, description === undefined ? schemaWithDescriptions : { ...schemaWithDescriptions, description }];
  });
  return Object.fromEntries(fields);
}

/** The description of a field. A description that only says how a value is written follows what the field means. */
function joinDescriptions(owner: string, field: string, ownDescription: string | undefined): string | undefined {
  if (ownDescription === undefined) return describeField(owner, field);
  const isRequestDecimal = ownDescription === DECIMAL_FORMAT;
  if (!isRequestDecimal && !FORMAT_DESCRIPTIONS.has(ownDescription)) return ownDescription;
  const meaning = isRequestDecimal ? describeField(owner, field) : describeMeaning(owner, field);
  return meaning === undefined ? ownDescription : `${meaning} ${ownDescription}`;
}

/** Turns references to a schema's definitions into references to components. */
function linkComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(linkComponents);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, part]) => !(OMITTED_KEYS.has(name) && typeof part === "string") && !SAFE_INTEGER_BOUNDS.has(part))
      .map(([name, part]) => [name, linkComponentsIn(name, part)]),
  );
}

function linkComponentsIn(name: string, part: unknown): unknown {
  if (name === "$ref" && typeof part === "string") return part.replace("#/$defs/", "#/components/schemas/");
  // An open object is written as `true`, because some generators fail on an empty schema.
  if (name === "additionalProperties" && isEmpty(part)) return true;
  return linkComponents(part);
}

function isEmpty(part: unknown): boolean {
  return typeof part === "object" && part !== null && Object.keys(part).length === 0;
}

/** Options of the page. */
interface DocsOptions {
  readonly access: Pick<AccessControl, "admit">;
  /** Returns the OpenAPI document for a request, as JSON. */
  readonly serializeDocument: (request: FastifyRequest) => Promise<string>;
}

/** Allows scripts, styles and requests of this server only; nothing inline except images in the style sheet. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The paths of the page and its files. */
export const DOCS_PATHS: readonly RoutePath[] = [
  { method: "GET", path: "/docs" },
  { method: "GET", path: "/docs/" },
  { method: "GET", path: "/docs/json" },
  { method: "GET", path: "/docs/static/{file}" },
];

/** Serves the page at `/docs` of an instance that already serves the endpoints. */
export async function serveDocs(app: FastifyInstance, { access, serializeDocument }: DocsOptions): Promise<void> {
  await app.register(async (docs) => {
    docs.addHook("onRequest", async (request) => access.admit({ address: request.ip }, undefined));
    // The plugin would allow caching; no answer of this server is cached.
    docs.addHook("onSend", async (_, reply) => void reply.header("cache-control", "no-store"));
    const emptyDocument = { openapi: "3.1.0", info: { title: "ratebook", version: "" }, paths: {} } as const;
    await docs.register(swagger, { mode: "static", specification: { document: emptyDocument } });
    await docs.register(swaggerUi, {
      routePrefix: "/docs",
      indexPrefix: app.prefix,
      staticCSP: POLICY,
      validatorUrl: false,
      theme: { title: "ratebook API" },
      uiConfig: { layout: "BaseLayout", docExpansion: "none", displayRequestDuration: true },
      // The plugin would serialize the document for every request.
      uiHooks: {
        onRequest: (request, reply, next) => {
          const { url = "" } = request.routeOptions;
          if (url.endsWith("/docs/yaml")) return reply.callNotFound();
          if (!url.endsWith("/docs/json")) return next();
          serializeDocument(request).then((text) => reply.header("content-type", JSON_TYPE).send(text), next);
          return undefined;
        },
      },
    });
  });
}
