import fc from "fast-check";
import { expect, test } from "vitest";

import { DAY_MS, formatInstant, type Instant } from "../../src/calendar/instant.ts";
import { isCompleted } from "../../src/ledger/outcome.ts";
import { parseDecimal, sum, formatDecimal } from "../../src/numbers/decimal.ts";
import { runs } from "../support/runs.ts";
import { stepArbitrary, type StepOf } from "../support/step-kinds.ts";
import {
  accountOf,
  createCall,
  type EventLedger,
  granting,
  openEvents,
  requestOf,
  tokenBook,
  tokenOverage,
} from "./event-harness.ts";

const HOUR = 3_600_000;
const MARCH = Date.parse("2024-03-01T00:00:00Z");
const GRACE_DAYS = 3;

/** Tokens with two decimals; shrinks towards 0. */
const tokens = fc.nat(900).map((cents) => String(cents / 100));

const eventId = fc.nat(15).map((number) => `e${number}`);
// From a day in the future to some weeks in the past, so that some are late.
const sentEvent = fc.record({ id: eventId, tokens, hoursAgo: fc.integer({ min: -24, max: 900 }) });
const kinds = {
  ingest: { events: fc.array(sentEvent, { minLength: 1, maxLength: 4 }) },
  undo: { id: fc.option(eventId, { nil: undefined }) },
  grant: { granted: fc.nat(12), daysAgo: fc.nat(40), days: fc.integer({ min: 1, max: 60 }) },
  raise: { entry: fc.nat(9), by: fc.integer({ min: -5, max: 5 }), days: fc.integer({ min: -10, max: 20 }) },
  void: { entry: fc.nat(9) },
  wait: { hours: fc.integer({ min: 1, max: 700 }) },
};
type Step = StepOf<typeof kinds>;
const ingest = stepArbitrary({ ingest: kinds.ingest });
const step = stepArbitrary(kinds, { ingest: 6, undo: 3, grant: 2, wait: 2 });
const steps = fc.array(step, { maxLength: 10 });
/** Each run is a whole story, so fewer runs are enough. */
const RUNS = { numRuns: runs(50) };

/** A ledger whose plan grants ten tokens a month and allows some overage, and its clock. */
interface LedgerRun {
  readonly ledger: EventLedger;
  now: Instant;
}

/** Read once, because there are many runs. */
const BOOKS = {
  "at most six of overage": tokenBook({ ...granting(10), ...tokenOverage(6) }, GRACE_DAYS),
  "any overage": tokenBook({ ...granting(10), ...tokenOverage() }, GRACE_DAYS),
};

async function startLedgerRun(bookName: keyof typeof BOOKS = "at most six of overage"): Promise<LedgerRun> {
  const ledger = await openEvents(BOOKS[bookName]);
  return { ledger, now: MARCH + 20 * DAY_MS };
}

const requestEvent = (
  { id, tokens: quantity, hoursAgo }: { id: string; tokens: string; hoursAgo: number },
  now: Instant,
): object => requestOf(id, quantity, formatInstant(now - hoursAgo * HOUR));

/** Does a step; a rejected step changes nothing. */
async function doLedgerStep(run: LedgerRun, step: Step): Promise<void> {
  const { ledger, now } = run;
  const entries = await ledger.entries();
  switch (step.kind) {
    case "ingest":
      await ledger.ingest(
        step.events.map((event) => requestEvent(event, now)),
        now,
      );
      return;
    case "undo":
      await ledger.undo(step.id === undefined ? { account: "a" } : { account: "a", eventId: step.id }, now);
      return;
    case "grant": {
      const from = now - step.daysAgo * DAY_MS;
      await ledger.grant(step.granted, formatInstant(from), formatInstant(from + step.days * DAY_MS), now);
      return;
    }
    case "raise": {
      const entry = entries[step.entry % Math.max(entries.length, 1)];
      if (entry === undefined) return;
      const grantTotal = Number(formatDecimal(entry.granted)) + step.by;
      const until = formatInstant(entry.effectiveUntil + step.days * DAY_MS);
      await ledger.patch(entry.id, { granted: grantTotal, until }, now).catch(checkRefusal);
      return;
    }
    case "void": {
      const entry = entries[step.entry % Math.max(entries.length, 1)];
      if (entry !== undefined) await ledger.voidEntry(entry.id, now).catch(checkRefusal);
      return;
    }
    case "wait":
      run.now += step.hours * HOUR;
  }
}

function checkRefusal(error: unknown): void {
  expect(error).toMatchObject({ code: expect.stringMatching(/^ERR_(REFUSED|INPUT_INVALID)$/) });
}

/** Usage, total balance and overage, consumption: the values that S15.4 compares. */
async function sums({ ledger }: LedgerRun): Promise<object> {
  const { usage, balance, overage: over, consumed: consumption } = await ledger.totals();
  return { requests: usage["um.requests"] ?? "0", balance, overage: over, consumed: consumption };
}

/** The cycles of the plan are months; without a plan nothing closes (S6.5). */
function isOpen(timestamp: Instant, now: Instant): boolean {
  const month = new Date(timestamp);
  const end = Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 1);
  return timestamp < MARCH || now < end + GRACE_DAYS * DAY_MS;
}

