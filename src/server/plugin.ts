/** The billing API as a Fastify plugin, to mount in another server: its endpoints with authentication, rate limits and validation. */
import helmet from "@fastify/helmet";
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest, FastifyReply } from "fastify";
import * as z from "zod";

import { readInput } from "../book/reading/read-request.ts";
import type { Engine } from "../engine/engine.ts";
import { runWithPauses, createYielder } from "../store/yielder.ts";
import {
  createAccessControl,
  type KeyAccessControl,
  type RateLimitOptions,
  type AccessControl,
  mayCall,
} from "./access/access.ts";
import { createSecretSource } from "./access/credentials.ts";
import { DOCS_PATHS, serveDocs, createOpenApiDocumentInSteps } from "./docs/openapi.ts";
import { serializeJson } from "./http/answers.ts";
import { registerBodyParsers, parseQuery } from "./http/bodies.ts";
import { type Endpoint, type Answer, type Caller, JSON_TYPE, type RoutePath } from "./http/endpoint.ts";
import { toFailure, NO_ENDPOINT, Refusal, toWireError } from "./http/failures.ts";
import { withoutAbsent } from "./http/fields.ts";
import { createPaging, type Paging } from "./http/pagination.ts";
import { ENDPOINTS } from "./routes/routes.ts";
import { keyEndpoints, serviceEndpoints } from "./routes/service.ts";

/** Options of the API. */
export interface BillingApiOptions {
  /** The API doesn't close it. */
  readonly engine: Engine;
  /**
   * Signs tokens and cursors: at least 32 bytes, the same for all servers of a database. Default: a secret stored in
   * the database.
   */
  readonly jwtSecret?: string | Uint8Array | undefined;
  /** Changes to `RATE_LIMITS`, or `off`. Each process counts separately. */
  readonly rateLimits?: RateLimitOptions | undefined;
  /** The base URL for clients in the OpenAPI document. Default: the URL of the request. */
  readonly publicUrl?: string | undefined;
  /** Milliseconds since 1970, for credentials and limits. Default: the system clock. */
  readonly clock?: (() => number) | undefined;
}

/** Answers can't run scripts, be framed or load anything. */
const POLICY = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
};

/**
 * Serves the billing API under the prefix with which it is registered. Its parsers, handlers and headers don't affect
 * other routes of the server.
 *
 * @example
 *   await host.register(billingApi, { prefix: "/billing", engine });
 */
export const billingApi: FastifyPluginAsync<BillingApiOptions> = async (app, options) => {
  const { engine, clock = Date.now } = options;
  const secret = createSecretSource(engine, options.jwtSecret, clock);
  const access = createAccessControl({ engine, secret, rateLimits: options.rateLimits ?? {}, clock });
  const { extraEndpoints, serializeDocument } = createApiParts(access);
  const baseUrl = (request: FastifyRequest): string =>
    options.publicUrl?.replace(/\/+$/, "") ?? toBaseUrl(app, request);
  // Whether the whole host uses TLS is for the application to declare.
  await app.register(helmet, {
    contentSecurityPolicy: POLICY,
    frameguard: { action: "deny" },
    strictTransportSecurity: false,
  });
  const paging = createPaging(async () => (await secret()).cursors);
  registerEndpoints(app, { engine, access, paging, extraEndpoints, extraPaths: DOCS_PATHS, baseUrl });
  await serveDocs(app, { access, serializeDocument: (request) => serializeDocument(baseUrl(request)) });
};

/** Every endpoint, and the OpenAPI document for a base URL as JSON. */
export function createApiParts(access: KeyAccessControl): {
  readonly extraEndpoints: readonly Endpoint[];
  readonly serializeDocument: (baseUrl: string) => Promise<string>;
} {
  let document: Promise<string> | undefined;
  const createDocument = async (): Promise<string> =>
    JSON.stringify(await runWithPauses(createOpenApiDocumentInSteps([...extraEndpoints, ...ENDPOINTS])));
  const serializeDocument = async (baseUrl: string): Promise<string> => {
    // Serialized once; only the URL depends on the request.
    document ??= createDocument();
    const servers = JSON.stringify([{ url: baseUrl === "" ? "/" : baseUrl }]);
    return `${(await document).slice(0, -1)},"servers":${servers}}`;
  };
  const extraEndpoints = [...keyEndpoints(access), ...serviceEndpoints(serializeDocument)];
  return { extraEndpoints, serializeDocument };
}

