import { describe, expect, test } from "vitest";

import { startEventRun } from "../../../src/ledger/preview/preview-run.ts";
import { Decimal } from "../../../src/numbers/decimal.ts";
import { contosoAccount, bookWithParts, europeMeter, requestEvent, requestSchema } from "../support.ts";

const REFUSED = "INGESTION_REFUSED";
const FAILED = "INGESTION_FAILED";

const eventWithTokens = (value: unknown): unknown => requestEvent({ attributes: [{ name: "tokens", value }] });
const attributes = (count: number): unknown =>
  requestEvent({
    attributes: [
      { name: "tokens", value: 1 },
      ...Array.from({ length: count - 1 }, (_, index) => ({ name: `a${index}`, value: 1 })),
    ],
  });
const dimensions = (count: number): unknown =>
  requestEvent({
    dimensions: {
      region: "eu",
      ...Object.fromEntries(Array.from({ length: count - 1 }, (_, index) => [`d${index}`, "x"])),
    },
  });

describe("S14.1 a value that is not an event, or has fields of the wrong type, is rejected with a message", () => {
  test.each([
    [null, "Expected an event object, got null."],
    [undefined, "Expected an event object, got nothing."],
    [[], "Expected an event object, got a list."],
    ["{}", "Expected an event object, got a string."],
    [12, "Expected an event object, got a number."],
    [{}, "Field schemaName is missing."],
    [requestEvent({ schemaName: "" }), "Field schemaName: expected a string, got an empty string."],
    [requestEvent({ id: "x".repeat(513) }), "Field id: expected at most 512 characters, got 513."],
    [requestEvent({ accountId: { id: "prod" } }), "Field accountId: expected a string, got an object."],
    [requestEvent({ accountId: "x".repeat(513) }), "Field accountId: expected at most 512 characters, got 513."],
    [requestEvent({ timestamp: 1_709_632_800_000 }), "Field timestamp: expected a string, got a number."],
    [
      requestEvent({ timestamp: "2024-02-30T00:00:00Z" }),
      'Field timestamp: "2024-02-30T00:00:00Z" is not a date-time: 2024-02 has days 01 to 29, not 30.',
    ],
    [
      requestEvent({ timestamp: "2024-03-05T24:00:00Z" }),
      'Field timestamp: "2024-03-05T24:00:00Z" is not a date-time: hours are 00 to 23, not 24.',
    ],
    [requestEvent({ attributes: "tokens" }), "Field attributes: expected an object or a list, got a string."],
    [requestEvent({ attributes: 7 }), "Field attributes: expected an object or a list, got a number."],
    [requestEvent({ attributes: new Decimal(7) }), "Field attributes: expected an object or a list, got a number."],
    ...(
      [
        [null, "null"],
        [undefined, "nothing"],
        [true, "a boolean"],
        [[1], "a list"],
      ] as const
    ).flatMap(([value, got]): [object, string][] => [
      [
        requestEvent({ attributes: { tokens: value } }),
        `Field attributes.tokens: expected a number, or a decimal as a string, got ${got}.`,
      ],
      [
        requestEvent({ attributes: { tokens: { value, unit: "s" } } }),
        `Field attributes.tokens.value: expected a number, or a decimal as a string, got ${got}.`,
      ],
    ]),
    [
      requestEvent({ attributes: { tokens: { unit: "s", amount: 1 } } }),
      "Field attributes.tokens.value: expected a number, or a decimal as a string, got nothing.",
    ],
    [
      requestEvent({ attributes: { tokens: { value: {} } } }),
      "Field attributes.tokens.value: expected a number, or a decimal as a string, got an object.",
    ],
    [
      requestEvent({ attributes: { tokens: { value: 1, unit: 5 } } }),
      "Field attributes.tokens.unit: expected a string, got a number.",
    ],
    [
      requestEvent({ attributes: { tokens: { value: 1, unit: "u".repeat(51) } } }),
      "Field attributes.tokens.unit: expected at most 50 characters, got 51.",
    ],
    [
      requestEvent({ attributes: { tokens: 1, ["n".repeat(61)]: null } }),
      `Field attributes.${"n".repeat(60)}…: expected a number, or a decimal as a string, got null.`,
    ],
    [
      requestEvent({ attributes: JSON.parse('{"tokens": 1, "__proto__": null}') }),
      "Field attributes.__proto__: expected a number, or a decimal as a string, got null.",
    ],
    [
      requestEvent({ attributes: Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`a${index}`, 1])) }),
      "Field attributes: expected at most 100 attributes, got 101.",
    ],
    [requestEvent({ attributes: ["tokens"] }), "Field attributes[0]: expected an object, got a string."],
    [requestEvent({ attributes: [null] }), "Field attributes[0]: expected an object, got null."],
    [requestEvent({ attributes: [{ value: 1 }] }), "Field attributes[0].name is missing."],
    [
      requestEvent({ attributes: [{ name: "tokens" }] }),
      "Field attributes[0].value: expected a number, or a decimal as a string, got nothing.",
    ],
    [eventWithTokens(true), "Field attributes[0].value: expected a number, or a decimal as a string, got a boolean."],
    [eventWithTokens([1]), "Field attributes[0].value: expected a number, or a decimal as a string, got a list."],
    [eventWithTokens({}), "Field attributes[0].value: expected a number, or a decimal as a string, got an object."],
    [
      requestEvent({ attributes: [{ name: "tokens", value: 1, unit: 5 }] }),
      "Field attributes[0].unit: expected a string, got a number.",
    ],
    [
      requestEvent({ attributes: [{ name: "tokens", value: 1, unit: "u".repeat(51) }] }),
      "Field attributes[0].unit: expected at most 50 characters, got 51.",
    ],
    [attributes(101), "Field attributes: expected at most 100 attributes, got 101."],
    [dimensions(101), "Field dimensions: expected at most 100 dimensions, got 101."],
    [requestEvent({ dimensions: ["eu"] }), "Field dimensions: expected an object, got a list."],
    [requestEvent({ dimensions: "eu" }), "Field dimensions: expected an object, got a string."],
    [
      requestEvent({ dimensions: { region: null } }),
      "Field dimensions.region: expected a string or a number, got null.",
    ],
    [
      requestEvent({ dimensions: { region: true } }),
      "Field dimensions.region: expected a string or a number, got a boolean.",
    ],
    [
      requestEvent({ dimensions: { region: "x".repeat(513) } }),
      "Field dimensions.region: expected at most 512 characters, got 513.",
    ],
    [
      requestEvent({
        attributes: [
          { name: "tokens", value: 1 },
          { name: "other", value: 1 },
          { name: "other", value: 2 },
        ],
      }),
      'Field attributes: the name "other" is repeated.',
    ],
  ])("%j", (event, description) => {
    expect(startEventRun(bookWithParts({})).add(event)).toMatchObject({ status: REFUSED, description });
  });
});

