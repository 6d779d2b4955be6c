/** What decided a quantity that is no sum (S19), as the reason for its price (S13.6). */
import { formatGroup, type GroupUsage, type UsageMeter } from "../book/resources/event-schema.ts";
import { DAY_MS, type Day, dayOf, formatDate, formatInstant, type Instant, instantOfDay } from "../calendar/instant.ts";
import { add, type Decimal, decimalOfInteger, formatDecimal, multiply, ONE, sum } from "../numbers/decimal.ts";
import { roundFraction } from "../numbers/fraction.ts";
import { groupBy } from "../numbers/ids.ts";
import { compareTimes, groupCells, type KeyedPeriod, type KeyedUsage, splitValues } from "./keyed-usage.ts";
import { CHANGE_KEY } from "./measure-units.ts";

/** Groups, or levels, in a sentence. */
const ITEMS_MAX = 3;

/** What decided the quantity of a period, such as `the peak in the billing period: 48 on 2026-10-14`. */
export function describeQuantity({ meter, usage, period, changes }: KeyedUsage): string {
  const { singular, plural } = QUANTITY_NAMES[meter.aggregation];
  const cellsByGroup = new Map(
    groupCells(meter, usage, period).map((cells) => [formatGroup(cells[0]?.group.slice(0, -1) ?? []), cells]),
  );
  const groups = [...groupBy(changes, ({ group }) => formatGroup(group)).values()];
  if (meter.daily === true) return `the sum of the ${plural} of ${describeDays(changes, groups.length)}`;
  const items = groups.map((ofGroup): Item => {
    const group = ofGroup[0]?.group ?? [];
    const quantity = sumQuantities(ofGroup);
    const cells = cellsByGroup.get(formatGroup(group)) ?? [];
    const levelsMax = groups.length === 1 ? ITEMS_MAX : 1;
    const text = describeOne(meter, { changes: ofGroup, quantity, cells, period, levelsMax });
    return { weight: quantity, text: group.length === 0 ? text : `${group.join(", ")}: ${text}` };
  });
  const name = groups.length > 1 ? `the ${plural} of ${groups.length} groups` : `the ${singular}`;
  const { until, passedUntil = until } = period;
  const daysLeft = meter.aggregation === "TIME_WEIGHTED" ? until - Math.max(passedUntil, period.from) : 0;
  const rest =
    daysLeft > 0 ? `; ${countItems(daysLeft, "day")} to come ${daysLeft === 1 ? "counts" : "count"} as 0` : "";
  return `${name} in the billing period: ${items.length === 0 ? "0" : listHeaviest(items, ITEMS_MAX, "group")}${rest}`;
}

const USAGE = { singular: "usage", plural: "usage" };
const QUANTITY_NAMES: Readonly<
  Record<UsageMeter["aggregation"], { readonly singular: string; readonly plural: string }>
> = {
  COUNT: USAGE,
  SUM: USAGE,
  MAX: { singular: "peak", plural: "peaks" },
  MIN: { singular: "lowest value", plural: "lowest values" },
  UNIQUE_COUNT: { singular: "number of different values", plural: "numbers of different values" },
  LATEST: { singular: "last value", plural: "last values" },
  TIME_WEIGHTED: { singular: "average level", plural: "average levels" },
};

/** A part of a sentence, and how much it decides. */
interface Item {
  readonly weight: Decimal;
  readonly text: string;
}

/** The items that decide most, in their order. @param what the name of an item, if the others are to be counted */
function listHeaviest(items: readonly Item[], count: number, what: "group" | "level" | undefined): string {
  const heaviest = new Set(items.toSorted((a, b) => b.weight.abs().comparedTo(a.weight.abs())).slice(0, count));
  const texts = items.filter((item) => heaviest.has(item)).map(({ text }) => text);
  const more = items.length - texts.length;
  return [...texts, ...(more === 0 || what === undefined ? [] : [`and ${countItems(more, `more ${what}`)}`])].join(
    "; ",
  );
}

function describeDays(changes: readonly GroupUsage[], groups: number): string {
  const days = [...groupBy(changes, ({ day }) => day)].map(([day, each]) => ({ day, quantity: sumQuantities(each) }));
  const [largest] = days.toSorted((a, b) => b.quantity.comparedTo(a.quantity) || a.day - b.day);
  const counted = `${countItems(days.length, "day")}${groups > 1 ? ` in ${groups} groups` : ""}`;
  return largest === undefined ? counted : `${counted}: at most ${quantityOn(largest.quantity, largest.day)}`;
}

