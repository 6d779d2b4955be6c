/** The charge of a usage card with a price table, with everything needed to recompute it (S13.6, S18). */
import { type GroupUsage, nameTexts, type UsageGroup } from "../book/resources/event-schema.ts";
import { type Share, shareOfDays } from "../calendar/cycle.ts";
import { addDays, dayOf, formatDate, instantOfDay, parseDate } from "../calendar/instant.ts";
import { type Decimal, formatDecimal, ONE, sum } from "../numbers/decimal.ts";
import type { RuleNumber } from "../rulebook.ts";
import type {
  Charge,
  ChargeExplanation,
  PartExplanation,
  PricedUsage,
  QuantityTerms,
  RatedPeriod,
  SlabCharge,
} from "./charge.ts";
import { type BelowZero, type PricedStretch, type PricedTable, priceUsageByTable } from "./rate-table.ts";
import type { RatedRow, RatedTable } from "./rated-table.ts";
import { clampToShare, explainSlabs, partFraction, WHOLE_SHARE } from "./slab-charge.ts";

/** The usage that a table prices. */
export interface TableUsage {
  readonly meterId: string;
  /** Of all groups. */
  readonly quantity: Decimal;
  /** By day, then group. */
  readonly groups: readonly GroupUsage[];
}

/**
 * Prices a meter's usage with a price table. In a partial cycle the card's limits and the allowance are prorated by days;
 * tiers never are (S7.4, S18.5).
 *
 * @param terms of a quantity that is no sum (S19); where the price is prorated, the allowance is not
 * @throws {RatebookError} ERR_RATES_INVALID if a row has no rate in the currency
 */
export function chargeByTable(
  table: RatedTable,
  usage: TableUsage,
  period: RatedPeriod,
  { isProrated = false, describe }: QuantityTerms = {},
): Charge {
  const { meterId, quantity, groups } = usage;
  const share = shareOfDays(period.served, period.natural);
  const days = { from: dayOf(period.served.start), until: dayOf(period.served.end) };
  const [priceShare, allowanceShare] = isProrated ? [share, WHOLE_SHARE] : [WHOLE_SHARE, share];
  const priced = priceUsageByTable(table, groups, { ...days, share: allowanceShare });
  const charged = partFraction(priced.total, { sign: 1, share: priceShare });
  let slabs: readonly SlabCharge[] | undefined;
  let explanation: ChargeExplanation | undefined;
  return {
    kind: "USAGE",
    billableId: meterId,
    period,
    quantity,
    // Only lines need the slabs and the explanation.
    get slabs() {
      return (slabs ??= listSlabs(table, priced, priceShare));
    },
    charged,
    bounded: table.bounds === undefined ? charged : clampToShare(charged, table.bounds, share),
    get explanation() {
      return (explanation ??= {
        rules: [
          ...listRules(table, priced),
          ...(describe ? ["S19.1" as const] : []),
          ...(isProrated ? ["S19.4" as const] : []),
        ],
        parts: explainStretches(table, priced, priceShare),
        ...(describe && { because: describe() }),
        ...(priced.free.size > 0 && {
          free: [...priced.free].map(([row, units]) => ({ when: row.when, quantity: units })),
          ...(table.allowance && { allowance: { ...table.allowance, share: allowanceShare } }),
        }),
        ...(priced.belowZero.length > 0 && {
          belowZero: priced.belowZero.map(({ row, uncharged }) => ({ when: row.when, quantity: uncharged })),
        }),
        ...(table.bounds !== undefined && { bounds: { ...table.bounds, share } }),
      });
    },
    notices: [
      ...priced.belowZero.map((each) => describeBelowZero(meterId, table, each)),
      ...describeUnpriced(usage, table, priced),
    ],
    ...(priced.unpriced.length > 0 && {
      unpriced: priced.unpriced.map((each) => ({ ...each, meterId, group: nameTexts(each.group, table.groupBy) })),
    }),
  };
}

