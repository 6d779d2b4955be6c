import { describe, expect, test } from "vitest";

import { ours, theirs } from "./oracle.ts";
import { publicSuite } from "./public-suite.ts";

describe("the public JSON Logic test suite", () => {
  test.each(
    publicSuite.map(({ rule, facts, expected }) => [
      JSON.stringify(rule),
      JSON.stringify(facts),
      rule,
      facts,
      expected,
    ]),
  )("S3.1 %s on %s", (_rule, _facts, rule, facts, expected) => {
    expect(ours(rule, facts)).toStrictEqual(expected);
    expect(theirs(rule, facts)).toStrictEqual(expected);
  });
});
