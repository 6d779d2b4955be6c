/** The API that the reference is proved against: a whole server with its credentials and its limits as they are. */
import { randomInt } from "node:crypto";

import { answerCheckerOf } from "../server/answer-check.ts";
import { type Served, startServed } from "../server/served-requests.ts";

/** A JSON object of a request or an answer. */
// Tests read answers as a stranger would: without our types.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

/** An answer. */
export interface Answered {
  readonly status: number;
  readonly json: Json;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** What a request carries. */
export interface Asked {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Another credential than a good key; none where it is empty. */
  readonly by?: string;
}

/** What proofs work with. */
export interface Api {
  readonly served: Served;
  /** What the server says of itself. */
  readonly document: Json;
  /** Any status is an answer; each is checked against the server's own document. */
  ask(line: string, asked?: Asked): Promise<Answered>;
  /** The body of a success. */
  done(line: string, body?: unknown): Promise<Json>;
}

/** What every server says of itself, and the check of answers by it: made once, since it takes longer than most cases. */
let described: { readonly document: Json; readonly check: ReturnType<typeof answerCheckerOf> } | undefined;

async function describedBy(served: Served): Promise<NonNullable<typeof described>> {
  const document: Json = (await served.ask("GET /openapi.json")).json();
  return { document, check: answerCheckerOf(document) };
}

/** Starts a server; who calls is asked for each case, so that each has the buckets of a key of its own. */
export async function startContract(): Promise<() => Promise<Api>> {
  const served = await startServed();
  const { document, check } = (described ??= await describedBy(served));
  return async () => {
    const key = await served.key("admin");
    const ask: Api["ask"] = async (line, { body, query, headers, by = key } = {}) => {
      const asked = query === undefined ? line : `${line}?${new URLSearchParams(query).toString()}`;
      const response = await served.ask(asked, {
        ...(by === "" ? {} : { by }),
        ...(body === undefined ? {} : { body }),
        ...(headers && { headers }),
      });
      const [method = "GET", url = "/"] = asked.split(" ");
      check(method, url, response);
      return { status: response.statusCode, json: response.json(), headers: response.headers };
    };
    const done: Api["done"] = async (line, body) => {
      const { status, json } = await ask(line, body === undefined ? {} : { body });
      if (status >= 300) throw new Error(`${line} answered ${status}: ${JSON.stringify(json)}`);
      return json;
    };
    return { served, document, ask, done };
  };
}

let count = 0;

/** A name that no other case has: resources of one server are told apart by it. */
export function unique(prefix: string): string {
  count += 1;
  return `${prefix}-${count}-${randomInt(1_000_000)}`;
}

/** A text of so many characters that no other case has. */
export function textOf(size: number): string {
  return unique("x").padEnd(size, "x").slice(0, size);
}

/** What is made once for a server, whoever asks first. */
export function oncePerServer<Made>(make: (api: Api) => Promise<Made>): (api: Api) => Promise<Made> {
  const known = new WeakMap<Served, Promise<Made>>();
  return (api) => {
    const made = known.get(api.served) ?? make(api);
    known.set(api.served, made);
    return made;
  };
}
