/**
 * The page on which a person reads and tries the API: Swagger UI, served whole from here.
 *
 * @module
 */
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance, FastifyRequest } from "fastify";

import type { AccessControl } from "../access/access.ts";

/** Options of the page. */
export interface DocsPage {
  readonly access: Pick<AccessControl, "admit">;
  /** The OpenAPI document for a request. */
  readonly documentFor: (request: FastifyRequest) => Readonly<Record<string, unknown>>;
}

/** Scripts, styles and requests of this server alone; nothing inline but the pictures that the style sheet holds. */
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

/** Serves the page at `/docs` of an instance that serves endpoints already. */
export async function serveDocs(app: FastifyInstance, { access, documentFor }: DocsPage): Promise<void> {
  await app.register(async (docs) => {
    docs.addHook("onRequest", async (request) => access.admit({ address: request.ip }, undefined));
    // The document depends on where the page was found, so that it is made for each request.
    const nothing = { openapi: "3.1.0", info: { title: "ratebook", version: "" }, paths: {} } as const;
    await docs.register(swagger, { mode: "static", specification: { document: nothing } });
    await docs.register(swaggerUi, {
      routePrefix: "/docs",
      indexPrefix: app.prefix,
      staticCSP: POLICY,
      validatorUrl: false,
      theme: { title: "ratebook API" },
      uiConfig: { layout: "BaseLayout", docExpansion: "none", displayRequestDuration: true },
      transformSpecificationClone: false,
      transformSpecification: (_, request) => documentFor(request),
    });
  });
}
