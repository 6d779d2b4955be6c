/** The billing API as a Fastify plugin, to mount in another server. */
import helmet from "@fastify/helmet";
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from "fastify";

import type { Engine } from "../engine/engine.ts";
import { runWithPauses } from "../store/yielder.ts";
import { createAccessControl, type KeyAccessControl } from "./access/access.ts";
import type { RateLimitOptions } from "./access/rate-limits.ts";
import { createSecretSource } from "./access/tokens.ts";
import { registerEndpoints } from "./app.ts";
import { DOCS_PATHS, serveDocs } from "./docs/docs-page.ts";
import { createOpenApiDocumentInSteps } from "./docs/openapi.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { createPaging } from "./http/pagination.ts";
import { keyEndpoints } from "./routes/keys.ts";
import { ENDPOINTS } from "./routes/routes.ts";
import { serviceEndpoints } from "./routes/service.ts";

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
