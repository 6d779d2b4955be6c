/**
 * Liveness and readiness of the server.
 *
 * @module
 */
import { RatebookError } from "../../errors.ts";
import { type Endpoint, defineEndpoint, SUCCESS } from "../http/endpoint.ts";
import { success } from "../http/fields.ts";

/** How long the store may take to answer, in milliseconds. */
const READY_MS = 3000;

export const HEALTH_ENDPOINTS: readonly Endpoint[] = [
  defineEndpoint({
    method: "GET",
    path: "/health",
    id: "health",
    tag: "Service",
    summary: "Check whether the server runs",
    access: "public",
    answers: { 200: success },
    handle: async () => SUCCESS,
  }),
  defineEndpoint({
    method: "GET",
    path: "/ready",
    id: "ready",
    tag: "Service",
    summary: "Check whether the server and its database are available",
    access: "public",
    answers: { 200: success },
    handle: async ({ engine }) => {
      await withTimeout(READY_MS, engine.store.read.configurationRevision());
      return SUCCESS;
    },
  }),
];

async function withTimeout(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new RatebookError("ERR_STORE_UNAVAILABLE", "the database does not answer", {})),
      milliseconds,
    );
  });
  try {
    await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
