/**
 * The plain price of a card with a price table, for clients that know only slabs: that of its row without `when`, before
 * its price changes; else a rate of 0.
 */
import { amountIn, listTiers, type RateRow, rateRows, rateTable } from "../../../book/resources/rate-table.ts";
import { ONE, parseDecimal, ZERO } from "../../../numbers/decimal.ts";
import { toSlabPricing } from "../../../rating/rated-table.ts";
import { withoutAbsent } from "../../http/fields.ts";

type Card = Readonly<Record<string, unknown>>;

/** @param card of an answer, of a plan or an override */
export function addPlainPrices(card: Card, currencies: readonly string[]): Card {
  const table = rateTable.safeParse(card["rateTable"]).data;
  const changes = rateRows.safeParse(card["rows"]).data;
  const factor = card["multiply"] === undefined ? undefined : parseDecimal(card["multiply"]);
  if (table === undefined && changes === undefined && factor === undefined) return card;
  const change = findGeneralRow(changes ?? []);
  const row = change ?? findGeneralRow(table?.rows ?? []) ?? { rate: ZERO };
  const per = table?.per ?? ONE;
  // An override has rates in the currency of its account, perhaps in no other.
  const ratedCurrencies = currencies.filter((currency) => hasRates(row, currency));
  const pricing = ratedCurrencies.map((currency) =>
    toSlabPricing(row, { per, factor: change === undefined ? (factor ?? ONE) : ONE, currency }),
  );
  const slabs = (pricing[0]?.ratePlan.slabs ?? []).map(({ slabConfig, endAt = null, ...slab }) => ({
    ...slab,
    endAt,
    slabConfig: withoutAbsent(slabConfig ?? {}),
  }));
  const rateValues = pricing.map(({ rateValue: { currency, slabRates } }) => ({
    currency,
    slabRates: slabRates.map((each) => {
      const config = withoutAbsent(each.slabRateConfig ?? {});
      return { ...each, slabRateConfig: Object.keys(config).length === 0 ? null : config };
    }),
  }));
  const pricingModel = pricing[0]?.ratePlan.pricingModel ?? "TIERED";
  return { ...card, ratePlan: { pricingModel, slabs }, rateValues };
}

function hasRates(row: RateRow, currency: string): boolean {
  return listTiers(row).every(({ rate, flat }) => amountIn(rate ?? flat, currency) !== undefined);
}

/** The row without `when`, with its first price. */
function findGeneralRow(rows: readonly RateRow[]): RateRow | undefined {
  const general = rows.filter(({ when }) => Object.keys(when ?? {}).length === 0);
  return general.toSorted((a, b) => ((a.from ?? "") < (b.from ?? "") ? -1 : 1))[0];
}
