/** The pages about operating the server match the code. */
import { expect, test } from "vitest";

import { serveCommand } from "../../src/cli/commands/serve.ts";
import { CONNECTION_LIMITS } from "../../src/server/http/connections.ts";
import { BILL_RUN_INTERVAL, DEFAULT_PORT } from "../../src/server/serve.ts";
import { readGuide } from "../support/guides.ts";

const deployment = readGuide("operate/deployment.md");
const operations = readGuide("operate/operations.md");

test("the guide lists exactly the options of serve", () => {
  const names = [...deployment.matchAll(/^- `--([\w-]+)/gm)].map(([, name = ""]) => name);
  expect(new Set(names)).toEqual(new Set(Object.keys(serveCommand.options)));
});

test("the guide's figures match the code", () => {
  expect(deployment).toContain(`\`${DEFAULT_PORT}\``);
  expect(operations).toContain(`${BILL_RUN_INTERVAL / 60_000} minutes`);
  expect(operations).toContain(`${CONNECTION_LIMITS.headersTimeout / 1000} seconds`);
  expect(operations).toContain(`${CONNECTION_LIMITS.requestTimeout / 1000} seconds`);
  expect(operations).toContain(`${CONNECTION_LIMITS.keepAliveTimeout / 1000} seconds`);
  expect(operations).toContain(`${CONNECTION_LIMITS.maxHeaderSize / 1024} KiB`);
  expect(operations).toContain(CONNECTION_LIMITS.maxConnections.toLocaleString("en"));
});
