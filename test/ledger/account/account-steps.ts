/** Random histories of one account of an engine. */
import fc from "fast-check";

import { DAY_MS, formatDate, formatInstant, type Instant } from "../../../src/calendar/instant.ts";
import { RatebookError } from "../../../src/errors.ts";
import { add, type Decimal, ZERO } from "../../../src/numbers/decimal.ts";
import type { Store } from "../../../src/store/store.ts";
import { calls, feeCards, grantCards, overageCards, planOfMonths, seatCards, tokenCards } from "../../book/builder.ts";
import { stepArbitrary } from "../../support/step-kinds.ts";
import { type Ledger, openLedger } from "../plan-ledger.ts";

const inAdvance = { invoiceTiming: "IN_ADVANCE", enableProration: true };
/** Plans with monthly and weekly cycles, and with charges and grants for several months. */
export const PLANS = [
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
];

/** An engine with these plans and the account `a`. */
export const openAccount = (store?: Store): Promise<Ledger> => openLedger(PLANS, {}, store);
/** When its clock starts. */
export const START = Date.parse("2024-01-01T00:00:00Z");

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

/** Does one step; a rejection is an answer like any other. */
export async function doAccountStep(ledger: Ledger, one: Step, now: Instant): Promise<void> {
  try {
    await takeStep(ledger, one, now);
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
  }
}

async function takeStep(ledger: Ledger, one: Step, now: Instant): Promise<unknown> {
  const { licenses, credits, ...engine } = ledger.at(formatInstant(now));
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const range = (inDays: number, days: number | undefined): { effectiveFrom: string; effectiveUntil?: string } => ({
    effectiveFrom: formatDate(today + inDays * DAY_MS),
    ...(days !== undefined && { effectiveUntil: formatDate(today + (inDays + days) * DAY_MS) }),
  });
  switch (one.kind) {
    case "associate":
      return engine.associate("a", { pricePlanId: one.planId, ...range(one.inDays, one.days) });
    case "dissociate":
      return engine.dissociate("a", range(one.inDays, one.days));
    case "license": {
      const effectiveFrom = formatInstant(now + one.inHours * HOUR_MS);
      const update = { licenseId: "addon.seats", updateType: "ABSOLUTE", quantity: one.quantity } as const;
      return licenses.update("a", { ...update, effectiveFrom });
    }
    case "credit": {
      const credit = { accountId: "a", purpose: "gift", creditAmount: one.amount, priority: 1 };
      return credits.create([{ ...credit, ...range(0, one.days) }]);
    }
    case "void": {
      const [latest] = (await credits.list({ filter: { accountId: "a" } })).items;
      return credits.void(latest?.credit.id ?? "none");
    }
    case "use":
      return ledger.use(one.quantity, formatInstant(now - one.hoursAgo * HOUR_MS), now);
    case "spend":
      return ledger.use(one.quantity, formatInstant(now - one.hoursAgo * HOUR_MS), now, "a", "token");
    case "wait":
      return undefined;
  }
}

/** Everything stored for the account, in a fixed order; overage by day, without overage that was moved in between. */
export async function toSortedState(ledger: Ledger): Promise<unknown> {
  const { read } = ledger.store;
  const { record, entries, credits, invoices } = await ledger.stored();
  const byId = <Item extends { readonly id: string }>(items: readonly Item[]): readonly Item[] =>
    items.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const overage = new Map<number, Decimal>();
  for (const { day, quantity } of await read.overage(["a"], -1_000_000, 3_000_000))
    overage.set(day, add(overage.get(day) ?? ZERO, quantity));
  return {
    record,
    entries: byId(entries),
    credits: byId(credits),
    invoices: byId(invoices),
    usage: await read.usage(["a"], -1_000_000, 3_000_000),
    events: await read.eventsToUndo("a", {}),
    overage: [...overage].filter(([, quantity]) => !quantity.isZero()).toSorted(([a], [b]) => a - b),
  };
}
