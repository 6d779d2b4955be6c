/** What a database may decide: only events whose outcome is provably the same (S17.3). */
import { expect, test } from "vitest";

import { parseBook } from "../../src/book/book.ts";
import { planPushdown } from "../../src/warehouse/pushdown/plan-pushdown.ts";

/** Meters with a rule of a hundred searches each. */
function bookOfMeters(meters: number): unknown {
  const matcher = { or: Array.from({ length: 100 }, (_, at) => ({ in: [`x${at}`, { var: "dimension.text" }] })) };
  return {
    eventSchemas: [{ name: "call", attributes: [], dimensions: ["text"] }],
    usageMeters: Array.from({ length: meters }, (_, at) => ({
      id: `um.${at}`,
      name: `Meter ${at}`,
      aggregation: "COUNT",
      eventSchemaName: "call",
      computations: [{ order: 1, matcher }],
    })),
  };
}

test.each([
  [2, undefined],
  [9, "its rules may exceed the budget of an event"],
])("S3.8 a schema with %i meters of a hundred searches", (meters, reason) => {
  const { decisions } = planPushdown(parseBook(bookOfMeters(meters)));
  expect(decisions.map((decision) => decision.reason)).toEqual(Array.from({ length: meters }, () => reason));
});

test.each([
  [{ max: "size" }, ["max"]],
  [{ min: "size", daily: true }, ["min"]],
  [{ unique: "user" }, ["distinct"]],
  [{ latest: "size" }, ["timed"]],
  [{ level: "size" }, ["timed"]],
  [{ change: "size" }, ["sum", "sum"]],
])("S19.2 the places of a meter of %o, as in the core", (measure, kinds) => {
  const book = parseBook({
    eventSchemas: [{ name: "use", attributes: ["size"], dimensions: ["user"] }],
    usageMeters: [{ id: "m", schema: "use", ...measure }],
  });
  const { schemas, decisions } = planPushdown(book);
  expect(decisions).toEqual([{ schemaName: "use", meterId: "m", reason: undefined }]);
  expect(schemas.get("use")?.meters.map(({ kind }) => kind)).toEqual(kinds);
});

test.each(["and", "or"])("a meter that computes %j without operands, which is null", (operator) => {
  const book = parseBook({
    eventSchemas: [{ name: "use", attributes: ["size"] }],
    usageMeters: [{ id: "m", schema: "use", sum: { [operator]: [] } }],
  });
  expect(planPushdown(book).decisions[0]?.reason).toBe("it always fails: an operand is not a number");
});
