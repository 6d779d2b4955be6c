/** The guide to running the server says what is so. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { afterEach, expect, test, vi } from "vitest";

import { serveCommand } from "../../src/cli/serve.ts";
import { CONNECTION_LIMITS } from "../../src/server/connections.ts";
import { BILL_RUN_INTERVAL, DEFAULT_PORT } from "../../src/server/serve.ts";

const root = join(import.meta.dirname, "../..");
const program = join(root, "test/examples/mounted-server.mjs");
const guide = readFileSync(join(root, "docs/server.md"), "utf8");

function blockOf(language: string): string {
  return new RegExp(`\`\`\`${language}\n([^]*?)\n\`\`\``).exec(guide)?.[1] ?? "";
}

afterEach(() => {
  vi.restoreAllMocks();
});

test("the guide's program mounts the API in a server of its own, and prints what the guide says", async () => {
  const printed: string[] = [];
  const print = (part: unknown): string => (typeof part === "string" ? part : JSON.stringify(part));
  vi.spyOn(console, "log").mockImplementation(
    (...parts: readonly unknown[]) => void printed.push(parts.map(print).join(" ")),
  );
  await import(pathToFileURL(program).href);
  expect(printed.join("\n")).toBe(blockOf("text"));
  const source = readFileSync(program, "utf8");
  const published = source
    .replace("../../src/index.ts", "ratebook")
    .replace("../../src/server.ts", "ratebook/server")
    .trimEnd();
  expect(published).toBe(blockOf("js"));
});

test("the guide has every option of serve, and no other", () => {
  const told = [...guide.matchAll(/^\| `--([\w-]+)/gm)].map(([, name = ""]) => name);
  expect(new Set(told)).toEqual(new Set(Object.keys(serveCommand.options)));
});

test("the guide's figures are those of the code", () => {
  expect(guide).toContain(`\`${DEFAULT_PORT}\``);
  expect(guide).toContain(`${BILL_RUN_INTERVAL / 60_000} minutes`);
  expect(guide).toContain(`${CONNECTION_LIMITS.headersTimeout / 1000} seconds`);
  expect(guide).toContain(`${CONNECTION_LIMITS.requestTimeout / 1000} seconds`);
  expect(guide).toContain(`${CONNECTION_LIMITS.keepAliveTimeout / 1000} seconds`);
  expect(guide).toContain(`${CONNECTION_LIMITS.maxHeaderSize / 1024} KiB`);
  expect(guide).toContain(CONNECTION_LIMITS.maxConnections.toLocaleString("en"));
});
