/** Ten thousand concurrent connections, opened by another process. */
import { join } from "node:path";

import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { createEngine } from "../../../src/engine/engine.ts";
import { manageApiKeys } from "../../../src/server/access/credentials.ts";
import { type RunningServer, serve } from "../../../src/server/serve.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { buildProgram, type Program } from "../../support/programs.ts";

let program: Program;
beforeAll(() => {
  program = buildProgram(join(import.meta.dirname, "many-connections.program.ts"));
});
afterAll(() => program.remove());

/** 10,000, or the limit of open files for a process on this machine. */
function connectionsHere(): number {
  const { userLimits } = process.report.getReport() as unknown as {
    readonly userLimits: { readonly open_files: { readonly soft: number | "unlimited" } };
  };
  const { soft } = userLimits.open_files;
  return soft === "unlimited" ? 10_000 : Math.min(10_000, soft - 200);
}

function connectionsOf({ app }: RunningServer): Promise<number> {
  return new Promise((resolve, reject) => {
    app.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

test("10,000 open connections do not prevent others from being served", async () => {
  const engine = createEngine({ store: memoryStore() });
  const { key } = await manageApiKeys(engine).create({ name: "k", role: "read" });
  const headersTimeout = 30_000;
  const server = await serve({
    engine,
    port: 0,
    billRunInterval: 0,
    log: { level: "silent" },
    limits: { headersTimeout },
  });
  const count = connectionsHere();
  const client = program.run(new URL(server.url).port, String(count));
  expect((await client.lines.next()).value).toEqual({ open: count, failed: 0 });
  // The last ones may wait to be accepted.
  await vi.waitFor(async () => expect(await connectionsOf(server)).toBe(count), 30_000);
  const headers = { authorization: `Bearer ${key}`, connection: "close" };
  expect((await fetch(`${server.url}/health`, { headers })).status).toBe(200);
  expect((await fetch(`${server.url}/customers`, { headers })).status).toBe(200);
  client.send("done");
  expect(await client.end).toMatchObject({ code: 0, errors: "" });
  await server.close();
});

test("connections above the limit are closed at once, and those below it are served", async () => {
  const server = await serve({
    engine: createEngine({ store: memoryStore() }),
    port: 0,
    billRunInterval: 0,
    log: { level: "silent" },
    limits: { maxConnections: 50 },
  });
  const client = program.run(new URL(server.url).port, "40");
  expect((await client.lines.next()).value).toEqual({ open: 40, failed: 0 });
  expect((await fetch(`${server.url}/health`, { headers: { connection: "close" } })).status).toBe(200);
  const more = program.run(new URL(server.url).port, "40");
  await more.lines.next();
  expect(await connectionsOf(server)).toBeLessThanOrEqual(50);
  await server.close();
  client.send("done");
  more.send("done");
  expect(await client.end).toMatchObject({ code: 0, errors: "" });
});
