/** Random price tables: rows for groups and days, with an allowance and limits (S18). */
import type { Arbitrary } from "fast-check";

import type { RateRowInput, RateTableInput } from "../book/resources/rate-table.ts";
import { fastCheck } from "./fast-check.ts";
import { decimalCardArbitrary, pricingModelArbitrary, type SlabRow } from "./slab-arbitrary.ts";

/** Texts of dimensions; {@link bookArbitrary} has a rule about the first. */
const TEXTS = ["lab", "eu", "us"];
/** Days of the accounts of {@link bookArbitrary}. */
const DAYS = ["2024-02-15", "2024-03-10", "2024-05-01"];

type Tier = NonNullable<RateRowInput["tiers"]>[number];

/** Slabs as tiers; those of dated rows have only rates (S18.4). */
function toTiers(slabs: readonly SlabRow[], isDated: boolean, countsByGroup: boolean): Tier[] {
  return slabs.map(({ type, rate, packageSize, flatRate, minimumRate, maximumRate, chargeAtZero }, index) => {
    const upTo = slabs[index + 1]?.after;
    if (isDated) return { upTo, rate };
    const price = type === "FLAT" ? { flat: rate } : { rate, flat: flatRate };
    return {
      upTo,
      ...price,
      ...(type === "PACKAGE" && { package: packageSize }),
      minimum: minimumRate,
      maximum: maximumRate,
      ...(chargeAtZero === true && !countsByGroup && { chargeAtZero }),
    };
  });
}

/**
 * Valid price tables. A row names the first dimensions, so that no two with equally many hold for one group.
 *
 * @param dimensions by which the meter groups its usage
 */
export function rateTableArbitrary(dimensions: readonly string[]): Arbitrary<RateTableInput> {
  const fc = fastCheck();
  const price = fc.record({ model: pricingModelArbitrary(), card: decimalCardArbitrary(3) });
  const row = fc.record({
    texts: fc.array(fc.constantFrom(...TEXTS), { maxLength: dimensions.length }),
    slabsOver: fc.constantFrom("ROW" as const, "GROUP" as const),
    first: price,
    later: fc.uniqueArray(fc.record({ from: fc.constantFrom(...DAYS), price }), {
      selector: ({ from }) => from,
      maxLength: 2,
    }),
  });
  const rows = fc.uniqueArray(row, { selector: ({ texts }) => texts.join(), minLength: 1, maxLength: 4 });
  return fc
    .record({
      rows,
      bounds: decimalCardArbitrary(1).map(({ bounds }) => bounds),
      per: fc.constantFrom(undefined, 1000),
      volumeOver: fc.constantFrom("ROW" as const, "ALL_ROWS" as const),
      allowance: fc.option(
        fc.record({ quantity: fc.nat(30), over: fc.constantFrom("ALL_ROWS" as const, "EACH_ROW" as const) }),
        { nil: undefined },
      ),
    })
    .map(({ rows: rowParts, bounds, ...terms }) => ({
      ...terms,
      minimum: bounds.minimumRate,
      maximum: bounds.maximumRate,
      rows: rowParts.flatMap(({ texts, slabsOver, first, later }) =>
        [{ from: undefined, price: first }, ...later].map(({ from, price: { model, card } }): RateRowInput => {
          const tiers = toTiers(card.rows, later.length > 0, slabsOver === "GROUP");
          return {
            when: Object.fromEntries(texts.map((text, index) => [dimensions[index] ?? "", text])),
            from,
            slabsOver,
            ...(model === "VOLUME" ? { volumeTiers: tiers } : { tiers }),
          };
        }),
      ),
    }));
}
