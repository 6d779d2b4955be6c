/** A billing API over a memory store, whose every answer is checked against its OpenAPI document. */
import { AsyncLocalStorage } from "node:async_hooks";

import Fastify, { type FastifyInstance, type LightMyRequestResponse } from "fastify";
import { expect } from "vitest";

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

/** Requests by their line, as `GET /customers?pageSize=1`. */
export interface Calls {
  readonly call: (line: string, request?: TestRequest) => Promise<TestAnswer>;
  /** The JSON of an answer, which must be a success. */
  readonly send: (line: string, body?: unknown) => Promise<TestAnswer["json"]>;
  /** Expects an error: its status, and its message or a matcher of Vitest. */
  readonly expectRefused: (line: string, body: unknown, message: unknown, status?: number) => Promise<void>;
  /** A field of each item of a list. */
  readonly listPart: (url: string, part?: string) => Promise<readonly unknown[]>;
}

/** A server of a test. */
export interface TestApi extends Calls {
  readonly engine: Engine;
  /** Moves the clock. */
  readonly at: (time: string) => void;
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
  const call: Calls["call"] = async (line, { body, headers } = {}) => {
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
  };
  const setClock = (next: string): void => {
    now = Date.parse(next);
  };
  return { engine, at: setClock, call, ...shortCalls(call) };
}

/** Calls that expect a success or an error. */
function shortCalls(call: Calls["call"]): Omit<Calls, "call"> {
  const send: Calls["send"] = async (line, body) => {
    const { status, json, text } = await call(line, { body });
    if (status >= 300) throw new Error(`${line} answered ${status}: ${text}`);
    return json;
  };
  return {
    send,
    expectRefused: async (line, body, message, status = 400) => {
      const answer = await call(line, { body });
      expect([line, answer.status, answer.json.message]).toEqual([line, status, message]);
    },
    listPart: async (url, part = "id") =>
      (await send(`GET ${url}`)).data.map((item: Readonly<Record<string, unknown>>) => item[part]),
  };
}

/** The calls of the current API of a test file. */
export function bindCalls(api: () => TestApi): Calls {
  const call: Calls["call"] = async (line, request) => api().call(line, request);
  return { call, ...shortCalls(call) };
}
