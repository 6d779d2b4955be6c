/** The example adapter passes the conformance suite. */
import { describe, expect, test } from "vitest";

import { listStore } from "../../docs/examples/list-store.ts";
import { storeConformance } from "../../src/store/conformance.ts";

/** Transactions run one after another, so cases that need two concurrent ones are skipped. */
const NOT_FOR_ONE_WRITER = "writers of different accounts do not wait for each other";

describe("the storage port: the example adapter", () => {
  const cases = storeConformance.filter(({ name }) => name !== NOT_FOR_ONE_WRITER);

  test("skips one case", () => {
    expect(cases).toHaveLength(storeConformance.length - 1);
  });

  for (const { name, run } of cases) {
    test(name, () => run(async () => listStore()));
  }
});
