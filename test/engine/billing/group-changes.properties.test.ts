/** Accounts that join and leave invoice groups: every invoice is on one composite invoice, or single (S13.3, S16.7). */
import fc from "fast-check";
import { expect, test } from "vitest";

import {
  DAY_MS,
  formatDate,
  formatInstant,
  type Instant,
  parseDate,
  toInstant,
} from "../../../src/calendar/instant.ts";
import { createEngine, type Engine, RatebookError } from "../../../src/index.ts";
import { linesOfType } from "../../support/invoice-lines.ts";
import { runs } from "../../support/runs.ts";
import { storeWithHooks } from "../../support/stores.ts";
import { loadedAt } from "../support.ts";

/** A Monday. */
const START = parseDate("2024-01-01");
const DAYS = 25;
const HOUR_MS = DAY_MS / 24;
/** The weekly fee of each account, and its days of grace. */
const ACCOUNTS = { a: { rate: 10, grace: 0 }, b: { rate: 20, grace: 1 }, c: { rate: 40, grace: 0 } } as const;
const IDS = ["a", "b", "c"] as const;
const GROUPS = ["one", "two"] as const;

const BOOK = {
  pricePlans: IDS.map((id) => ({
    id,
    cycle: { interval: "WEEKLY" as const, gracePeriod: ACCOUNTS[id].grace },
    fees: [{ id: "fee", rate: ACCOUNTS[id].rate }],
  })),
  accounts: [
    ...IDS.map((id) => ({ id, name: `Acme ${id}`, plan: id, from: "2024-01-01" })),
    // A group ends with its last account, so one account is never billed and stays.
    ...GROUPS.map((id) => ({ id: `anchor.${id}` })),
  ],
  invoiceGroups: GROUPS.map((id) => ({ id, dailyInvoiceConsolidation: true, accountIds: [`anchor.${id}`] })),
};

/** `group date: account total, …` of every composite invoice. */
async function listComposites({ compositeInvoices }: Engine): Promise<readonly string[]> {
  const { items } = await compositeInvoices.list({ page: { limit: 100 } });
  return items
    .map(({ invoiceGroupId, invoiceDate, invoices }) => {
      const parts = invoices.map(({ accountId, total }) => `${accountId} ${total.toFixed()}`);
      return `${invoiceGroupId} ${formatDate(invoiceDate)}: ${parts.join(", ")}`;
    })
    .toSorted();
}

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

/** The composite invoices by the rule: the group at the end of the day on which an invoice is due. */
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

test("S2.4 S16.7 composite invoices do not depend on when bill runs happen", async () => {
  await fc.assert(
    fc.asyncProperty(moves, fc.array(instant, { maxLength: 6 }), async (sequence, bills) => {
      const { engine, at } = await loadedAt("2024-01-01", BOOK);
      const history = sequence.toSorted((a, b) => a.at - b.at);
      const groupOf = new Map<string, string | undefined>();
      const move = async ({ id, group }: Move): Promise<unknown> => {
        const former = groupOf.get(id);
        if (former === group) return undefined;
        groupOf.set(id, group);
        if (former !== undefined) await engine.invoiceGroups.removeAccounts(former, [id]);
        return group === undefined ? undefined : engine.invoiceGroups.addAccounts(group, [id]);
      };
      const steps = [
        ...bills.map((time) => ({ time, run: async (): Promise<unknown> => engine.finalize() })),
        ...history.map((each) => ({ time: each.at, run: async () => move(each) })),
      ];
      for (const { time, run } of steps.toSorted((a, b) => a.time - b.time)) {
        at(formatInstant(time));
        await run();
      }
      await at(formatInstant(START + DAYS * DAY_MS)).finalize();
      expect(await listComposites(engine)).toEqual(expected(history));
    }),
    { numRuns: runs(100) },
  );
});

/** An engine in which the accounts `a` and `c` are in the group `one` since the first day. */
async function groupedEngine() {
  let [now, step, isFailing] = [toInstant("2024-01-01"), 0, false];
  const store = storeWithHooks({
    before({ accountIds }) {
      if (isFailing && accountIds.includes("c")) throw new RatebookError("ERR_STORE_CONFLICT", "lost every race", {});
    },
  });
  const engine = createEngine({ store, clock: () => (now += step) });
  await engine.load(BOOK);
  await engine.invoiceGroups.addAccounts("one", ["a", "c"]);
  return {
    engine,
    /** Sets the clock, how far it advances at each call, and whether the bill of `c` fails. */
    set: (time: string, advance = 0, fails = false): Engine => {
      [now, step, isFailing] = [toInstant(time), advance, fails];
      return engine;
    },
    listBilled: async () => {
      const { items } = await engine.invoices.list({ filter: { status: "DUE" } });
      const own = items.filter(({ invoice }) => invoice.accountId !== "b");
      const single = own.map(({ invoice }) => `${invoice.accountId} ${invoice.revenueInfo.value.toFixed()}`);
      return { composite: await listComposites(engine), single };
    },
  };
}
const TOGETHER = { composite: ["one 2024-01-08: a 10, c 40"], single: [] };