describe("S1.2, S1.3 a value that is not a decimal, or too long, fails the event", () => {
  test.each([
    [Number.NaN, "NaN is not a decimal"],
    [Infinity, "Infinity is not a decimal"],
    [JSON.parse("1e400"), "Infinity is not a decimal"],
    [2 ** 60, "the number 1152921504606847000 is above 2^53, so its last digits may be lost; write it as a string"],
    ["1,000", '"1,000" is not a decimal'],
    [" 1", '" 1" is not a decimal'],
    ["0x10", '"0x10" is not a decimal'],
    ["1e21", '"1e21" has more than 20 digits before the point or 20 after it'],
    [`0.${"0".repeat(20)}1`, `"0.${"0".repeat(20)}1" has more than 20 digits before the point or 20 after it`],
    [1e-21, '"1e-21" has more than 20 digits before the point or 20 after it'],
  ])("%j", (value, reason) => {
    const run = startEventRun(bookWithParts({}));
    expect(run.add(eventWithTokens(value))).toMatchObject({
      status: FAILED,
      description: `The attribute "tokens" has an invalid value: ${reason}.`,
    });
    expect([...run.usage.cells()]).toEqual([]);
  });

  test("an empty value", () => {
    const run = startEventRun(bookWithParts({}));
    const description = 'The attribute "tokens" is empty; expected a number.';
    expect(run.add(eventWithTokens(""))).toMatchObject({ status: FAILED, description });
    expect([...run.usage.cells()]).toEqual([]);
  });

  test("a text of a million digits has a short description", () => {
    const { status, description } = startEventRun(bookWithParts({})).add(eventWithTokens("9".repeat(1_000_000)));
    expect(status).toBe(FAILED);
    expect(description.length).toBeLessThanOrEqual(250);
  });

  test("an attribute that the schema does not declare must be a decimal too", () => {
    const event = requestEvent({
      attributes: [
        { name: "tokens", value: 1 },
        { name: "note", value: "abc" },
      ],
    });
    expect(startEventRun(bookWithParts({})).add(event).status).toBe(FAILED);
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
    const run = startEventRun(bookWithParts({}));
    run.add(eventWithTokens(value));
    expect(run.usage.between("prod", "um.eu", 19_787, 19_788).toFixed()).toBe(sum);
  });
});

