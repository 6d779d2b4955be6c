/** S13.6: why lines changed, calculated by hand. If one input changed, it is the only cause. */
import { describe, expect, test } from "vitest";

import { formatDecimal } from "../../../src/numbers/decimal.ts";
import { changesOf, changesWithoutBooks, diffAccount, previewSide, type Side, usage } from "./example-books.ts";

const CARD = "USAGE_RATE_CARD_AMOUNT";
const FEE = "FIXED_FEE_RATE_CARD_AMOUNT";
const fee = (rate: number, more: object = {}) => ({ fees: [{ id: "fee", rate, ...more }] });
const ADVANCE = { timing: "IN_ADVANCE" };
/** 2 a unit up to 100, 1 above. */
const bands = { tiers: [{ upTo: 100, rate: 2 }, { rate: 1 }] };
const inBands = usage(bands);
const committed = { ...inBands, commitment: 200 };
const inThirds = usage({ rate: "0.333" });
const credit = (amount: number) => ({ credits: [{ id: "c", purpose: "hello", amount }] });
const plan = (from: string, override?: object) => ({ plan: "pp", from, ...(override && { override }) });
const half = { plans: [plan("2026-06-16")] };
/** The account's own rates. */
const dear = usage({ tiers: [{ upTo: 100, rate: 3 }, { rate: 2 }] });
/** The plan's own rates from 16 June on, and for some days in June. */
const override = { plans: [plan("2026-06-01", dear), plan("2026-06-16")] };
const overrideTwice = { plans: [plan("2026-06-01", dear), plan("2026-06-05"), plan("2026-06-10", dear)] };
const commitments = { plans: [plan("2026-06-01", { commitment: 6 }), plan("2026-06-16", { commitment: 8 })] };
const seatsInJune = {
  seats: [
    { from: "2026-06-01", quantity: 10 },
    { from: "2026-06-16", quantity: 16 },
  ],
};
const seats = (fields: object) => ({ licenses: [{ id: "seats", rate: 10, ...fields }] });

test.each<[title: string, before: Side, after: Side, ...changes: string[]]>([
  ["more usage: 90 units at 2, then 100 at 2 and 20 at 1", [inBands, 90], [inBands, 120], `${CARD} 40: usage 40`],
  // 90 × 2 = 180; 120 units: 200 + 20 = 220; at 3 and 1: 300 + 20 = 320.
  [
    "more usage at other rates: first the usage at the old rates, then the rates",
    [inBands, 90],
    [usage({ tiers: [{ upTo: 100, rate: 3 }, { rate: 1 }] }), 120],
    `${CARD} 140: usage 40, rates 100`,
  ],
  [
    "an added maximum: 220 without it, 150 with it",
    [inBands, 120],
    [usage({ ...bands, maximum: 150 }), 120],
    `${CARD} -70: bounds -70`,
  ],
  [
    "S1.5 rounding explains the rest of a difference: 1 × 0.333 is 0.33, 2 × 0.333 is 0.67",
    [inThirds, 1],
    [inThirds, 2],
    `${CARD} 0.34: usage 0.333, rounding 0.007`,
  ],
  // 90 × 2 = 180 and 20 to 200; 50 × 2 = 100 and 100 to 200.
  [
    "S13.3 a commitment offsets lower usage",
    [committed, 90],
    [committed, 50],
    `${CARD} -80: usage -80`,
    "TRUE_UP_AMOUNT 80: usage 80",
  ],
  [
    "S12.3 an added credit",
    [inBands, 90],
    [inBands, 90, credit(25)],
    "SUB_CREDITS -25: credits -25",
    `${CARD} 0: none`,
  ],
  // The cut cycle is a different cycle: the whole fee in it is a change of days, and so is the whole fee of the uncut one.
  [
    "S8.1 fewer days: a fee of 30 for 15 of 30 days",
    [{ ...inBands, ...fee(30, { prorate: true }) }, 0],
    [{ ...inBands, ...fee(30, { prorate: true }) }, 0, half],
    `${FEE} -15: days -15`,
  ],
  [
    "S9.3 a fee in advance is compared like any other line: 30, then 45",
    [fee(30, ADVANCE), 0],
    [fee(45, ADVANCE), 0],
    "ADVANCED_FIXED_FEE 15: rates 15",
  ],
  // 90 × 3 = 270; 120 units: 300 + 20 × 2 = 340.
  [
    "S16.2 with an override, the slab of the account's own card is used",
    [inBands, 90, { plans: [plan("2026-06-01", dear)] }],
    [inBands, 120, { plans: [plan("2026-06-01", dear)] }],
    `${CARD} 70: usage 70`,
  ],
  // From 16 June on the plan's own rates: 90 × 2 = 180; 100 × 2 + 20 × 1 = 220.
  [
    "S16.1 an association ends where the next begins: with the same version and other overrides, only usage changed",
    [inBands, 90, override],
    [inBands, 120, override],
    `${CARD} 40: usage 40`,
  ],
  // Back to the override: 90 × 3 = 270; 100 × 3 + 20 × 2 = 340.
  [
    "S16.1 also back to the override",
    [inBands, 90, overrideTwice],
    [inBands, 120, overrideTwice],
    `${CARD} 70: usage 70`,
  ],
  // 15 of 30 days: 3 of 6, all of it missing on both sides; 4 of 8, of which 2 are missing before and none after.
  [
    "S13.3 a commitment over one association of a version: the true-up of its half is 2 of 4, and 0 with 5 more units",
    [usage({ rate: 1 }), 2, commitments],
    [usage({ rate: 1 }), 7, commitments],
    "TRUE_UP_AMOUNT -2: usage -2",
    `${CARD} 5: usage 5`,
  ],
  [
    "S10.2 prorated seats are a change of days if the quantity is equal: 10 × 15/30 and 16 × 15/30 instead of 16",
    [seats({ prorate: false }), 0, { licenses: seatsInJune }],
    [seats({ prorate: true }), 0, { licenses: seatsInJune }],
    "LICENSE_RATE_CARD_AMOUNT -30: days -30",
  ],
  [
    "S13.3 a higher fee in advance lowers the true-up by its rate: 180 and 10, then 180 and 15, of 200",
    [{ ...committed, ...fee(10, ADVANCE) }, 90],
    [{ ...committed, ...fee(15, ADVANCE) }, 90],
    "ADVANCED_FIXED_FEE 5: rates 5",
    `${CARD} 0: none`,
    "TRUE_UP_AMOUNT -5: rates -5",
  ],
  [
    "S12.3 the amount paid by a credit changes by rates if only they changed: 10 of 15, then 15 of 30",
    [usage({ rate: 1 }), 10, credit(15)],
    [usage({ rate: 3 }), 10, credit(15)],
    "SUB_CREDITS -5: rates -5",
    `${CARD} 20: rates 20`,
  ],
])("%s", (_, before, after, ...changes) => {
  expect(changesOf(previewSide(before), previewSide(after))).toEqual(changes);
});

