/** The API that the reference is tested against: a complete server with its credentials and limits. */
import { randomInt } from "node:crypto";

import { createAnswerChecker } from "../server/answer-check.ts";
import { type TestServer, startCompleteServer } from "../server/complete-server.ts";

/** A JSON object of a request or an answer. */
// Tests read answers like an outside client, without our types.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

/** An answer. */
export interface ApiAnswer {
  readonly status: number;
  readonly json: Json;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** The parts of a request. */
export interface ApiRequest {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Another credential instead of a valid key; none if it is empty. */
  readonly by?: string;
}

/** What cases work with. */
export interface Api {
  readonly server: TestServer;
  /** The server's OpenAPI document. */
  readonly document: Json;
  /** Accepts any status; each answer is checked against the server's own document. */
  ask(line: string, options?: ApiRequest): Promise<ApiAnswer>;
  /** Requires a success and returns its body. */
  callOk(line: string, body?: unknown): Promise<Json>;
}

/**
 * The OpenAPI document of every server, and the validator of answers: created once, because it takes longer than most
 * cases.
 */
let openApi: { readonly document: Json; readonly check: ReturnType<typeof createAnswerChecker> } | undefined;

async function describedBy(server: TestServer): Promise<NonNullable<typeof openApi>> {
  const document: Json = (await server.ask("GET /openapi.json")).json();
  return { document, check: createAnswerChecker(document) };
}

/** Starts a server. Each case has its own key, so that it has its own rate limits. */
export async function startContract(): Promise<() => Promise<Api>> {
  const server = await startCompleteServer();
  const { document, check } = (openApi ??= await describedBy(server));
  return async () => {
    const key = await server.key("admin");
    const ask: Api["ask"] = async (line, { body, query, headers, by = key } = {}) => {
      const target = query === undefined ? line : `${line}?${new URLSearchParams(query).toString()}`;
      const response = await server.ask(target, {
        ...(by === "" ? {} : { by }),
        ...(body === undefined ? {} : { body }),
        ...(headers && { headers }),
      });
      const [method = "GET", url = "/"] = target.split(" ");
      check(method, url, response);
      return { status: response.statusCode, json: response.json(), headers: response.headers };
    };
    const callOk: Api["callOk"] = async (line, body) => {
      const { status, json } = await ask(line, body === undefined ? {} : { body });
      if (status >= 300) throw new Error(`${line} answered ${status}: ${JSON.stringify(json)}`);
      return json;
    };
    return { server, document, ask, callOk };
  };
}

let count = 0;

/** A name that is unique among cases, so that resources of one server can be told apart. */
export function unique(prefix: string): string {
  count += 1;
  return `${prefix}-${count}-${randomInt(1_000_000)}`;
}

/** A unique text of this length. */
export function uniqueText(size: number): string {
  return unique("x").padEnd(size, "x").slice(0, size);
}

/** Creates a value once per server, on first use. */
export function oncePerServer<Made>(make: (api: Api) => Promise<Made>): (api: Api) => Promise<Made> {
  const samplesByServer = new WeakMap<TestServer, Promise<Made>>();
  return (api) => {
    const samples = samplesByServer.get(api.server) ?? make(api);
    samplesByServer.set(api.server, samples);
    return samples;
  };
}
