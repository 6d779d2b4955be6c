import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { storeConformance } from "../../src/store/conformance.ts";
import { emptiedStore } from "./test-databases.ts";

/** Guarantees that a store with a single connection cannot give, and why. */
const SKIP: Readonly<Record<string, string>> = {
  "writers of different accounts do not wait for each other":
    "PGlite has one connection, so it has one writer at a time",
};

let database: PGlite;

beforeAll(async () => {
  database = await PGlite.create();
});

afterAll(() => database.close());

describe("the storage port: PGlite", () => {
  for (const { name, run } of storeConformance) {
    if (name in SKIP) continue;
    test(name, () => run(() => emptiedStore(database)));
  }

  test("skips only the known cases", () => {
    const names = storeConformance.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(Object.keys(SKIP)));
  });
});
