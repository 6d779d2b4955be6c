import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { rateTable, type RateTableInput } from "../../src/book/resources/rate-table.ts";
import { add, type Decimal, formatDecimal, maximum, multiply, subtract, sum, ZERO } from "../../src/numbers/decimal.ts";
import { priceQuantity } from "../../src/rating/slab-charge.ts";
import { d } from "./cards.ts";
import { listLines, OCTOBER, priceByTable, type UsageItem } from "./rate-tables.ts";
import { GROUP_BY, groupArbitrary, rateArbitrary, tableArbitrary, TEXTS, usageArbitrary } from "./table-arbitrary.ts";

const [groups, rates, tables, usages] = [groupArbitrary(), rateArbitrary(), tableArbitrary(), usageArbitrary()];
const input = fc.record({ table: tables, usage: usages });

function totalOf(table: RateTableInput, usage: readonly UsageItem[]): string {
  // An empty table is not valid, but prices nothing.
  if (table.rows.length === 0) return "0";
  return formatDecimal(priceByTable(table, { usage, groupBy: GROUP_BY }).total);
}

type Row = ReturnType<typeof rateTable.parse>["rows"][number];

function dayOfRow({ from }: Row): number {
  return from ? new Date(from).getUTCDate() : Number.NEGATIVE_INFINITY;
}

function findRowNaively(rows: readonly Row[], group: readonly string[], day: number): Row | undefined {
  const size = ({ when }: Row): number => Object.keys(when ?? {}).length;
  const holds = ({ when }: Row): boolean =>
    GROUP_BY.every((dimension, index) => (when?.[dimension] ?? group[index]) === group[index]);
  return rows
    .filter((row) => dayOfRow(row) <= day && holds(row))
    .toSorted((a, b) => size(b) - size(a) || dayOfRow(b) - dayOfRow(a))[0];
}

/** The units of a row, or of one of its groups, and how many of them are free. */
interface NaiveCounter {
  running: number;
  free: number;
  /** The units that are not free, at the end of each day. */
  readonly levels: number[];
}

/** Takes one unit of an allowance, or returns one. @returns what is left */
function countUnit(counter: NaiveCounter, sign: number, left: number): number {
  counter.running += sign;
  const takes = sign > 0 && counter.running > 0 && left > 0;
  const returns = sign < 0 && counter.free > Math.max(counter.running, 0);
  const change = takes ? 1 : returns ? -1 : 0;
  counter.free += change;
  return left - change;
}

/** The counters of rows with one `when`, unit by unit. */
function countNaively(
  usage: readonly UsageItem[],
  byGroup: boolean,
  allowance: number,
): { readonly counters: readonly NaiveCounter[]; readonly left: number } {
  const counters = new Map<string, NaiveCounter>();
  let left = allowance;
  for (let day = 1; day <= 31; day++) {
    const changes = new Map<string, number>();
    const entries = usage.filter(([usageDay]) => usageDay === day);
    for (const [, group, quantity] of entries.toSorted(([, a], [, b]) => (String(a) < String(b) ? -1 : 1))) {
      const key = byGroup ? String(group) : "";
      changes.set(key, (changes.get(key) ?? 0) + Number(quantity));
    }
    for (const [key, change] of changes) {
      const counter = counters.get(key) ?? { running: 0, free: 0, levels: Array.from({ length: 32 }, () => 0) };
      counters.set(key, counter);
      for (let unit = 0; unit < Math.abs(change); unit++) left = countUnit(counter, Math.sign(change), left);
    }
    for (const { running, free, levels } of counters.values()) levels[day] = Math.max(running, 0) - free;
  }
  return { counters: [...counters.values()], left };
}

/** The rules as they are written, row by row, day by day and unit by unit. */
function priceNaively(table: RateTableInput, usage: readonly UsageItem[]): string {
  if (table.rows.length === 0) return "0";
  const { rows, allowance, volumeOver } = rateTable.parse(table);
  const whenOf = ({ when }: Row): string => JSON.stringify(when);
  let left = allowance?.quantity.toNumber() ?? 0;
  const counted = [...new Set(rows.map(whenOf))].flatMap((when) => {
    const prices = rows.filter((row) => whenOf(row) === when);
    const priced = usage.filter(([day, group]) => {
      const row = findRowNaively(rows, group, day);
      return row !== undefined && whenOf(row) === when;
    });
    const result = countNaively(priced, prices[0]?.slabsOver === "GROUP", left);
    if (allowance?.over === "ALL_ROWS") ({ left } = result);
    return result.counters.map(({ levels }) => ({ prices, levels }));
  });
  const all = counted.reduce((total, { levels }) => total + (levels[31] ?? 0), 0);
  const amounts = counted.map(({ prices, levels }) => {
    const choice = volumeOver === "ALL_ROWS" ? all : (levels[31] ?? 0);
    let amount = ZERO;
    for (let day = 1; day <= 31; day++) {
      const price = prices.filter((row) => dayOfRow(row) <= day).toSorted((a, b) => dayOfRow(b) - dayOfRow(a))[0];
      if (price === undefined) continue;
      const [before, after] = [levels[day - 1] ?? 0, levels[day] ?? 0];
      amount = add(amount, subtract(naivePrice(price, after, choice), naivePrice(price, before, choice)));
    }
    return maximum(amount, ZERO);
  });
  return formatDecimal(sum(amounts));
}

