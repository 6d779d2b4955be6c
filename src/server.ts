/**
 * The billing API over an engine, as a Fastify plugin and as a server of its own.
 *
 * @module
 */
export type { AccessControl, Identified } from "./server/access.ts";
export { serveEndpoints, type Serving } from "./server/app.ts";
export type { Caller, Role } from "./server/endpoint.ts";
export { createPaging, type PagingSource } from "./server/pagination.ts";
export { Refusal } from "./server/failures.ts";
