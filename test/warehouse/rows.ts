/** Random books, and random rows of Parquet files with everything that a table may contain by mistake or malice. */
import fc from "fast-check";

import type { Rule } from "../../src/rules/rule.ts";

const numbers = fc.constantFrom<Rule>(
  { var: "attribute.x" },
  { var: "attributes.y" },
  { var: "attribute.computed" },
  3,
  -2,
  "0.5",
  1000,
  "0.000001",
);
const texts = fc.constantFrom<Rule>({ var: "dimension.d" }, { var: "dimension.copy" }, "eu", "é", "", "a\nb");

const { number, truth } = fc.letrec<{ number: Rule; truth: Rule }>((tie) => {
  const two = fc.tuple(tie("number"), tie("number"));
  const arbitraryOperation = (operators: readonly string[], parts: fc.Arbitrary<readonly Rule[]>): fc.Arbitrary<Rule> =>
    fc.tuple(fc.constantFrom(...operators), parts).map(([operator, values]): Rule => ({ [operator]: values }));
  return {
    number: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      numbers,
      arbitraryOperation(["+", "-", "*", "min", "max"], two),
      arbitraryOperation(["-", "+"], fc.tuple(tie("number"))),
      arbitraryOperation(["/"], fc.tuple(tie("number"), fc.constantFrom<Rule>(2, 8, -5, "0.4", 1000, 3))),
      arbitraryOperation(["%"], fc.tuple(tie("number"), fc.constantFrom<Rule>(3, "2.5", -4))),
      arbitraryOperation(["round", "floor", "ceil"], fc.tuple(tie("number"), fc.constantFrom<Rule>(0, 1, 3, -2))),
      arbitraryOperation(["if", "?:"], fc.tuple(tie("truth"), tie("number"), tie("number"))),
      arbitraryOperation(["or", "and"], two),
      fc.constant<Rule>({ reduce: [[1, 2], { "+": [{ var: "current" }, { var: "accumulator" }] }, 0] }),
    ),
    truth: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      arbitraryOperation(["==", "===", "!=", "!==", "<", "<=", ">", ">="], two),
      arbitraryOperation(["<", "<="], fc.tuple(tie("number"), tie("number"), tie("number"))),
      arbitraryOperation(["==", "===", "!=", "!=="], fc.tuple(texts, texts)),
      arbitraryOperation(["===", "!=="], fc.tuple(tie("number"), texts)),
      fc.tuple(texts, fc.constantFrom<Rule>(["eu", "𝒳", 5], [], "eu-west é", "")).map((parts): Rule => ({ in: parts })),
      fc.tuple(tie("number"), fc.constantFrom<Rule>([0, "1.50", 3])).map((parts): Rule => ({ in: parts })),
      arbitraryOperation(["and", "or"], fc.tuple(tie("truth"), tie("truth"))),
      arbitraryOperation(["!", "!!"], fc.tuple(tie("truth"))),
      fc.constantFrom<Rule>(true, { "!": [{ var: "dimension.d" }] }, { "==": [{ var: "event.accountId" }, "a"] }),
    ),
  };
});

/** Texts and numbers to count the different ones of. A text that is a rule contains one, so texts are inside of rules. */
const keys = fc.oneof(
  number,
  fc.tuple(truth, texts, texts).map((parts): Rule => ({ if: parts })),
  fc.constantFrom<Rule>({ var: "dimension.d" }, { var: "event.id" }, { var: "event.accountId" }, { log: "1.0" }, 1),
);

const AGGREGATIONS = [
  { aggregation: "COUNT" },
  { aggregation: "SUM" },
  { aggregation: "MAX" },
  { aggregation: "MIN", daily: true },
  { aggregation: "UNIQUE_COUNT" },
  { aggregation: "LATEST" },
  { aggregation: "TIME_WEIGHTED", mode: "LEVEL" },
  { aggregation: "TIME_WEIGHTED", mode: "CHANGE", daily: true },
] as const;

const meter = fc.constantFrom(...AGGREGATIONS).chain((aggregation) =>
  fc
    .record({
      groupBy: fc.constantFrom(undefined, undefined, ["d"], ["copy"], ["copy", "d"]),
      computations: fc
        .array(
          fc.record({
            matcher: fc.option(truth, { nil: undefined }),
            computation: aggregation.aggregation === "UNIQUE_COUNT" ? keys : number,
          }),
          { minLength: 1, maxLength: 2 },
        )
        .map((each) =>
          each.map(({ matcher, computation }, order) => ({
            order,
            computation,
            ...(matcher === undefined ? {} : { matcher }),
          })),
        ),
    })
    .map((rest) => ({ ...aggregation, ...rest })),
);

