/** The API that the reference is proved against: a whole server with its credentials and its limits as they are. */
import { randomInt } from "node:crypto";

import { createAnswerChecker } from "../server/answer-check.ts";
import { type TestServer, startServed } from "../server/served-requests.ts";

/** A JSON object of a request or an answer. */
// Tests read answers as a stranger would: without our types.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

/** An answer. */
export interface ApiAnswer {
  readonly status: number;
  readonly json: Json;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** What a request carries. */
export interface ApiRequest {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Another credential than a good key; none where it is empty. */
  readonly by?: string;
}

/** What proofs work with. */
export interface Api {
  readonly server: TestServer;
  /** What the server says of itself. */
  readonly document: Json;
  /** Any status is an answer; each is checked against the server's own document. */
  ask(line: string, options?: ApiRequest): Promise<ApiAnswer>;
  /** The body of a success. */
  callOk(line: string, body?: unknown): Promise<Json>;
}

/** What every server says of itself, and the check of answers by it: made once, since it takes longer than most cases. */
let openApi: { readonly document: Json; readonly check: ReturnType<typeof createAnswerChecker> } | undefined;

async function describedBy(server: TestServer): Promise<NonNullable<typeof openApi>> {
  const document: Json = (await server.ask("GET /openapi.json")).json();
  return { document, check: createAnswerChecker(document) };
}

/** Starts a server; who calls is asked for each case, so that each has the buckets of a key of its own. */
export async function startContract(): Promise<() => Promise<Api>> {
  const server = await startServed();
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

/** A name that no other case has: resources of one server are told apart by it. */
export function unique(prefix: string): string {
  count += 1;
  return `${prefix}-${count}-${randomInt(1_000_000)}`;
}

/** A text of so many characters that no other case has. */
export function uniqueText(size: number): string {
  return unique("x").padEnd(size, "x").slice(0, size);
}

/** What is made once for a server, whoever asks first. */
export function oncePerServer<Made>(make: (api: Api) => Promise<Made>): (api: Api) => Promise<Made> {
  const samplesByServer = new WeakMap<TestServer, Promise<Made>>();
  return (api) => {
    const samples = samplesByServer.get(api.server) ?? make(api);
    samplesByServer.set(api.server, samples);
    return samples;
  };
}
