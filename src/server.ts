/**
 * `ratebook/server`: the billing API of an engine, as a Fastify plugin and as a standalone server.
 *
 * @module
 */
export type { Role } from "./server/http/endpoint.ts";
export { type ApiKey, type ApiKeys, manageApiKeys, type CreatedApiKey } from "./server/access/credentials.ts";
export type { ConnectionLimits } from "./server/http/connections.ts";
export type { LogLevel, LogOptions } from "./server/http/log.ts";
export { billingApi, type BillingApiOptions } from "./server/plugin.ts";
export { RATE_LIMITS, type RateLimit, type RateLimitOptions, type RateLimits } from "./server/access/access.ts";
export { createServer, type RunningServer, serve, type ServeOptions, type ServerOptions } from "./server/serve.ts";
