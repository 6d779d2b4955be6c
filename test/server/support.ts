/** A billing API over a memory store, whose every answer is checked against its OpenAPI document. */
import Fastify, { type FastifyInstance, type LightMyRequestResponse } from "fastify";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { AccessControl } from "../../src/server/access.ts";
import { serveEndpoints } from "../../src/server/app.ts";
import type { Role } from "../../src/server/endpoint.ts";
import { openApiOf } from "../../src/server/openapi.ts";
import { createPaging } from "../../src/server/pagination.ts";
import { ENDPOINTS } from "../../src/server/routes.ts";
import { memoryStore } from "../../src/store/memory.ts";
import { answerCheckerOf } from "./answer-check.ts";

/** What a request of a test is. */
export interface Asked {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer: its status, its JSON, and its text for what JSON would round. */
export interface Answered {
  readonly status: number;
  // Tests read answers as a stranger would: without our types.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
  readonly text: string;
  readonly headers: LightMyRequestResponse["headers"];
}

/** A server of a test. */
export interface TestApi {
  readonly engine: Engine;
  readonly app: FastifyInstance;
  /** Moves the clock. */
  readonly at: (time: string) => void;
  readonly call: (
    line: `${"GET" | "POST" | "PATCH" | "DELETE" | "PUT"} /${string}`,
    asked?: Asked,
  ) => Promise<Answered>;
}

const checkAnswer = answerCheckerOf(openApiOf(ENDPOINTS, "test"));

/** Who calls where a test does not try credentials. */
export function anyCaller(role: Role = "admin"): AccessControl {
  return {
    identify: async () => ({ caller: { keyId: "key", role }, credential: "credential" }),
    admit: () => undefined,
  };
}

/** Starts an API whose clock stands at a time. */
export async function startApi(time = "2024-06-15T12:00:00Z", access: AccessControl = anyCaller()): Promise<TestApi> {
  let now = Date.parse(time);
  const engine = createEngine({ store: memoryStore(), clock: () => now });
  const app = Fastify({ routerOptions: { maxParamLength: 5000 } });
  serveEndpoints(app, { engine, access, paging: createPaging(() => Buffer.alloc(32, 7)) });
  await app.ready();
  return {
    engine,
    app,
    at: (next) => {
      now = Date.parse(next);
    },
    call: async (line, { body, headers } = {}) => {
      const [method = "GET", url = "/"] = line.split(/ (.*)/s);
      const response = await app.inject({
        method: method as "GET",
        url,
        headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
        ...(body === undefined ? {} : { payload: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      checkAnswer(method, url, response);
      const isJson = String(response.headers["content-type"]).startsWith("application/json");
      const json: unknown = isJson ? JSON.parse(response.body) : undefined;
      return { status: response.statusCode, json, text: response.body, headers: response.headers };
    },
  };
}
