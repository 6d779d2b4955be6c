/**
 * Every endpoint of the API.
 *
 * @module
 */
import type { Endpoint } from "./endpoint.ts";
import { CUSTOMER_ENDPOINTS } from "./routes/customers.ts";
import { EVENT_ENDPOINTS } from "./routes/events.ts";
import { INGEST_ENDPOINTS } from "./routes/ingest.ts";

/** In the order of the document. */
export const ENDPOINTS: readonly Endpoint[] = [...CUSTOMER_ENDPOINTS, ...INGEST_ENDPOINTS, ...EVENT_ENDPOINTS];