/** The base URL of a request; only the path if the request has no host. */
function toBaseUrl({ prefix }: FastifyInstance, { protocol, host }: FastifyRequest): string {
  const path = prefix.replace(/\/+$/, "");
  return /^[\w.-]+(?::\d+)?$|^\[[\da-f:.]+\](?::\d+)?$/i.test(host ?? "") ? `${protocol}://${host}${path}` : path;
}

export interface ApiContext {
  readonly engine: Engine;
  readonly access: AccessControl;
  readonly paging: Paging;
  /** Endpoints besides {@link ENDPOINTS}: credentials, health and documentation. */
  readonly extraEndpoints?: readonly Endpoint[];
  /** Paths that other routes serve. */
  readonly extraPaths?: readonly RoutePath[];
  /** The base URL of the API as the client sees it, without a trailing slash. */
  readonly baseUrl?: (request: FastifyRequest) => string;
}

/** The default maximum of a body, in bytes. */
const BODY_LIMIT = 1_048_576;

/** Registers every endpoint on an instance of its own, whose parsers and handlers are replaced. */
export function registerEndpoints(app: FastifyInstance, context: ApiContext): void {
  const endpoints = [...ENDPOINTS, ...(context.extraEndpoints ?? [])];
  const { access } = context;
  const callers = new WeakMap<FastifyRequest, { readonly caller: Caller; readonly credential: string }>();
  registerBodyParsers(app);
  app.setErrorHandler((error, request, reply) => answerFailure(error, request, reply));
  const findMethods = createMethodLookup(app.prefix, [...endpoints, ...(context.extraPaths ?? [])]);
  const answerUnknownPath = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const method = request.method === "HEAD" ? "GET" : request.method;
    const allowedMethods = findMethods(request.url);
    if (allowedMethods !== undefined && !allowedMethods.has(method))
      return refuseMethod(allowedMethods, request, reply);
    const isRoot = request.url.replace(/\/?(?:\?.*)?$/, "") === app.prefix;
    // A browser at the root is redirected to the documentation.
    if (isRoot && method === "GET") return reply.redirect(`${context.baseUrl?.(request) ?? app.prefix}/docs`);
    return answerFailure(new Refusal(404, NO_ENDPOINT), request, reply);
  };
  app.addHook("onRequest", async (request, reply) => {
    void reply.header("x-request-id", request.id).header("cache-control", "no-store");
    if (!request.is404) return undefined;
    access.admit({ address: request.ip }, undefined);
    // Checked before the body is read.
    return answerUnknownPath(request, reply);
  });
  app.setNotFoundHandler(answerUnknownPath);
  for (const endpoint of endpoints) {
    app.route({
      method: endpoint.method,
      url: toRoute(endpoint.path),
      bodyLimit: endpoint.bodyLimit ?? BODY_LIMIT,
      config: {
        unknownIdStatus: endpoint.unknownIdStatus,
        batchField: endpoint.batchField,
      },
      onRequest: async (request) => {
        if (endpoint.access === "public") {
          access.admit({ address: request.ip }, endpoint.bucket);
          return;
        }
        const { authorization } = request.headers;
        const identity = await access.identify({ authorization, address: request.ip });
        access.admit({ keyId: identity.caller.keyId }, endpoint.bucket);
        request.log = request.log.child({ keyId: identity.caller.keyId });
        if (!mayCall(identity.caller.role, endpoint.access)) {
          throw new Refusal(403, `the role ${identity.caller.role} does not permit this request`);
        }
        callers.set(request, identity);
      },
      handler: async (request, reply) =>
        send(reply, await callEndpoint(endpoint, request, context, callers.get(request))),
    });
  }
}

