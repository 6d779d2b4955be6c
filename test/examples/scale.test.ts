/** The guide to scale shows a ledger over several databases, and what it prints. */
import { expect, test } from "vitest";

import { blockOf, guideOf, printedBy, programOf } from "../support/guides.ts";

const guide = guideOf("scale.md");

test("the guide's program sends each account's events to one of two ledgers, and prints what the guide says", async () => {
  expect(await printedBy("sharded-ledger.mjs")).toBe(blockOf(guide, "text"));
  const source = programOf("sharded-ledger.mjs");
  expect(source.replace("../../src/index.ts", "ratebook").trimEnd()).toBe(blockOf(guide, "js"));
});
