/** Charges of 300 groups by a table of 5,000 rows, compared with the same groups by a table of a hundred rows (S18). */
import type { GroupUsage } from "../../src/book/resources/event-schema.ts";
import { rateTable } from "../../src/book/resources/rate-table.ts";
import { dayOf, parseDate } from "../../src/calendar/instant.ts";
import { formatDecimal, parseDecimal, sum } from "../../src/numbers/decimal.ts";
import { roundLines } from "../../src/rating/charge.ts";
import { joinTableRates, type RatedTable } from "../../src/rating/rated-table.ts";
import { chargeByTable, type TableUsage } from "../../src/rating/table-charge.ts";
import { type Bench, measure } from "../bench.ts";

const KINDS = ["input", "output", "cached"];
const GROUPS = 300;
const OCTOBER = { start: parseDate("2026-10-01"), end: parseDate("2026-11-01") };
const PERIOD = { served: OCTOBER, natural: OCTOBER };

/** A table with a row for each model, and kind if it has more rows than models. */
function createTable(rowCount: number): RatedTable {
  const hasKinds = rowCount > GROUPS;
  const rows = Array.from({ length: rowCount }, (_, index) => {
    const [model, kind] = hasKinds ? [Math.floor(index / 3), KINDS[index % 3]] : [index, undefined];
    return { when: { model: `model-${model}`, ...(kind !== undefined && { kind }) }, rate: "2.50" };
  });
  return joinTableRates({ rateTable: rateTable.parse({ per: 1_000_000, rows }) }, ["model", "kind"], "USD");
}

/** The usage of an account in groups on three days. */
function createUsage(account: number): readonly GroupUsage[] {
  const groups = Array.from({ length: GROUPS }, (_, index) => [
    `model-${Math.floor(index / 3)}`,
    KINDS[index % 3] ?? "",
  ]);
  return [3, 14, 25].flatMap((date) =>
    groups.map((group, index) => ({
      group,
      day: dayOf(OCTOBER.start) + date,
      quantity: parseDecimal(1000 + ((account * 7919 + index * 104_729 + date) % 90_000)),
    })),
  );
}

function createAccounts(first: number, count: number): readonly TableUsage[] {
  return Array.from({ length: count }, (_, index) => {
    const groups = createUsage(first + index);
    return { meterId: "um.tokens", quantity: sum(groups.map(({ quantity }) => quantity)), groups };
  });
}

/** The accounts of a batch are charged by both tables in turn, so that other processes slow both. */
const BATCH = 50;

function run(size: "smoke" | "full"): readonly string[] {
  const accounts = size === "full" ? 10_000 : BATCH;
  const [small, large] = [createTable(100), createTable(5000)];
  const charge = (table: RatedTable, usages: readonly TableUsage[]): readonly string[] =>
    usages.map((usage) => formatDecimal(roundLines(chargeByTable(table, usage, PERIOD), 2, "HALF_UP").value));
  const results: { small: readonly string[]; large: readonly string[] } = { small: [], large: [] };
  let [smallSeconds, largeSeconds] = [0, 0];
  for (let first = 0; first < accounts; first += BATCH) {
    const usages = createAccounts(first, BATCH);
    smallSeconds += measure(() => (results.small = charge(small, usages)));
    largeSeconds += measure(() => (results.large = charge(large, usages)));
    if (results.small.join() !== results.large.join()) throw new Error("the two sides differ");
  }
  const perSecond = (seconds: number): string => `${Math.round(accounts / seconds).toLocaleString("en")}/s`;
  return [
    `300 groups on three days by 100 rows: ${perSecond(smallSeconds)}`,
    `by 5,000 rows: ${perSecond(largeSeconds)}, ratio ${(smallSeconds / largeSeconds).toFixed(2)} (target 0.50)`,
  ];
}

export const rateTableBenches: readonly Bench[] = [{ name: "price tables of 5,000 rows for 10,000 accounts", run }];
