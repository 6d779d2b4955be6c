/**
 * The billing API over an engine, as a Fastify plugin and as a server of its own.
 *
 * @module
 */
export type { Role } from "./server/endpoint.ts";
export { type ApiKey, type ApiKeys, apiKeysOf, type MadeKey } from "./server/keys.ts";
export type { ConnectionLimits } from "./server/connections.ts";
export type { LogLevel, LogOptions } from "./server/log.ts";
export { billingApi, type BillingApiOptions } from "./server/plugin.ts";
export { RATE_LIMITS, type RateLimit, type RateLimitOptions, type RateLimits } from "./server/rate-limits.ts";
export { createServer, type RunningServer, serve, type ServeOptions, type ServerOptions } from "./server/serve.ts";
