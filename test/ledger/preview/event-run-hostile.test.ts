import { describe, expect, test } from "vitest";

import { startEventRun } from "../../../src/ledger/preview/preview-run.ts";
import { Decimal } from "../../../src/numbers/decimal.ts";
import { contosoAccount, bookWithParts, type BookParts, europeMeter, requestEvent, requestSchema } from "../support.ts";

const REFUSED = "INGESTION_REFUSED";
const FAILED = "INGESTION_FAILED";
const NUMBER = "expected a number, or a decimal as a string, got";
const LONG = "x".repeat(513);

const runOf = (parts: BookParts = {}): ReturnType<typeof startEventRun> => startEventRun(bookWithParts(parts));
const eventWithTokens = (value: unknown): unknown => requestEvent({ attributes: [{ name: "tokens", value }] });
const tokensOn5March = (run: ReturnType<typeof startEventRun>): string =>
  run.usage.between("prod", "um.eu", 19_787, 19_788).toFixed();

/** This many names with a value, the first of which is declared. */
function nameFields<Value>(declared: string, count: number, value: Value): Readonly<Record<string, Value>> {
  const others = Array.from({ length: count - 1 }, (_, index) => [`a${index}`, value] as const);
  return { [declared]: value, ...Object.fromEntries(others) };
}
const listAttributes = (...names: readonly string[]): readonly unknown[] => names.map((name) => ({ name, value: 1 }));
/** Data that imitates a decimal. */
const forgery = { toStringTag: "[object Decimal]", s: 1, e: 0, d: [5] };

