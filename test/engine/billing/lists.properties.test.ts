/**
 * Pages of invoices and credits of random histories of accounts, compared with all of them computed individually and
 * sorted as a whole (S12.4, S13.4).
 */
import fc from "fast-check";
import { expect, test } from "vitest";

import type { CreditFilter } from "../../../src/engine/billing/credits.ts";
import type { InvoiceFilter, InvoiceSnapshot } from "../../../src/engine/billing/invoices.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import type { PageOptions } from "../../../src/engine/pages.ts";
import { RatebookError } from "../../../src/errors.ts";
import type { CreditSnapshot } from "../../../src/ledger/commands/credits.ts";
import { runs } from "../../support/runs.ts";
import { stepArbitrary } from "../../support/step-kinds.ts";
import { allPages, callEvent, loadedAt } from "../support.ts";

const DAY = 86_400_000;
const START = "2024-01-10";
const WEEKLY = { interval: "WEEKLY", day: 3, gracePeriod: 2 } as const;
const usage = [{ meter: "calls", tiers: [{ upTo: 100, rate: 2 }, { rate: 1 }] }];
const fee = { id: "fee", rate: 30, prorate: true };
const seats = { id: "seats", rate: 10, prorate: true };
const inAdvance = { timing: "IN_ADVANCE" } as const;
const ACCOUNTS = ["prod", "idle", "third"];
const BOOK = {
  eventSchemas: [{ name: "call", attributes: ["count"], dimensions: ["region"] }],
  usageMeters: [{ id: "calls", schema: "call", sum: "count" }],
  pricePlans: [
    { id: "usage", cycle: "MONTHLY", usage },
    { id: "ahead", cycle: WEEKLY, usage, fees: [{ ...fee, ...inAdvance }] },
    { id: "seats", cycle: "MONTHLY", licenses: [{ ...seats, ...inAdvance }], fees: [fee] },
    { id: "team", cycle: "MONTHLY", usage, fees: [fee], licenses: [{ ...seats, max: 20 }] },
    {
      id: "grants",
      cycle: "MONTHLY",
      usage,
      credits: [{ id: "grant", amount: 25, flat: 4, for: "CYCLE", priority: 1 }],
      fees: [{ ...fee, rate: 5, ...inAdvance }],
    },
    { id: "discount", cycle: WEEKLY, usage, fees: [{ ...fee, rate: -12 }] },
  ],
  customers: [
    { id: "acme", name: "Acme" },
    { id: "other", name: "Other" },
  ],
  accounts: ACCOUNTS.map((id) => ({
    id,
    customerId: id === "third" ? "other" : "acme",
    ...(id === "prod" && { plan: "seats", from: "2023-11-20" }),
  })),
} as const;