/** Unit by unit. */
function naivePrice(row: Row, quantity: number, choice: number): Decimal {
  const tiers = row.tiers ?? row.volumeTiers ?? [{ rate: row.rate, upTo: null }];
  const rateOf = (unit: number): Decimal => tiers.find(({ upTo }) => !upTo || upTo.gte(unit))?.rate as Decimal;
  let total = ZERO;
  for (let unit = 1; unit <= quantity; unit++) total = add(total, rateOf(row.volumeTiers ? choice : unit));
  return total;
}

describe("S18.4 S18.5 a table", () => {
  test("costs what the rules say unit by unit and day by day", () => {
    fc.assert(
      fc.property(input, ({ table, usage }) => {
        expect(totalOf(table, usage)).toBe(priceNaively(table, usage));
      }),
    );
  });

  test("S18.6 has lines that add up to its total", () => {
    fc.assert(
      fc.property(input, ({ table, usage }) => {
        fc.pre(table.rows.length > 0);
        const priced = priceByTable(table, { usage, groupBy: GROUP_BY });
        const [lines, { total }] = [listLines(priced), priced];
        expect(formatDecimal(sum(lines.map(({ amount }) => amount)))).toBe(formatDecimal(total));
        for (const { amount, rate, quantity, from, until } of lines) {
          expect(formatDecimal(multiply(rate, quantity))).toBe(formatDecimal(amount));
          expect(OCTOBER.from <= from && from < until && until <= OCTOBER.until).toBe(true);
        }
      }),
    );
  });

  test("S18.2 does not depend on the order of usage", () => {
    const shuffled = input.chain(({ table, usage }) =>
      fc.record({
        table: fc.constant(table),
        usage: fc.constant(usage),
        other: fc.shuffledSubarray(usage, { minLength: usage.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ table, usage, other }) => {
        fc.pre(table.rows.length > 0);
        const [one, two] = [usage, other].map((each) => priceByTable(table, { usage: each, groupBy: GROUP_BY }));
        expect(JSON.stringify(one)).toBe(JSON.stringify(two));
      }),
    );
  });
});

test("S18.3 a table whose rows have one rate is a plain card", () => {
  const depths = fc.uniqueArray(groups, { maxLength: 4, selector: (texts) => texts[0] });
  const rows = depths.map((each) => [{}, ...each.map(([model]) => ({ when: { model } }))]);
  fc.assert(
    fc.property(rows, rates, usages, (whens, rate, items) => {
      // A plain card prices a negative sum as zero; a table each row's.
      const usage = items.map(([day, group, quantity]): UsageItem => [day, group, Math.abs(Number(quantity))]);
      const plan = { pricingModel: "TIERED", slabs: [{ order: 1, startAfter: 0, priceType: "PER_UNIT" }] } as const;
      const quantity = sum(usage.map(([, , units]) => d(units)));
      const plain = priceQuantity(plan, { currency: "USD", slabRates: [{ order: 1, rate }] }, quantity);
      expect(totalOf({ rows: whens.map((when) => ({ ...when, rate })) }, usage)).toBe(formatDecimal(plain.amount));
    }),
  );
});

test("S18.4 a dated row with the same price changes nothing", () => {
  fc.assert(
    fc.property(input, fc.nat(), fc.integer({ min: 1, max: 9 }), ({ table, usage }, choice, day) => {
      const undated = table.rows.filter(({ from }) => from === undefined);
      const row = undated[choice % Math.max(undated.length, 1)];
      fc.pre(
        row !== undefined &&
          !table.rows.some(({ when, from }) => from && JSON.stringify(when) === JSON.stringify(row.when)),
      );
      const rows = [...table.rows, { ...row, from: `2026-10-0${day}` }];
      expect(totalOf({ ...table, rows }, usage)).toBe(totalOf(table, usage));
    }),
  );
});

test("S18.2 the order of rows changes nothing without an allowance for all rows", () => {
  const shuffled = tables.chain((table) =>
    fc.tuple(fc.constant(table), fc.shuffledSubarray([...table.rows], { minLength: table.rows.length })),
  );
  fc.assert(
    fc.property(shuffled, usages, ([table, rows], usage) => {
      fc.pre(table.allowance?.over !== "ALL_ROWS");
      expect(totalOf({ ...table, rows }, usage)).toBe(totalOf(table, usage));
    }),
  );
});

test("S18.5 renaming a group changes no amount if the groups of a row count together", () => {
  const names = new Map(TEXTS.map((text, index) => [text, ["z", "b2", "a"][index] ?? ""]));
  const rename = (text: string): string => names.get(text) ?? "";
  fc.assert(
    fc.property(input, ({ table, usage }) => {
      const rows = table.rows.map((row) => ({ ...row, slabsOver: "ROW" as const }));
      const renamedRows = rows.map((row) => ({
        ...row,
        when: Object.fromEntries(Object.entries(row.when ?? {}).map(([key, text]) => [key, rename(String(text))])),
      }));
      const renamed = usage.map(([day, group, quantity]): UsageItem => [
        day,
        (group as string[]).map(rename),
        quantity,
      ]);
      expect(totalOf({ ...table, rows: renamedRows }, renamed)).toBe(totalOf({ ...table, rows }, usage));
    }),
  );
});
