/** The guide to embedding shows a program, and what it prints. */
import { expect, test } from "vitest";

import { blockOf, guideOf, printedBy, programOf } from "../support/guides.ts";

const guide = guideOf("embedding.md");

test("the guide's program ingests, undoes, previews and finalizes, and prints what the guide says", async () => {
  expect(await printedBy("embedded-server.mjs")).toBe(blockOf(guide, "text"));
  const source = programOf("embedded-server.mjs");
  expect(source.replace("../../src/index.ts", "ratebook").trimEnd()).toBe(blockOf(guide, "js"));
});
