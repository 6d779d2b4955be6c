/**
 * An endpoint as a value: its path, who may call it, the schemas that validate it and document it, and what it does.
 *
 * @module
 */
import type { FastifyBaseLogger } from "fastify";
import type * as z from "zod";

import type { Engine } from "../../engine/engine.ts";
import type { Paging } from "./pagination.ts";
import type { WireNames } from "./wire-names.ts";

/** The permission that a call with a credential needs; every role has `any`, and `admin` has all. */
export type Permission = "any" | "ingest" | "read" | "write" | "keys";

/** The caller: an API key, or a token that was made from it. */
export interface Caller {
  readonly keyId: string;
  readonly role: Role;
}
/** The permissions of a key. */
export type Role = "admin" | "full" | "ingest" | "read";

/** The objects that every endpoint works with. */
export interface EndpointServices {
  readonly engine: Engine;
  readonly paging: Paging;
}

/** One request, checked. A body is as it was given: its schema said yes, and the engine reads it to decimals and dates. */
export interface EndpointRequest<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> extends EndpointServices {
  readonly params: z.output<Params>;
  readonly query: z.output<Query>;
  readonly body: z.input<Body>;
  /** The credential, absent on a public endpoint. */
  readonly caller: Caller | undefined;
  /** The bearer text as it was sent; never to be logged. */
  readonly credential: string | undefined;
  readonly log: FastifyBaseLogger;
  /** Where the client found the API, without a slash at the end: `https://billing.example.com/v1`. */
  readonly baseUrl: () => string;
}

/** The content type of JSON answers. */
export const JSON_TYPE = "application/json; charset=utf-8";

/** The answer of an endpoint. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** Default JSON. */
  readonly contentType?: string;
  /** Beside those of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the body holds no decimal, so that the plain serializer is enough. */
  readonly plain?: boolean;
}

/** The methods in use. */
export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/** An endpoint whose types are hidden: all that the server needs of it. */
export interface Endpoint {
  readonly method: Method;
  /** As the reference writes it: `/accounts/{account_id}`. */
  readonly path: `/${string}`;
  /** Unique; the name of the method in generated clients. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** `public` needs no credential. */
  readonly access: "public" | Permission;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Tells quickly of most bodies that the schema takes them; where it says no, the schema says what is wrong. */
  readonly accepts?: (body: unknown) => boolean;
  /** Whether a request without a body is refused; default yes where there is a schema. */
  readonly bodyRequired?: boolean;
  /** The most bytes of a body; default 1 MiB. */
  readonly bodyLimit?: number;
  /** The list of a body whose items are answered one by one: one with a number that is not kept fails alone. */
  readonly batchField?: string;
  /** The schema of each successful answer, by its status. */
  readonly answers: Readonly<Record<number, z.ZodType | "html">>;
  /** Whether the answer may be a page too. */
  readonly html?: boolean;
  /** The status where an id of the path is unknown; default 404. */
  readonly unknownIdStatus?: number;
  /** The names here of fields that the engine calls otherwise, so that errors name the field that was sent. */
  readonly wireNames?: WireNames;
  /** The token bucket that it is counted in. */
  readonly bucket?: "ingest" | "ingestBatch" | "entitled";
  readonly handle: (request: EndpointRequest<z.ZodType, z.ZodType, z.ZodType>) => Promise<Answer>;
}

/** A path and one of its methods. */
export type RoutePath = Pick<Endpoint, "method" | "path">;

/** An endpoint as it is written, with the types of its schemas. */
export interface EndpointSpec<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
> extends Omit<Endpoint, "params" | "query" | "body" | "handle"> {
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly handle: (request: EndpointRequest<Params, Query, Body>) => Promise<Answer>;
}

/** Makes an endpoint; its schemas are what its handler is given. */
export function defineEndpoint<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType>(
  spec: EndpointSpec<Params, Query, Body>,
): Endpoint {
  return spec;
}

/** A 200 with a body. */
export function answerOk(body: unknown): Answer {
  return { status: 200, body };
}

/** A 201 with what was made. */
export function answerCreated(body: unknown): Answer {
  return { status: 201, body };
}

/** The answer of a removal. */
export const SUCCESS: Answer = { status: 200, body: { success: true } };