async function checkBooks({ ledger, now }: LedgerRun): Promise<void> {
  const { usage, granted, balance, overage: over, consumed } = await ledger.totals();
  const entries = await ledger.entries();
  const activeEvents = (await ledger.events()).filter(({ status, reverted }) => isCompleted(status) && !reverted);
  expect(formatDecimal(sum([parseDecimal(granted), parseDecimal(balance).negated(), parseDecimal(over)]))).toBe(
    consumed,
  );
  expect(formatDecimal(sum(activeEvents.flatMap(({ feature }) => feature?.overage ?? [])))).toBe(over);
  expect(usage["um.requests"] ?? "0").toBe(String(activeEvents.length));
  for (const entry of entries) {
    expect(entry.balance.isNegative()).toBe(false);
    expect(entry.balance.lte(entry.granted)).toBe(true);
    const spentTotal = activeEvents
      .flatMap(({ feature }) => feature?.allocations ?? [])
      .filter(({ entryId }) => entryId === entry.id);
    expect(formatDecimal(sum([entry.balance, ...spentTotal.map(({ quantity }) => quantity)]))).toBe(
      formatDecimal(entry.granted),
    );
  }
  for (const { feature, timestamp } of activeEvents) {
    if (feature === undefined || feature.overage.isZero() || !isOpen(timestamp, now)) continue;
    const covering = entries.filter(
      ({ voided, effectiveFrom, effectiveUntil }) =>
        !voided && effectiveFrom <= timestamp && timestamp < effectiveUntil,
    );
    expect(covering.map((entry) => formatDecimal(entry.balance))).toEqual(covering.map(() => "0"));
  }
}

test("S11.6 granted − balance + overage equals the consumption after any steps, and S11.5 no open overage exists beside a balance", async () => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.constantFrom("any overage" as const, "at most six of overage" as const),
      async (step, bookName) => {
        const run = await startLedgerRun(bookName);
        for (const each of step) {
          await doLedgerStep(run, each);
          await checkBooks(run);
        }
      },
    ),
    RUNS,
  );
});

test("S15.4 an ingest followed by the undo of its accepted events leaves usage, balance and overage unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(steps, ingest, async (step, last) => {
      const run = await startLedgerRun();
      for (const each of step) await doLedgerStep(run, each);
      // Create due grants before both.
      await run.ledger.ingest([requestEvent({ id: "last", tokens: "0", hoursAgo: -24 }, run.now)], run.now);
      await run.ledger.undo({ account: "a", eventId: "last" }, run.now);
      const before = await sums(run);
      const results = await run.ledger.ingest(
        last.events.map((event) => requestEvent(event, run.now)),
        run.now,
      );
      const acceptedResults = results.filter(({ status }) => isCompleted(status));
      for (const { referenceId } of acceptedResults.toReversed()) {
        const [undone] = await run.ledger.undo({ account: "a", referenceId: referenceId ?? "" }, run.now);
        expect(undone?.status).toBe("REVERTED");
      }
      expect(await sums(run)).toEqual(before);
    }),
    RUNS,
  );
});

test("S11.5 ingesting A and B and undoing A leaves the total balance and overage of ingesting B", async () => {
  const one = fc.record({ tokens, hoursAgo: fc.integer({ min: -24, max: 500 }) });
  await fc.assert(
    fc.asyncProperty(steps, one, one, async (step, first, second) => {
      const both = await startLedgerRun();
      const alone = await startLedgerRun();
      for (const each of step) {
        await doLedgerStep(both, each);
        await doLedgerStep(alone, each);
      }
      const { now } = both;
      // The grants up to a day ahead are created on both sides.
      for (const { ledger } of [both, alone])
        await ledger.ingest([requestEvent({ id: "0", tokens: "0", hoursAgo: -24 }, now)], now);
      const [a, b] = [requestEvent({ id: "A", ...first }, now), requestEvent({ id: "B", ...second }, now)];
      const results = await both.ledger.ingest([a, b], now);
      fc.pre(results.every(({ status }) => isCompleted(status)));
      await both.ledger.undo({ account: "a", eventId: "A" }, now);
      await alone.ledger.ingest([b], now);
      expect(await sums(both)).toEqual(await sums(alone));
    }),
    RUNS,
  );
});

const TWO = tokenBook({}, 0, { accounts: [accountOf("a"), accountOf("b", {})] });

test("S14.4 accepted events with distinct ids give the same usage in any order, batches and with any repeats", async () => {
  const call = fc.record({
    tokens: fc.integer({ min: -500, max: 500 }),
    hour: fc.nat(300),
    account: fc.constantFrom("a", "b"),
    lab: fc.boolean(),
  });
  const arrivals = fc.array(call, { minLength: 1, maxLength: 8 }).chain((calls) => {
    const events = calls.map(({ tokens: cents, hour, account, lab }, index) =>
      createCall({
        id: `c${index}`,
        accountId: account,
        timestamp: formatInstant(MARCH + hour * HOUR),
        attributes: { tokens: cents / 100 },
        dimensions: { region: lab ? "lab" : "eu" },
      }),
    );
    const order = fc.shuffledSubarray([...events, ...events], { minLength: 2 * events.length });
    return fc.record({ events: fc.constant(events), order, size: fc.integer({ min: 1, max: 5 }) });
  });
  await fc.assert(
    fc.asyncProperty(arrivals, async ({ events, order, size }) => {
      const now = MARCH + 20 * DAY_MS;
      const [plain, shuffled] = [await openEvents(TWO), await openEvents(TWO)];
      await plain.ingest(events, now);
      for (let index = 0; index < order.length; index += size)
        await shuffled.ingest(order.slice(index, index + size), now);
      for (const id of ["a", "b"]) expect(await shuffled.totals(id)).toEqual(await plain.totals(id));
    }),
  );
});
