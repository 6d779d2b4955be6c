/** The verifier on random price tables: it recomputes every amount, and detects a changed digit (S13.6, S18). */
import fc from "fast-check";
import { expect, test } from "vitest";

import type { RateRowInput, RateTableInput } from "../../src/book/resources/rate-table.ts";
import type { EventInput, ShortBookInput, ShortPlanInput } from "../../src/index.ts";
import type { UsageItem } from "../rating/rate-tables.ts";
import { GROUP_BY, rateArbitrary, tableArbitrary, usageArbitrary } from "../rating/table-arbitrary.ts";
import { runs } from "../support/runs.ts";
import { digitChoices, expectDigitFound, previewToVerify } from "./figures.ts";

/** A table with an override, the days of the account, and usage. */
interface TableCase {
  readonly table: RateTableInput;
  readonly override: Pick<NonNullable<ShortPlanInput["usage"]>[number], "rows" | "multiply">;
  readonly from: number;
  readonly until: number | undefined;
  readonly usage: readonly UsageItem[];
}

const amounts = fc.option(rateArbitrary(), { nil: undefined });
/** Above every minimum. */
const maximums = amounts.map((amount) => amount && `1${amount}`);
/** What only tiers of rows without dates have. */
const terms = fc.record({
  package: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
  flat: amounts,
  minimum: amounts,
  maximum: maximums,
});
const rowLists = tableArbitrary()
  .map(({ rows }) => rows)
  .filter((rows) => rows.length > 0);

/** Gives the first tiers of rows without dates more terms. */
function addTerms(rows: readonly RateRowInput[], termsOfRows: readonly object[]): readonly RateRowInput[] {
  const isUndated = ({ from, when }: RateRowInput): boolean =>
    !from && rows.filter((other) => JSON.stringify(other.when) === JSON.stringify(when)).length === 1;
  return rows.map((row, index) => {
    if (!isUndated(row)) return row;
    const { rate, tiers, volumeTiers, ...rest } = row;
    const [first, ...others] = tiers ?? volumeTiers ?? [{ rate }];
    const withTerms = [{ ...first, ...termsOfRows[index] }, ...others];
    return { ...rest, ...(volumeTiers ? { volumeTiers: withTerms } : { tiers: withTerms }) };
  });
}

const cases: fc.Arbitrary<TableCase> = fc
  .record({
    table: tableArbitrary().filter(({ rows }) => rows.length > 0),
    termsOfRows: fc.array(fc.oneof(terms, fc.constant({})), { minLength: 5, maxLength: 5 }),
    limits: fc.record({ minimum: amounts, maximum: maximums, per: fc.constantFrom(1, 10, 1000) }),
    override: fc.record({
      rows: fc.option(rowLists, { nil: undefined }),
      multiply: fc.constantFrom(undefined, "0.8", "0", "1.25"),
    }),
    from: fc.constantFrom(1, 1, 4),
    until: fc.constantFrom(undefined, 7, 21),
    usage: usageArbitrary(),
  })
  .map(({ table, termsOfRows, limits, ...rest }) => ({
    ...rest,
    table: { ...table, ...limits, rows: addTerms(table.rows, termsOfRows) },
  }));

const day = (number: number): string => `2026-10-${String(number).padStart(2, "0")}`;

function bookOf({ table, override, from, until }: TableCase): ShortBookInput {
  const isChanged = Object.values(override).some((change) => change !== undefined);
  const plan = {
    plan: "pp",
    from: day(from),
    ...(until !== undefined && { until: day(until) }),
    ...(isChanged && { override: { usage: [{ meter: "calls", ...override }] } }),
  };
  return {
    eventSchemas: [{ name: "call", attributes: ["n"], dimensions: GROUP_BY }],
    usageMeters: [{ id: "calls", schema: "call", sum: "n", groupBy: GROUP_BY }],
    pricePlans: [{ id: "pp", cycle: "MONTHLY", usage: [{ meter: "calls", rateTable: table }] }],
    accounts: [{ id: "acme", plans: [plan] }],
  };
}

function toEvents(usage: readonly UsageItem[]): readonly EventInput[] {
  return usage.map(([usageDay, group, n], index) => ({
    schemaName: "call",
    id: `e${index}`,
    timestamp: `${day(usageDay)}T00:00:00Z`,
    accountId: "acme",
    attributes: { n },
    dimensions: Object.fromEntries(GROUP_BY.map((dimension, position) => [dimension, group[position] ?? ""])),
  }));
}

test("S13.6 S18 invoices of random tables, overrides and cut cycles are verified, and a changed digit is detected", () => {
  fc.assert(
    fc.property(cases, digitChoices, (each, digit) => {
      const { invoices, check } = previewToVerify(bookOf(each), toEvents(each.usage));
      expect(check(invoices)).toEqual([]);
      // An allowance of which units are left can be larger.
      expectDigitFound(invoices, check, digit, (path) => path.at(-2) === "allowance");
    }),
    { numRuns: runs(3000, 100) },
  );
});
