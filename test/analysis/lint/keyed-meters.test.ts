/** Findings about meters that do not sum (S19). */
import { describe, expect, test } from "vitest";

import type { ShortBookInput } from "../../../src/book/resources/book.ts";
import type { ShortMeterInput } from "../../../src/book/resources/short-items.ts";
import { type EventInput, lintBook, meter, parseBook } from "../../../src/index.ts";

/** A book with one meter, on a plan with this price. */
function bookWith(fields: Partial<ShortMeterInput>, price: object, more: Partial<ShortBookInput> = {}) {
  return parseBook({
    eventSchemas: [{ name: "sample", attributes: ["value"], dimensions: ["user", "region"] }],
    usageMeters: [{ id: "m", schema: "sample", ...fields }],
    pricePlans: [{ id: "p", cycle: "MONTHLY", usage: [{ meter: "m", ...price }] }],
    accounts: [{ id: "contoso", plan: "p", from: "2026-10-01" }],
    ...more,
  });
}

/** The findings of a book and of samples, as time, value and region. */
function findingsOf(book: ReturnType<typeof bookWith>, samples: readonly (readonly [string, number, string])[] = []) {
  const events = samples.map(([time, value, region], index): EventInput => ({
    schemaName: "sample",
    id: `e${index}`,
    accountId: "contoso",
    timestamp: `2026-${time}Z`,
    attributes: { value },
    dimensions: { user: "ann", region },
  }));
  const { usage } = meter(book, events);
  return lintBook(book, { usage }).map(({ level, code, at, message, example }) => [
    `${level} ${code} ${at}`,
    message,
    example,
  ]);
}

const RATE = { rate: 1 };

describe("VALUE_CONSTANT", () => {
  test("S19.1 warns of a count of one value, and notes another value that is always the same", () => {
    expect(findingsOf(bookWith({ unique: { "+": [1] } }, RATE))).toEqual([]);
    const constant = (aggregation: string): readonly string[] => {
      const computations = [{ order: 1, computation: 1 }];
      const usageMeters = [{ id: "m", name: "m", eventSchemaName: "sample", aggregation, computations }];
      return findingsOf(bookWith({}, RATE, { usageMeters } as object)).map(([place]) => place ?? "");
    };
    expect(constant("UNIQUE_COUNT")).toEqual(["warning VALUE_CONSTANT m/computation/1"]);
    expect(constant("MAX")).toEqual(["note VALUE_CONSTANT m/computation/1"]);
    expect(constant("SUM")).toEqual([]);
  });

  test("S19.2 not of a change, nor of one of two computations", () => {
    const computations = [
      { order: 1, matcher: { "==": [{ var: "dimension.region" }, "on"] }, computation: 1 },
      { order: 2, matcher: { "==": [{ var: "dimension.region" }, "off"] }, computation: 0 },
    ];
    const level = { id: "m", name: "m", eventSchemaName: "sample", aggregation: "TIME_WEIGHTED" };
    for (const fields of [
      { mode: "LEVEL", computations },
      { mode: "CHANGE", computations: [{ order: 1, computation: 1 }] },
    ])
      expect(findingsOf(bookWith({}, RATE, { usageMeters: [{ ...level, ...fields }] } as object))).toEqual([]);
  });
});

test("S19.4 PRORATION_FIXED: an average level that should not be prorated is", () => {
  const prorate = (fields: Partial<ShortMeterInput>, value: boolean): readonly unknown[] =>
    findingsOf(bookWith(fields, { rate: 1, prorate: value })).map(([place]) => place);
  expect(prorate({ level: "value" }, false)).toEqual(["note PRORATION_FIXED p@1/usage/m"]);
  expect(prorate({ level: "value" }, true)).toEqual([]);
  expect(prorate({ level: "value", daily: true }, false)).toEqual([]);
  expect(prorate({ max: "value" }, false)).toEqual([]);
});

test("S7.2 SLAB_UNREACHABLE: different values are counted in whole numbers, peaks are not", () => {
  const volumeTiers = [{ upTo: 10, rate: 3 }, { upTo: 10.5, rate: 2 }, { rate: 2 }];
  expect(findingsOf(bookWith({ unique: "user" }, { volumeTiers })).map(([place]) => place)).toContain(
    "warning SLAB_UNREACHABLE p@1/usage/m/slab/2",
  );
  expect(findingsOf(bookWith({ max: "value" }, { volumeTiers })).map(([place]) => place)).not.toContain(
    "warning SLAB_UNREACHABLE p@1/usage/m/slab/2",
  );
});

describe("S18.2 usage of a price table", () => {
  const table = (...rows: readonly object[]): object => ({ rateTable: { rows } });
  const eu = { when: { region: "eu" }, rate: 1 };

  test("USAGE_UNPRICED names the groups, not the values; rows are counts of events, which no units are", () => {
    const samples = [
      ["10-02T10:00", 30, "us"],
      ["10-20T10:00", 48, "us"],
      ["10-20T10:00", 3, "eu"],
    ] as const;
    for (const fields of [{ max: "value" }, { latest: "value" }, { level: "value" }, { change: "value" }])
      expect(findingsOf(bookWith({ ...fields, groupBy: ["region"] }, table(eu)), samples)).toEqual([
        [
          "warning USAGE_UNPRICED p@1/usage/m/group/us",
          'no row prices m of region "us"; add a row, or one without a when',
          "usage from 2026-10-02 to 2026-10-20 costs 0",
        ],
      ]);
  });

  test("ROW_UNUSED: a row prices the level that an event before the plan set, and one before its own first day", () => {
    const rows = table(eu, { when: { region: "us" }, rate: 1, from: "2026-10-10" });
    const samples = [
      ["09-20T10:00", 30, "eu"],
      ["10-02T10:00", 30, "us"],
      ["10-15T10:00", 30, "zz"],
    ] as const;
    const unused = (fields: Partial<ShortMeterInput>): readonly unknown[] =>
      findingsOf(bookWith({ ...fields, groupBy: ["region"] }, rows), samples)
        .map(([place]) => place)
        .filter((place) => place?.includes("ROW_UNUSED"));
    expect(unused({ level: "value" })).toEqual([]);
    expect(unused({ latest: "value", carryOver: true })).toEqual([]);
    expect(unused({ max: "value" })).toEqual([
      "note ROW_UNUSED p@1/usage/m/row/eu",
      "note ROW_UNUSED p@1/usage/m/row/us/2026-10-10",
    ]);
  });
});
