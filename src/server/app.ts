/**
 * Puts the endpoints on a Fastify instance, each behind its credential, its limits and its schemas.
 *
 * @module
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import * as z from "zod";

import { readInput } from "../book/requests/requests.ts";
import type { Engine } from "../engine/engine.ts";
import { InvariantError } from "../errors.ts";
import { createYielder } from "../store/turns.ts";
import { type AccessControl, mayCall } from "./access/access.ts";
import { parseBodies, readQuery } from "./http/bodies.ts";
import { type Answer, type Caller, type Endpoint, JSON_TYPE, type RoutePath } from "./http/endpoint.ts";
import { failureOf, NO_ENDPOINT, Refusal } from "./http/failures.ts";
import type { Paging, PagingSource } from "./http/pagination.ts";
import { writeJson } from "./http/pieces.ts";
import { sentenceInWireNames } from "./http/wire-names.ts";
import { ENDPOINTS } from "./routes/routes.ts";

/** The objects that serve the endpoints. */
export interface Serving {
  readonly engine: Engine;
  readonly access: AccessControl;
  readonly paging: PagingSource;
  /** Endpoints beside {@link ENDPOINTS}: those of credentials, health and documentation. */
  readonly more?: readonly Endpoint[];
  /** Paths that are served beside the endpoints, by routes of their own. */
  readonly pages?: readonly RoutePath[];
  /** Where a client found the API, without a slash at the end. */
  readonly baseUrl?: (request: FastifyRequest) => string;
}

/** Bytes of a body unless its endpoint takes more. */
const BODY_LIMIT = 1_048_576;

/** Puts every endpoint on an instance, which is theirs alone: its parsers and handlers are replaced. */
export function serveEndpoints(app: FastifyInstance, serving: Serving): void {
  const endpoints = [...ENDPOINTS, ...(serving.more ?? [])];
  const { access } = serving;
  const callers = new WeakMap<FastifyRequest, { readonly caller: Caller; readonly credential: string }>();
  parseBodies(app);
  app.setErrorHandler((error, request, reply) => answerFailure(error, request, reply));
  const methodsAt = methodsByPath(app.prefix, [...endpoints, ...(serving.pages ?? [])]);
  const answerUnknown = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const method = request.method === "HEAD" ? "GET" : request.method;
    const allowed = methodsAt(request.url);
    if (allowed !== undefined && !allowed.has(method)) return refuseMethod(allowed, request, reply);
    const isRoot = request.url.replace(/\/?(?:\?.*)?$/, "") === app.prefix;
    // A person who opens the API in a browser is led to its pages.
    if (isRoot && method === "GET") return reply.redirect(`${serving.baseUrl?.(request) ?? app.prefix}/docs`);
    return answerFailure(new Refusal(404, NO_ENDPOINT), request, reply);
  };
  app.addHook("onRequest", async (request, reply) => {
    void reply.header("x-request-id", request.id).header("cache-control", "no-store");
    if (!request.is404) return undefined;
    access.admit({ address: request.ip }, undefined);
    // Before the body is looked at, which may be anything.
    return answerUnknown(request, reply);
  });
  app.setNotFoundHandler(answerUnknown);
  for (const endpoint of endpoints) {
    app.route({
      method: endpoint.method,
      url: routeOf(endpoint.path),
      bodyLimit: endpoint.bodyLimit ?? BODY_LIMIT,
      config: { unknownId: endpoint.unknownId, wireNames: endpoint.wireNames, apart: endpoint.apart },
      onRequest: async (request) => {
        if (endpoint.access === "public") {
          access.admit({ address: request.ip }, endpoint.bucket);
          return;
        }
        const { authorization } = request.headers;
        const identified = await access.identify({ authorization, address: request.ip });
        access.admit({ keyId: identified.caller.keyId }, endpoint.bucket);
        request.log = request.log.child({ keyId: identified.caller.keyId });
        if (!mayCall(identified.caller.role, endpoint.access)) {
          throw new Refusal(403, `a key of the role ${identified.caller.role} may not do this`);
        }
        callers.set(request, identified);
      },
      handler: async (request, reply) => send(reply, await answerTo(endpoint, request, serving, callers.get(request))),
    });
  }
}

