/**
 * Random version changes of a plan by command, compared with a model that counts days by the rulebook (S9.1, S9.5,
 * S13.3).
 */
import fc from "fast-check";
import { expect, test } from "vitest";

import { DAY_MS, formatDate, type Instant, parseDate, parseInstant } from "../../../src/calendar/instant.ts";
import { createEngine } from "../../../src/index.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { feeCards, planOfMonths } from "../../book/builder.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { runs } from "../../support/runs.ts";

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

interface PlayResult {
  readonly fees: readonly string[];
  /** The true-up, and the total paid for each cycle, by its first day. */
  readonly netPaid: readonly string[];
}

async function playHistory(history: readonly Change[], enableProration: boolean): Promise<PlayResult> {
  let now: Instant = START;
  const engine = createEngine({ store: memoryStore(), clock: () => now });
  await engine.load({
    addOns: [{ id: "addon.fee", name: "Fee", type: "FIXED_FEE" }],
    pricePlans: RATES.map((rate, index) =>
      planOfMonths(
        "p",
        {
          ...feeCards(rate, { invoiceTiming: "IN_ADVANCE", enableProration }),
          pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: String(CYCLE_DAY[index]) } },
          minimumCommitment: { rateValues: [{ currency: "USD", rate: 100 }] },
        },
        { version: index + 1 },
      ),
    ),
    customers: [{ id: "acme", name: "Acme" }],
    accounts: [{ id: "a", name: "Acme a", customerId: "acme" }],
  });
  await engine.associate("a", { pricePlanId: "p", version: 1, effectiveFrom: "2024-01-01" });
  for (const { day, hour, ahead, version } of history) {
    now = Math.max(now + 1, START + day * DAY_MS + hour * HOUR_MS);
    const effectiveFrom = formatDate(START + (day + ahead) * DAY_MS);
    await engine.associate("a", { pricePlanId: "p", version, effectiveFrom });
  }
  now = START + DAYS * DAY_MS - 1;
  const { items } = await engine.invoices.list({ filter: { accountId: "a" }, page: { limit: 100 } });
  const invoices = items.map(({ invoice }) => invoice);
  const fees = invoices.flatMap((invoice) =>
    linesOfType(invoice, "ADVANCED_FIXED_FEE").map(
      ({ value }) => `${invoice.startDate.slice(0, 10)} ${invoice.pricePlanVersion} ${value.toFixed()}`,
    ),
  );
  const netPaid = invoices
    .filter(({ invoiceType }) => invoiceType === "STANDARD")
    .map(({ startDate, endDate, pricePlanVersion, ...standard }) => {
      const [trueUp] = linesOfType({ startDate, endDate, pricePlanVersion, ...standard }, "TRUE_UP_AMOUNT");
      const [from, until] = [startDate, endDate].map((date) => (parseInstant(date) - START) / DAY_MS);
      const [first, end] = findCycle(pricePlanVersion, from ?? 0);
      const part = (100 * ((until ?? 0) - (from ?? 0))) / (end - first);
      const how = trueUp?.explanation;
      const refunds =
        how?.of === "TRUE_UP" ? (how.refunds ?? []).reduce((sum, each) => sum + each.value.toNumber(), 0) : 0;
      const charges = invoices
        .filter((other) => other.startDate >= startDate && other.startDate < endDate)
        .flatMap((other) => linesOfType(other, "SUB_TOTAL_AMOUNT"))
        .reduce((sum, { value }) => sum + value.toNumber(), 0);
      const total = charges - refunds + (trueUp?.value.toNumber() ?? 0);
      return Math.abs(total - part) < 0.01 ? "exact" : `${startDate} ${total} of ${part}`;
    });
  return { fees: fees.toSorted(), netPaid };
}

const sortChanges = (changeList: readonly Change[]): readonly Change[] =>
  changeList.toSorted((a, b) => a.day - b.day || a.hour - b.hour);

test("S9.1 an unprorated fee is charged once for each period, whatever version changes happen on its first day", async () => {
  await fc.assert(
    fc.asyncProperty(changes, async (changeList) => {
      const history = sortChanges(changeList);
      expect((await playHistory(history, false)).fees).toEqual(modelCharges(history));
    }),
    { numRuns: runs(100) },
  );
});

test("S13.3 a customer whose prorated fees are below the commitment pays exactly the commitment of each part", async () => {
  await fc.assert(
    fc.asyncProperty(changes, async (changeList) => {
      const { netPaid } = await playHistory(sortChanges(changeList), true);
      expect(new Set(netPaid)).toEqual(new Set(["exact"]));
    }),
    { numRuns: runs(60) },
  );
});