describe("S14.1 a value that is not an event, or has fields of the wrong type, is rejected with a message", () => {
  test.each([
    [null, "null"],
    [undefined, "nothing"],
    [[], "a list"],
    ["{}", "a string"],
    [12, "a number"],
  ])("%j", (event, got) => {
    const description = `Expected an event object, got ${got}.`;
    expect(runOf().add(event)).toMatchObject({ status: REFUSED, description });
  });

  test.each<[fields: object, description: string]>([
    [{ schemaName: undefined }, "schemaName is missing."],
    [{ schemaName: "" }, "schemaName: expected a string, got an empty string."],
    [{ id: LONG }, "id: expected at most 512 characters, got 513."],
    [{ accountId: null }, "accountId is missing."],
    [{ accountId: { id: "prod" } }, "accountId: expected a string, got an object."],
    [{ accountId: LONG }, "accountId: expected at most 512 characters, got 513."],
    [{ timestamp: 1_709_632_800_000 }, "timestamp: expected a string, got a number."],
    [
      { timestamp: "2024-02-30T00:00:00Z" },
      'timestamp: "2024-02-30T00:00:00Z" is not a date-time: 2024-02 has days 01 to 29, not 30.',
    ],
    [
      { timestamp: "2024-03-05T24:00:00Z" },
      'timestamp: "2024-03-05T24:00:00Z" is not a date-time: hours are 00 to 23, not 24.',
    ],
    [{ attributes: "tokens" }, "attributes: expected an object or a list, got a string."],
    [{ attributes: 7 }, "attributes: expected an object or a list, got a number."],
    [{ attributes: new Decimal(7) }, "attributes: expected an object or a list, got a number."],
    ...[
      [null, "null"],
      [undefined, "nothing"],
      [true, "a boolean"],
      [[1], "a list"],
    ].flatMap(([tokens, got]): [object, string][] => [
      [{ attributes: { tokens } }, `attributes.tokens: ${NUMBER} ${String(got)}.`],
      [{ attributes: { tokens: { value: tokens, unit: "s" } } }, `attributes.tokens.value: ${NUMBER} ${String(got)}.`],
      [{ attributes: [{ name: "tokens", value: tokens }] }, `attributes[0].value: ${NUMBER} ${String(got)}.`],
    ]),
    [{ attributes: { tokens: { unit: "s", amount: 1 } } }, `attributes.tokens.value: ${NUMBER} nothing.`],
    [{ attributes: { tokens: { value: {} } } }, `attributes.tokens.value: ${NUMBER} an object.`],
    [{ attributes: { tokens: { value: 1, unit: 5 } } }, "attributes.tokens.unit: expected a string, got a number."],
    [
      { attributes: { tokens: { value: 1, unit: "u".repeat(51) } } },
      "attributes.tokens.unit: expected at most 50 characters, got 51.",
    ],
    [{ attributes: { tokens: 1, ["n".repeat(61)]: null } }, `attributes.${"n".repeat(60)}…: ${NUMBER} null.`],
    [{ attributes: JSON.parse('{"tokens": 1, "__proto__": null}') }, `attributes.__proto__: ${NUMBER} null.`],
    [{ attributes: nameFields("tokens", 101, 1) }, "attributes: expected at most 100 attributes, got 101."],
    [{ attributes: ["tokens"] }, "attributes[0]: expected an object, got a string."],
    [{ attributes: [null] }, "attributes[0]: expected an object, got null."],
    [{ attributes: [{ value: 1 }] }, "attributes[0].name is missing."],
    [{ attributes: [{ name: "tokens" }] }, `attributes[0].value: ${NUMBER} nothing.`],
    [{ attributes: [{ name: "tokens", value: {} }] }, `attributes[0].value: ${NUMBER} an object.`],
    ...[[5], 5, "abc"].map((d): [object, string] => [
      { attributes: [{ name: "tokens", value: { ...forgery, d } }] },
      `attributes[0].value: ${NUMBER} an object.`,
    ]),
    [{ attributes: [{ name: "tokens", value: 1, unit: 5 }] }, "attributes[0].unit: expected a string, got a number."],
    [
      { attributes: [{ name: "tokens", value: 1, unit: "u".repeat(51) }] },
      "attributes[0].unit: expected at most 50 characters, got 51.",
    ],
    [
      { attributes: listAttributes(...Object.keys(nameFields("tokens", 101, 1))) },
      "attributes: expected at most 100 attributes, got 101.",
    ],
    [{ attributes: listAttributes("tokens", "other", "other") }, 'attributes: the name "other" is repeated.'],
    [{ dimensions: nameFields("region", 101, "x") }, "dimensions: expected at most 100 dimensions, got 101."],
    [{ dimensions: ["eu"] }, "dimensions: expected an object, got a list."],
    [{ dimensions: "eu" }, "dimensions: expected an object, got a string."],
    [{ dimensions: { region: null } }, "dimensions.region: expected a string or a number, got null."],
    [{ dimensions: { region: true } }, "dimensions.region: expected a string or a number, got a boolean."],
    [{ dimensions: { region: forgery } }, "dimensions.region: expected a string or a number, got an object."],
    [{ dimensions: { region: LONG } }, "dimensions.region: expected at most 512 characters, got 513."],
  ])("%j", (fields, description) => {
    expect(runOf().add(requestEvent({ ...fields }))).toMatchObject({
      status: REFUSED,
      description: `Field ${description}`,
    });
  });
});

describe("S1.2, S1.3 a value that is not a decimal, or too long, fails the event", () => {
  const tooLong = (text: string): string => `"${text}" has more than 20 digits before the point or 20 after it`;
  test.each([
    [Number.NaN, "NaN is not a decimal"],
    [Infinity, "Infinity is not a decimal"],
    [JSON.parse("1e400"), "Infinity is not a decimal"],
    [2 ** 60, "the number 1152921504606847000 is above 2^53, so its last digits may be lost; write it as a string"],
    ["1,000", '"1,000" is not a decimal'],
    [" 1", '" 1" is not a decimal'],
    ["0x10", '"0x10" is not a decimal'],
    ["1e21", tooLong("1e21")],
    [`0.${"0".repeat(20)}1`, tooLong(`0.${"0".repeat(20)}1`)],
    [1e-21, tooLong("1e-21")],
  ])("%j", (value, reason) => {
    const run = runOf();
    const description = `The attribute "tokens" has an invalid value: ${reason}.`;
    expect(run.add(eventWithTokens(value))).toMatchObject({ status: FAILED, description });
    expect([...run.usage.cells()]).toEqual([]);
  });

  test("an empty value", () => {
    const description = 'The attribute "tokens" is empty; expected a number.';
    expect(runOf().add(eventWithTokens(""))).toMatchObject({ status: FAILED, description });
  });

  test("a text of a million digits has a short description", () => {
    const { status, description } = runOf().add(eventWithTokens("9".repeat(1_000_000)));
    expect(status).toBe(FAILED);
    expect(description.length).toBeLessThanOrEqual(250);
  });

  test("an attribute that the schema does not declare must be a decimal too", () => {
    expect(runOf().add(requestEvent({ attributes: { tokens: 1, note: "abc" } })).status).toBe(FAILED);
  });
});

