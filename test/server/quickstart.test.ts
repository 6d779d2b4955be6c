/** The quickstart is typed in as it stands: its commands run in one shell, and print what the page says. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, expect, test } from "vitest";

import { createEngine } from "../../src/engine/engine.ts";
import { apiKeysOf, type RunningServer, serve } from "../../src/server.ts";
import { memoryStore } from "../../src/store/memory/memory.ts";

const page = resolve(import.meta.dirname, "../../docs/quickstart.md");
/** What separates the outputs of the page's blocks. */
const MARK = "-- next block --";

let server: RunningServer;
let key: string;
let directory: string;

beforeAll(async () => {
  const engine = createEngine({ store: memoryStore() });
  ({ key } = await apiKeysOf(engine).create({ name: "quickstart", role: "admin" }));
  // With the limits that a newcomer meets.
  server = await serve({ engine, port: 0, log: { level: "silent" } });
  directory = await mkdtemp(join(tmpdir(), "ratebook-quickstart-"));
});

afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

/** The commands of the page, each with the output that follows it, if any. */
function blocksOf(text: string): readonly { readonly commands: string; readonly output: string | undefined }[] {
  const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, body]) => ({ language, body }));
  return blocks.flatMap(({ language, body = "" }, index) => {
    if (language !== "sh") return [];
    const next = blocks[index + 1];
    return [{ commands: body, output: next?.language === "text" ? next.body : undefined }];
  });
}

test("every command of the quickstart does what the page says", async () => {
  const blocks = blocksOf(await readFile(page, "utf8"));
  expect(blocks.length).toBeGreaterThan(8);
  const script = blocks
    .map(({ commands }) => commands.replace(/^URL=.*$/m, `URL=${server.url}`).replace(/^KEY=.*$/m, `KEY=${key}`))
    .join(`\necho '${MARK}'\n`);
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], { cwd: directory });
  const printed = stdout.split(`${MARK}\n`);
  for (const [index, { commands, output = "" }] of blocks.entries()) {
    expect([commands, printed[index]]).toEqual([commands, output]);
  }
  const html = await readFile(join(directory, "invoice.html"), "utf8");
  expect(html).toContain('<th scope="row">API calls</th>');
  expect(html).toContain("<td>35.00</td>");
});