function listSlabs(table: RatedTable, { stretches }: PricedTable, share: Share): readonly SlabCharge[] {
  return stretches.flatMap((stretch) => {
    const usage = nameUsage(table, stretch);
    return stretch.slabs.map(({ order, quantity, rate, amount }) => ({
      order,
      quantity,
      rate,
      amount: partFraction(amount, { sign: 1, share }),
      usage,
    }));
  });
}

function nameUsage(table: RatedTable, stretch: PricedStretch): PricedUsage {
  const [startDate, endDate] = [formatDate(instantOfDay(stretch.from)), formatDate(instantOfDay(stretch.until))];
  return { group: nameGroup(table, stretch), startDate, endDate };
}

/** The texts that a row names, or those of a group that counts by itself. */
function nameGroup(
  { groupBy }: RatedTable,
  { row, groups }: { readonly row: RatedRow; readonly groups: readonly UsageGroup[] },
): Readonly<Record<string, string>> {
  const [group] = groups;
  return row.countsByGroup && group !== undefined ? nameTexts(group, groupBy) : row.when;
}

/** A group in words: its texts. */
export function describeGroup(group: Readonly<Record<string, string>>): string {
  return Object.values(group).join(", ") || "other usage";
}

/** Usage in words: its group and days, the last one included. */
export function describeUsage({ group, startDate, endDate }: PricedUsage): string {
  const last = formatDate(addDays(parseDate(endDate), -1));
  return `${describeGroup(group)}, ${startDate === last ? last : `${startDate} to ${last}`}`;
}

/** A part for each stretch of days of a row; the lines are its slabs. */
function explainStretches(table: RatedTable, { stretches }: PricedTable, share: Share): readonly PartExplanation[] {
  return stretches.map((stretch): PartExplanation => {
    const { row, price, groups, before, slabs } = stretch;
    const usage = nameUsage(table, stretch);
    const ratedSlabs = table.slabsOf(row, price);
    return {
      because: `usage of ${describeUsage(usage)}`,
      sign: 1,
      share,
      quantity: sum(slabs.map(({ quantity }) => quantity)),
      pricingModel: ratedSlabs.pricingModel,
      slabs: explainSlabs(ratedSlabs, slabs),
      row: { when: row.when, groups, startDate: usage.startDate, endDate: usage.endDate, before },
    };
  });
}

function listRules(table: RatedTable, { stretches, free, belowZero }: PricedTable): readonly RuleNumber[] {
  return [
    ...(table.bounds === undefined ? [] : ["S7.4" as const]),
    ...(belowZero.length === 0 ? [] : ["S7.5" as const]),
    "S18.2",
    "S18.3",
    ...(stretches.some(({ row }) => row.prices.length > 1) ? ["S18.4" as const] : []),
    ...(free.size === 0 ? [] : ["S18.5" as const]),
  ];
}

function describeBelowZero(meterId: string, table: RatedTable, each: BelowZero): string {
  const group = describeGroup(nameGroup(table, each));
  return each.quantity.isNegative()
    ? `${meterId}: the negative quantity ${formatDecimal(each.quantity)} of ${group} was priced as zero`
    : `${meterId}: the price of ${group} is below zero, because units were given back at a higher price; it is 0`;
}

/** A quantity in a message, such as `1 unit`. */
export function describeUnits(quantity: Decimal): string {
  return `${formatDecimal(quantity)} ${quantity.eq(ONE) ? "unit" : "units"}`;
}

/** The groups shown in a notice; an account may have thousands. */
const GROUPS_SHOWN_MAX = 5;

function describeUnpriced({ meterId }: TableUsage, table: RatedTable, { unpriced }: PricedTable): readonly string[] {
  if (unpriced.length === 0) return [];
  const quantity = sum(unpriced.map((each) => each.quantity));
  const units = `${describeUnits(quantity)} ${quantity.eq(ONE) ? "has" : "have"}`;
  const groups = unpriced.slice(0, GROUPS_SHOWN_MAX).map(({ group }) => describeGroup(nameTexts(group, table.groupBy)));
  const more = unpriced.length - groups.length;
  const rest = more === 0 ? "" : `; and ${more} more group${more === 1 ? "" : "s"}`;
  return [`${meterId}: ${units} no price: the price table has no row for ${groups.join("; ")}${rest}`];
}
