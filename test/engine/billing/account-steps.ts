/** Random histories of a few accounts, to test lists over all of them. */
import fc from "fast-check";
import { expect } from "vitest";

import { createEngine, type Engine } from "../../../src/engine/engine.ts";
import type { Page, PageOptions } from "../../../src/engine/pages.ts";
import { RatebookError } from "../../../src/errors.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { MONTHLY, planOfMonths, slabs } from "../../book/builder.ts";
import { stepArbitrary } from "../../support/step-kinds.ts";
import { CALLS, countEvent, teamBook } from "../team-book.ts";

/** Milliseconds. */
export const DAY = 86_400_000;
const START = Date.parse("2024-01-10T00:00:00Z");
const WEEKLY = {
  ...MONTHLY,
  pricingCycleConfig: { interval: "WEEKLY", startOffset: { dayOffset: "3", monthOffset: "NIL" }, gracePeriod: 2 },
};
const addOnFee = (invoiceTiming: string, rate = 30) => ({
  id: "addon.fee",
  rateValues: [{ currency: "USD", rate }],
  enableProration: true,
  invoiceTiming,
});
const seats = {
  id: "addon.seats",
  enableProration: true,
  invoiceTiming: "IN_ADVANCE",
  ...slabs("TIERED", [0, 10]),
};
const grant = {
  id: "addon.grant",
  type: "RECURRING",
  rateDetails: {
    pricingModel: "TIERED",
    currencySlabRateDetails: [
      { currency: "USD", creditAmount: 25, slabDetails: [{ rate: 4, startAfter: 0, priceType: "FLAT", order: 1 }] },
    ],
  },
  grantDetails: { priority: 1, expiryType: "PRICING_CYCLE" },
};
const PLANS = [
  planOfMonths("pp.usage", { ...MONTHLY, usageRateCards: [CALLS] }, { name: "Usage" }),
  planOfMonths(
    "pp.ahead",
    { ...WEEKLY, usageRateCards: [CALLS], fixedFeeRateCards: [addOnFee("IN_ADVANCE")] },
    { name: "Ahead" },
  ),
  planOfMonths(
    "pp.seats",
    { ...MONTHLY, licenseRateCards: [seats], fixedFeeRateCards: [addOnFee("IN_ARREARS")] },
    { name: "Seats" },
  ),
  planOfMonths(
    "pp.grants",
    {
      ...MONTHLY,
      usageRateCards: [CALLS],
      creditGrantRateCards: [grant],
      fixedFeeRateCards: [addOnFee("IN_ADVANCE", 5)],
    },
    { name: "Grants" },
  ),
  planOfMonths(
    "pp.discount",
    { ...WEEKLY, usageRateCards: [CALLS], fixedFeeRateCards: [addOnFee("IN_ARREARS", -12)] },
    { name: "Less" },
  ),
];
const PLAN_IDS = ["pp.usage", "pp.ahead", "pp.seats", "pp.team", "pp.grants", "pp.discount"];
/** The ids of all accounts. */
export const ACCOUNTS = ["prod", "idle", "third"];

const account = fc.constantFrom(...ACCOUNTS);
const inDays = fc.integer({ min: -25, max: 20 });
/** The steps of a history. */
const step = stepArbitrary(
  {
    // A check reads pages, which bills the accounts on them.
    wait: { hours: fc.integer({ min: 1, max: 24 * 40 }), check: fc.boolean() },
    bill: {},
    associate: { account, plan: fc.constantFrom(...PLAN_IDS), inDays },
    dissociate: { account, inDays },
    seats: { account, quantity: fc.integer({ min: 0, max: 9 }), inDays },
    use: { account, count: fc.integer({ min: 0, max: 300 }) },
    group: { account },
    credit: { account, amount: fc.integer({ min: 1, max: 40 }), days: fc.integer({ min: 1, max: 60 }) },
    void: { account },
  },
  { wait: 3, associate: 3, use: 2 },
);
type Step = typeof step extends fc.Arbitrary<infer Drawn> ? Drawn : never;

