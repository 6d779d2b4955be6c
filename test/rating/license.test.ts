import { describe, expect, test } from "vitest";

import { type LicenseRateCard, licenseRateCard } from "../../src/book/resources/rate-card.ts";
import { formatFraction } from "../../src/numbers/fraction.ts";
import type { Charge, RatedPeriod } from "../../src/rating/charge.ts";
import type { QuantityRun, PaidLevel } from "../../src/rating/license-timeline.ts";
import {
  licensePrice,
  refundLicense,
  findPaidLevel,
  rateLicenseInAdvance,
  rateLicenseInArrears,
  rateLicenseIncrease,
} from "../../src/rating/license.ts";
import type { CardBounds, SlabRow } from "../../src/testing/price-arbitrary.ts";
import { d, days, HALF_JUNE, JUNE, createSlabPricing, exactAmount } from "./cards.ts";

/** A card of seats at 10 each, unless other rows are given. */
function seatCard(
  enableProration: boolean,
  bounds?: CardBounds,
  rows: readonly SlabRow[] = [{ after: 0, rate: 10 }],
  model: "TIERED" | "VOLUME" = "VOLUME",
): LicenseRateCard {
  const pricing = createSlabPricing(model, rows, bounds);
  return licenseRateCard.parse({ id: "addon.seats", enableProration, ...pricing });
}

const quantityRun = (from: string, until: string, quantity: number): QuantityRun => ({
  ...days(from, until),
  quantity: d(quantity),
});
const TEN_THEN_SIXTEEN = [quantityRun("2026-06-01", "2026-06-16", 10), quantityRun("2026-06-16", "2026-07-01", 16)];
const REMAINING = days("2026-06-16", "2026-07-01");

const chargedUpTo = (quantity: number): PaidLevel => ({
  chargedQuantity: d(quantity),
  levelQuantity: d(quantity),
});

const arrears = (
  card: LicenseRateCard,
  runs: readonly QuantityRun[],
  period: RatedPeriod = JUNE,
  alreadyPaid?: number,
): Charge =>
  rateLicenseInArrears(card, "USD", runs, period, alreadyPaid === undefined ? undefined : chargedUpTo(alreadyPaid));

describe("S10.2 in arrears", () => {
  test("S10.2 without proration the largest daily quantity is priced in full", () => {
    expect(exactAmount(arrears(seatCard(false), TEN_THEN_SIXTEEN))).toBe("160");
  });

  test("S10.2 with proration each run of days is priced for its days", () => {
    const charge = arrears(seatCard(true), TEN_THEN_SIXTEEN);
    expect(exactAmount(charge)).toBe("130");
    expect(charge.explanation.parts.map(({ because, quantity }) => [because, quantity?.toFixed()])).toEqual([
      ["quantity 10 for 15 of 30 days", "10"],
      ["quantity 16 for 15 of 30 days", "16"],
    ]);
  });

  test("S10.2 the slabs of prorated runs add up, each with its own part", () => {
    const rows: readonly SlabRow[] = [
      { after: 0, rate: 10 },
      { after: 12, rate: 6 },
    ];
    // 10 × 10 × ½ + (12 × 10 + 4 × 6) × ½ = 50 + 72
    const charge = arrears(seatCard(true, undefined, rows, "TIERED"), TEN_THEN_SIXTEEN);
    expect(
      charge.slabs.map(({ order, quantity, amount }) => [order, quantity.toFixed(), formatFraction(amount)]),
    ).toEqual([
      [1, "12", "110"],
      [2, "4", "12"],
    ]);
    expect(exactAmount(charge)).toBe("122");
  });

  test("S7.4 the bounds of a prorated card are prorated by days served, and limit the sum of the runs", () => {
    const bounded = seatCard(true, { minimumRate: 200, maximumRate: 220 });
    expect(exactAmount(arrears(bounded, TEN_THEN_SIXTEEN))).toBe("200");
    // 30 × 10 × ½ = 150, raised to 220 × ½.
    expect(exactAmount(arrears(bounded, [quantityRun("2026-06-16", "2026-07-01", 30)], HALF_JUNE))).toBe("110");
  });

  test.each([
    [10, "60", "16 are held, 10 were paid"],
    [16, "0", "no more than was paid"],
    [20, "0", "less than was paid"],
  ])("S9.1 an unprorated license is charged once: with %i paid before, %s (%s)", (alreadyPaid, amount, _because) => {
    const charge = arrears(seatCard(false), [quantityRun("2026-06-16", "2026-07-01", 16)], HALF_JUNE, alreadyPaid);
    expect(exactAmount(charge)).toBe(amount);
  });

  test("S13.1 if no more seats than paid were used, the charge is for a quantity of 0", () => {
    const runs = [quantityRun("2026-06-16", "2026-07-01", 2)];
    const charge = arrears(seatCard(false, { minimumRate: 50 }), runs, HALF_JUNE, 3);
    expect([charge.quantity?.toFixed(), exactAmount(charge), charge.slabs]).toEqual(["0", "0", []]);
  });

  test("S7.4 the parts of an unprorated card stay within its bounds together", () => {
    const card = seatCard(false, { minimumRate: 120, maximumRate: 150 });
    // 10 seats are 100, raised to 120; 16 are 160, lowered to 150, of which 120 are paid.
    expect(exactAmount(arrears(card, [quantityRun("2026-06-01", "2026-06-16", 10)], HALF_JUNE))).toBe("120");
    expect(exactAmount(arrears(card, [quantityRun("2026-06-16", "2026-07-01", 16)], HALF_JUNE, 10))).toBe("30");
  });
});

