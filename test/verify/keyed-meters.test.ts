/** Meters that do not sum, in the verifier: events that fail, wrong quantities, and prorated prices (S19). */
import { describe, expect, test } from "vitest";

import { type EventInput, meter, preview, type ShortBookInput } from "../../src/index.ts";
import { createMetering, type Difference, verify } from "../../src/verify.ts";

const MEASURES = ["max", "min", "latest", "level", "change"] as const;

function bookOf(meters: readonly object[], until = "2026-11-01"): ShortBookInput {
  return {
    eventSchemas: [{ name: "sample", attributes: ["value"], dimensions: ["user"] }],
    usageMeters: meters.map((each, index) => ({ id: `m${index}`, schema: "sample", ...each })),
    pricePlans: [{ id: "p", cycle: "MONTHLY", usage: meters.map((_, index) => ({ meter: `m${index}`, rate: 2 })) }],
    accounts: [{ id: "acme", plans: [{ plan: "p", from: "2026-10-01", until }] }],
  };
}

function eventsOf(samples: readonly (readonly [value: number | string, user: string])[]): readonly EventInput[] {
  return samples.map(([value, user], index) => ({
    schemaName: "sample",
    id: `e${index}`,
    accountId: "acme",
    timestamp: `2026-10-0${index + 1}T10:00:00Z`,
    attributes: { value },
    dimensions: { user },
  }));
}

/** The differences of the invoices and the rows of the core, or of changed ones, from the events. */
function check(
  book: ShortBookInput,
  events: readonly EventInput[],
  change: (text: string) => string = (text) => text,
): readonly Difference[] {
  const metering = createMetering(book);
  for (const event of events) metering.add(event);
  const { invoices } = preview(book, events, { explain: true });
  const usage = JSON.parse(JSON.stringify(meter(book, events).usage)) as unknown[];
  return verify({ invoices: JSON.parse(change(JSON.stringify(invoices))), usage, metering }).differences;
}

describe("S19.2 events fail in the verifier as they do in the core", () => {
  test.each<[string, object, readonly (readonly [number | string, string])[]]>([
    [
      "a text where a number must be",
      { max: { var: "dimension.user" } },
      [
        [1, "12"],
        [1, "ann"],
      ],
    ],
    [
      "texts of 256 and 257 characters, and an empty one",
      { unique: "user" },
      [
        [1, "x".repeat(256)],
        [1, "x".repeat(257)],
        [1, ""],
      ],
    ],
    ["a value that is no text", { unique: { "==": [1, 1] } }, [[1, "ann"]]],
    [
      "a level below zero",
      { level: "value" },
      [
        [5, "ann"],
        [-1, "ann"],
      ],
    ],
    [
      "a change with too many digits",
      { change: { "*": [{ var: "attribute.value" }, "1e19"] } },
      [
        ["1e19", "ann"],
        [1, "ann"],
      ],
    ],
    [
      "a level with too many digits",
      { level: { "*": [{ var: "attribute.value" }, { var: "attribute.value" }, { var: "attribute.value" }] } },
      [
        ["1e14", "ann"],
        [3, "ann"],
      ],
    ],
  ])("%s", (_, measure, samples) => {
    expect(check(bookOf([measure]), eventsOf(samples))).toEqual([]);
  });
});

describe("S13.6 S19 the verifier finds", () => {
  const samples = eventsOf([
    [3, "ann"],
    [7, "bob"],
    [5, "ann"],
  ]);
  const meters = [...MEASURES.map((measure) => ({ [measure]: "value" })), { unique: "user" }];

  test("another quantity of each meter", () => {
    const book = bookOf(meters);
    expect(check(book, samples)).toEqual([]);
    for (const index of meters.keys()) {
      const where = check(book, samples, (text) =>
        text.replaceAll(new RegExp(`("USAGE_METER_USAGE","id":"m${index}".*?"quantity":)("?)`, "g"), "$1$29"),
      ).map((each) => each.where);
      expect(where).toContain(`acme STANDARD 2026-11-01T00:00:00.000Z: usage of m${index}`);
    }
  });

  test("a level whose price is not prorated in a cut cycle, and a daily peak whose price is", () => {
    const book = bookOf([{ level: "value" }, { max: "value", daily: true }], "2026-10-16");
    expect(check(book, samples)).toEqual([]);
    const withoutRule = check(book, samples, (text) => text.replaceAll("#s19.4", "#s7.3"));
    expect(withoutRule).toContainEqual({
      where: "acme STANDARD 2026-10-16T00:00:00.000Z: usage of m0, prorated price",
      expected: "true",
      found: "false",
    });
    const withRule = check(book, samples, (text) => text.replaceAll("#s7.2", "#s19.4"));
    expect(withRule).toContainEqual({
      where: "acme STANDARD 2026-10-16T00:00:00.000Z: usage of m1, prorated price",
      expected: "false",
      found: "true",
    });
  });
});
