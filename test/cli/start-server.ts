/** Runs `ratebook serve` in the process of a test. */
import { type Ran, ratebook } from "./fake-io.ts";

/** A server that runs in this process. */
export interface Serving {
  readonly url: string;
  /** The printed key, if any. */
  readonly key: string | undefined;
  /** Stops it and waits until it has ended. */
  stop(): Promise<Ran>;
}

/** Starts `ratebook serve`; resolves when it listens or has ended. */
export async function startServing(
  argv: readonly string[],
  { cut, env = {} }: { readonly cut: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Serving> {
  let stop: () => void = () => {};
  const stopping = new Promise<string>((resolve) => {
    stop = () => resolve("SIGTERM");
  });
  let ran: Promise<Ran> | undefined;
  const out = await new Promise<string>((resolve, reject) => {
    ran = ratebook(["serve", "--port", "0", ...argv], {
      cut,
      env,
      stopped: () => stopping,
      onOutput: (text) => {
        if (text.includes("listens on")) resolve(text);
      },
    });
    ran.then(({ err }) => reject(new Error(err)), reject);
  });
  return {
    url: /listens on (\S+)/.exec(out)?.[1] ?? "",
    key: /^API key: (rb_\w{43})$/m.exec(out)?.[1],
    stop: () => {
      stop();
      return ran as Promise<Ran>;
    },
  };
}

/** Sends a request with a key; with a body, by POST. */
export async function sendWithKey(
  url: string,
  path: string,
  key: string,
  body?: unknown,
): Promise<{ status: number; json: unknown }> {
  const answer = await fetch(`${url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: await answer.json() };
}