async function answerTo(
  endpoint: Endpoint,
  request: FastifyRequest,
  serving: Serving,
  from: { readonly caller: Caller; readonly credential: string } | undefined,
): Promise<Answer> {
  const params = readInput(endpoint.params ?? NOTHING, request.params ?? {});
  // The parsed values, for failures compare ids with them: `+` in an event schema's name is a space.
  request.params = params;
  const giveWay = createYielder();
  const body = readBody(endpoint, request.body);
  const pause = giveWay();
  if (pause !== undefined) await pause;
  return endpoint.handle({
    engine: serving.engine,
    // Only lists need the secret that signs cursors, which is in the store: `/health` answers without it.
    paging: endpoint.query !== undefined && "nextToken" in endpoint.query.shape ? await serving.paging() : UNPAGED,
    params,
    query: readInput(endpoint.query ?? NOTHING, readQuery(request.url)),
    body,
    caller: from?.caller,
    credential: from?.credential,
    log: request.log,
    baseUrl: () => serving.baseUrl?.(request) ?? "",
  });
}

const UNPAGED: Paging = {
  open() {
    throw new InvariantError("an endpoint that gives pages takes the query of a list");
  },
};
const NOTHING = z.strictObject({});

/** The body as it was given, once its schema took it: the engine makes decimals and dates of it. */
function readBody({ body: schema, bodyRequired = true, accepts }: Endpoint, given: unknown): unknown {
  if (schema === undefined) {
    if (given !== undefined) readInput(NOTHING, given);
    return undefined;
  }
  if (given === undefined) {
    if (bodyRequired) throw new Refusal(400, "expected a body");
    return undefined;
  }
  if (accepts?.(given) !== true) readInput(schema, given);
  return given;
}

/** Sends an answer; others have their turn while the text of a large one is written. */
async function send(reply: FastifyReply, answer: Answer): Promise<FastifyReply> {
  const { body, contentType, plain } = answer;
  if (contentType !== undefined) return sendText(reply, answer, Buffer.isBuffer(body) ? body : String(body));
  return sendText(reply, answer, plain === true ? JSON.stringify(body) : await writeJson(body));
}

function sendText(
  reply: FastifyReply,
  { status, contentType = JSON_TYPE, headers }: Omit<Answer, "body">,
  text: string | Buffer,
): FastifyReply {
  void reply.headers({ ...headers });
  return reply.code(status).header("content-type", contentType).send(text);
}

function answerFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { unknownId, wireNames } = request.routeOptions.config as Pick<Endpoint, "unknownId" | "wireNames">;
  const ids = (request.params ?? {}) as Readonly<Record<string, unknown>>;
  const failure = failureOf(error, ids, unknownId) ?? { status: 500, message: "internal error" };
  if (failure.status >= 500) request.log.error({ err: error }, "request failed");
  if (failure.retryAfter !== undefined) void reply.header("retry-after", failure.retryAfter);
  if (failure.status === 401) void reply.header("www-authenticate", "Bearer");
  const body = { message: sentenceInWireNames(failure.message, wireNames) };
  return sendText(reply, { status: failure.status }, JSON.stringify(body));
}

/** A path that exists answers other methods with a 405 that lists its own. */
function refuseMethod(own: ReadonlySet<string>, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const allowed = [...own].toSorted().join(", ");
  void reply.header("allow", allowed);
  return answerFailure(new Refusal(405, `expected one of the methods ${allowed}`), request, reply);
}

/** The methods of each path, as endpoints write it. */
function methodsOf(endpoints: readonly RoutePath[]): ReadonlyMap<string, ReadonlySet<string>> {
  const known = new Map<string, Set<string>>();
  for (const { path, method } of endpoints) known.set(path, (known.get(path) ?? new Set()).add(method));
  return known;
}

/** Tells the methods of the path of a request; undefined where no endpoint has it. */
function methodsByPath(
  prefix: string,
  endpoints: readonly RoutePath[],
): (url: string) => ReadonlySet<string> | undefined {
  const known = [...methodsOf(endpoints)].map(([path, own]) => {
    const steps = path.split(/(\{\w+\})/).map((step) => (step.startsWith("{") ? "[^/?]+" : escaped(step)));
    return { own, pattern: new RegExp(`^${escaped(prefix)}${steps.join("")}(?:\\?.*)?$`, "s") };
  });
  return (url) => known.find(({ pattern }) => pattern.test(url))?.own;
}

function escaped(text: string): string {
  return text.replaceAll(/[^\w/]/g, String.raw`\$&`);
}

function routeOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}
