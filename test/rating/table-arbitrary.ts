/** Random price tables, and usage of their groups in October 2026. */
import fc from "fast-check";

import type { RateRowInput, RateTableInput } from "../../src/book/resources/rate-table.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import { d } from "./cards.ts";
import type { UsageItem } from "./rate-tables.ts";

export const GROUP_BY = ["model", "kind", "region"];
export const TEXTS = ["a", "b", "c"];
const groups = fc.tuple(...GROUP_BY.map(() => fc.constantFrom(...TEXTS)));

const rates = fc.integer({ min: 0, max: 40 }).map((hundredths) => formatDecimal(d(hundredths).div(100)));
const tierLists = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: 1, max: 20 }), { maxLength: 3 }),
    fc.array(rates, { minLength: 4, maxLength: 4 }),
  )
  .map(([ends, tierRates]) => {
    const sorted = ends.toSorted((a, b) => a - b);
    return [...sorted.map((upTo, index) => ({ upTo, rate: tierRates[index] ?? 0 })), { rate: tierRates[3] ?? 0 }];
  });
const prices: fc.Arbitrary<Partial<RateRowInput>> = fc.oneof(
  rates.map((rate) => ({ rate })),
  tierLists.map((tiers) => ({ tiers })),
  tierLists.map((volumeTiers) => ({ volumeTiers })),
);

/** Rows with one `when`: each names the first dimensions, so that no two of one length hold for one group. */
const rowLists: fc.Arbitrary<readonly RateRowInput[]> = fc
  .uniqueArray(
    fc.record({
      depth: fc.integer({ min: 0, max: 3 }),
      texts: groups,
      slabsOver: fc.constantFrom("ROW" as const, "GROUP" as const),
      prices: fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 9 }), prices), {
        selector: ([day]) => day,
        minLength: 1,
        maxLength: 3,
      }),
    }),
    { selector: ({ depth, texts }) => texts.slice(0, depth).join(), maxLength: 5 },
  )
  .map((rows) =>
    rows.flatMap(({ depth, texts, slabsOver, prices: datedPrices }) => {
      const when = Object.fromEntries(
        GROUP_BY.slice(0, depth).map((dimension, index) => [dimension, texts[index] ?? ""]),
      );
      return datedPrices.map(([day, price]) => ({
        when,
        slabsOver,
        ...price,
        ...(day > 0 && { from: `2026-10-0${day}` }),
      }));
    }),
  );
const shuffledRows = rowLists.chain((rows) => fc.shuffledSubarray([...rows], { minLength: rows.length }));
const tables: fc.Arbitrary<RateTableInput> = fc.record(
  {
    rows: shuffledRows,
    volumeOver: fc.constantFrom("ROW" as const, "ALL_ROWS" as const),
    allowance: fc.record({
      quantity: fc.integer({ min: 0, max: 30 }),
      over: fc.constantFrom("ALL_ROWS" as const, "EACH_ROW" as const),
    }),
  },
  { requiredKeys: ["rows", "volumeOver"] },
);
const usages: fc.Arbitrary<UsageItem[]> = fc.uniqueArray(
  fc.tuple(fc.integer({ min: 1, max: 10 }), groups, fc.integer({ min: -6, max: 15 })),
  { selector: ([day, group]) => [day, ...group].join(), maxLength: 12 },
);

export const groupArbitrary = (): fc.Arbitrary<string[]> => groups;

export const rateArbitrary = (): fc.Arbitrary<string> => rates;

/** Its rows may be empty, which only the tests of rating accept. */
export const tableArbitrary = (): fc.Arbitrary<RateTableInput> => tables;

/** Usage of different groups and days, some of it negative. */
export const usageArbitrary = (): fc.Arbitrary<UsageItem[]> => usages;