async function callEndpoint(
  endpoint: Endpoint,
  request: FastifyRequest,
  context: ApiContext,
  identity: { readonly caller: Caller; readonly credential: string } | undefined,
): Promise<Answer> {
  const params = readInput(endpoint.params ?? EMPTY_OBJECT, request.params ?? {});
  // Failures compare ids with the parsed values, in which `+` in an event schema's name is a space.
  request.params = params;
  const yieldToOthers = createYielder();
  const body = readBody(endpoint, request.body);
  const pause = yieldToOthers();
  if (pause !== undefined) await pause;
  const query = readInput(endpoint.query ?? EMPTY_OBJECT, parseQuery(request.url));
  try {
    return await endpoint.handle({
      engine: context.engine,
      paging: context.paging,
      params,
      query,
      body,
      caller: identity?.caller,
      credential: identity?.credential,
      log: request.log,
      baseUrl: () => context.baseUrl?.(request) ?? "",
    });
  } catch (error) {
    const sentNames = Object.keys(withoutAbsent(Object(body) as object));
    const wireNames = Object.entries(endpoint.wireNames ?? {}).filter(([name]) => !sentNames.includes(name));
    throw toWireError(error, Object.fromEntries(wireNames));
  }
}

const EMPTY_OBJECT = z.strictObject({});

/** Returns the validated body in its original form; the engine converts decimals and dates. */
function readBody({ body: schema, bodyRequired = true }: Endpoint, body: unknown): unknown {
  if (schema === undefined) {
    if (body !== undefined) readInput(EMPTY_OBJECT, body);
    return undefined;
  }
  if (body === undefined) {
    if (bodyRequired) throw new Refusal(400, "expected a body");
    return undefined;
  }
  readInput(schema, body);
  return body;
}

/** Sends an answer. A large one is serialized in steps, so that other requests can run. */
async function send(reply: FastifyReply, answer: Answer): Promise<FastifyReply> {
  const { body, contentType, plain } = answer;
  if (contentType !== undefined) return sendText(reply, answer, Buffer.isBuffer(body) ? body : String(body));
  return sendText(reply, answer, plain === true ? JSON.stringify(body) : await serializeJson(body));
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
  const { unknownIdStatus } = request.routeOptions.config as Pick<Endpoint, "unknownIdStatus">;
  const ids = (request.params ?? {}) as Readonly<Record<string, unknown>>;
  const failure = toFailure(error, ids, unknownIdStatus) ?? { status: 500, message: "internal error" };
  if (failure.status >= 500) request.log.error({ err: error }, "request failed");
  if (failure.retryAfter !== undefined) void reply.header("retry-after", failure.retryAfter);
  if (failure.status === 401) void reply.header("www-authenticate", "Bearer");
  const { status, message, headers = {} } = failure;
  return sendText(reply, { status, headers }, JSON.stringify({ message }));
}

/** Answers 405 with the allowed methods of an existing path. */
function refuseMethod(methods: ReadonlySet<string>, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const methodList = [...methods].toSorted().join(", ");
  void reply.header("allow", methodList);
  return answerFailure(new Refusal(405, `the method is not allowed; use ${methodList}`), request, reply);
}

/** The methods of each path, in the form that endpoints use. */
function collectMethods(endpoints: readonly RoutePath[]): ReadonlyMap<string, ReadonlySet<string>> {
  const methodsByTemplate = new Map<string, Set<string>>();
  for (const { path, method } of endpoints)
    methodsByTemplate.set(path, (methodsByTemplate.get(path) ?? new Set()).add(method));
  return methodsByTemplate;
}

/** Finds the methods of a request's path; undefined for an unknown path. */
function createMethodLookup(
  prefix: string,
  endpoints: readonly RoutePath[],
): (url: string) => ReadonlySet<string> | undefined {
  const patterns = [...collectMethods(endpoints)].map(([path, methods]) => {
    const segments = path
      .split(/(\{\w+\})/)
      .map((segment) => (segment.startsWith("{") ? "[^/?]+" : escapePattern(segment)));
    return { methods, pattern: new RegExp(`^${escapePattern(prefix)}${segments.join("")}(?:\\?.*)?$`, "s") };
  });
  return (url) => patterns.find(({ pattern }) => pattern.test(url))?.methods;
}

function escapePattern(text: string): string {
  return text.replaceAll(/[^\w/]/g, String.raw`\$&`);
}

function toRoute(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}
