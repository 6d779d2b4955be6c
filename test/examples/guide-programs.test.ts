/** The programs in the guides print the output shown. */
import { expect, test } from "vitest";

import { createPreview, type EventInput, parseBook, readBook } from "../../src/index.ts";
import { firstBlock, readGuide, readProgram, runProgram } from "../support/guides.ts";

/** The text blocks of a page. */
const textBlocks = (guide: string): readonly string[] =>
  [...guide.matchAll(/```text\n([^]*?)\n```/g)].map(([, text = ""]) => text);

test("the first invoice in code prints the output shown", async () => {
  const guide = readGuide("guide/first-invoice.md");
  expect(await runProgram("test/examples/first-invoice.ts")).toBe(textBlocks(guide)[1]);
  const source = readProgram("test/examples/first-invoice.ts");
  expect(source.replace("../../src/index.ts", "ratebook").trimEnd()).toBe(firstBlock(guide, "ts"));
});

test("the engine ingests, undoes, shows a draft and finalizes it", async () => {
  const guide = readGuide("guide/embedding.md");
  expect(await runProgram("docs/examples/embedded-engine.mjs")).toBe(firstBlock(guide, "text"));
  expect(readProgram("docs/examples/embedded-engine.mjs").trimEnd()).toBe(firstBlock(guide, "js"));
});

test("the API can be mounted in another server", async () => {
  const output = await runProgram("docs/examples/mounted-server.mjs");
  expect(output).toBe('200 {"data":[],"nextToken":null,"context":{"pageSize":20}}\n{"shop":"open"}');
  const [, shown = ""] = /## Mount the whole API[^]*?```js\n([^]*?)\n```/.exec(readGuide("guide/embedding.md")) ?? [];
  const program = readProgram("docs/examples/mounted-server.mjs");
  for (const line of shown.split("\n")) expect(program).toContain(`${line}\n`);
});

/** The first JSON block of a page. */
const json = (page: string): Record<string, unknown> =>
  JSON.parse(firstBlock(readGuide(page), "json")) as Record<string, unknown>;

test("the event in the guide to metering is accepted by a schema with its fields", () => {
  const book = readBook({
    eventSchemas: [
      {
        name: "llm_request",
        attributes: [{ name: "context_tokens" }, { name: "seconds" }],
        dimensions: [{ name: "region" }, { name: "model" }],
      },
    ],
    customers: [{ id: "contoso", name: "Contoso" }],
    accounts: [{ id: "contoso-prod", name: "Contoso production", customerId: "contoso" }],
  });
  const { status } = createPreview(book).add(json("guide/metering.md") as unknown as EventInput);
  expect(status).toBe("INGESTION_COMPLETED_NO_MATCHING_METERS");
});

test("the credit in the guide to credits is valid in a book", () => {
  const credits = [json("guide/credits-and-entitlements.md")];
  const accounts = [{ id: "contoso-prod", name: "Contoso production", customerId: "contoso", credits }];
  const book = parseBook({ customers: [{ id: "contoso", name: "Contoso" }], accounts });
  expect(book.accounts[0]?.credits[0]).toMatchObject({ purpose: "Welcome credit" });
});
