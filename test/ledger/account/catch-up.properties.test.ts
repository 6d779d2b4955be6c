/**
 * The laws of processing due work: its schedule has no effect, final invoices are unchanged, a preview shows what
 * follows (S2.4, S13.4).
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { Instant } from "../../../src/calendar/instant.ts";
import { computeInvoicesInSteps } from "../../../src/invoicing/compute-invoices.ts";
import { invoiceKey } from "../../../src/invoicing/draft.ts";
import type { Invoice } from "../../../src/invoicing/invoice.ts";
import { dueInvoiceId } from "../../../src/ledger/account/record-ids.ts";
import { formatDecimal, sum } from "../../../src/numbers/decimal.ts";
import { runToCompletion } from "../../../src/numbers/steps.ts";
import { runs } from "../../support/runs.ts";
import { storeWithReads } from "../../support/stores.ts";
import type { Ledger } from "../plan-ledger.ts";
import { after, doAccountStep, HOUR_MS, openAccount, START, type Step, steps, toSortedState } from "./account-steps.ts";

const grossOf = (invoice: Invoice): string => {
  const gross = invoice.revenueInfo.lineItems?.[0]?.lineItems?.find(({ type }) => type === "GROSS_AMOUNT");
  return gross === undefined ? "none" : formatDecimal(gross.value);
};
const sortPairs = (pairs: readonly (readonly [string, string])[]): unknown =>
  pairs.toSorted(([a], [b]) => (a < b ? -1 : 1));

/** Every final invoice with its charges before credits. */
const grossOfFinals = async (ledger: Ledger): Promise<unknown> =>
  sortPairs((await ledger.stored()).invoices.map(({ id, invoice }) => [id, grossOf(invoice)]));

/** The same of every invoice that should be final by an instant, calculated from the account's decisions and usage. */
async function grossComputedAtOnce(ledger: Ledger, end: Instant): Promise<unknown> {
  const { result } = await ledger.decide((catalog, account) => {
    const range = { from: START, until: end + 1, viewHasAllCredits: true };
    const steps = computeInvoicesInSteps({ ...account.view(catalog), credits: [] }, catalog.billing, range);
    const due = runToCompletion(steps).filter(({ draft }) => draft.finalAt <= end);
    return due.map(
      ({ draft, buildInvoice }) => [dueInvoiceId("a", invoiceKey(draft)), grossOf(buildInvoice())] as const,
    );
  });
  return sortPairs(result);
}

/** Processing at the very instant at which the last invoice of a plan becomes final. */
const CAUGHT_UP_AS_IT_BECAME_FINAL: [Step[], number[]] = [
  [
    { after: 0, kind: "associate", planId: "q", inDays: 0, days: undefined },
    { after: 413, kind: "dissociate", inDays: 3, days: undefined },
    { after: 25, kind: "spend", quantity: 1, hoursAgo: 0 },
    { after: 66, kind: "use", quantity: 1, hoursAgo: 0 },
  ],
  [42],
];

/** Does the steps of a history, each after its hours, with something before each; the end of it. */
async function live(
  ledgers: readonly Ledger[],
  sequence: readonly Step[],
  before: (now: Instant, next: Instant, index: number) => Promise<void> = async () => {},
  speed = 1,
): Promise<Instant> {
  let now = START;
  for (const [index, one] of sequence.entries()) {
    const next = now + speed * one.after * HOUR_MS;
    await before(now, next, index);
    now = next;
    for (const ledger of ledgers) await doAccountStep(ledger, one, now);
  }
  return now;
}
/** All that begins in a history is final. */
const END_MS = 90 * 24 * HOUR_MS;

describe("processing due work", () => {
  test("S2.4 has the same result whenever and however often it runs", async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.array(after, { maxLength: 4 }), async (sequence, extra) => {
        const [plain, often] = [await openAccount(), await openAccount()];
        const now = await live([plain, often], sequence, async (from, until, index) => {
          for (const hours of extra.slice(index % 3))
            if (from + hours * HOUR_MS <= until) await often.until(from + hours * HOUR_MS);
        });
        const end = now + END_MS;
        for (const hours of extra.toSorted((a, b) => a - b))
          await often.until(Math.min(end, now + 5 * hours * HOUR_MS));
        await plain.until(end);
        await often.until(end);
        await often.until(end);
        // A bill run leaves accounts as they are of which nothing is due; an update says to which instant they are.
        for (const { engine } of [plain, often]) await engine.accounts.update("a", { netTermDays: 1 });
        expect(await toSortedState(often)).toEqual(await toSortedState(plain));
      }),
      { numRuns: runs(25), examples: [CAUGHT_UP_AS_IT_BECAME_FINAL] },
    );
  });

  test("S13.4 no decision depends on former invoices that it does not read", async () => {
    let hiddenCount = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const whole = storeWithReads((view) => ({
          async invoices(ids, since) {
            const all = await view.invoices(ids, Number.NEGATIVE_INFINITY);
            hiddenCount += all.length - (await view.invoices(ids, since)).length;
            return all;
          },
        }));
        const [all, some] = [await openAccount(whole), await openAccount()];
        // At most half a year between two steps: what ended long ago is not read.
        const now = await live([all, some], [...sequence, ...sequence], undefined, 9);
        for (const ledger of [all, some]) await ledger.until(now + END_MS);
        expect(await toSortedState(some)).toEqual(await toSortedState(all));
      }),
      { numRuns: runs(40) },
    );
    expect(hiddenCount).toBeGreaterThan(runs(40));
  });

  test("S13.4 a final invoice never changes, and is no longer a draft", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const ledger = await openAccount();
        const { invoices } = ledger.engine;
        let before: Awaited<ReturnType<Ledger["stored"]>>["invoices"] = [];
        const checkFinals = async (now: Instant): Promise<void> => {
          await ledger.until(now);
          const after = (await ledger.stored()).invoices;
          expect(after.filter(({ id }) => before.some((each) => each.id === id))).toEqual(before);
          before = after;
        };
        const now = await live([ledger], sequence, checkFinals);
        await checkFinals(now + END_MS);
        const ids = before.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        const { items } = await invoices.list({ filter: { accountId: "a", status: "DRAFT" }, page: { limit: 1000 } });
        // A draft requested alone equals the one in the list of all.
        for (const draft of items) expect(await invoices.get(draft.id)).toEqual(draft);
        expect(items.filter(({ id }) => ids.includes(id))).toEqual([]);
      }),
      { numRuns: runs(30) },
    );
  });

  test("S13.4 invoices that became final one by one equal those calculated together from everything stored", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const ledger = await openAccount();
        const end = (await live([ledger], sequence)) + END_MS;
        await ledger.until(end);
        expect(await grossOfFinals(ledger)).toEqual(await grossComputedAtOnce(ledger, end));
      }),
      { numRuns: runs(30) },
    );
  });

  test("S12.3 S12.4 no credit is consumed beyond its amount, and its transactions add up", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const ledger = await openAccount();
        await ledger.until((await live([ledger], sequence)) + END_MS);
        for (const { creditAmount, consumedAmount, transactions } of (await ledger.stored()).credits) {
          expect(consumedAmount.lte(creditAmount)).toBe(true);
          expect(formatDecimal(sum(transactions.map(({ amount }) => amount)))).toBe(formatDecimal(consumedAmount));
        }
      }),
      { numRuns: runs(30) },
    );
  });
});
