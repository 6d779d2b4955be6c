import { describe, expect, test } from "vitest";

import { storeConformance } from "../../src/store/conformance.ts";
import { emptiedStore, pgliteDatabase } from "./test-databases.ts";

/** Guarantees that a store with a single connection cannot give, and why. */
const SKIP: Readonly<Record<string, string>> = {
  "writers of different accounts do not wait for each other":
    "PGlite has one connection, so it has one writer at a time",
};

const pglite = pgliteDatabase();

describe("the storage port: PGlite", () => {
  for (const { name, run } of storeConformance) {
    if (name in SKIP) continue;
    test(name, () => run(() => emptiedStore(pglite.client)));
  }

  test("skips only the known cases", () => {
    const names = storeConformance.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(Object.keys(SKIP)));
  });
});
