/**
 * The OpenAPI 3.1 document, made of the very schemas that validate.
 *
 * @module
 */
import * as z from "zod";

import type { Endpoint } from "../http/endpoint.ts";
import { failure } from "../http/fields.ts";
import { fieldDescription, SECTIONS } from "./descriptions.ts";
import { BODY_EXAMPLES } from "./examples.ts";

/** A JSON object. */
type Json = Readonly<Record<string, unknown>>;

/** What may go wrong at any endpoint, by status. */
const FAILURES: Readonly<Record<number, string>> = {
  400: "Malformed, out of bounds, an unknown id in a body or query, or refused by a rule.",
  401: "No credential, or a bad one.",
  403: "The credential's role may not do this.",
  404: "An unknown id, version or path.",
  405: "Another method than those of the path.",
  408: "The request came too slowly.",
  409: "An id, name or alias that is taken, or a write that lost a race.",
  413: "The body is too large.",
  415: "A body that is not JSON in UTF-8, or is compressed.",
  422: "An event that is refused, or an unknown account or feature.",
  429: "Too many requests; `Retry-After` says when to try again.",
  431: "The headers are too large.",
  500: "A fault of the server.",
  503: "The store is away; `Retry-After` says when to try again.",
};
/** Those that a public endpoint has. */
const PUBLIC_FAILURES: readonly number[] = [400, 404, 405, 408, 429, 431, 500, 503];

/** The version of what the API promises; it is not that of the package. */
const API_VERSION = "1.0";

/** The document of these endpoints. */
export function openApiOf(endpoints: readonly Endpoint[]): Json {
  const components = new Map<string, unknown>();
  const schemaOf = (schema: z.ZodType): Json => jsonSchema(schema, components);
  const paths: Record<string, Record<string, Json>> = {};
  for (const endpoint of endpoints) {
    (paths[endpoint.path] ??= {})[endpoint.method.toLowerCase()] = operationOf(endpoint, schemaOf);
  }
  schemaOf(failure);
  return {
    openapi: "3.1.0",
    info: {
      title: "ratebook",
      version: API_VERSION,
      description: "Usage events in, invoices out: exact, explained, with one function for preview and invoice.",
    },
    security: [{ bearer: [] }],
    tags: [...new Set(endpoints.map(({ tag }) => tag))].map((name) => ({ name, description: SECTIONS[name] })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An API key, or a token of POST /authenticate." },
      },
      schemas: Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))),
    },
  };
}

function operationOf(endpoint: Endpoint, schemaOf: (schema: z.ZodType) => Json): Json {
  const { id, tag, summary, description, access, params, query, body, bodyRequired = true } = endpoint;
  const parameters = [...parametersOf("path", params, schemaOf), ...parametersOf("query", query, schemaOf)];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(access === "public" ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: bodyRequired, content: bodyContent(id, schemaOf(body)) } }),
    responses: { ...answersOf(endpoint, schemaOf), ...failuresOf(endpoint) },
  };
}

function bodyContent(id: string, schema: Json): Json {
  const example = BODY_EXAMPLES[id];
  return { "application/json": { schema, ...(example === undefined ? {} : { example }) } };
}

function parametersOf(
  place: "path" | "query",
  schema: z.ZodObject | undefined,
  schemaOf: (schema: z.ZodType) => Json,
): readonly Json[] {
  if (schema === undefined) return [];
  return Object.entries(schema.shape).map(([name, field]) => {
    const { description, ...rest } = schemaOf(field as z.ZodType);
    const required = place === "path" || !(field as z.ZodType).safeParse(undefined).success;
    const sentence =
      description ??
      fieldDescription(
        "",
        name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      );
    return { name, in: place, required, ...(sentence === undefined ? {} : { description: sentence }), schema: rest };
  });
}

const PAGE: Json = { "text/html": { schema: { type: "string" } } };

function answersOf({ answers, html = false }: Endpoint, schemaOf: (schema: z.ZodType) => Json): Json {
  return Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => [
      status,
      {
        description: status === "201" ? "Made." : status === "202" ? "Taken." : "Done.",
        headers: {
          "x-request-id": { description: "Names the request in the server's log.", schema: { type: "string" } },
        },
        content: schema === "html" ? PAGE : { "application/json": { schema: schemaOf(schema) }, ...(html ? PAGE : {}) },
      },
    ]),
  );
}

function failuresOf({ access, answers }: Endpoint): Json {
  const statuses = access === "public" ? PUBLIC_FAILURES : Object.keys(FAILURES).map(Number);
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  const known = statuses
    .filter((status) => answers[status] === undefined)
    .map((status) => [status, { description: FAILURES[status], content }]);
  return { ...Object.fromEntries(known), default: { description: "Any other failure.", content } };
}

/** The JSON schema of a zod schema; what has an id becomes a component. */
function jsonSchema(schema: z.ZodType, components: Map<string, unknown>): Json {
  const { $defs, ...own } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" });
  for (const [name, definition] of Object.entries($defs ?? {}))
    components.set(name, described(pointed(definition), name));
  return described(pointed(own), "") as Json;
}

/** Keys that are left out of components: their place in the document identifies them. */
const OWN_NAMES: ReadonlySet<string> = new Set(["$schema", "$id", "id"]);

/** The bounds of every safe integer, which are left out. */
const BOUNDS_OF_ALL: ReadonlySet<unknown> = new Set([Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);

/** A schema with a sentence beside each field that has none. @param owner the component, or the field, whose schema it is */
function described(value: unknown, owner: string): unknown {
  if (Array.isArray(value)) return value.map((part) => described(part, owner));
  if (typeof value !== "object" || value === null) return value;
  const parts = Object.entries(value).map(([name, part]) => [
    name,
    name === "properties" ? fieldsOf(part, owner) : described(part, owner),
  ]);
  return Object.fromEntries(parts);
}

function fieldsOf(properties: object, owner: string): object {
  const fields = Object.entries(properties).map(([field, schema]) => {
    const description = fieldDescription(owner, field);
    const own = described(schema, field) as Json;
    return [field, description === undefined || "description" in own ? own : { ...own, description }];
  });
  return Object.fromEntries(fields);
}

/** References to definitions of a schema as references to components. */
function pointed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, part]) => !(OWN_NAMES.has(name) && typeof part === "string") && !BOUNDS_OF_ALL.has(part))
      .map(([name, part]) => [name, partOf(name, part)]),
  );
}

function partOf(name: string, part: unknown): unknown {
  if (name === "$ref" && typeof part === "string") return part.replace("#/$defs/", "#/components/schemas/");
  // An open object says so in words: some generators stumble over a schema that is empty.
  if (name === "additionalProperties" && isEmpty(part)) return true;
  return pointed(part);
}

function isEmpty(part: unknown): boolean {
  return typeof part === "object" && part !== null && Object.keys(part).length === 0;
}
