/** Which values explain that no meter matches an event. */
import { expect, test } from "vitest";

import { readBook } from "../../src/book/book.ts";
import { createCatalog } from "../../src/ledger/catalog.ts";

const ACCEPTS_A = { "==": [{ var: "dimension.model" }, "a"] };

test.each([
  ["a value that no matcher names", [ACCEPTS_A], { model: "nova" }, { model: "nova" }],
  [
    "a value of only one of two dimensions",
    [{ and: [ACCEPTS_A, { in: [{ var: "dimensions.kind" }, ["in", "out"]] }] }],
    { model: "a", kind: "audio" },
    { kind: "audio" },
  ],
  [
    "both values, if matchers name neither",
    [{ and: [ACCEPTS_A, { in: [{ var: "dimension.kind" }, ["in"]] }] }],
    { model: "b", kind: "x" },
    { model: "b", kind: "x" },
  ],
  [
    "the combination, if matchers name each value",
    [
      { and: [ACCEPTS_A, { "==": ["in", { var: "dimension.kind" }] }] },
      { and: [{ "===": [{ var: "dimension.model" }, "b"] }, { "==": [{ var: "dimension.kind" }, "out"] }] },
    ],
    { model: "a", kind: "out" },
    { model: "a", kind: "out" },
  ],
  [
    "a value that a matcher excludes",
    [{ "!=": [{ var: "dimension.model" }, "test"] }],
    { model: "test" },
    { model: "test" },
  ],
  [
    "a value of a list that a matcher excludes",
    [{ and: [{ "!": [{ in: [{ var: "dimension.kind" }, ["x", "y"]] }] }, { "!!": [{ var: "dimension.model" }] }] }],
    { model: "", kind: "x" },
    { kind: "x" },
  ],
  [
    "the value of a dimension that a matcher reads in another way",
    [{ in: ["nova", { var: "dimension.model" }] }],
    { model: "gpt" },
    { model: "gpt" },
  ],
  [
    "a value that a later matcher compares with a variable",
    [{ "==": [{ var: "dimension.model" }, { var: "dimension.kind" }] }],
    { model: "a", kind: "b" },
    { model: "a", kind: "b" },
  ],
  ["a computed dimension", [{ "==": [{ var: "dimension.computed" }, "a"] }], { model: "b" }, { computed: "b!" }],
  ["nothing, if matchers read no dimensions", [{ ">": [{ var: "attribute.tokens" }, 5] }], { model: "b" }, {}],
])("the explanation is %s", (_, matchers, dimensions, expected) => {
  const book = readBook({
    eventSchemas: [
      {
        name: "use",
        attributes: ["tokens"],
        dimensions: ["model", "kind"],
        computedDimensions: { computed: { cat: [{ var: "dimension.model" }, "!"] } },
      },
    ],
    usageMeters: matchers.map((matcher, index) => ({
      id: `um.${index}`,
      name: `um${index}`,
      eventSchemaName: "use",
      aggregation: "COUNT" as const,
      computations: [{ order: 1, matcher }],
    })),
  });
  const program = createCatalog(book).metering.schemas.get("use");
  if (program === undefined) throw new Error("the schema is active");
  const { slots, enrichment, measure } = program;
  for (const [name, text] of Object.entries({ kind: "", ...dimensions }))
    slots.texts[slots.dimensionSlots.get(name) ?? -1] = text;
  enrichment.run();
  expect(measure.run()).toEqual(matchers.map(() => undefined));
  expect(Object.fromEntries(program.findUnmatchedValues())).toEqual(expected);
});
