/** Price tables with dated rows on meters that do not sum: each day's change of the running quantity has the price of its day (S19.3). */
import fc from "fast-check";
import { expect, test } from "vitest";

import { preview, type ShortBookInput } from "../../src/index.ts";
import { aggregate, type Aggregation, groupValues, hasKeys, type UsageGroups } from "../../src/verify/aggregation.ts";
import {
  add,
  divide,
  formatFraction,
  type Fraction,
  fractionOrZero,
  maxFraction,
  multiply,
  roundToDigits,
  subtract,
  ZERO,
} from "../../src/verify/figures.ts";
import { runs } from "../support/runs.ts";
import { meterEvents, sampleBook, toSampleEvents } from "./figures.ts";

/** Days are those of October 2026; 0 and less are September. */
const cases = fc.record({
  measure: fc.constantFrom("max", "min", "unique", "latest", "level", "change"),
  wantsDaily: fc.boolean(),
  carryOver: fc.boolean(),
  prorate: fc.boolean(),
  from: fc.integer({ min: 1, max: 15 }),
  length: fc.integer({ min: 5, max: 17 }),
  cut: fc.integer({ min: 2, max: 30 }),
  samples: fc.array(
    fc.record({
      day: fc.integer({ min: -10, max: 31 }),
      time: fc.constantFrom("00:00:00Z", "03:00:00Z", "12:00:00Z", "23:59:59.999Z"),
      value: fc.integer({ min: 0, max: 9 }),
      region: fc.constantFrom("eu", "us"),
      user: fc.constantFrom("ann", "bob", "cid"),
    }),
    { maxLength: 14 },
  ),
});
type Case = typeof cases extends fc.Arbitrary<infer Value> ? Value : never;

const dayText = (day: number): string => new Date(Date.UTC(2026, 9, day)).toISOString().slice(0, 10);
const isDaily = ({ measure, wantsDaily }: Case): boolean => wantsDaily && measure !== "latest";

/** 3.00 a unit, from the cut 2.00. */
function bookOf(each: Case): ShortBookInput {
  const { measure, carryOver, prorate, from, length, cut } = each;
  const daily = isDaily(each);
  const rows = [{ rate: 3 }, { rate: 2, from: dayText(cut) }];
  const meter = {
    [measure]: measure === "unique" ? "user" : "value",
    groupBy: ["region"],
    ...(daily && { daily }),
    ...(measure === "latest" && { carryOver }),
  };
  const terms = { rateTable: { rows }, ...(prorate && !daily && { prorate }) };
  return sampleBook([[meter, terms]], [[dayText(from), dayText(from + length)]]);
}

/** The quantity of the days before `day`; of an average, their share in that of the whole part. */
function runningQuantity(aggregation: Aggregation, groups: UsageGroups, { from, length }: Case, day: number): Fraction {
  const isShare = aggregation.kind === "TIME_WEIGHTED" && !aggregation.isDaily;
  const until = isShare ? from + length : day;
  return aggregate(aggregation, groups, { from: dayText(from), until: dayText(until), passedUntil: dayText(day) });
}

test("S19.3 S19.4 the rise of a quantity on a day has the price of the day, in cut cycles too", () => {
  fc.assert(
    fc.property(cases, (each) => {
      const { measure, prorate, from, length, cut } = each;
      const book = bookOf(each);
      const events = toSampleEvents(each.samples, dayText);
      const metering = meterEvents(book, events);
      const aggregation = metering.aggregations.get("m0");
      if (aggregation === undefined || !hasKeys(aggregation)) throw new Error("the meter has no values");
      const groups = groupValues(metering.cells.get(JSON.stringify(["acme", "m0"])) ?? []);
      let price = ZERO;
      for (let day = from; day < from + length; day++) {
        const [before = ZERO, after = ZERO] = [day, day + 1].map((end) =>
          end === from ? ZERO : runningQuantity(aggregation, groups, each, end),
        );
        price = add(price, multiply(subtract(after, before), fractionOrZero(day < cut ? 3 : 2)));
      }
      const isProrated = !isDaily(each) && (prorate || measure === "level" || measure === "change");
      const share = isProrated ? divide(fractionOrZero(length), fractionOrZero(31)) : fractionOrZero(1);
      const expected = roundToDigits(maxFraction(multiply(price, share), ZERO), 2, "HALF_UP");
      const { invoices } = preview(book, events, { from: "2026-10-01", until: "2026-11-01" });
      expect(invoices[0]?.revenueInfo.value.toFixed() ?? "0").toBe(formatFraction(expected));
    }),
    { numRuns: runs(2000, 200) },
  );
});
