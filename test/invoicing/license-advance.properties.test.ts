/**
 * Licenses in advance, compared with a model written only from S10.3: it goes through June day by day and update by
 * update in whole numbers, and shares no code with what it checks.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { DAY_MS, parseDate } from "../../src/calendar/instant.ts";
import { computeAdvanceBilling } from "../../src/invoicing/advance.ts";
import { type AdvanceBilling, findDueCycles } from "../../src/invoicing/due-work.ts";
import type { Fraction } from "../../src/numbers/fraction.ts";
import { runToCompletion } from "../../src/numbers/steps.ts";
import { createSlabPricing } from "../rating/cards.ts";
import { decision, seatsFrom, viewOf } from "./plans.ts";

const JUNE = parseDate("2024-06-01");
const DAYS = 30;
const HOUR_MS = 3_600_000;
/** Bands of four seats, each with its own price; the last one is open-ended. */
const BAND = 4;

/** A quantity from an hour of June on; hour 0 is the start of the cycle. */
interface Update {
  readonly hour: number;
  readonly quantity: number;
  /** The hours by which it arrives late; by default it is known from the start. */
  readonly late?: number;
}

interface Seats {
  /** The price of a quantity in each band; 0 seats cost nothing. */
  readonly prices: readonly number[];
  readonly isProrated: boolean;
  readonly refunds: boolean;
  /** At different hours, in order. */
  readonly updates: readonly Update[];
}

const updates = (late?: fc.Arbitrary<number>): fc.Arbitrary<readonly Update[]> =>
  fc
    .uniqueArray(
      fc.record({
        // Most updates are on few days, so that some days have several.
        hour: fc.oneof(fc.nat(4 * 24), fc.nat(DAYS * 24 - 1)),
        quantity: fc.nat(20),
        ...(late === undefined ? {} : { late }),
      }),
      { maxLength: 7, selector: ({ hour }) => hour },
    )
    .map((all) => all.toSorted((a, b) => a.hour - b.hour));

const seats: fc.Arbitrary<Seats> = fc.record({
  prices: fc.array(fc.integer({ min: 0, max: 200 }), { minLength: 5, maxLength: 5 }),
  isProrated: fc.boolean(),
  refunds: fc.boolean(),
  updates: updates(),
});

const priceOf = ({ prices: of }: Seats, quantity: number): number =>
  quantity === 0 ? 0 : (of[Math.min(Math.ceil(quantity / BAND), of.length) - 1] ?? 0);

function advanceFor({ prices: of, isProrated, refunds, updates: all }: Seats): AdvanceBilling {
  const card = {
    id: "addon.seats",
    invoiceTiming: "IN_ADVANCE",
    enableProration: isProrated,
    proratedRefundMode: refunds ? "CREDITS" : "NONE",
    ...createSlabPricing(
      "VOLUME",
      of.map((rate, index) => ({ after: index * BAND, rate, type: "FLAT" })),
    ),
  };
  const decisions = [decision("2024-06-01", { until: "2024-07-01", details: { licenseRateCards: [card] } })];
  const licenseChanges = all.map(({ hour, quantity, late }) => {
    const change = seatsFrom(JUNE + hour * HOUR_MS, quantity);
    return late === undefined ? change : { ...change, knownFrom: change.effectiveFrom + late * HOUR_MS };
  });
  const view = viewOf(decisions, { licenseChanges });
  return runToCompletion(computeAdvanceBilling(view, findDueCycles(view.decisions, JUNE + DAYS * DAY_MS)));
}

/** An amount in thirtieths, or in whole prices without proration. */
interface Figure {
  readonly kind: string;
  readonly hour: number;
  readonly amount: number;
}

function listFigures(account: Seats): readonly Figure[] {
  const { charges, refunds } = advanceFor(account);
  const parts = account.isProrated ? DAYS : 1;
  const amountInParts = ({ numerator, denominator }: Fraction): number =>
    numerator.times(parts).div(denominator).toNumber();
  return [
    ...charges.flatMap(({ invoiceType, invoiceDate, rate }) => {
      const charge = rate();
      const hour = (invoiceDate - JUNE) / HOUR_MS;
      return charge === undefined ? [] : [{ kind: invoiceType, hour, amount: amountInParts(charge.bounded) }];
    }),
    ...refunds.map(({ at, amount }) => ({
      kind: "REFUND",
      hour: (at - JUNE) / HOUR_MS,
      amount: amountInParts(amount),
    })),
  ].filter(({ amount }) => amount !== 0);
}

