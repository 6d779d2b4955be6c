/** A billing API over a memory store, whose every answer is checked against its OpenAPI document. */
import { AsyncLocalStorage } from "node:async_hooks";

import Fastify, { type FastifyInstance, type LightMyRequestResponse } from "fastify";

import { createEngine, type Engine, type EngineOptions } from "../../src/engine/engine.ts";
import type { AccessControl } from "../../src/server/access/access.ts";
import { createOpenApiDocument } from "../../src/server/docs/openapi.ts";
import type { Role } from "../../src/server/http/endpoint.ts";
import { createPaging } from "../../src/server/http/pagination.ts";
import { type ApiContext, registerEndpoints } from "../../src/server/plugin.ts";
import { ENDPOINTS } from "../../src/server/routes/routes.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";
import { createAnswerChecker } from "./answer-check.ts";

/** The request of a test. */
export interface TestRequest {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer: its status, its JSON, and its text for values that JSON would round. */
export interface TestAnswer {
  readonly status: number;
  // Tests read answers like an outside client, without our types.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
  readonly text: string;
  readonly headers: LightMyRequestResponse["headers"];
}

/** A server of a test. */
export interface TestApi {
  readonly engine: Engine;
  /** Moves the clock. */
  readonly at: (time: string) => void;
  readonly call: (
    line: `${"GET" | "POST" | "PATCH" | "DELETE" | "PUT"} /${string}`,
    request?: TestRequest,
  ) => Promise<TestAnswer>;
}

const checkAnswer = createAnswerChecker(createOpenApiDocument(ENDPOINTS));

/** The caller in tests that do not test credentials. */
export function anyCaller(role: Role = "admin"): AccessControl {
  return {
    identify: async () => ({ caller: { keyId: "key", role }, credential: "credential" }),
    admit: () => undefined,
  };
}

/** The API that the one app of a test file serves for the current call. */
const servedContext = new AsyncLocalStorage<Pick<ApiContext, "engine" | "access">>();

let routes: ReturnType<typeof makeRoutes> | undefined;

/** Creating the routes takes longer than a test, so all APIs of a test file share them. */
async function makeRoutes(): Promise<{ readonly app: FastifyInstance }> {
  const app = Fastify({ routerOptions: { maxParamLength: 5000 } });
  registerEndpoints(app, {
    get engine() {
      return servedNow().engine;
    },
    access: {
      identify: (request) => servedNow().access.identify(request),
      admit: (from, bucket) => servedNow().access.admit(from, bucket),
    },
    paging: createPaging(() => Buffer.alloc(32, 7)),
  });
  await app.ready();
  // Wrapped in an object, because awaiting a Fastify app itself does not return the app.
  return { app };
}

function servedNow(): Pick<ApiContext, "engine" | "access"> {
  const now = servedContext.getStore();
  if (now === undefined) throw new Error("a request of a test is made by its API");
  return now;
}

/** Starts an API with the clock at a time. */
export async function startApi(
  time = "2024-06-15T12:00:00Z",
  access: AccessControl = anyCaller(),
  options: Pick<EngineOptions, "keepEventsMs"> = {},
): Promise<TestApi> {
  let now = Date.parse(time);
  const engine = createEngine({ store: memoryStore(), clock: () => now, ...options });
  const { app } = await (routes ??= makeRoutes());
  return {
    engine,
    at: (next) => {
      now = Date.parse(next);
    },
    call: async (line, { body, headers } = {}) => {
      const [method = "GET", url = "/"] = line.split(/ (.*)/s);
      const response = await servedContext.run({ engine, access }, async () => {
        // A request starts when it is awaited, which must be inside this function.
        const answer = await app.inject({
          method: method as "GET",
          url,
          headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
          ...(body === undefined ? {} : { payload: typeof body === "string" ? body : JSON.stringify(body) }),
        });
        return answer;
      });
      checkAnswer(method, url, response);
      const isJson = String(response.headers["content-type"]).startsWith("application/json");
      const json: unknown = isJson ? JSON.parse(response.body) : undefined;
      return { status: response.statusCode, json, text: response.body, headers: response.headers };
    },
  };
}

/** The status of an answer with its message, or with its body if it succeeded. */
export async function answerOf(api: TestApi, ...request: Parameters<TestApi["call"]>): Promise<readonly unknown[]> {
  const { status, json } = await api.call(...request);
  return [status, status < 400 ? json : json.message];
}

/** The calls of the current API of a test file, and short forms of their answers. */
export function bindCalls(api: () => TestApi): {
  readonly call: TestApi["call"];
  readonly answerTo: (...request: Parameters<TestApi["call"]>) => Promise<readonly unknown[]>;
} {
  return { call: (...request) => api().call(...request), answerTo: (...request) => answerOf(api(), ...request) };
}
