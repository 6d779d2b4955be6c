/**
 * The OpenAPI 3.1 document, generated from the schemas that validate requests and answers.
 *
 * @module
 */
import * as z from "zod";

import { runToCompletion, type Steps } from "../../numbers/steps.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { ERROR_HEADERS } from "../http/failures.ts";
import { failure } from "../http/fields.ts";
import { describeField, findFieldOwner, TAG_DESCRIPTIONS } from "./descriptions.ts";
import { BODY_EXAMPLES } from "./examples.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** Failures of every endpoint, by status. */
const FAILURES: Readonly<Record<number, string>> = {
  400: "Malformed, out of bounds, an unknown id in a body or query, or refused by a rule.",
  401: "The credential is missing or invalid.",
  403: "The role of the credential does not permit this.",
  404: "An unknown id, version or path.",
  405: "Another method than those of the path.",
  408: "The request came too slowly.",
  409: "The id, name or alias is taken, or another write was faster.",
  413: "The body is too large.",
  415: "A body that is not JSON in UTF-8, or is compressed.",
  422: "An event that is refused, or an unknown account or feature.",
  429: "Too many requests; retry after `Retry-After` seconds.",
  431: "The headers are too large.",
  500: "An internal error.",
  503: "The database is unavailable; `Retry-After` says when to try again.",
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
        bearer: { type: "http", scheme: "bearer", description: "An API key, or a token of POST /authenticate." },
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
    const { description, ...rest } = toSchema(field as z.ZodType);
    const required = location === "path" || !(field as z.ZodType).safeParse(undefined).success;
    const sentence =
      description ??
      describeField(
        "",
        name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      );
    return { name, in: location, required, ...(sentence === undefined ? {} : { description: sentence }), schema: rest };
  });
}

const HTML_CONTENT: JsonObject = { "text/html": { schema: { type: "string" } } };

function toResponses({ answers, html = false }: Endpoint, toSchema: ToSchema): JsonObject {
  return Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => [
      status,
      {
        description: status === "201" ? "Made." : status === "202" ? "Taken." : "Done.",
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
    default: { description: "Any other failure.", headers: FAILURE_HEADERS, content },
  };
}

const FAILURE_HEADERS: JsonObject = {
  [ERROR_HEADERS.code]: {
    description:
      "The error's code, of an invalid input that of its first problem; absent where the request was refused before it reached an operation.",
    schema: { type: "string" },
  },
  [ERROR_HEADERS.path]: {
    description: "The JSON path of the first problem of an invalid input, such as `$.effectiveFrom`.",
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
    const description = describeField(owner, field);
    const schemaWithDescriptions = addDescriptions(schema, findFieldOwner(owner, field)) as JsonObject;
    return [
      field,
      description === undefined || "description" in schemaWithDescriptions
        ? schemaWithDescriptions
        : { ...schemaWithDescriptions, description },
    ];
  });
  return Object.fromEntries(fields);
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
