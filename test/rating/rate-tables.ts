/** Prices usage by tables for the tests of rating. */
import type { GroupUsage, UsageGroup } from "../../src/book/resources/event-schema.ts";
import { rateRows, rateTable, type RateRowInput, type RateTableInput } from "../../src/book/resources/rate-table.ts";
import { dayOf, parseDate } from "../../src/calendar/instant.ts";
import { formatDecimal } from "../../src/numbers/decimal.ts";
import {
  type PricedStretch,
  type PricedTable,
  priceUsageByTable,
  type TablePeriod,
} from "../../src/rating/rate-table.ts";
import { joinTableRates } from "../../src/rating/rated-table.ts";
import type { PricedSlab } from "../../src/rating/slab-charge.ts";
import { d } from "./cards.ts";

/** October 2026. */
export const OCTOBER: TablePeriod = {
  from: dayOf(parseDate("2026-10-01")),
  until: dayOf(parseDate("2026-11-01")),
  share: { days: 31, of: 31 },
};

/** Usage of a group on a day of October: the day, the texts of the group, and the units. */
export type UsageItem = readonly [day: number, group: UsageGroup, quantity: number | string];

/** Usage from a text such as `3 nova input: 20, 4 nova output: -5`. */
function readUsage(text: string): readonly UsageItem[] {
  return text.split(", ").map((item) => {
    const [, day, group = "", quantity = ""] = /^(\d+) (.+): (.+)$/.exec(item) ?? [];
    return [Number(day), group.split(" "), quantity];
  });
}

export function toUsage(items: readonly UsageItem[]): readonly GroupUsage[] {
  return items.map(([day, group, quantity]) => ({ group, day: OCTOBER.from + day - 1, quantity: d(quantity) }));
}

/** What a table is priced with. */
export interface PricingInput {
  readonly groupBy?: readonly string[];
  readonly usage: readonly UsageItem[] | string;
  readonly period?: TablePeriod;
  /** Of an override. */
  readonly rows?: readonly RateRowInput[];
  /** Of an override. */
  readonly multiply?: string;
}

/** Prices usage in USD. */
export function priceByTable(table: RateTableInput, input: PricingInput): PricedTable {
  const { groupBy = ["model", "kind"], usage, period = OCTOBER } = input;
  const pricing = {
    rateTable: rateTable.parse(table),
    rows: input.rows && rateRows.parse(input.rows),
    multiply: input.multiply === undefined ? undefined : d(input.multiply),
  };
  return priceUsageByTable(
    joinTableRates(pricing, groupBy, "USD"),
    toUsage(typeof usage === "string" ? readUsage(usage) : usage),
    period,
  );
}

/** The lines of a priced table: a tier on a stretch of days. */
export function listLines({ stretches }: PricedTable): readonly (PricedSlab & Pick<PricedStretch, "from" | "until">)[] {
  return stretches.flatMap(({ slabs, from, until }) => slabs.map((slab) => ({ ...slab, from, until })));
}

/** The total of a priced table, then its lines: `days tier: quantity at rate = amount`. */
export function describePrice(priced: PricedTable): readonly string[] {
  const described = listLines(priced).map(({ from, until, order, quantity, rate, amount }) => {
    const days = `${from - OCTOBER.from + 1}–${until - OCTOBER.from}`;
    return `${days} tier ${order}: ${formatDecimal(quantity)} at ${formatDecimal(rate)} = ${formatDecimal(amount)}`;
  });
  return [formatDecimal(priced.total), ...described];
}
