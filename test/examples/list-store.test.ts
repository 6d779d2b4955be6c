/** The adapter of the guide: it passes the conformance suite, and the page shows it as it is. */
import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";

import { storeConformance } from "../../src/store/conformance.ts";
import { listStore } from "./list-store.ts";

/** Transactions go one after another: it has no two of them at once. */
const NOT_FOR_ONE_WRITER = "writers of different accounts do not wait for each other";

describe("the storage port: the guide's adapter", () => {
  const cases = storeConformance.filter(({ name }) => name !== NOT_FOR_ONE_WRITER);

  test("leaves one case out", () => {
    expect(cases).toHaveLength(storeConformance.length - 1);
  });

  for (const { name, run } of cases) {
    test(name, () => run(async () => listStore()));
  }
});

test("the guide shows it as it is", () => {
  const source = readFileSync("test/examples/list-store.ts", "utf8").replace("../../src/store.ts", "ratebook/store");
  expect(readFileSync("docs/reference/storage-adapters.md", "utf8")).toContain(`\`\`\`ts\n${source}\`\`\`\n`);
});
