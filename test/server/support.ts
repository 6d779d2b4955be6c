import addFormats from "ajv-formats";
/** A billing API over a memory store, whose every answer is checked against its OpenAPI document. */
import { Ajv2020 } from "ajv/dist/2020.js";
import Fastify, { type FastifyInstance, type LightMyRequestResponse } from "fastify";

import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { AccessControl } from "../../src/server/access.ts";
import { serveEndpoints } from "../../src/server/app.ts";
import type { Role } from "../../src/server/endpoint.ts";
import { openApiOf } from "../../src/server/openapi.ts";
import { createPaging } from "../../src/server/pagination.ts";
import { ENDPOINTS } from "../../src/server/routes.ts";
import { memoryStore } from "../../src/store/memory.ts";

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

const document = openApiOf(ENDPOINTS, "test") as unknown as OpenApi;

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: unknown;
}
interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: object }>> }>>;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: "openapi.json", components: document.components });
const validators = new Map<string, ReturnType<typeof ajv.compile>>();

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

/** An answer is one that the document says. */
function checkAnswer(method: string, url: string, response: LightMyRequestResponse): void {
  const path = pathOf(url);
  const operation = path === undefined ? undefined : document.paths[path]?.[method.toLowerCase()];
  const isRefusal = response.statusCode === 404 || response.statusCode === 405;
  if (path === undefined || operation === undefined) {
    if (!isRefusal) throw new Error(`${method} ${url} answered ${response.statusCode}, and is not in the document`);
    return;
  }
  const type = String(response.headers["content-type"]).split(";")[0] ?? "";
  const content = operation.responses[String(response.statusCode)]?.content?.[type];
  if (content === undefined) {
    throw new Error(
      `${method} ${path} answered ${response.statusCode} ${type}, which the document lacks: ${response.body}`,
    );
  }
  if (type !== "application/json") return;
  const validate = validatorOf(`${method} ${path} ${response.statusCode}`, content.schema);
  if (!validate(JSON.parse(response.body))) {
    throw new Error(`${method} ${url}: ${ajv.errorsText(validate.errors)} in ${response.body}`);
  }
}

function validatorOf(key: string, schema: object): ReturnType<typeof ajv.compile> {
  const known = validators.get(key);
  if (known !== undefined) return known;
  const pointed: unknown = JSON.parse(JSON.stringify(schema).replaceAll("#/components/", "openapi.json#/components/"));
  const made = ajv.compile(pointed as object);
  validators.set(key, made);
  return made;
}

/** The path of the document that a URL is of; one without parameters comes first. */
function pathOf(url: string): string | undefined {
  const steps = (url.split("?")[0] ?? "").split("/");
  const fits = Object.keys(document.paths).filter((path) => {
    const own = path.split("/");
    return own.length === steps.length && own.every((step, index) => step.startsWith("{") || step === steps[index]);
  });
  return fits.toSorted((a, b) => a.split("{").length - b.split("{").length)[0];
}
