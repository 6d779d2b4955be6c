/** Runs `ratebook serve` in the process of a test. */
import { type CommandResult, ratebook } from "./fake-io.ts";

/** A server that runs in this process. */
export interface TestServer {
  readonly url: string;
  /** The printed key, if any. */
  readonly key: string | undefined;
  /** Stops it and waits until it has ended. */
  stop(): Promise<CommandResult>;
}

/** Starts `ratebook serve`; resolves when it listens or has ended. */
export async function startTestServer(
  argv: readonly string[],
  { folderPath, env = {} }: { readonly folderPath: string; readonly env?: Readonly<Record<string, string>> },
): Promise<TestServer> {
  let stop: () => void = () => {};
  const stopSignal = new Promise<string>((resolve) => {
    stop = () => resolve("SIGTERM");
  });
  let result: Promise<CommandResult> | undefined;
  const out = await new Promise<string>((resolve, reject) => {
    result = ratebook(["serve", "--port", "0", ...argv], {
      folderPath,
      env,
      waitForStop: () => stopSignal,
      onOutput: (text) => {
        if (text.includes("Listening on")) resolve(text);
      },
    });
    result.then(({ err }) => reject(new Error(err)), reject);
  });
  return {
    url: /Listening on (\S+)/.exec(out)?.[1] ?? "",
    key: /^API key: (rb_\w{43})$/m.exec(out)?.[1],
    stop: () => {
      stop();
      return result as Promise<CommandResult>;
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