describe("S10.3 in advance", () => {
  test("S10.3 the quantity at the start is charged, for the days served with proration", () => {
    expect(exactAmount(rateLicenseInAdvance(seatCard(true), "USD", d(10), HALF_JUNE))).toBe("50");
    expect(exactAmount(rateLicenseInAdvance(seatCard(false), "USD", d(10), HALF_JUNE))).toBe("100");
    expect(exactAmount(rateLicenseInAdvance(seatCard(false), "USD", d(12), HALF_JUNE, chargedUpTo(10)))).toBe("20");
  });

  test("S10.3 an increase is charged for the remaining days with proration, in full without", () => {
    const change = [{ ...chargedUpTo(10), to: d(16), days: REMAINING }];
    expect(exactAmount(rateLicenseIncrease(seatCard(true), "USD", change, JUNE))).toBe("30");
    const full = rateLicenseIncrease(seatCard(false), "USD", change, JUNE);
    expect([exactAmount(full), full.quantity?.toFixed(), full.slabs[0]?.quantity.toFixed()]).toEqual(["60", "6", "6"]);
  });

  test("S10.3 a price difference is never below 0", () => {
    const rows: readonly SlabRow[] = [
      { after: 0, rate: 2 },
      { after: 100, rate: 1 },
    ];
    // VOLUME: 100 are 200, 150 are 150.
    const increase = { ...chargedUpTo(100), to: d(150), days: REMAINING };
    const charge = rateLicenseIncrease(seatCard(false, undefined, rows), "USD", [increase], JUNE);
    expect([formatFraction(charge.charged), exactAmount(charge), charge.slabs]).toEqual(["0", "0", []]);
  });

  test("S10.3 an increase is charged above the paid level, not above the price of the largest quantity", () => {
    const rows: readonly SlabRow[] = [
      { after: 0, rate: 10 },
      { after: 10, rate: 4 },
    ];
    const card = seatCard(false, undefined, rows);
    // 10 cost 100, 12 no more than that; 30 cost 120, 20 more.
    const alreadyPaid = findPaidLevel(card, "USD", [d(10), d(12)]);
    expect([alreadyPaid?.chargedQuantity.toFixed(), alreadyPaid?.levelQuantity?.toFixed()]).toEqual(["12", "10"]);
    const increase = { ...chargedUpTo(12), ...alreadyPaid, to: d(30), days: REMAINING };
    const charge = rateLicenseIncrease(card, "USD", [increase], JUNE);
    expect([exactAmount(charge), charge.quantity?.toFixed()]).toEqual(["20", "18"]);
    // 10 paid the price of 12, but 30 seats are counted above 12.
    const { parts, chargedBefore } = charge.explanation;
    expect([parts.map(({ quantity }) => quantity?.toFixed()), chargedBefore?.toFixed()]).toEqual([["30", "10"], "12"]);
  });

  test("S10.3 days that are paid differently are charged together, each above what is paid for it", () => {
    const increases = [
      { ...chargedUpTo(2), to: d(5), days: days("2026-06-01", "2026-06-16") },
      { ...chargedUpTo(3), to: d(5), days: REMAINING },
    ];
    // 3 × 10 × 15/30 + 2 × 10 × 15/30 = 15 + 10
    const charge = rateLicenseIncrease(seatCard(true), "USD", increases, JUNE);
    expect([exactAmount(charge), charge.quantity?.toFixed()]).toEqual(["25", "3"]);
  });

  test("S10.3 a quantity that does not grow costs nothing", () => {
    const same = [{ ...chargedUpTo(10), to: d(10), days: REMAINING }];
    expect(exactAmount(rateLicenseIncrease(seatCard(false), "USD", same, JUNE))).toBe("0");
  });

  test("S10.3 a price is that of a whole cycle, limited by the card's bounds", () => {
    const bounded = seatCard(true, { maximumRate: 55 });
    expect([d(4), d(10)].map((quantity) => licensePrice(bounded, "USD", quantity).toFixed())).toEqual(["40", "55"]);
  });

  test("S9.5 S10.3 the unserved days of a price are refunded if the card is prorated", () => {
    const back = (card: ReturnType<typeof seatCard>, to: ReturnType<typeof d> | undefined) =>
      refundLicense(card, "USD", [{ from: d(10), to, days: REMAINING }], JUNE);
    const refundAmount = (refund: ReturnType<typeof back>) => refund && formatFraction(refund.amount);
    // 10 seats at 10: 100 × 15 ÷ 30; down to 4: (100 − 40) × 15 ÷ 30.
    expect(refundAmount(back(seatCard(true), undefined))).toBe("50");
    expect(refundAmount(back(seatCard(true), d(4)))).toBe("30");
    expect(back(seatCard(true), d(4))?.explanation.parts.map(({ because }) => because)).toEqual([
      "quantity 10 already charged for 15 of 30 days",
      "quantity 4 still charged for 15 of 30 days",
    ]);
    expect(back(seatCard(false), undefined)).toBeUndefined();
    expect(back(seatCard(true), d(10))).toBeUndefined();
  });
});
