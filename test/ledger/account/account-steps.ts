/** Random histories of one account, decided without a store. */
import fc from "fast-check";

import { DAY_MS, formatInstant, type Instant } from "../../../src/calendar/instant.ts";
import { RatebookError } from "../../../src/errors.ts";
import { catchUp } from "../../../src/ledger/account/catch-up.ts";
import { associate, dissociate } from "../../../src/ledger/commands/associate.ts";
import { createCredits, voidCredit } from "../../../src/ledger/commands/credits.ts";
import { updateLicense } from "../../../src/ledger/commands/licenses.ts";
import { decideIngest } from "../../../src/ledger/events/ingest.ts";
import type { AccountParts } from "../../../src/ledger/working-records.ts";
import { add, type Decimal, parseDecimal, ZERO } from "../../../src/numbers/decimal.ts";
import { runToCompletion } from "../../../src/numbers/steps.ts";
import { calls, feeCards, grantCards, overageCards, planOfMonths, seatCards, tokenCards } from "../../book/builder.ts";
import { bookWithPlans } from "../../book/catalog-book.ts";
import { stepArbitrary } from "../../support/step-kinds.ts";
import type { Ledger } from "../account-harness.ts";
import { readBatch } from "../read-batch.ts";

const inAdvance = { invoiceTiming: "IN_ADVANCE", enableProration: true };
/** Plans with monthly and weekly cycles, and with charges and grants for several months. */
export const book = bookWithPlans([
  planOfMonths("p", {
    ...calls("0.37"),
    ...feeCards(31, inAdvance),
    ...seatCards(10, { ...inAdvance, proratedRefundMode: "CREDITS" }),
    ...tokenCards(100),
    ...overageCards(2),
    ...grantCards(7, { expiryType: "PRICING_CYCLE" }),
    minimumCommitment: { rateValues: [{ currency: "USD", rate: 90 }] },
    pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" }, gracePeriod: 3 },
  }),
  planOfMonths("r", {
    ...calls("0.2"),
    ...feeCards(53, { ...inAdvance, recurrenceConfig: { interval: 3, offset: 1 } }),
    ...tokenCards(40, "P20D", { recurrenceConfig: { interval: 2 } }),
    ...grantCards(9, { expiryType: "NO_EXPIRY" }, { recurrenceConfig: { interval: 2 } }),
    pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "20" }, gracePeriod: 10 },
  }),
  planOfMonths("q", {
    ...calls("0.5"),
    ...feeCards(-12),
    ...seatCards(3, { invoiceTiming: "IN_ADVANCE" }),
    ...tokenCards(5, "P10D"),
    ...overageCards(3, 40),
    ...grantCards(4, { expiryType: "NO_EXPIRY" }),
    pricingCycleConfig: { interval: "WEEKLY", startOffset: { dayOffset: "3" } },
  }),
]);

/** Hours. */
export const after = fc.integer({ min: 0, max: 20 * 24 });
const days = fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined });
const inDays = fc.integer({ min: 0, max: 15 });
const step = stepArbitrary(
  {
    associate: { after, planId: fc.constantFrom("p", "q", "r"), inDays, days },
    dissociate: { after, inDays, days },
    license: { after, quantity: fc.integer({ min: 0, max: 9 }), inHours: fc.integer({ min: -72, max: 400 }) },
    spend: { after, quantity: fc.integer({ min: 1, max: 90 }), hoursAgo: fc.integer({ min: -20, max: 100 }) },
    use: { after, quantity: fc.integer({ min: 1, max: 200 }), hoursAgo: fc.integer({ min: 0, max: 100 }) },
    credit: { after, amount: fc.integer({ min: 1, max: 60 }), days: fc.integer({ min: 1, max: 60 }) },
    void: { after },
    wait: { after },
  },
  { associate: 3, license: 3, spend: 4, use: 4, credit: 2 },
);
/** A step, this many hours after the previous one. */
export type Step = typeof step extends fc.Arbitrary<infer Drawn> ? Drawn : never;
/** The steps of an account. */
export const steps = fc.array(step, { minLength: 1, maxLength: 12 });

/** An hour. */
export const HOUR_MS = 3_600_000;
const startOfUtcDay = (instant: Instant): Instant => Math.floor(instant / DAY_MS) * DAY_MS;

/** Ingests an event that consumes tokens. */
function spend(ledger: Ledger, quantity: number, timestamp: Instant, now: Instant): void {
  const event = {
    schemaName: "token",
    id: ledger.ids("event"),
    accountId: "a",
    timestamp: formatInstant(timestamp),
    attributes: [{ name: "n", value: quantity }],
    dimensions: {},
  };
  const read = { accounts: [ledger.readParts()], names: new Map([["a", "a"]]), acceptedIds: [], holders: [] };
  ledger.apply(runToCompletion(decideIngest(ledger.catalog, read, readBatch([event]), now, ledger.ids)).changes);
}

/** Does one step; a rejection is an answer like any other. */
export function doAccountStep(ledger: Ledger, one: Step, now: Instant): void {
  const { catalog, ids } = ledger;
  const range = (inDays: number, length: number | undefined): { from: Instant; until?: Instant } => {
    const from = startOfUtcDay(now) + inDays * DAY_MS;
    return { from, ...(length === undefined ? {} : { until: from + length * DAY_MS }) };
  };
  try {
    ledger.run((work) => {
      switch (one.kind) {
        case "associate":
          return associate(catalog, work, { planId: one.planId, ...range(one.inDays, one.days) }, now, ids);
        case "dissociate":
          return dissociate(catalog, work, range(one.inDays, one.days), now, ids);
        case "license":
          return updateLicense(
            catalog,
            work,
            {
              licenseId: "addon.seats",
              updateType: "ABSOLUTE",
              quantity: parseDecimal(one.quantity),
              effectiveFrom: now + one.inHours * HOUR_MS,
            },
            now,
            ids,
          );
        case "credit": {
          const [effectiveFrom, effectiveUntil] = [startOfUtcDay(now), startOfUtcDay(now) + one.days * DAY_MS];
          const credit = { accountId: "a", purpose: "gift", creditAmount: parseDecimal(one.amount), priority: 1 };
          const workspace = { find: () => work };
          return createCredits(catalog, workspace, [{ ...credit, effectiveFrom, effectiveUntil }], now, ids);
        }
        case "void":
          catchUp(catalog, work, now);
          return voidCredit(catalog, work, work.credits().at(-1)?.id ?? "none", now);
        case "use":
        case "spend":
        case "wait":
          return undefined;
      }
    });
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
  }
  if (one.kind === "spend") spend(ledger, one.quantity, now - one.hoursAgo * HOUR_MS, now);
  if (one.kind === "use") ledger.use(one.quantity, now - one.hoursAgo * HOUR_MS, now);
}

/** Everything stored for an account, in a fixed order. */
export function toSortedState({ record, entries, credits, invoices, usage, events, ...parts }: AccountParts): unknown {
  const byId = <Item extends { readonly id: string }>(items: readonly Item[]): readonly Item[] =>
    items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    record,
    entries: byId(entries),
    credits: byId(credits),
    invoices: byId(invoices),
    usage,
    events,
    overage: overageOf(parts),
  };
}

/** Overage by day, without overage that was moved in between. */
function overageOf({ overage: cells }: Pick<AccountParts, "overage">): unknown {
  const days = new Map<number, Decimal>();
  for (const { day, quantity } of cells) days.set(day, add(days.get(day) ?? ZERO, quantity));
  return [...days].filter(([, quantity]) => !quantity.isZero()).toSorted(([a], [b]) => a - b);
}
