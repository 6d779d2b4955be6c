/** The verifier on random meters that do not sum: quantities from the events, prices of cut cycles, changed digits (S19). */
import fc from "fast-check";
import { expect, test } from "vitest";

import type { ShortBookInput } from "../../src/index.ts";
import { runs } from "../support/runs.ts";
import {
  digitChoices,
  expectDigitFound,
  type FigurePath,
  previewToVerify,
  type Sample,
  sampleBook,
  toSampleEvents,
} from "./figures.ts";

const DIMENSIONS = ["region", "user"];
const MEASURES = ["max", "min", "unique", "latest", "level", "change"] as const;
type Measure = (typeof MEASURES)[number];
const LONG = {
  max: { aggregation: "MAX" },
  min: { aggregation: "MIN" },
  unique: { aggregation: "UNIQUE_COUNT" },
  latest: { aggregation: "LATEST" },
  level: { aggregation: "TIME_WEIGHTED", mode: "LEVEL" },
  change: { aggregation: "TIME_WEIGHTED", mode: "CHANGE" },
} as const;

interface MeterCase {
  readonly measure: Measure;
  /** Whether the book has the long form, with a second computation that matches some events. */
  readonly isLong: boolean;
  readonly wantsDaily: boolean;
  readonly wantsCarryOver: boolean;
  readonly groupBy: readonly string[];
  readonly wantsProration: boolean;
  readonly price: object;
  readonly table: object | undefined;
  readonly limits: object;
  readonly interval: "MONTHLY" | "WEEKLY";
  /** Days of plans, numbered from 1 September 2026. */
  readonly plans: readonly (readonly [from: number, until: number])[];
  readonly samples: readonly Sample[];
}

const amounts = fc.constantFrom(0, 1, "0.07", "3.333");
const tierLists = fc
  .tuple(fc.integer({ min: 1, max: 9 }), amounts, amounts)
  .map(([upTo, first, next]) => [{ upTo, rate: first }, { rate: next }]);
const terms = fc.oneof(
  amounts.map((rate) => ({ rate })),
  tierLists.map((tiers) => ({ tiers })),
  tierLists.map((volumeTiers) => ({ volumeTiers })),
);
const tables = fc
  .record({
    quantity: fc.constantFrom(0, 2, 5),
    all: terms,
    eu: fc.option(terms, { nil: undefined }),
    dated: fc.option(fc.record({ from: fc.constantFrom("2026-09-20", "2026-10-12"), rate: amounts }), {
      nil: undefined,
    }),
    slabsOver: fc.constantFrom("ROW", "GROUP"),
  })
  .map(({ quantity, all, eu, dated, slabsOver }) => ({
    ...(quantity > 0 && { allowance: { quantity } }),
    rows: [
      ...(eu === undefined ? [] : [{ when: { region: "eu" }, slabsOver, ...eu }]),
      { slabsOver, ...all },
      ...(dated === undefined ? [] : [{ slabsOver, ...dated }]),
    ],
  }));
const samples: fc.Arbitrary<Sample> = fc.record({
  day: fc.integer({ min: 1, max: 80 }),
  time: fc.constantFrom("00:00:00Z", "23:59:59.999Z", "12:00:00Z", "07:13:11.017Z", "12:00:00+02:00"),
  value: fc.constantFrom(0, 1, 2, 3, 7, -2, "0.5", "1.0", "33.333", "0.00000000000000000001"),
  region: fc.constantFrom("eu", "us"),
  user: fc.constantFrom("ann", "bob", "1", "1.0", "\u{1F600}"),
});
const cases: fc.Arbitrary<MeterCase> = fc.record({
  measure: fc.constantFrom(...MEASURES),
  isLong: fc.boolean(),
  wantsDaily: fc.boolean(),
  wantsCarryOver: fc.boolean(),
  groupBy: fc.subarray(DIMENSIONS),
  wantsProration: fc.boolean(),
  price: terms,
  table: fc.option(tables, { nil: undefined }),
  limits: fc.constantFrom({}, {}, { minimum: 10 }, { maximum: 20 }),
  interval: fc.constantFrom("MONTHLY", "MONTHLY", "WEEKLY"),
  plans: fc
    .uniqueArray(fc.integer({ min: 1, max: 90 }), { minLength: 2, maxLength: 4 })
    .map((days) => days.toSorted((a, b) => a - b))
    .map((days) =>
      days.flatMap((day, index) => (index % 2 === 0 ? [[day, days[index + 1] ?? day + 40] as const] : [])),
    ),
  samples: fc.array(samples, { maxLength: 16 }),
});

const dayText = (day: number): string => new Date(Date.UTC(2026, 8, day)).toISOString().slice(0, 10);

function bookOf(each: MeterCase): ShortBookInput {
  const { measure, groupBy, table, interval, plans, limits } = each;
  const daily = each.wantsDaily && measure !== "latest";
  const field = measure === "unique" ? "user" : "value";
  const variable = { var: measure === "unique" ? "dimension.user" : "attribute.value" };
  const computations = [
    { order: 1, computation: variable },
    { order: 2, matcher: { "==": [{ var: "dimension.region" }, "us"] }, computation: { var: "attribute.value" } },
  ];
  const card =
    table !== undefined && groupBy.includes("region")
      ? { rateTable: { ...table, ...limits } }
      : { ...each.price, ...limits };
  const meter = {
    ...(each.isLong ? { ...LONG[measure], computations } : { [measure]: field }),
    ...(groupBy.length > 0 && { groupBy }),
    ...(daily && { daily }),
    ...(measure === "latest" && each.wantsCarryOver && { carryOver: true }),
  };
  const terms = { ...card, ...(!daily && each.wantsProration && { prorate: true }) };
  return sampleBook(
    [[meter, terms]],
    plans.map(([from, until]) => [dayText(from), dayText(until)]),
    interval,
  );
}

/** An allowance of which units are left can be larger, and the text of a group can be a number. */
function isTextOrAllowance(path: FigurePath): boolean {
  return path.at(-2) === "allowance" || path.includes("groups") || path.includes("group");
}

test("S13.6 S19 invoices of random meters that do not sum are verified, and a changed digit is detected", () => {
  fc.assert(
    fc.property(cases, digitChoices, (each, digit) => {
      const range = { from: "2026-09-01", until: "2026-12-01" };
      const { invoices, check } = previewToVerify(bookOf(each), toSampleEvents(each.samples, dayText), range);
      expect(check(invoices)).toEqual([]);
      expectDigitFound(invoices, check, digit, isTextOrAllowance);
    }),
    { numRuns: runs(3000, 150) },
  );
});
