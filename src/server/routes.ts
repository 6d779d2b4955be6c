/**
 * Every endpoint of the API.
 *
 * @module
 */
import type { Endpoint } from "./endpoint.ts";
import { CUSTOMER_ENDPOINTS } from "./routes/customers.ts";

/** In the order of the document. */
export const ENDPOINTS: readonly Endpoint[] = [...CUSTOMER_ENDPOINTS];
