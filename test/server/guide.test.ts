/** The guide to running the server says what is so. */
import { expect, test } from "vitest";

import { serveCommand } from "../../src/cli/serve.ts";
import { CONNECTION_LIMITS } from "../../src/server/http/connections.ts";
import { BILL_RUN_INTERVAL, DEFAULT_PORT } from "../../src/server/serve.ts";
import { blockOf, guideOf, printedBy, programOf } from "../support/guides.ts";

const guide = guideOf("server.md");

test("the guide's program mounts the API in a server of its own, and prints what the guide says", async () => {
  expect(await printedBy("mounted-server.mjs")).toBe(blockOf(guide, "text"));
  const source = programOf("mounted-server.mjs");
  const published = source
    .replace("../../src/index.ts", "ratebook")
    .replace("../../src/server.ts", "ratebook/server")
    .trimEnd();
  expect(published).toBe(blockOf(guide, "js"));
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
