/** Random changes of a plan by command, compared with models that count by the rulebook (S9.1, S9.5, S10.3, S13.3). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  DAY_MS,
  formatDate,
  formatInstant,
  type Instant,
  parseDate,
  parseInstant,
} from "../../../src/calendar/instant.ts";
import type { Invoice } from "../../../src/index.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { runs } from "../../support/runs.ts";
import { loadedAt } from "../support.ts";

const account = { id: "a", name: "Acme a" };
const setSeats = (quantity: number) => ({ licenseId: "seats", updateType: "ABSOLUTE", quantity }) as const;
const TIMINGS = ["IN_ADVANCE", "IN_ARREARS"] as const;
const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);

// Seats at 10.00 in advance without proration, and at least 100.00 a month. The plan ends in the morning of the 10th.
// A cut cycle is open until then, also without grace: its true-up counts what was invoiced.
test.each([
  // 100 × 9/28 = 32.14: 50 exceeds it, and 20 is 12.14 short.
  ["2023-02-09T12:00:00Z", 5, ["AD_HOC: 50, 0"]],
  ["2023-02-09T12:00:00Z", 2, ["AD_HOC: 20, 0", "STANDARD: 0, 12.14"]],
  ["2023-02-10T05:00:00Z", 5, ["AD_HOC: 50, 0"]],
  ["2023-02-10T05:00:00Z", 2, ["AD_HOC: 20, 0", "STANDARD: 0, 12.14"]],
] as const)(
  "S13.3 seats from %s on, charged on the day on which the plan ended, count toward its commitment: %i",
  async (effectiveFrom, seats, expected) => {
    const licenses = [{ id: "seats", rate: 10, timing: "IN_ADVANCE" }] as const;
    const { engine, at } = await loadedAt("2023-01-01", {
      pricePlans: [
        { id: "committed", cycle: "MONTHLY", licenses, commitment: 100 },
        { id: "free", cycle: "MONTHLY" },
      ],
      accounts: [{ ...account, plan: "committed", from: "2023-02-01" }],
    });
    await at("2023-02-10T05:00:00Z").licenses.update("a", { ...setSeats(seats), effectiveFrom });
    await at("2023-02-10T09:00:00Z").associate("a", { pricePlanId: "free", effectiveFrom: "2023-02-10" });
    const { items } = await engine.invoices.list();
    const amounts = items.map(({ invoice }) => {
      const [advance, trueUp] = (["ADVANCED_LICENSE_RATE_CARD_AMOUNT", "TRUE_UP_AMOUNT"] as const).map(
        (type) => linesOfType(invoice, type)[0]?.value.toFixed() ?? "0",
      );
      return `${invoice.invoiceType}: ${advance}, ${trueUp}`;
    });
    expect(amounts.toSorted()).toEqual(expected);
  },
);

describe("unprorated seats", () => {
  /** From a day of February on: how a version charges seats, and the number of seats from noon of that day on. */
  interface Part {
    readonly day: number;
    readonly timing: (typeof TIMINGS)[number];
    readonly seats: number;
  }
  /** Up to 10 seats at 10.00 each; more seats at 4.00 each, for all of them. */
  const priceOf = (seats: number): number => seats * (seats > 10 ? 4 : 10);

  async function chargeFebruary(parts: readonly Part[]): Promise<number> {
    const volumeTiers = [{ upTo: 10, rate: 10 }, { rate: 4 }];
    const { engine, at: goTo } = await loadedAt("2023-02-01", {
      pricePlans: TIMINGS.map((timing, at) => ({
        id: "p",
        version: at + 1,
        cycle: "MONTHLY",
        licenses: [{ id: "seats", timing, volumeTiers }],
      })),
      accounts: [account],
    });
    for (const { day, timing, seats } of parts) {
      const date = `2023-02-${String(day).padStart(2, "0")}`;
      await goTo(date).associate("a", { pricePlanId: "p", version: TIMINGS.indexOf(timing) + 1, effectiveFrom: date });
      await goTo(`${date}T12:00:00Z`).licenses.update("a", setSeats(seats));
    }
    const { items } = await engine.invoices.list();
    return sumOf(items.map(({ invoice }) => invoice.revenueInfo.value.toNumber()));
  }

  test("S9.1 S10.3 in the parts of a cycle cost the highest price of a charged quantity", async () => {
    const part = fc.record({
      day: fc.integer({ min: 1, max: 28 }),
      timing: fc.constantFrom(...TIMINGS),
      // Around the quantity above which more seats cost less.
      seats: fc.integer({ min: 8, max: 18 }),
    });
    const parts = fc.uniqueArray(part, { minLength: 3, maxLength: 5, selector: ({ day }) => day });
    // 10 seats cost 100 in advance, and neither 15 (60) nor 20 (80) costs more.
    const example: Part[] = [
      { day: 1, timing: "IN_ADVANCE", seats: 10 },
      { day: 10, timing: "IN_ARREARS", seats: 15 },
      { day: 20, timing: "IN_ADVANCE", seats: 20 },
    ];
    await fc.assert(
      fc.asyncProperty(parts, async (drawn) => {
        const sorted = drawn.toSorted((a, b) => a.day - b.day);
        let [seatCount, total, level] = [0, 0, 0];
        for (const { timing, seats } of sorted) {
          // In arrears the maximum of the part, in advance each quantity.
          for (const quantity of timing === "IN_ADVANCE" ? [seatCount, seats] : [Math.max(seatCount, seats)]) {
            if (quantity > total) [total, level] = [quantity, Math.max(level, priceOf(quantity))];
          }
          seatCount = seats;
        }
        expect(await chargeFebruary(sorted)).toBe(level);
      }),
      { numRuns: runs(150), examples: [[example]] },
    );
  });
});