/** The usage of one group. */
interface GroupPeriod {
  readonly changes: readonly GroupUsage[];
  readonly quantity: Decimal;
  /** With keys. */
  readonly cells: readonly GroupUsage[];
  readonly period: KeyedPeriod;
  readonly levelsMax: number;
}

function describeOne(meter: UsageMeter, group: GroupPeriod): string {
  const { changes, quantity, cells, period } = group;
  const last = changes.at(-1);
  const lastDay = last?.day ?? period.from;
  switch (meter.aggregation) {
    case "UNIQUE_COUNT": {
      const isLast = last?.quantity.eq(quantity) === true;
      return `${formatDecimal(quantity)}, ${isLast ? "all" : formatDecimal(last?.quantity ?? quantity)} of them new on ${formatDay(lastDay)}`;
    }
    case "LATEST": {
      const { before, values } = splitValues(cells, period);
      const at = (values.toSorted(compareTimes).at(-1) ?? before)?.at ?? instantOfDay(lastDay);
      return `${formatDecimal(quantity)} from ${formatTime(at)}${at < instantOfDay(period.from) ? ", before the billing period" : ""}`;
    }
    case "TIME_WEIGHTED":
      return describeLevels(meter.mode === "CHANGE" ? listDayLevels(cells, period) : listLevels(cells, period), group);
    default:
      return quantityOn(quantity, lastDay);
  }
}

/** A level, from when it held. */
interface Level {
  readonly at: Instant;
  readonly level: Decimal;
  /** Whether it is known only that it held at the end of the day before. */
  readonly isOfDay: boolean;
}

/** The levels that weigh most, with the days for which they held. */
function describeLevels(levels: readonly Level[], { period, levelsMax }: GroupPeriod): string {
  const end = instantOfDay(Math.min(period.until, period.passedUntil ?? period.until));
  const items = levels.flatMap(({ at, level, isOfDay }, index): Item[] => {
    const millis = (levels[index + 1]?.at ?? end) - at;
    if (millis <= 0 || level.isZero()) return [];
    const days = roundFraction({ numerator: decimalOfInteger(millis), denominator: DAY_MS }, 2, "HALF_UP");
    const since = isOfDay ? `the end of ${formatDay(dayOf(at) - 1)}` : formatTime(at);
    const time = index === 0 ? "before the billing period" : since;
    const unit = days.eq(ONE) ? "day" : "days";
    const duration = isOfDay || levels[index + 1]?.isOfDay === true ? "" : ` for ${formatDecimal(days)} ${unit}`;
    return [
      { weight: multiply(level, decimalOfInteger(millis)), text: `${formatDecimal(level)} from ${time}${duration}` },
    ];
  });
  return listHeaviest(items, levelsMax, levelsMax === 1 ? undefined : "level");
}

/** The levels that events set, after the one before the period. */
function listLevels(cells: readonly GroupUsage[], period: KeyedPeriod): readonly Level[] {
  const { opening, values } = splitValues(cells, period);
  const { from, until, passedUntil = until } = period;
  return [
    { at: instantOfDay(from), level: opening, isOfDay: false },
    ...values
      .filter(({ at }) => dayOf(at) < Math.min(until, passedUntil))
      .toSorted(compareTimes)
      .map(({ at, value }) => ({ at, level: value, isOfDay: false })),
  ];
}

/** The levels at the end of days with changes: the sums of a day do not tell its instants. */
function listDayLevels(
  cells: readonly GroupUsage[],
  { from, until, passedUntil = until }: KeyedPeriod,
): readonly Level[] {
  const changes = cells.filter((cell) => cell.group.at(-1) === CHANGE_KEY && cell.day < Math.min(until, passedUntil));
  let level = sumQuantities(changes.filter(({ day }) => day < from));
  const opening: Level = { at: instantOfDay(from), level, isOfDay: false };
  const days = [
    ...groupBy(
      changes.filter(({ day }) => day >= from),
      ({ day }) => day,
    ),
  ].sort(([a], [b]) => a - b);
  return [
    opening,
    ...days.map(([day, ofDay]): Level => {
      level = add(level, sumQuantities(ofDay));
      return { at: instantOfDay(day + 1), level, isOfDay: true };
    }),
  ];
}

function sumQuantities(usage: readonly { readonly quantity: Decimal }[]): Decimal {
  return sum(usage.map(({ quantity }) => quantity));
}

function quantityOn(quantity: Decimal, day: Day): string {
  return `${formatDecimal(quantity)} on ${formatDay(day)}`;
}

function countItems(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function formatDay(day: Day): string {
  return formatDate(instantOfDay(day));
}

/** A time to the minute, `2026-10-03T10:00Z`. */
function formatTime(at: Instant): string {
  return `${formatInstant(at).slice(0, 16)}Z`;
}