/** An engine with three accounts, and its clock. */
interface World {
  readonly engine: Engine;
  now: number;
  events: number;
}

/** An engine with an empty history. */
async function openWorld(): Promise<World> {
  const world = { now: START, events: 0 } as { now: number; events: number; engine: Engine };
  world.engine = createEngine({ store: memoryStore(), clock: () => world.now });
  const book = teamBook([{ pricePlanId: "pp.seats", effectiveFrom: "2023-11-20" }], PLANS);
  const third = { id: "third", name: "Third", customerId: "other", invoiceCurrency: "USD" };
  await world.engine.load({
    ...book,
    customers: [...(book.customers ?? []), { id: "other", name: "Other" }],
    accounts: [...(book.accounts ?? []), third],
  });
  return world;
}

/** The day of an instant. */
export const toDayText = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** All items of a list, read page by page. */
export async function allPages<Item>(
  list: (page: PageOptions) => Promise<Page<Item>>,
  limit: number,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let after: PageOptions["after"];
  do {
    const page = await list({ limit, after });
    expect(page.items.length).toBeLessThanOrEqual(limit);
    items.push(...page.items);
    after = page.next;
  } while (after !== undefined);
  return items;
}

/** Does a step; a rejected step changes nothing. */
async function doAccountStep(world: World, step: Step): Promise<void> {
  const { engine } = world;
  try {
    switch (step.kind) {
      case "wait":
        world.now += step.hours * 3_600_000;
        break;
      case "bill":
        await engine.finalize();
        break;
      case "associate":
        await engine.associate(step.account, {
          pricePlanId: step.plan,
          effectiveFrom: toDayText(world.now + step.inDays * DAY),
        });
        break;
      case "dissociate":
        await engine.dissociate(step.account, { effectiveFrom: toDayText(world.now + step.inDays * DAY) });
        break;
      case "seats":
        await engine.licenses.update(step.account, {
          licenseId: "addon.seats",
          updateType: "ABSOLUTE",
          quantity: step.quantity,
          effectiveFrom: new Date(world.now + step.inDays * DAY).toISOString(),
        });
        break;
      case "use":
        world.events += 1;
        await engine.ingest([
          countEvent(`e${world.events}`, new Date(world.now).toISOString(), step.count, "call", step.account),
        ]);
        break;
      case "credit": {
        const [effectiveFrom, effectiveUntil] = [toDayText(world.now), toDayText(world.now + step.days * DAY)];
        const about = { accountId: step.account, purpose: "Given", creditAmount: step.amount, priority: 3 };
        await engine.credits.create([{ ...about, effectiveFrom, effectiveUntil }]);
        break;
      }
      case "void": {
        const { items } = await engine.credits.list({ filter: { accountId: step.account, status: "ACTIVE" } });
        if (items[0] !== undefined) await engine.credits.void(items[0].credit.id);
        break;
      }
      case "group":
        await engine.invoiceGroups.create({
          name: `g${world.events++}`,
          email: "a@example.com",
          dailyInvoiceConsolidation: false,
          gracePeriod: 5,
          accountIds: [step.account],
        });
        break;
    }
  } catch (error) {
    if (!(error instanceof RatebookError)) throw error;
  }
}

/**
 * Does random steps with the accounts, and runs a check after some of those that advance the clock.
 *
 * @param limit the page size
 */
export async function checkedAsTimePasses(
  numRuns: number,
  check: (world: World, limit: number) => Promise<void>,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 25 }),
      fc.integer({ min: 1, max: 4 }),
      async (steps, limit) => {
        const world = await openWorld();
        for (const each of steps) {
          await doAccountStep(world, each);
          if (each.kind === "wait" && each.check) await check(world, limit);
        }
      },
    ),
    { numRuns },
  );
}
