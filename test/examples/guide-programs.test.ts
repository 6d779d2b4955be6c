/** The guides show programs, and what they print. */
import { expect, test } from "vitest";

import { firstBlock, readGuide, readProgram, runProgram } from "../support/guides.ts";

/** The text blocks of a page. */
const texts = (guide: string): readonly string[] =>
  [...guide.matchAll(/```text\n([^]*?)\n```/g)].map(([, text = ""]) => text);

test("the first invoice in code", async () => {
  const guide = readGuide("guide/first-invoice.md");
  expect(await runProgram("test/examples/first-invoice.ts")).toBe(texts(guide)[1]);
  const source = readProgram("test/examples/first-invoice.ts");
  expect(source.replace("../../src/index.ts", "ratebook").trimEnd()).toBe(firstBlock(guide, "ts"));
});

test("the engine ingests, undoes, shows a draft and makes it final", async () => {
  const guide = readGuide("guide/embedding.md");
  expect(await runProgram("docs/examples/embedded-engine.mjs")).toBe(firstBlock(guide, "text"));
  expect(readProgram("docs/examples/embedded-engine.mjs").trimEnd()).toBe(firstBlock(guide, "js"));
});

test("the API mounts in a server of one's own", async () => {
  const printed = await runProgram("docs/examples/mounted-server.mjs");
  expect(printed).toBe('200 {"data":[],"nextToken":null,"context":{"pageSize":20}}\n{"shop":"open"}');
  const [, shown = ""] = /## Mount the whole API[^]*?```js\n([^]*?)\n```/.exec(readGuide("guide/embedding.md")) ?? [];
  const program = readProgram("docs/examples/mounted-server.mjs");
  for (const line of shown.split("\n")) expect(program).toContain(`${line}\n`);
});