test.each<[title: string, before: object, after: object, ...changes: string[]]>([
  [
    "S13.3 a commitment added by an edit of the plan: 90 × 2 = 180, and a true-up of 20 to 200",
    inBands,
    committed,
    `${CARD} 0: none`,
    "TRUE_UP_AMOUNT 20: commitment 20",
  ],
  ["S13.3 and removed", committed, inBands, `${CARD} 0: none`, "TRUE_UP_AMOUNT -20: commitment -20"],
  [
    "S13.3 a commitment reached only with a fee in advance: 180 and 60, then 180 and a true-up of 20 to 200",
    { ...committed, ...fee(60, ADVANCE) },
    committed,
    `${CARD} 0: none`,
    "TRUE_UP_AMOUNT 20: rates 20",
    "ADVANCED_FIXED_FEE -60: rates -60",
  ],
  [
    "a card added by an edit of the plan is a change of rates if 90 units were used before too",
    fee(30),
    { ...fee(30), ...inBands },
    `${CARD} 180: rates 180`,
    `${FEE} 0: none`,
  ],
  ["and removed", { ...fee(30), ...inBands }, fee(30), `${CARD} -180: rates -180`, `${FEE} 0: none`],
])("without the books: %s", (_, before, after, ...changes) => {
  const actual = changesWithoutBooks(previewSide([before, 90]), previewSide([after, 90]));
  expect(actual.toSorted()).toEqual(changes.toSorted());
});

describe.each([
  ["IN_ARREARS", ""],
  ["IN_ADVANCE", "ADVANCED_"],
])("%s", (timing, prefix) => {
  test("S12.6 a credit grant: 5 at 1, then 10 at 1 and 30 at 0.9", () => {
    const grantOf = (amount: number) => {
      const tiers = [{ upTo: 10, rate: 1 }, { rate: "0.9" }];
      return previewSide([{ credits: [{ id: "grant", amount, tiers, for: "CYCLE", timing }] }, 0]);
    };
    const [small, large, type] = [grantOf(5), grantOf(40), `${prefix}CREDIT_GRANT_RATE_CARD_AMOUNT`];
    expect(changesOf(small, large)).toEqual([`${type} 32: usage 32`]);
    expect(changesOf(large, small)).toEqual([`${type} -32: usage -32`]);
    expect(changesWithoutBooks(large, small)).toEqual([`${type} -32: usage -32`]);
  });

  test("S7.5 no seats, charged 5 and then nothing, is a change of rates, not days", () => {
    const chargeOf = (flat: number) => previewSide([seats({ rate: 0, flat, chargeAtZero: true, timing }), 0]);
    const [some, none, type] = [chargeOf(5), chargeOf(0), `${prefix}LICENSE_RATE_CARD_AMOUNT`];
    // The side without a charge has no line and no invoice.
    expect(none[1]).toEqual([]);
    expect(changesOf(some, none)).toEqual([`${type} -5: rates -5`]);
    expect(changesOf(none, some)).toEqual([`${type} 5: rates 5`]);
  });
});

test("S10.3 slabs are listed in the order of a VOLUME card that goes from 0 to 30 seats, whatever the order of their prices", () => {
  const volumeTiers = [{ upTo: 10, rate: 1, chargeAtZero: true }, { rate: 2 }];
  const card = { id: "seats", volumeTiers, ...ADVANCE };
  const one = previewSide([{ licenses: [card] }, 0, { licenses: { seats: [{ from: "2026-06-11", quantity: 30 }] } }]);
  expect(changesOf(one, one)).toEqual(["ADVANCED_LICENSE_RATE_CARD_AMOUNT 0: none"]);
});

test("S13.4 a discount in advance counts once: 20 less 5, then 40 less 5", () => {
  const details = { ...usage({ rate: 2 }), ...fee(-5, ADVANCE) };
  const { lines, total } = diffAccount(previewSide([details, 10]), previewSide([details, 20]));
  expect([total.before, total.after].map(formatDecimal)).toEqual(["15", "35"]);
  expect(lines.map(({ type, difference }) => [type, formatDecimal(difference)])).toEqual([
    ["ADVANCED_FIXED_FEE", "0"],
    [CARD, "20"],
  ]);
});