const START = parseDate("2024-01-01");
/** The days tested: to the end of April. */
const DAYS = 121;
const HOUR_MS = DAY_MS / 24;
/** The day on which the cycles of each version begin: versions 1 and 3 have the same. */
const CYCLE_DAY = [1, 15, 1] as const;
const RATES = [50, 10, 35] as const;

/** A version from a day on, decided at an instant of that day or before it. */
interface Change {
  readonly day: number;
  readonly hour: number;
  readonly ahead: number;
  readonly version: number;
}

const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.record({
    // Usually the days on which cycles begin.
    day: fc.oneof(fc.constantFrom(31, 45, 60, 74), fc.integer({ min: 1, max: 80 })),
    hour: fc.integer({ min: 1, max: 22 }),
    ahead: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 12 })),
    version: fc.integer({ min: 1, max: 3 }),
  }),
  { minLength: 1, maxLength: 4 },
);

/** The first day of the month that begins on a day of the month, at or before a day; and of the next one. */
function findCycle(version: number, day: number): readonly [number, number] {
  const cycleDay = CYCLE_DAY[version - 1] ?? 1;
  const begins = (each: number): boolean => new Date(START + each * DAY_MS).getUTCDate() === cycleDay;
  let [from, until] = [day, day + 1];
  while (!begins(from)) from--;
  while (!begins(until)) until++;
  return [from, until];
}

/**
 * `date version rate` of each unprorated fee charged in advance: at each midnight, and after each decision of the day.
 */
function modelCharges(history: readonly Change[]): readonly string[] {
  const versionOn = Array.from({ length: DAYS + 40 }, () => ({ version: 1, decision: 0 }));
  const chargedKeys = new Set<string>();
  const charges: string[] = [];
  const chargeOn = (day: number): void => {
    const own = versionOn[day];
    if (own === undefined) return;
    const { version, decision } = own;
    const [from, until] = findCycle(version, day);
    const before = versionOn[day - 1];
    const isPieceStart = from === day || before === undefined || before.decision !== decision;
    if (!isPieceStart) return;
    // The run: days of versions with the same cycles.
    let first = day;
    while (first > 0 && CYCLE_DAY[(versionOn[first - 1]?.version ?? 0) - 1] === CYCLE_DAY[version - 1]) first--;
    const key = `${CYCLE_DAY[version - 1]} ${Math.max(first, from)} ${until}`;
    if (chargedKeys.has(key)) return;
    chargedKeys.add(key);
    charges.push(`${formatDate(START + day * DAY_MS)} ${version} ${RATES[version - 1]}`);
  };
  for (let day = 0; day < DAYS; day++) {
    chargeOn(day);
    const today = history.flatMap((each, index) => (each.day === day ? [{ ...each, index }] : []));
    for (const { ahead, version, index } of today) {
      for (let each = day + ahead; each < versionOn.length; each++) versionOn[each] = { version, decision: index + 1 };
      if (ahead === 0) chargeOn(day);
    }
  }
  return charges.toSorted();
}