describe("S1.1 values within the bounds are used exactly", () => {
  test.each([
    [0.1, "0.1"],
    ["0.10", "0.1"],
    [-0, "0"],
    ["-0.0", "0"],
    ["+5", "5"],
    ["1e3", "1000"],
    ["99999999999999999999", "99999999999999999999"],
    ["0.00000000000000000001", "0.00000000000000000001"],
    ["10e-21", "0.00000000000000000001"],
    ["9007199254740993", "9007199254740993"],
    [new Decimal("9007199254740993.5"), "9007199254740993.5"],
    [9007199254740991, "9007199254740991"],
  ])("%s is %s", (value, sum) => {
    const run = runOf();
    run.add(eventWithTokens(value));
    expect(tokensOn5March(run)).toBe(sum);
  });
});

describe("S4.1 fields that the schema does not declare are ignored, whatever their names", () => {
  test("in dimensions and attributes", () => {
    const run = runOf();
    const dimensions: unknown = JSON.parse('{"__proto__": "x", "constructor": "y", "toString": "z", "region": "eu"}');
    const others = listAttributes("__proto__", "constructor", "toString");
    run.add(requestEvent({ dimensions, attributes: [...others, { name: "tokens", value: 4 }] }));
    expect(tokensOn5March(run)).toBe("4");
  });

  test("a declared dimension that an object only inherits is missing", () => {
    const schema = { ...requestSchema, dimensions: [{ name: "constructor" }] };
    const meter = { ...europeMeter, computations: [{ order: 1, computation: { var: "attribute.tokens" } }] };
    const run = runOf({ eventSchemas: [schema], usageMeters: [meter] });
    expect(run.add(requestEvent()).description).toContain('The dimension "constructor" is missing');
    expect(run.add(requestEvent({ dimensions: { constructor: "mine" } })).status).toBe(
      "INGESTION_COMPLETED_EVENT_NOT_BILLED",
    );
  });

  test("an account with the name of an object property is like any other", () => {
    const run = runOf({ accounts: [contosoAccount("constructor")] });
    expect(run.add(requestEvent({ accountId: "toString" })).status).toBe("INGESTION_FAILED_ACCOUNT_NOT_FOUND");
    expect(run.add(requestEvent({ accountId: "constructor" })).status).toBe("INGESTION_COMPLETED_EVENT_NOT_BILLED");
  });
});

test("a numeric dimension is its plain decimal text", () => {
  const matcher = { "===": [{ var: "dimension.region" }, "0.00000015"] };
  const run = runOf({ usageMeters: [{ ...europeMeter, computations: [{ order: 1, matcher, computation: 1 }] }] });
  run.add(requestEvent({ dimensions: { region: 1.5e-7 } }));
  run.add(requestEvent({ id: "e2", dimensions: { region: "0.00000015" } }));
  expect(tokensOn5March(run)).toBe("2");
});

test("no value of one event is visible to the next", () => {
  const run = runOf();
  run.add(requestEvent());
  expect(run.add(requestEvent({ id: "e2", attributes: { other: 1 } })).status).toBe(FAILED);
  expect(run.add(requestEvent({ id: "e3", dimensions: {} })).status).toBe(FAILED);
  expect(tokensOn5March(run)).toBe("10");
});
