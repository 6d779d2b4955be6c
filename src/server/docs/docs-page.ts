/** The interactive API documentation: Swagger UI, served from the package. */
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance, FastifyRequest } from "fastify";

import type { AccessControl } from "../access/access.ts";
import { JSON_TYPE, type RoutePath } from "../http/endpoint.ts";

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