/** Books with one schema of two attributes and a dimension, computed fields, and up to three meters of random rules. */
export const books = fc
  .record({ computed: number, meters: fc.array(meter, { maxLength: 3 }) })
  .map(({ computed: computedFields, meters }) => ({
    organization: { id: "org", name: "Org", baseCurrency: "USD" },
    eventSchemas: [
      {
        name: "use",
        attributes: [{ name: "x" }, { name: "y" }],
        dimensions: [{ name: "d" }],
        enrichments: {
          fields: [
            { name: "computed", type: "ATTRIBUTE" as const, order: 1, value: withoutComputed(computedFields) },
            { name: "copy", type: "DIMENSION" as const, order: 2, value: { var: "dimension.d" } },
          ],
        },
      },
      { name: "other", attributes: [{ name: "x" }] },
    ],
    usageMeters: meters.map((each, place) => ({
      id: `um.${place}`,
      name: `m${place}`,
      eventSchemaName: "use",
      ...each,
    })),
    customers: [{ id: "c", name: "Customer" }],
    accounts: [
      { id: "a", aliases: ["ü𝒳-9"] },
      { id: "b" },
      { id: "gone", status: "ARCHIVED" as const, aliases: ["left-over"] },
    ].map((account) => ({ name: "Account", customerId: "c", invoiceCurrency: "USD", ...account })),
  }));

/** The first computed field uses no computed one. */
function withoutComputed(rule: Rule): Rule {
  return JSON.parse(
    JSON.stringify(rule).replaceAll("attribute.computed", "attribute.x").replaceAll("dimension.copy", "dimension.d"),
  ) as Rule;
}

const value = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -50, max: 5000 }).map((units) => String(units / 4)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<string | null>(
      ..."0 -0 1.50 1e3 +4 .5 5. 00012 -3.7 0x10 1_000 abc NaN 9007199254740993 999999999999.999999 1234567890123".split(
        " ",
      ),
      ..."0.000001 0.0000001 1.23456789 99999999999999999999 -999999999999 123456.123456 1000000000 0.1234565".split(
        " ",
      ),
      "1.0",
      "9".repeat(40),
      "9".repeat(41),
      " 5",
      "5\n",
      "",
      "٣",
      null,
    ),
  },
);
const time = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .nat(6 * 4)
      .map(
        (quarters) =>
          `2024-03-0${1 + Math.floor(quarters / 12)}T${String((quarters * 2) % 24).padStart(2, "0")}:59:59.999Z`,
      ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<string | null>(
      "2024-03-01T23:59:59.9999999Z",
      "2024-03-02T00:00:00Z",
      "2024-03-02 04:30:00 UTC",
      "2024-03-02T00:30:00+05:30",
      "2024-03-01T23:30-0130",
      "2024-03-02T01:00,5+02",
      "2024-02-30T00:00:00Z",
      "2024-03-01T24:00:00Z",
      "2024-03-01T23:59:60Z",
      "2024-03-01T12:00:00",
      "1969-12-31T23:59:59.9999Z",
      "0000-01-01T00:00:00+14:00",
      "9999-12-31T23:59:59.999Z",
      "2024-03-01T12:00:00+14:01",
      "2024-03-01",
      "tomorrow",
      "",
      null,
    ),
  },
);
const id = fc.oneof(
  { weight: 8, arbitrary: fc.uuid() },
  {
    weight: 2,
    arbitrary: fc.constantFrom<string | null>(
      "1",
      "2",
      "é",
      "e\u0301",
      "𝒳",
      "\uffee",
      "x".repeat(512),
      "x".repeat(513),
      "é".repeat(300),
      "",
      null,
    ),
  },
);

/** Texts by column, or NULL. */
export type TableRow = Readonly<Record<string, string | null>>;

/** A random row. */
export interface Row extends TableRow {
  readonly schema: string | null;
  readonly id: string | null;
  readonly account: string | null;
  readonly time: string | null;
  readonly x: string | null;
  readonly y: string | null;
  readonly d: string | null;
}

/** A row of a table. */
export const rows: fc.Arbitrary<Row> = fc.record({
  schema: fc.constantFrom<string | null>(..."use use use use use use use use other none".split(" "), "", null),
  id,
  account: fc.constantFrom<string | null>(..."a a a a b b b ü𝒳-9 gone left-over nobody".split(" "), "", "A", null),
  time,
  x: value,
  y: value,
  d: fc.constantFrom<string | null>(
    "eu",
    "us",
    "é",
    "e\u0301",
    "",
    "𝒳",
    "a\nb",
    "x".repeat(513),
    "x".repeat(300),
    "é".repeat(128),
    'it\'s "quoted"',
    "1.0",
    null,
  ),
});

/** The column types of a file; a value that the type does not accept becomes NULL. */
export const types = fc.record({
  x: fc.constantFrom("VARCHAR", "VARCHAR", "DOUBLE", "BIGINT", "DECIMAL(18, 6)", "DECIMAL(38, 10)"),
  y: fc.constantFrom("VARCHAR", "DOUBLE", "INTEGER", "DECIMAL(9, 2)", "FLOAT"),
  time: fc.constantFrom("VARCHAR", "VARCHAR", "TIMESTAMPTZ", "TIMESTAMP"),
});
