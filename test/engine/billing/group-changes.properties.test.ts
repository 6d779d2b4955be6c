/** Composite invoices of random group histories, compared with a model that knows only the rule (S16.7). */
import fc from "fast-check";
import { expect, test } from "vitest";

import { DAY_MS, formatDate, type Instant, parseDate } from "../../../src/calendar/instant.ts";
import { createEngine } from "../../../src/index.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { feeCards, planOfMonths } from "../../book/builder.ts";
import { runs } from "../../support/runs.ts";

/** A Monday. */
const START = parseDate("2024-01-01");
const DAYS = 25;
const HOUR_MS = DAY_MS / 24;
/** The weekly fee of each account, and its days of grace. */
const ACCOUNTS = { a: { rate: 10, grace: 0 }, b: { rate: 20, grace: 1 }, c: { rate: 40, grace: 0 } } as const;
const IDS = ["a", "b", "c"] as const;
const GROUPS = ["one", "two"] as const;

const book = {
  addOns: [{ id: "addon.fee", name: "Fee", type: "FIXED_FEE" as const }],
  pricePlans: IDS.map((id) =>
    planOfMonths(`pp.${id}`, {
      ...feeCards(ACCOUNTS[id].rate),
      pricingCycleConfig: { interval: "WEEKLY", startOffset: { dayOffset: "1" }, gracePeriod: ACCOUNTS[id].grace },
    }),
  ),
  customers: [{ id: "acme", name: "Acme" }],
  accounts: [
    ...IDS.map((id) => ({
      id,
      name: `Acme ${id}`,
      customerId: "acme",
      pricePlans: [{ pricePlanId: `pp.${id}`, effectiveFrom: "2024-01-01" }],
    })),
    // A group ends with its last account, so one account is never billed and stays.
    ...GROUPS.map((id) => ({ id: `anchor.${id}`, name: `Anchor ${id}`, customerId: "acme" })),
  ],
  invoiceGroups: GROUPS.map((id) => ({ id, dailyInvoiceConsolidation: true, accountIds: [`anchor.${id}`] })),
};

/** From an instant on, an account is in a group or in none. */
interface Move {
  readonly at: Instant;
  readonly id: (typeof IDS)[number];
  readonly group: (typeof GROUPS)[number] | undefined;
}

const instant = fc
  .record({ day: fc.nat(DAYS - 1), hour: fc.integer({ min: 0, max: 23 }) })
  .map(({ day, hour }) => START + day * DAY_MS + hour * HOUR_MS + HOUR_MS / 2);
/** Mostly on Mondays and Tuesdays, when weeks fall due. */
const moveInstant = fc.oneof(
  instant,
  fc
    .record({ week: fc.nat(3), hour: fc.integer({ min: 0, max: 47 }) })
    .map(({ week, hour }) => START + week * 7 * DAY_MS + hour * HOUR_MS + HOUR_MS / 4),
);
const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.record({ at: moveInstant, id: fc.constantFrom(...IDS), group: fc.constantFrom(...GROUPS, undefined) }),
  { minLength: 2, maxLength: 10 },
);

/**
 * `group date: account total, …` of every composite invoice, by the rule: the group at the end of the day on which an
 * invoice is due.
 */
function expected(history: readonly Move[]): readonly string[] {
  const parts = new Map<string, string[]>();
  for (let day = START; day < START + DAYS * DAY_MS; day += DAY_MS) {
    for (const id of IDS) {
      const { rate, grace } = ACCOUNTS[id];
      const weekEnd = day - grace * DAY_MS;
      if (weekEnd <= START || (weekEnd - START) % (7 * DAY_MS) !== 0) continue;
      const group = history.findLast((move) => move.id === id && move.at < day + DAY_MS)?.group;
      if (group === undefined) continue;
      const name = `${group} ${formatDate(day)}`;
      parts.set(name, [...(parts.get(name) ?? []), `${id} ${rate}`]);
    }
  }
  return [...parts].map(([name, invoices]) => `${name}: ${invoices.join(", ")}`).toSorted();
}

async function composites(history: readonly Move[], bills: readonly Instant[]): Promise<readonly string[]> {
  let now = START;
  const engine = createEngine({ store: memoryStore(), clock: () => now });
  await engine.load(book);
  const groupOf = new Map<string, string>();
  const move = async ({ id, group }: Move): Promise<void> => {
    const former = groupOf.get(id);
    if (former === group) return;
    if (former !== undefined) await engine.invoiceGroups.removeAccounts(former, [id]);
    if (group === undefined) groupOf.delete(id);
    else {
      await engine.invoiceGroups.addAccounts(group, [id]);
      groupOf.set(id, group);
    }
  };
  const steps = [
    ...bills.map((at) => ({ at, run: async (): Promise<unknown> => engine.finalize() })),
    ...history.map((each) => ({ at: each.at, run: async (): Promise<unknown> => move(each) })),
  ].toSorted((a, b) => a.at - b.at);
  for (const { at, run } of steps) {
    now = at;
    await run();
  }
  now = START + DAYS * DAY_MS;
  await engine.finalize();
  const { items } = await engine.compositeInvoices.list({ page: { limit: 100 } });
  return items
    .map(({ invoiceGroupId, invoiceDate, invoices }) => {
      const parts = invoices.map(({ accountId, total }) => `${accountId} ${total.toFixed()}`);
      return `${invoiceGroupId} ${formatDate(invoiceDate)}: ${parts.join(", ")}`;
    })
    .toSorted();
}

test("S2.4 S16.7 composite invoices do not depend on when bill runs happen", async () => {
  await fc.assert(
    fc.asyncProperty(moves, fc.array(instant, { maxLength: 6 }), async (sequence, bills) => {
      const history = sequence.toSorted((a, b) => a.at - b.at);
      expect(await composites(history, bills)).toEqual(expected(history));
    }),
    { numRuns: runs(100) },
  );
});
