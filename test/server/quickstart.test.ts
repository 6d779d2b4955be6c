/** The commands in the guide to the server run in one shell, and print the output shown. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, test } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import { manageApiKeys, type RunningServer, serve } from "../../src/server.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";

const page = resolve(import.meta.dirname, "../../docs/guide/server.md");
/** Separates the outputs of the page's blocks. */
const MARK = "-- next block --";
/** The time of the server and the shell: on the last day of a month, the month might end between two commands. */
const NOW = "2024-06-15T12:00:00Z";

let server: RunningServer;
let key: string;
let directory: string;

beforeAll(async () => {
  const engine = createEngine({ store: memoryStore(), clock: () => Date.parse(NOW) });
  ({ key } = await manageApiKeys(engine).create({ name: "quickstart", role: "admin" }));
  // With the default limits.
  server = await serve({ engine, port: 0, log: { level: "silent" } });
  directory = await mkdtemp(join(tmpdir(), "ratebook-quickstart-"));
  const date = `case "$2" in +%Y-%m-01) echo ${NOW.slice(0, 7)}-01 ;; *) echo ${NOW} ;; esac`;
  await writeFile(join(directory, "date"), `#!/bin/sh\n${date}\n`, { mode: 0o755 });
});

afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

/** The commands of the page, each with the output that follows it, if any. */
function readBlocks(text: string): readonly { readonly commands: string; readonly output: string | undefined }[] {
  const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, body]) => ({ language, body }));
  return blocks.flatMap(({ language, body = "" }, index) => {
    if (language !== "sh") return [];
    const next = blocks[index + 1];
    return [{ commands: body, output: next?.language === "text" ? next.body : undefined }];
  });
}

test("every command in the guide prints the output shown", async () => {
  const blocks = readBlocks(await readFile(page, "utf8"));
  expect(blocks.length).toBeGreaterThan(8);
  const script = blocks
    .map(({ commands }) => commands.replace(/^URL=.*$/m, `URL=${server.url}`).replace(/^KEY=.*$/m, `KEY=${key}`))
    .join(`\necho '${MARK}'\n`);
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
    cwd: directory,
    env: { ...process.env, PATH: `${directory}:${process.env["PATH"] ?? ""}` },
  });
  const outputs = stdout.split(`${MARK}\n`);
  for (const [index, { commands, output = "" }] of blocks.entries()) {
    expect([commands, outputs[index]]).toEqual([commands, output]);
  }
  const html = await readFile(join(directory, "invoice.html"), "utf8");
  expect(html).toContain('<th scope="row">API calls</th>');
  expect(html).toContain('<td class="a">$35.00</td>');
});