/** The model: S10.3, in its order. */
function modelFigures(account: Seats): readonly Figure[] {
  const { isProrated, refunds, updates: all } = account;
  const figures: Figure[] = [];
  const seatsAt = (hour: number): number => all.findLast((update) => update.hour <= hour)?.quantity ?? 0;
  const daysFrom = (day: number): number => (isProrated ? DAYS - day : 1);
  /** The charged quantities, each with the paid level up to it. */
  let chargedUnits = [{ quantity: seatsAt(0), level: priceOf(account, seatsAt(0)) }];
  const last = (): { readonly quantity: number; readonly level: number } =>
    chargedUnits.at(-1) ?? { quantity: 0, level: 0 };
  figures.push({ kind: "STANDARD_ADVANCED", hour: 0, amount: last().level * daysFrom(0) });
  for (let day = 0; day < DAYS; day++) {
    const hours = Array.from({ length: 24 }, (_, hour) => day * 24 + hour);
    const largest = Math.max(...hours.map(seatsAt));
    if (isProrated && refunds && largest < last().quantity) {
      const before = last().level;
      const remaining = chargedUnits.filter(({ quantity }) => quantity <= largest);
      const floor = Math.max(priceOf(account, largest), remaining.at(-1)?.level ?? 0);
      // A quantity that was charged before is paid at its price; what was not paid is not refunded.
      if (remaining.at(-1)?.quantity !== largest) remaining.push({ quantity: largest, level: Math.min(before, floor) });
      chargedUnits = remaining;
      figures.push({ kind: "REFUND", hour: day * 24, amount: (before - last().level) * daysFrom(day) });
    }
    for (const hour of hours) {
      const quantity = seatsAt(hour);
      if (quantity <= last().quantity) continue;
      const level = Math.max(last().level, priceOf(account, quantity));
      figures.push({ kind: "AD_HOC", hour, amount: (level - last().level) * daysFrom(day) });
      chargedUnits.push({ quantity, level });
    }
  }
  return figures.filter(({ amount }) => amount !== 0);
}

const byTime = (figures: readonly Figure[]): readonly Figure[] =>
  figures.toSorted((a, b) => a.hour - b.hour || (a.kind < b.kind ? -1 : 1));

/** The final price of each day, as a price for the whole month: the charges less the refunds. */
function pricesByDay(account: Seats): readonly number[] {
  const days = Array.from({ length: DAYS }, () => 0);
  for (const { kind, hour, amount } of listFigures(account)) {
    const from = Math.floor(hour / 24);
    for (let day = from; day < DAYS; day++) {
      days[day] = (days[day] ?? 0) + ((kind === "REFUND" ? -1 : 1) * amount) / (DAYS - from);
    }
  }
  return days;
}

const netTotal = (account: Seats): number =>
  listFigures(account).reduce((sum, { kind, amount }) => sum + (kind === "REFUND" ? -amount : amount), 0);

describe("licenses in advance", () => {
  test("S10.3 are charged and refunded by the rule, update by update", () => {
    fc.assert(
      fc.property(seats, (account) => {
        expect(byTime(listFigures(account))).toEqual(byTime(modelFigures(account)));
      }),
      { numRuns: 400 },
    );
  });

  test("S10.3 never refund more than was charged, for any day and sequence of updates", () => {
    fc.assert(
      fc.property(seats, (account) => {
        for (const cost of pricesByDay({ ...account, isProrated: true })) expect(cost).toBeGreaterThanOrEqual(-1e-9);
      }),
      { numRuns: 200 },
    );
  });

  // A decrease takes effect the next day, with the quantity of that day: so the days around have no updates.
  test("S10.3 an increase and decrease within a day change only the price of that day", () => {
    fc.assert(
      fc.property(seats, fc.nat(DAYS - 1), fc.integer({ min: 1, max: 9 }), (account, day, more) => {
        const plain: Seats = {
          ...account,
          isProrated: true,
          refunds: true,
          updates: account.updates.filter(({ hour }) => ![day - 1, day, day + 1].includes(Math.floor(hour / 24))),
        };
        const quantity = plain.updates.findLast(({ hour }) => hour < day * 24)?.quantity ?? 0;
        const detour = [
          { hour: day * 24 + 9, quantity: quantity + more },
          { hour: day * 24 + 17, quantity },
        ];
        const there = { ...plain, updates: [...plain.updates, ...detour].toSorted((a, b) => a.hour - b.hour) };
        const others = (costs: readonly number[]): readonly number[] =>
          costs.filter((_, each) => each !== day).map((cost) => Math.round(cost * 1e6) / 1e6);
        expect(others(pricesByDay(there))).toEqual(others(pricesByDay(plain)));
      }),
      { numRuns: 200 },
    );
  });

  test("S10.3 if more seats never cost less, a late update costs the same as one in time", () => {
    const late = fc.oneof(fc.constant(0), fc.nat(200));
    fc.assert(
      fc.property(seats, updates(late), (account, arriving) => {
        const rising = { ...account, prices: account.prices.toSorted((a, b) => a - b) };
        const inTime = arriving.map(({ hour, quantity }) => ({ hour, quantity }));
        expect(netTotal({ ...rising, updates: arriving })).toBeCloseTo(netTotal({ ...rising, updates: inTime }), 6);
      }),
      { numRuns: 300 },
    );
  });
});
