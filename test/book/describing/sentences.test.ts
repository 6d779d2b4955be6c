/** The sentences of fields, which JSON Schemas and the OpenAPI document have, are those in the JSDoc of the fields. */
import { expect, test } from "vitest";

import { collectSentences } from "../../support/sentences.ts";

const sentences = collectSentences();

test("every field has one", () => {
  const fields = Object.entries(sentences).flatMap(([owner, own]) =>
    Object.entries(own).map(([field, sentence]) => ({ field: `${owner}.${field}`, sentence })),
  );
  expect(fields.length).toBeGreaterThan(10);
  expect(fields.filter(({ sentence }) => sentence === "")).toEqual([]);
});

test("the file of sentences is current: `npx vitest run --project unit test/book/describing -u` writes it", async () => {
  await expect(`${JSON.stringify(sentences, null, 2)}\n`).toMatchFileSnapshot(
    "../../../src/book/describing/sentences.json",
  );
});