const account = fc.constantFrom(...ACCOUNTS);
const inDays = fc.integer({ min: -25, max: 20 });
/** The steps of a history. */
const step = stepArbitrary(
  {
    // A check reads pages, which bills the accounts on them.
    wait: { hours: fc.integer({ min: 1, max: 24 * 40 }), check: fc.boolean() },
    bill: {},
    associate: { account, plan: fc.constantFrom(...BOOK.pricePlans.map(({ id }) => id)), inDays },
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

/** An engine, its time, and the number of steps before. */
interface World {
  readonly engine: Engine;
  readonly now: number;
  readonly place: number;
}

const toDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

async function doStep({ engine, now, place }: World, step: Step): Promise<unknown> {
  switch (step.kind) {
    case "wait":
      return undefined;
    case "bill":
      return engine.finalize();
    case "associate":
      return engine.associate(step.account, { pricePlanId: step.plan, effectiveFrom: toDay(now + step.inDays * DAY) });
    case "dissociate":
      return engine.dissociate(step.account, { effectiveFrom: toDay(now + step.inDays * DAY) });
    case "seats":
      return engine.licenses.update(step.account, {
        licenseId: "seats",
        updateType: "ABSOLUTE",
        quantity: step.quantity,
        effectiveFrom: new Date(now + step.inDays * DAY).toISOString(),
      });
    case "use":
      return engine.ingest([callEvent(`e${place}`, new Date(now).toISOString(), step.count, step.account)]);
    case "credit": {
      const [effectiveFrom, effectiveUntil] = [toDay(now), toDay(now + step.days * DAY)];
      const about = { accountId: step.account, purpose: "Given", creditAmount: step.amount, priority: 3 };
      return engine.credits.create([{ ...about, effectiveFrom, effectiveUntil }]);
    }
    case "void": {
      const { items } = await engine.credits.list({ filter: { accountId: step.account, status: "ACTIVE" } });
      return items[0] === undefined ? undefined : engine.credits.void(items[0].credit.id);
    }
    case "group": {
      const terms = { email: "a@example.com", dailyInvoiceConsolidation: false, gracePeriod: 5 };
      return engine.invoiceGroups.create({ ...terms, name: `g${place}`, accountIds: [step.account] });
    }
  }
}

/** Does random steps with the accounts, and checks pages of a size after some of those that advance the clock. */
async function checkedAsTimePasses(
  numRuns: number,
  check: (world: World, limit: number) => Promise<void>,
): Promise<void> {
  const steps = fc.array(step, { minLength: 3, maxLength: 25 });
  const law = fc.asyncProperty(steps, fc.integer({ min: 1, max: 4 }), async (drawn, limit) => {
    const { engine, at } = await loadedAt(START, BOOK);
    let now = Date.parse(START);
    for (const [place, each] of drawn.entries()) {
      if (each.kind === "wait") now += each.hours * 3_600_000;
      at(new Date(now).toISOString());
      const world = { engine, now, place };
      // A rejected step changes nothing.
      await doStep(world, each).catch((error: unknown) => {
        if (!(error instanceof RatebookError)) throw error;
      });
      if (each.kind === "wait" && each.check) await check(world, limit);
    }
  });
  await fc.assert(law, { numRuns });
}

const listCredits = (engine: Engine, filter: CreditFilter, limit: number): Promise<readonly CreditSnapshot[]> =>
  allPages((page) => engine.credits.list({ filter, page }), limit);
const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1);

test("S12.4 pages have the credits of each account, stored and due ones, whichever accounts are up to date, by status", async () => {
  await checkedAsTimePasses(runs(50), async ({ engine }, limit) => {
    const own = await Promise.all(ACCOUNTS.map((accountId) => listCredits(engine, { accountId }, 1000)));
    const all = own.flat().toSorted(({ credit: a }, { credit: b }) => b.createdAt - a.createdAt || byId(a, b));
    for (const status of [undefined, "ACTIVE", "CONSUMED", "EXPIRED", "VOIDED"] as const) {
      for (const accountId of [undefined, "prod"]) {
        const matching = all.filter(
          (each) =>
            (status === undefined || each.status === status) &&
            (accountId === undefined || each.credit.accountId === accountId),
        );
        const filter = { status, accountId };
        expect([filter, await listCredits(engine, filter, limit)]).toEqual([filter, matching]);
      }
    }
    for (const snapshot of all) expect(await engine.credits.get(snapshot.credit.id)).toEqual(snapshot);
  });
});

test("S13.4 pages have the invoices of each account, final ones and drafts, whichever accounts are up to date, by every filter", async () => {
  const placeOf = ({ invoice }: InvoiceSnapshot): number =>
    Date.parse(invoice.invoiceType === "AD_HOC" ? invoice.invoiceDate : invoice.startDate);
  await checkedAsTimePasses(runs(25), async ({ engine, now }, limit) => {
    const { invoices } = await engine.preview();
    const all = invoices.toSorted((a, b) => placeOf(b) - placeOf(a) || byId(a, b));
    const day = toDay(now - 20 * DAY);
    const filters: readonly (readonly [InvoiceFilter, (snapshot: InvoiceSnapshot) => boolean])[] = [
      [{}, () => true],
      [{ status: "DRAFT" }, ({ invoice }) => invoice.status === "DRAFT"],
      [{ status: "DUE" }, ({ invoice }) => invoice.status === "DUE"],
      [{ customerId: "acme" }, ({ invoice }) => invoice.customerId === "acme"],
      [{ accountId: "prod" }, ({ invoice }) => invoice.accountId === "prod"],
      [{ accountId: "prod", status: "DUE" }, ({ invoice }) => invoice.accountId === "prod" && invoice.status === "DUE"],
      [{ from: day }, ({ invoice }) => Date.parse(invoice.endDate) > Date.parse(day)],
      [{ until: day }, ({ invoice }) => Date.parse(invoice.startDate) < Date.parse(day)],
    ];
    for (const [filter, isAsked] of filters) {
      const found = await allPages((page) => engine.invoices.list({ filter, page }), limit);
      expect([filter, found]).toEqual([filter, all.filter(isAsked)]);
    }
    for (const snapshot of all) expect(await engine.invoices.get(snapshot.id)).toEqual(snapshot);
  });
});

test("S12.4 pages may be short with the CONSUMED filter if many accounts are behind, and still list everything", async () => {
  const ids = Array.from({ length: 450 }, (_, index) => `m${1000 + index}`);
  const { engine, at } = await loadedAt(START, {
    ...BOOK,
    accounts: ids.map((id, index) => ({
      id,
      plan: "team",
      from: "2024-01-01",
      // The fee of January is 30, so that it consumes one of 30 completely and one of 31 not.
      credits: [{ purpose: "Given", amount: index < 20 ? 30 : 31, priority: 1 }],
    })),
  });
  at("2024-02-10");
  const sizes: number[] = [];
  const foundIds: string[] = [];
  let after: PageOptions["after"];
  do {
    const page = await engine.credits.list({ filter: { status: "CONSUMED" }, page: { limit: 10, after } });
    sizes.push(page.items.length);
    foundIds.push(...page.items.map(({ credit }) => credit.accountId));
    after = page.next;
  } while (after !== undefined);
  expect(foundIds.toSorted()).toEqual(ids.slice(0, 20));
  expect(sizes.length).toBeGreaterThan(2);
  await engine.finalize();
  const consumed = await listCredits(engine, { status: "CONSUMED" }, 7);
  expect(consumed.map(({ credit }) => credit.accountId)).toEqual(foundIds);
});
