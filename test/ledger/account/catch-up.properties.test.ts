import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { Instant } from "../../../src/calendar/instant.ts";
import { computeInvoicesInSteps } from "../../../src/invoicing/compute-invoices.ts";
import { invoiceKey } from "../../../src/invoicing/draft.ts";
import type { Invoice } from "../../../src/invoicing/invoice.ts";
import { listDrafts } from "../../../src/ledger/account/invoices.ts";
import { invoicesReadFrom } from "../../../src/ledger/account/open-cycles.ts";
import { dueInvoiceId } from "../../../src/ledger/account/record-ids.ts";
import { formatDecimal } from "../../../src/numbers/decimal.ts";
import { runToCompletion } from "../../../src/numbers/steps.ts";
import { runs } from "../../support/runs.ts";
import { toTime, headOf, type Ledger, openLedger, START } from "../account-harness.ts";
import { after, book, HOUR_MS, type Step, toSortedState, steps, doAccountStep } from "./account-steps.ts";

/**
 * The laws of processing due work: its schedule has no effect, final invoices are unchanged, a preview shows what
 * follows (S2.4, S13.4).
 */

const END_HOURS = 90 * 24;

const grossOf = (invoice: Invoice): string => {
  const gross = invoice.revenueInfo.lineItems?.[0]?.lineItems?.find(({ type }) => type === "GROSS_AMOUNT");
  return gross === undefined ? "none" : formatDecimal(gross.value);
};
const sortPairs = (pairs: readonly (readonly [string, string])[]): unknown =>
  pairs.toSorted(([a], [b]) => (a < b ? -1 : 1));

/** Every final invoice with its charges before credits. */
const grossOfFinals = (ledger: Ledger): unknown =>
  sortPairs(ledger.parts().invoices.map(({ id, invoice }) => [id, grossOf(invoice)]));

/** The same of every invoice that should be final by an instant, calculated from the account's decisions and usage. */
function grossComputedAtOnce(ledger: Ledger, end: Instant): unknown {
  const { catalog } = ledger;
  return ledger.run((work) => {
    const range = { from: toTime(START), until: end + 1, viewHasAllCredits: true };
    const drafts = runToCompletion(
      computeInvoicesInSteps({ ...work.view(catalog), credits: [] }, catalog.billing, range),
    );
    const due = drafts.filter(({ draft }) => draft.finalAt <= end);
    return sortPairs(
      due.map(({ draft, buildInvoice }) => [dueInvoiceId(work.record.id, invoiceKey(draft)), grossOf(buildInvoice())]),
    );
  });
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

describe("processing due work", () => {
  test("S2.4 has the same result whenever and however often it runs", () => {
    fc.assert(
      fc.property(steps, fc.array(after, { maxLength: 4 }), (sequence, extra) => {
        const plain = openLedger(book);
        const often = openLedger(book);
        let now = toTime(START);
        for (const [index, one] of sequence.entries()) {
          const next = now + one.after * HOUR_MS;
          for (const hours of extra.slice(index % 3))
            if (now + hours * HOUR_MS <= next) often.until(now + hours * HOUR_MS);
          now = next;
          doAccountStep(plain, one, now);
          doAccountStep(often, one, now);
        }
        const end = now + END_HOURS * HOUR_MS;
        for (const hours of extra.toSorted((a, b) => a - b)) often.until(Math.min(end, now + 5 * hours * HOUR_MS));
        plain.until(end);
        often.until(end);
        often.until(end);
        expect(toSortedState(often.parts())).toEqual(toSortedState(plain.parts()));
      }),
      { numRuns: runs(25), examples: [CAUGHT_UP_AS_IT_BECAME_FINAL] },
    );
  });

  test("S13.4 no decision depends on former invoices that it does not read", () => {
    let hiddenCount = 0;
    fc.assert(
      fc.property(steps, (sequence) => {
        let now = toTime(START);
        const all = openLedger(book);
        const some = openLedger(book, undefined, {}, (catalog, record) => invoicesReadFrom(catalog, record, now));
        // At most half a year between two steps: what ended long ago is not read.
        for (const one of [...sequence, ...sequence]) {
          now += 9 * one.after * HOUR_MS;
          doAccountStep(all, one, now);
          doAccountStep(some, one, now);
        }
        now += END_HOURS * HOUR_MS;
        hiddenCount += some.parts().invoices.length - some.readParts().invoices.length;
        all.until(now);
        some.until(now);
        expect(toSortedState(some.parts())).toEqual(toSortedState(all.parts()));
      }),
      { numRuns: runs(40) },
    );
    expect(hiddenCount).toBeGreaterThan(runs(40));
  });

  test("S13.4 a final invoice never changes, and is no longer a draft", () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const ledger = openLedger(book);
        let now = toTime(START);
        for (const one of [...sequence, { kind: "wait", after: END_HOURS } as const]) {
          const before = ledger.parts().invoices;
          now += one.after * HOUR_MS;
          doAccountStep(ledger, one, now);
          ledger.until(now);
          expect(ledger.parts().invoices.slice(0, before.length)).toEqual(before);
        }
        const ids = ledger.parts().invoices.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        const drafts = ledger.run((work) => runToCompletion(listDrafts(ledger.catalog, work, now)));
        // A draft requested alone equals the one in the list of all.
        for (const draft of drafts) {
          const alone = ledger.run((work) =>
            runToCompletion(listDrafts(ledger.catalog, work, now, { ids: new Set([draft.id]) })),
          );
          expect(alone).toEqual([draft]);
        }
        expect(drafts.filter(({ id }) => ids.includes(id)).map(({ invoice }) => headOf(invoice))).toEqual([]);
      }),
      { numRuns: runs(30) },
    );
  });

  test("S13.4 invoices that became final one by one equal those calculated together from everything stored", () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const ledger = openLedger(book);
        let now = toTime(START);
        for (const one of sequence) doAccountStep(ledger, one, (now += one.after * HOUR_MS));
        const end = now + END_HOURS * HOUR_MS;
        ledger.until(end);
        expect(grossOfFinals(ledger)).toEqual(grossComputedAtOnce(ledger, end));
      }),
      { numRuns: runs(30) },
    );
  });

  test("S12.3 S12.4 no credit is consumed beyond its amount, and its transactions add up", () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const ledger = openLedger(book);
        let now = toTime(START);
        for (const one of sequence) doAccountStep(ledger, one, (now += one.after * HOUR_MS));
        ledger.until(now + END_HOURS * HOUR_MS);
        for (const { creditAmount, consumedAmount, transactions } of ledger.parts().credits) {
          expect(consumedAmount.lte(creditAmount)).toBe(true);
          const spentAmount = transactions
            .map(({ amount }) => Number(formatDecimal(amount)) * 100)
            .reduce((a, b) => a + b, 0);
          expect(Math.round(spentAmount)).toBe(Math.round(Number(formatDecimal(consumedAmount)) * 100));
        }
      }),
      { numRuns: runs(30) },
    );
  });
});