describe("S4.1 fields that the schema does not declare are ignored, whatever their names", () => {
  const hostile = JSON.parse(
    '{"__proto__": "x", "constructor": "y", "hasOwnProperty": "z", "region": "eu"}',
  ) as unknown;

  test("in dimensions and attributes", () => {
    const run = startEventRun(bookWithParts({}));
    const names = ["__proto__", "constructor", "toString"].map((name) => ({ name, value: 1 }));
    run.add(requestEvent({ dimensions: hostile, attributes: [...names, { name: "tokens", value: 4 }] }));
    expect(run.usage.between("prod", "um.eu", 19_787, 19_788).toNumber()).toBe(4);
  });

  test("a declared dimension that an object only inherits is missing", () => {
    const schema = { ...requestSchema, dimensions: [{ name: "constructor" }] };
    const meter = { ...europeMeter, computations: [{ order: 1, computation: { var: "attribute.tokens" } }] };
    const run = startEventRun(bookWithParts({ eventSchemas: [schema], usageMeters: [meter] }));
    expect(run.add(requestEvent()).description).toContain('The dimension "constructor" is missing');
    expect(run.add(requestEvent({ dimensions: { constructor: "mine" } })).status).toBe(
      "INGESTION_COMPLETED_EVENT_NOT_BILLED",
    );
  });

  test("an account with the name of an object property is like any other", () => {
    const run = startEventRun(bookWithParts({ accounts: [contosoAccount("constructor")] }));
    expect(run.add(requestEvent({ accountId: "toString" })).status).toBe("INGESTION_FAILED_ACCOUNT_NOT_FOUND");
    expect(run.add(requestEvent({ accountId: "constructor" })).status).toBe("INGESTION_COMPLETED_EVENT_NOT_BILLED");
  });
});

test("a numeric dimension is its plain decimal text", () => {
  const meter = {
    ...europeMeter,
    computations: [{ order: 1, matcher: { "===": [{ var: "dimension.region" }, "0.00000015"] }, computation: 1 }],
  };
  const run = startEventRun(bookWithParts({ usageMeters: [meter] }));
  run.add(requestEvent({ dimensions: { region: 1.5e-7 } }));
  run.add(requestEvent({ id: "e2", dimensions: { region: "0.00000015" } }));
  expect(run.usage.between("prod", "um.eu", 19_787, 19_788).toNumber()).toBe(2);
});

test("no value of one event is visible to the next", () => {
  const run = startEventRun(bookWithParts({}));
  run.add(requestEvent({ attributes: [{ name: "tokens", value: 10 }] }));
  expect(run.add(requestEvent({ id: "e2", attributes: [{ name: "other", value: 1 }] })).status).toBe(FAILED);
  expect(run.add(requestEvent({ id: "e3", dimensions: {} })).status).toBe(FAILED);
  expect(run.usage.between("prod", "um.eu", 19_787, 19_788).toNumber()).toBe(10);
});