test("S16.7 a day that ends while an account leaves is consolidated with it", async () => {
  const { set, listBilled } = await groupedEngine();
  await set("2024-01-08T23:58:30Z", 60_000).invoiceGroups.removeAccounts("one", ["a"]);
  set("2024-01-09T00:10:00Z");
  expect(await listBilled()).toEqual(TOGETHER);
});

test("S16.7 when the last account leaves a group, the days of the group are already consolidated", async () => {
  const { set, listBilled } = await groupedEngine();
  const { invoiceGroups } = set("2024-01-09T09:00:00Z");
  expect(await invoiceGroups.removeAccounts("one", ["a", "c", "anchor.one"])).toBeUndefined();
  expect(await listBilled()).toEqual(TOGETHER);
});

test("S16.7 a composite invoice made while an account was not in the group is unchanged when it rejoins", async () => {
  const { set, listBilled } = await groupedEngine();
  // The bill of c can't be calculated when a leaves: the day waits.
  await set("2024-01-09T09:00:00Z", 0, true).invoiceGroups.removeAccounts("one", ["a"]);
  await set("2024-01-09T09:00:00Z").finalize();
  const firstWeek = { composite: ["one 2024-01-08: c 40"], single: ["a 10"] };
  expect(await listBilled()).toEqual(firstWeek);
  await set("2024-01-10T09:00:00Z").invoiceGroups.addAccounts("one", ["a"]);
  expect((await set("2024-01-11T09:00:00Z").finalize()).consolidated).toBe(0);
  expect(await listBilled()).toEqual(firstWeek);
});

/** By which an open cycle of the account `a` loses its 30 days of grace. */
const REGROUPINGS = [
  ["leaves a group with a long grace", 0, (groups: Engine["invoiceGroups"]) => groups.removeAccounts("group", ["a"])],
  [
    "comes into a group with a short grace",
    30,
    (groups: Engine["invoiceGroups"]) => groups.addAccounts("group", ["a"]),
  ],
] as const;

test.each(REGROUPINGS)(
  "S13.3 S16.7 if an account %s, its open cycle closes then, including everything invoiced by then",
  async (_, gracePeriod, regroup) => {
    // At least 100.00 a month: 30.00 for three months, and seats at 10.00 in advance.
    const plan = {
      id: "p",
      cycle: { interval: "MONTHLY", gracePeriod },
      fees: [{ id: "fee", rate: 30, everyCycles: 3 }],
      licenses: [{ id: "seats", rate: 10, timing: "IN_ADVANCE" }],
      commitment: 100,
    } as const;
    const book = {
      pricePlans: [plan, { id: "free", cycle: "MONTHLY" as const }],
      customers: [{ id: "acme", name: "Acme" }],
      accounts: [
        { id: "a", name: "Acme a", customerId: "acme", plan: "p", from: "2023-01-01" },
        { id: "b", name: "Acme b", customerId: "acme" },
      ],
      invoiceGroups: [
        { id: "group", gracePeriod: 30 - gracePeriod, accountIds: gracePeriod === 0 ? ["a", "b"] : ["b"] },
      ],
    };
    /** `kind: fee, seats, true-up` of the invoices of January, after a change of the account. */
    const listJanuary = async (
      change: (at: (time: string) => Engine) => Promise<unknown>,
    ): Promise<readonly string[]> => {
      const { engine, at } = await loadedAt("2023-01-01", book);
      await change(at);
      await regroup(at("2023-02-05").invoiceGroups);
      const { items } = await engine.invoices.list({ filter: { accountId: "a" } });
      return items
        .filter(({ invoice }) => invoice.startDate.startsWith("2023-01"))
        .map(({ invoice }) => {
          const types = ["FIXED_FEE_RATE_CARD_AMOUNT", "ADVANCED_LICENSE_RATE_CARD_AMOUNT", "TRUE_UP_AMOUNT"] as const;
          const amounts = types.map((type) => linesOfType(invoice, type)[0]?.value.toFixed() ?? "0");
          return `${invoice.invoiceType}: ${amounts.join(", ")}`;
        })
        .toSorted();
    };
    const update = { licenseId: "seats", updateType: "ABSOLUTE", quantity: 5, effectiveFrom: "2023-01-20" } as const;
    // 50 of 100 are invoiced.
    expect(await listJanuary((at) => at("2023-02-03").licenses.update("a", update))).toEqual([
      "AD_HOC: 0, 50, 0",
      "STANDARD: 0, 0, 50",
    ]);
    const free = { pricePlanId: "free", effectiveFrom: "2023-02-01" };
    // January's invoice was open when the plan ended with it: it contains the fee of three months.
    expect(await listJanuary((at) => at("2023-02-01T09:00:00Z").associate("a", free))).toEqual(["STANDARD: 30, 0, 70"]);
  },
);
