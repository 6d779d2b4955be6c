/** A server on a real socket, with clients that violate HTTP or are slow. */
import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

import { afterEach, describe, expect, test, vi } from "vitest";

import { createEngine } from "../../../src/engine/engine.ts";
import { manageApiKeys } from "../../../src/server/access/credentials.ts";
import { type RunningServer, serve, type ServeOptions } from "../../../src/server/serve.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";

const running: RunningServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.close();
});

interface Listening extends RunningServer {
  readonly port: number;
  readonly key: string;
  readonly log: readonly string[];
}

async function listen(options: Partial<ServeOptions> = {}): Promise<Listening> {
  const engine = createEngine({ store: memoryStore() });
  const { key } = await manageApiKeys(engine).create({ name: "k", role: "admin" });
  const log: string[] = [];
  const server = await serve({
    engine,
    port: 0,
    billRunInterval: 0,
    log: { level: "debug", stream: { write: (line) => void log.push(line) } },
    ...options,
  });
  running.push(server);
  return { ...server, port: Number(new URL(server.url).port), key, log };
}

/**
 * Sends bytes on a new connection, and returns everything received until the server closes it.
 *
 * @param parts the data to send; a number is a pause in milliseconds, a pattern is awaited in the received data
 */
async function sendParts(port: number, ...parts: readonly (string | Buffer | number | RegExp)[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const closing = new Promise<void>((resolve) => {
    socket.on("close", () => resolve());
  });
  socket.on("error", () => {});
  for (const part of parts) {
    if (socket.destroyed) break;
    if (typeof part === "number") await pause(part);
    else if (part instanceof RegExp) while (!part.test(text) && !socket.destroyed) await pause(5);
    else socket.write(part);
  }
  await closing;
  return text;
}

/** Expects a JSON answer of ratebook with a request id, which ends the connection. */
function expectErrorAnswer(answer: string, status: number, message: string): void {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(head.toLowerCase()).toContain("content-type: application/json");
  expect(head.toLowerCase()).toMatch(/x-request-id: [\da-f-]{36}/);
  expect(JSON.parse(body)).toEqual({ message });
}

describe("malformed HTTP", () => {
  test.each([
    ["no HTTP at all", "hello\r\n\r\n"],
    ["an unknown method", "FETCH / HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["two lengths", "POST /customers HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n12"],
    [
      "a length and chunks, as smugglers send",
      "POST /customers HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a header without a colon", "GET / HTTP/1.1\r\nhost: x\r\nnothing\r\n\r\n"],
    ["a line end in a header", "GET / HTTP/1.1\r\nhost: x\r\na: b\nc\r\n\r\n"],
    ["no host", "GET /health HTTP/1.1\r\n\r\n"],
  ])("%s is a 400", async (_, text) => {
    const { port } = await listen();
    expect(await sendParts(port, text)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("is answered in JSON, and logged", async () => {
    const { port, log } = await listen();
    expectErrorAnswer(await sendParts(port, "hello\r\n\r\n"), 400, "the request is not valid HTTP");
    expect(log.join("")).toContain('"status":400');
  });

  test("with too many headers is a 431", async () => {
    const { port } = await listen();
    const many = Array.from({ length: 2000 }, (_, index) => `x-${index}: ${"y".repeat(20)}`).join("\r\n");
    expectErrorAnswer(
      await sendParts(port, `GET /health HTTP/1.1\r\nhost: x\r\n${many}\r\n\r\n`),
      431,
      "the headers are too large",
    );
  });
});

describe("a HEAD request that is rejected before it is read completely", () => {
  const long = `/health?x=${"y".repeat(20_000)}`;

  test("has an answer without a body, which a client can parse", async () => {
    const { port } = await listen();
    const answer = await sendParts(port, `HEAD ${long} HTTP/1.1\r\nhost: x\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer.toLowerCase()).toContain("\r\ncontent-length: 0\r\n");
    expect(answer).toMatch(/\r\n\r\n$/);
    const status = await new Promise((resolve, reject) => {
      const headRequest = request({ port, method: "HEAD", path: long }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode));
      });
      headRequest.on("error", reject).end();
    });
    expect(status).toBe(431);
  });

  test("is answered without a body, also if it arrives in several packets; a GET is answered with the reason", async () => {
    const { port } = await listen();
    const [first, second] = [`HEAD /health?x=${"y".repeat(9000)}`, `${"y".repeat(9000)} HTTP/1.1\r\nhost: x\r\n\r\n`];
    expect(await sendParts(port, first, 50, second)).toMatch(/^HTTP\/1\.1 431 [^]*\r\n\r\n$/);
    expectErrorAnswer(
      await sendParts(port, `GET ${long} HTTP/1.1\r\nhost: x\r\n\r\n`),
      431,
      "the headers are too large",
    );
  });

  test("on a connection that has received an answer before", async () => {
    const { port } = await listen();
    const answers = await sendParts(
      port,
      "GET /health HTTP/1.1\r\nhost: x\r\n\r\n",
      /"/,
      `HEAD ${long} HTTP/1.1\r\nhost: x\r\n\r\n`,
    );
    expect(answers).toMatch(/^HTTP\/1\.1 200 [^]*HTTP\/1\.1 431 [^]*\r\n\r\n$/);
  });
});

describe("the address to listen on", () => {
  const warning = "listening on a public address without TLS";

  test.each([
    ["on this machine alone", {}, 0],
    ["on all of its addresses", { host: "0.0.0.0" }, 1],
    ["on all of them behind a proxy", { host: "0.0.0.0", trustProxy: 1 }, 0],
  ])("%s: %o logs this many warnings: %i", async (_, options, warnings) => {
    const { log } = await listen(options);
    expect(log.filter((line) => line.includes(warning))).toHaveLength(warnings);
  });
});

describe("slow clients", () => {
  const limits = { headersTimeout: 300, requestTimeout: 600 };
  const SLOWLY = Array.from({ length: 40 }, () => ["x", 100]).flat();

  test.each([
    ["with unfinished headers", ["GET /health HTTP/1.1\r\nhost: x\r\n"]],
    ["sending a byte now and then", ["GET /health HTTP/1.1\r\nhost: x\r\nx-slow: ", ...SLOWLY]],
  ])("%s get a 408", async (_, parts) => {
    const { port } = await listen({ limits });
    expectErrorAnswer(await sendParts(port, ...parts), 408, "the request took too long to arrive");
  });

  test("with an unfinished body get a 408, and no internal error is logged", async () => {
    const { port, key, log } = await listen({ limits });
    const head = `POST /customers HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`;
    expectErrorAnswer(await sendParts(port, head), 408, "the request took too long to arrive");
    expect(log.join("")).not.toContain("request failed");
  });

  test("are disconnected when nothing moves, even while waiting for an answer", async () => {
    const store = memoryStore();
    const read: typeof store.read = { ...store.read, configurationRevision: () => new Promise(() => {}) };
    const engine = createEngine({ store: { ...store, read } });
    const { url } = await listen({ engine, limits: { silenceTimeout: 300 } });
    await expect(fetch(`${url}/ready`)).rejects.toThrow();
    // If this process is blocked for that long, this connection is closed as well.
    await vi.waitFor(async () => expect((await fetch(`${url}/health`)).status).toBe(200), 60_000);
  });

  test("that send nothing are disconnected", async () => {
    const { port } = await listen({ limits });
    expect(await sendParts(port)).toMatch(/^(?:HTTP\/1\.1 408 [^]*)?$/);
  });
});

describe("large and malicious bodies", () => {
  const post = (port: number, key: string, path: string, length: number, type = "application/json"): string =>
    `POST ${path} HTTP/1.1\r\nhost: x:${port}\r\nauthorization: Bearer ${key}\r\ncontent-type: ${type}\r\n` +
    `connection: close\r\ncontent-length: ${length}\r\n\r\n`;

  test("100 MB are a 413 before they are read, and the next request is served", async () => {
    const { port, key, url } = await listen();
    const before = process.memoryUsage().arrayBuffers;
    const answer = await sendParts(port, post(port, key, "/customers", 100_000_000), Buffer.alloc(1_000_000, 0x20));
    expectErrorAnswer(answer, 413, "the body is too large");
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  test("endless chunks are a 413 as soon as there are too many", async () => {
    const { port, key } = await listen();
    const head = post(port, key, "/customers", 0).replace("content-length: 0", "transfer-encoding: chunked");
    const chunk = `${(65_536).toString(16)}\r\n${" ".repeat(65_536)}\r\n`;
    expectErrorAnswer(
      await sendParts(port, head, ...Array.from({ length: 20 }, () => chunk)),
      413,
      "the body is too large",
    );
  });

  test.each([
    ["a bomb of brackets", "[".repeat(500_000), /^the body is nested too deeply at line 1, column \d+$/],
    ["a number beyond all bounds", '{"id": 1e999999999}', /./],
    ["a field named __proto__", '{"__proto__": {"admin": true}, "id": "acme"}', /__proto__/],
    ["bytes that are no text", Buffer.from([0x22, 0xff, 0xfe, 0x22]), /^the body is not valid UTF-8$/],
  ])("%s is a 400", async (_, body, message) => {
    const { port, key, url } = await listen();
    const answer = await sendParts(port, post(port, key, "/customers", Buffer.byteLength(body)), body);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect((JSON.parse(answer.split("\r\n\r\n")[1] ?? "") as { message: string }).message).toMatch(message);
    expect((await fetch(`${url}/health`)).status).toBe(200);
  });

  test("a client that disconnects in the middle of its body causes no internal error", async () => {
    const { port, key, log } = await listen();
    const socket: Socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(`${post(port, key, "/customers", 100)}{`);
    await pause(100);
    socket.resetAndDestroy();
    await pause(100);
    expect(log.join("")).not.toContain("request failed");
  });
});

describe("a server that stops", () => {
  test("finishes requests in progress, accepts no new ones, and closes the engine last", async () => {
    const store = memoryStore();
    const order: string[] = [];
    let release: () => void = () => {};
    const pending = new Promise<void>((resolve) => {
      release = resolve;
    });
    let onStart: () => void = () => {};
    const begin = new Promise<void>((resolve) => {
      onStart = resolve;
    });
    const slow: typeof store = {
      ...store,
      read: {
        ...store.read,
        configurationRevision: async () => {
          onStart();
          await pending;
          order.push("read");
          return store.read.configurationRevision();
        },
      },
      close: async () => {
        order.push("closed");
        await store.close();
      },
    };
    const server = await serve({
      engine: createEngine({ store: slow }),
      port: 0,
      billRunInterval: 0,
      log: { level: "silent" },
    });
    const agent = new Agent({ keepAlive: true });
    const answer = new Promise<{ status: number | undefined; connection: string | undefined }>((resolve, reject) => {
      request(`${server.url}/ready`, { agent }, (response) => {
        response.resume().on("end", () => {
          resolve({ status: response.statusCode, connection: response.headers.connection });
        });
      })
        .on("error", reject)
        .end();
    });
    await begin;
    const closing = server.close();
    expect(server.close()).toBe(closing);
    await vi.waitFor(() => expect(fetch(`${server.url}/health`)).rejects.toThrow(), 60_000);
    expect(order).toEqual([]);
    release();
    expect(await answer).toEqual({ status: 200, connection: "close" });
    await closing;
    expect(order).toEqual(["read", "closed"]);
    agent.destroy();
  });

  test("does not wait for idle connections", async () => {
    const server = await listen({ limits: { headersTimeout: 600_000 } });
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => {});
    const agent = new Agent({ keepAlive: true });
    await fetch(`${server.url}/health`);
    const began = performance.now();
    await server.close();
    // Requests in progress are awaited for 30 seconds.
    expect(performance.now() - began).toBeLessThan(25_000);
    socket.destroy();
    agent.destroy();
  });

  test("fails at once if the address is in use", async () => {
    const { port } = await listen();
    await expect(listen({ port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  test("listens only on this machine by default", async () => {
    expect((await listen()).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await listen({ host: "::1", prefix: "/v1" })).url).toMatch(/^http:\/\/\[::1\]:\d+\/v1$/);
  });
});
