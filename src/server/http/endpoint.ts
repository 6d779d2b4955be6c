/** Endpoints as values: path, permission, schemas for validation and documentation, and handler. */
import type { FastifyBaseLogger } from "fastify";
import type * as z from "zod";

import type { Engine } from "../../engine/engine.ts";
import type { WireNames } from "./failures.ts";
import type { Paging } from "./pagination.ts";

/** The permission that an endpoint requires. Every role has `any`, and `admin` has all. */
export type Permission = "any" | "ingest" | "read" | "write" | "keys";

/** The caller: an API key, or a token of it. */
export interface Caller {
  readonly keyId: string;
  readonly role: Role;
}
/** The role of a key. */
export type Role = "admin" | "full" | "ingest" | "read";

/** The services that every endpoint uses. */
interface EndpointServices {
  readonly engine: Engine;
  readonly paging: Paging;
}

/** A validated request. The body is in its original form; the engine converts decimals and dates. */
export interface EndpointRequest<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> extends EndpointServices {
  readonly params: z.output<Params>;
  readonly query: z.output<Query>;
  readonly body: z.input<Body>;
  /** Absent on a public endpoint. */
  readonly caller: Caller | undefined;
  /** The bearer text. It must not be logged. */
  readonly credential: string | undefined;
  readonly log: FastifyBaseLogger;
  /** The base URL of the API as the client sees it, without a trailing slash: `https://billing.example.com/v1`. */
  readonly baseUrl: () => string;
}

/** The content type of JSON answers. */
export const JSON_TYPE = "application/json; charset=utf-8";

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** Default JSON. */
  readonly contentType?: string;
  /** Headers besides the standard ones. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the body contains no decimals, so that the plain serializer can be used. */
  readonly plain?: boolean;
}

type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** An endpoint without the types of its schemas. */
export interface Endpoint {
  readonly method: Method;
  /** In the form of the reference: `/accounts/{account_id}`. */
  readonly path: `/${string}`;
  /** Unique. Generated clients use it as the method name. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** `public` needs no credential. */
  readonly access: "public" | Permission;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Whether a body is required. Default: true if there is a schema. */
  readonly bodyRequired?: boolean;
  /** The maximum body size in bytes. Default 1 MiB. */
  readonly bodyLimit?: number;
  /**
   * The list in the body whose items are answered separately: an item with a number that is not representable fails
   * alone.
   */
  readonly batchField?: string;
  /** The schema of each successful answer by status. */
  readonly answers: Readonly<Record<number, z.ZodType | "html">>;
  /** Whether the answer can also be HTML. */
  readonly html?: boolean;
  /** The status if an id in the path is unknown. Default 404. */
  readonly unknownIdStatus?: number;
  /**
   * The wire names of fields that the engine names differently, so that its errors name the field that was sent. A
   * field that the body has under the engine's name keeps it.
   */
  readonly wireNames?: WireNames;
  /** The rate limit bucket. */
  readonly bucket?: "ingest" | "ingestBatch" | "entitled";
  readonly handle: (request: EndpointRequest<z.ZodType, z.ZodType, z.ZodType>) => Promise<Answer>;
}

export type RoutePath = Pick<Endpoint, "method" | "path">;

/** An endpoint with the types of its schemas. */
export interface EndpointSpec<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
> extends Omit<Endpoint, "access" | "params" | "query" | "body" | "handle"> {
  /** Default `read` for a GET, else `write`. */
  readonly access?: Endpoint["access"];
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly handle: (request: EndpointRequest<Params, Query, Body>) => Promise<Answer>;
}

/** Defines an endpoint, whose handler receives the types of its schemas. */
export function defineEndpoint<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType>(
  spec: EndpointSpec<Params, Query, Body>,
): Endpoint {
  return { access: spec.method === "GET" ? "read" : "write", ...spec };
}

export function answerOk(body: unknown): Answer {
  return { status: 200, body };
}

/** The answer of a deletion. */
export const SUCCESS: Answer = { status: 200, body: { success: true } };