/** The invoices of an account whose plan changes, with a fee charged in advance and at least 100.00 a month. */
async function invoicesOf(history: readonly Change[], prorate: boolean): Promise<readonly Invoice[]> {
  const { engine, at } = await loadedAt("2024-01-01", {
    pricePlans: RATES.map((rate, index) => ({
      id: "p",
      version: index + 1,
      cycle: { interval: "MONTHLY", day: CYCLE_DAY[index] ?? 1 },
      fees: [{ id: "fee", rate, timing: "IN_ADVANCE", prorate }],
      commitment: 100,
    })),
    accounts: [account],
  });
  await engine.associate("a", { pricePlanId: "p", version: 1, effectiveFrom: "2024-01-01" });
  let now: Instant = START;
  for (const { day, hour, ahead, version } of history) {
    now = Math.max(now + 1, START + day * DAY_MS + hour * HOUR_MS);
    const effectiveFrom = formatDate(START + (day + ahead) * DAY_MS);
    await at(formatInstant(now)).associate("a", { pricePlanId: "p", version, effectiveFrom });
  }
  at(formatInstant(START + DAYS * DAY_MS - 1));
  const { items } = await engine.invoices.list({ page: { limit: 100 } });
  return items.map(({ invoice }) => invoice);
}

const histories = changes.map((each) => each.toSorted((a, b) => a.day - b.day || a.hour - b.hour));

test("S9.1 an unprorated fee is charged once for each period, whatever version changes happen on its first day", async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const fees = (await invoicesOf(history, false)).flatMap((invoice) =>
        linesOfType(invoice, "ADVANCED_FIXED_FEE").map(
          ({ value }) => `${invoice.startDate.slice(0, 10)} ${invoice.pricePlanVersion} ${value.toFixed()}`,
        ),
      );
      expect(fees.toSorted()).toEqual(modelCharges(history));
    }),
    { numRuns: runs(100) },
  );
});

test("S13.3 a customer whose prorated fees are below the commitment pays exactly the commitment of each part", async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const invoices = await invoicesOf(history, true);
      for (const invoice of invoices.filter(({ invoiceType }) => invoiceType === "STANDARD")) {
        const { startDate, endDate } = invoice;
        const [from = 0, until = 0] = [startDate, endDate].map((date) => (parseInstant(date) - START) / DAY_MS);
        const [first, end] = findCycle(invoice.pricePlanVersion, from);
        const [trueUp] = linesOfType(invoice, "TRUE_UP_AMOUNT");
        const how = trueUp?.explanation;
        const refunds = how?.of === "TRUE_UP" ? (how.refunds ?? []).map(({ value }) => value.toNumber()) : [];
        const charges = invoices
          .filter((other) => other.startDate >= startDate && other.startDate < endDate)
          .flatMap((other) => linesOfType(other, "SUB_TOTAL_AMOUNT").map(({ value }) => value.toNumber()));
        const total = sumOf(charges) - sumOf(refunds) + (trueUp?.value.toNumber() ?? 0);
        // Less than half a cent of rounding on either side.
        const difference = Math.abs(total - (100 * (until - from)) / (end - first));
        expect([startDate, difference < 0.01]).toEqual([startDate, true]);
      }
    }),
    { numRuns: runs(60) },
  );
});
