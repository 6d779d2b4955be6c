/** What a book says about the aggregation of a meter, in both forms of a book (S19.1). */
import { describe, expect, test } from "vitest";

import { parseBook } from "../../../src/index.ts";
import { listProblems, readCases } from "../break-book.ts";

const SCHEMA = { name: "sample", attributes: [{ name: "value" }], dimensions: [{ name: "user" }] };

/** The problems of a book with one meter, one line each. */
function problemsOf(meter: object, card?: object): readonly string[] {
  const pricePlans = card && [{ id: "p", cycle: "MONTHLY", usage: [{ meter: "m", ...card }] }];
  const book = { eventSchemas: [SCHEMA], usageMeters: [{ id: "m", ...meter }], pricePlans };
  return listProblems(() => parseBook(JSON.stringify(book)));
}

/** A meter in long form. */
const long = (fields: object): object => ({
  name: "m",
  eventSchemaName: "sample",
  computations: [{ order: 1, computation: { var: "attribute.value" } }],
  ...fields,
});
const short = (fields: object): object => ({ schema: "sample", ...fields });

/** Tests a table of meters, each with its single problem. */
function testMeters(title: string, form: (fields: object) => object, table: string): void {
  test.each(readCases(table))(`${title}: $problem`, ({ changes, problem }) => {
    expect(problemsOf(form(Object.fromEntries(changes)))).toEqual([`$.usageMeters[0].${problem}`]);
  });
}

const DAILY = "only with MAX, MIN, UNIQUE_COUNT, TIME_WEIGHTED";

describe("S19.1 fields that an aggregation does not have", () => {
  testMeters(
    "in long form",
    long,
    `
      aggregation = "LATEST"
      daily = true
        daily: remove it; it can't be set with the aggregation LATEST, ${DAILY}
      aggregation = "SUM"
      daily = true
        daily: remove it; it can't be set with the aggregation SUM, ${DAILY}
      aggregation = "MAX"
      carryOver = true
        carryOver: remove it; it can't be set with the aggregation MAX, only with LATEST
      aggregation = "MIN"
      mode = "LEVEL"
        mode: remove it; it can't be set with the aggregation MIN, only with TIME_WEIGHTED
      aggregation = "TIME_WEIGHTED"
        mode: missing: expected the mode LEVEL or CHANGE, because the aggregation is TIME_WEIGHTED
      aggregation = "TIME_WEIGHTED"
      mode = "SET"
        mode: expected "LEVEL" or "CHANGE", got "SET"
      aggregation = "MAX"
      computations = [{ order: 1 }]
        computations[0].computation: missing: expected a rule, because the aggregation is MAX
    `,
  );
  testMeters(
    "in short form",
    short,
    `
      latest = "value"
      daily = true
        daily: remove it; it can't be set with the aggregation LATEST, ${DAILY}
      level = "value"
      carryOver = true
        carryOver: remove it; it can't be set with the aggregation TIME_WEIGHTED, only with LATEST
      max = "value"
      mode = "CHANGE"
        mode: remove it; it can't be set with the aggregation MAX, only with TIME_WEIGHTED
      level = "value"
      mode = "CHANGE"
        level: expected $.usageMeters[0].level or $.usageMeters[0].mode, got both
      max = "value"
      min = "value"
        max: expected $.usageMeters[0].max or $.usageMeters[0].min, got both
      aggregation = "MAX"
        sum: missing: expected "count": true, or one of sum, max, min, unique, latest, level, change
      max = "user"
        max: the event schema has no "attribute.user": did you mean "dimension.user"?
      unique = "value"
        unique: the event schema has no "dimension.value": did you mean "attribute.value"?
    `,
  );

  test("are accepted if they are false or null", () => {
    expect(problemsOf(long({ aggregation: "LATEST", daily: false, mode: null }))).toEqual([]);
    expect(problemsOf(short({ sum: "value", daily: false, carryOver: false }))).toEqual([]);
  });

  test("different values of an attribute are those of a rule", () => {
    expect(problemsOf(short({ unique: { var: "attribute.value" } }))).toEqual([]);
  });
});

test("S19.4 only the price of a level can be prorated", () => {
  const because = `remove it; it can't be set because the quantity of the usage meter "m" adds up its days`;
  const problem = `$.pricePlans[0].usage[0].prorate: ${because}`;
  const prorate = { rate: 1, prorate: true };
  expect(problemsOf(short({ max: "value", daily: true }), prorate)).toEqual([problem]);
  expect(problemsOf(short({ sum: "value" }), prorate)).toEqual([problem]);
  expect(problemsOf(short({ max: "value" }), prorate)).toEqual([]);
  expect(problemsOf(short({ level: "value" }), prorate)).toEqual([]);
});
