/** The laws of catching up: its schedule changes nothing, what is final stays, a preview is what comes (S2.4, S13.4). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { DAY_MS, formatInstant, type Instant } from "../../../src/calendar/instant.ts";
import { RatebookError } from "../../../src/errors.ts";
import { invoiceKeyOf } from "../../../src/invoicing/draft.ts";
import { drawDrafts } from "../../../src/invoicing/draw.ts";
import type { Invoice } from "../../../src/invoicing/invoice.ts";
import { viewOfWork } from "../../../src/ledger/account/account-plan.ts";
import { catchUp, draftsOf } from "../../../src/ledger/account/catch-up.ts";
import { invoiceIdOf } from "../../../src/ledger/account/due-ids.ts";
import { associate, dissociate } from "../../../src/ledger/commands/associate.ts";
import { createCredits, voidCredit } from "../../../src/ledger/commands/credits.ts";
import { updateLicense } from "../../../src/ledger/commands/licenses.ts";
import { decideIngest } from "../../../src/ledger/events/ingest.ts";
import type { AccountParts } from "../../../src/ledger/workspace.ts";
import { add, type Decimal, decimalOf, textOf, ZERO } from "../../../src/numbers/decimal.ts";
import { calls, fee, grant, overage, plan, seats, tokens } from "../../book/builder.ts";
import { bookWith } from "../../book/catalog-book.ts";
import { runs } from "../../support/runs.ts";
import { at, headOf, type Ledger, openLedger, START } from "../account-harness.ts";
import { readBatch } from "../read-batch.ts";

const inAdvance = { invoiceTiming: "IN_ADVANCE", enableProration: true };
const book = bookWith([
  plan("p", {
    ...calls("0.37"),
    ...fee(31, inAdvance),
    ...seats(10, { ...inAdvance, proratedRefundMode: "CREDITS" }),
    ...tokens(100),
    ...overage(2),
    ...grant(7, { expiryType: "PRICING_CYCLE" }),
    minimumCommitment: { rateValues: [{ currency: "USD", rate: 90 }] },
    pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" }, gracePeriod: 3 },
  }),
  plan("q", {
    ...calls("0.5"),
    ...fee(-12),
    ...seats(3, { invoiceTiming: "IN_ADVANCE" }),
    ...tokens(5, "P10D"),
    ...overage(3, 40),
    ...grant(4, { expiryType: "NO_EXPIRY" }),
    pricingCycleConfig: { interval: "WEEKLY", startOffset: { dayOffset: "3" } },
  }),
]);

type Step = { readonly after: number } & (
  | { readonly kind: "associate"; readonly planId: string; readonly inDays: number; readonly days: number | undefined }
  | { readonly kind: "dissociate"; readonly inDays: number; readonly days: number | undefined }
  | { readonly kind: "license"; readonly quantity: number; readonly inHours: number }
  | { readonly kind: "spend"; readonly quantity: number; readonly hoursAgo: number }
  | { readonly kind: "use"; readonly quantity: number; readonly hoursAgo: number }
  | { readonly kind: "credit"; readonly amount: number; readonly days: number }
  | { readonly kind: "void" }
  | { readonly kind: "wait" }
);

const after = fc.integer({ min: 0, max: 20 * 24 });
const days = fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      after,
      kind: fc.constant("associate" as const),
      planId: fc.constantFrom("p", "q"),
      inDays: fc.integer({ min: 0, max: 15 }),
      days,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      after,
      kind: fc.constant("dissociate" as const),
      inDays: fc.integer({ min: 0, max: 15 }),
      days,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      after,
      kind: fc.constant("license" as const),
      quantity: fc.integer({ min: 0, max: 9 }),
      inHours: fc.integer({ min: -72, max: 400 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      after,
      kind: fc.constant("spend" as const),
      quantity: fc.integer({ min: 1, max: 90 }),
      hoursAgo: fc.integer({ min: -20, max: 100 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      after,
      kind: fc.constant("use" as const),
      quantity: fc.integer({ min: 1, max: 200 }),
      hoursAgo: fc.integer({ min: 0, max: 100 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      after,
      kind: fc.constant("credit" as const),
      amount: fc.integer({ min: 1, max: 60 }),
      days: fc.integer({ min: 1, max: 60 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ after, kind: fc.constant("void" as const) }) },
  { weight: 1, arbitrary: fc.record({ after, kind: fc.constant("wait" as const) }) },
);
const steps = fc.array(step, { minLength: 1, maxLength: 12 });

const HOUR_MS = 3_600_000;
const dayStart = (instant: Instant): Instant => Math.floor(instant / DAY_MS) * DAY_MS;

/** Ingests an event that takes tokens. */
function spend(ledger: Ledger, quantity: number, timestamp: Instant, now: Instant): void {
  const event = {
    schemaName: "token",
    id: ledger.ids("event"),
    accountId: "a",
    timestamp: formatInstant(timestamp),
    attributes: [{ name: "n", value: quantity }],
    dimensions: {},
  };
  const read = { accounts: [ledger.parts()], names: new Map([["a", "a"]]), held: [], holders: [] };
  ledger.apply(decideIngest(ledger.catalog, read, readBatch([event]), now, ledger.ids).changes);
}

/** Does one step; a refusal is an answer like any other. */
function take(ledger: Ledger, one: Step, now: Instant): void {
  const { catalog, ids } = ledger;
  const range = (inDays: number, length: number | undefined): { from: Instant; until?: Instant } => {
    const from = dayStart(now) + inDays * DAY_MS;
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
              quantity: decimalOf(one.quantity),
              effectiveFrom: now + one.inHours * HOUR_MS,
            },
            now,
            ids,
          );
        case "credit": {
          const [effectiveFrom, effectiveUntil] = [dayStart(now), dayStart(now) + one.days * DAY_MS];
          const credit = { accountId: "a", purpose: "gift", creditAmount: decimalOf(one.amount), priority: 1 };
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

/** All that is kept of an account, in an order of its own. */
function stateOf({ record, entries, credits, invoices, usage, events, ...parts }: AccountParts): unknown {
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

/** Overage by day: what moved in between is no part of it. */
function overageOf({ overage: cells }: Pick<AccountParts, "overage">): unknown {
  const days = new Map<number, Decimal>();
  for (const { day, quantity } of cells) days.set(day, add(days.get(day) ?? ZERO, quantity));
  return [...days].filter(([, quantity]) => !quantity.isZero()).toSorted(([a], [b]) => a - b);
}

const END_HOURS = 90 * 24;

const grossOf = (invoice: Invoice): string => {
  const gross = invoice.revenueInfo.lineItems?.[0]?.lineItems?.find(({ type }) => type === "GROSS_AMOUNT");
  return gross === undefined ? "none" : textOf(gross.value);
};
const inOrder = (found: readonly (readonly [string, string])[]): unknown =>
  found.toSorted(([a], [b]) => (a < b ? -1 : 1));

/** Every final invoice with what it charges before credits. */
const grossOfFinals = (ledger: Ledger): unknown =>
  inOrder(ledger.parts().invoices.map(({ id, invoice }) => [id, grossOf(invoice)]));

/** The same of every invoice that should be final by an instant, worked out from the account's decisions and usage. */
function grossDrawnAtOnce(ledger: Ledger, end: Instant): unknown {
  const { catalog } = ledger;
  return ledger.run((work) => {
    const range = { from: at(START), until: end + 1, creditsAreWhole: true };
    const drawn = drawDrafts({ ...viewOfWork(catalog, work), credits: [] }, catalog.billing, range);
    const due = drawn.filter(({ draft }) => draft.finalAt <= end);
    return inOrder(
      due.map(({ draft, invoice }) => [invoiceIdOf(work.record.id, invoiceKeyOf(draft)), grossOf(invoice)]),
    );
  });
}

/** A catch-up at the very instant at which the last invoice of a plan becomes final. */
const CAUGHT_UP_AS_IT_BECAME_FINAL: [Step[], number[]] = [
  [
    { after: 0, kind: "associate", planId: "q", inDays: 0, days: undefined },
    { after: 413, kind: "dissociate", inDays: 3, days: undefined },
    { after: 25, kind: "spend", quantity: 1, hoursAgo: 0 },
    { after: 66, kind: "use", quantity: 1, hoursAgo: 0 },
  ],
  [42],
];

describe("catching up", () => {
  test("S2.4 when and how often an account is caught up with changes nothing", () => {
    fc.assert(
      fc.property(steps, fc.array(after, { maxLength: 4 }), (sequence, extra) => {
        const plain = openLedger(book);
        const often = openLedger(book);
        let now = at(START);
        for (const [index, one] of sequence.entries()) {
          const next = now + one.after * HOUR_MS;
          for (const hours of extra.slice(index % 3))
            if (now + hours * HOUR_MS <= next) often.until(now + hours * HOUR_MS);
          now = next;
          take(plain, one, now);
          take(often, one, now);
        }
        const end = now + END_HOURS * HOUR_MS;
        for (const hours of extra.toSorted((a, b) => a - b)) often.until(Math.min(end, now + 5 * hours * HOUR_MS));
        plain.until(end);
        often.until(end);
        often.until(end);
        expect(stateOf(often.parts())).toEqual(stateOf(plain.parts()));
      }),
      { numRuns: runs(25), examples: [CAUGHT_UP_AS_IT_BECAME_FINAL] },
    );
  });

  test("S13.4 a final invoice never changes, and is no draft any more", () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const ledger = openLedger(book);
        let now = at(START);
        for (const one of [...sequence, { kind: "wait", after: END_HOURS } as const]) {
          const before = ledger.parts().invoices;
          now += one.after * HOUR_MS;
          take(ledger, one, now);
          ledger.until(now);
          expect(ledger.parts().invoices.slice(0, before.length)).toEqual(before);
        }
        const ids = ledger.parts().invoices.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        const drafts = ledger.run((work) => draftsOf(ledger.catalog, work, now));
        expect(drafts.filter(({ id }) => ids.includes(id)).map(({ invoice }) => headOf(invoice))).toEqual([]);
      }),
      { numRuns: runs(30) },
    );
  });

  test("S13.4 what became final one by one is what all that is stored comes to when it is drawn at once", () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const ledger = openLedger(book);
        let now = at(START);
        for (const one of sequence) take(ledger, one, (now += one.after * HOUR_MS));
        const end = now + END_HOURS * HOUR_MS;
        ledger.until(end);
        expect(grossOfFinals(ledger)).toEqual(grossDrawnAtOnce(ledger, end));
      }),
      { numRuns: runs(30) },
    );
  });

  test("S12.3 S12.4 no credit is consumed beyond its amount, and its transactions add up", () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const ledger = openLedger(book);
        let now = at(START);
        for (const one of sequence) take(ledger, one, (now += one.after * HOUR_MS));
        ledger.until(now + END_HOURS * HOUR_MS);
        for (const { creditAmount, consumedAmount, transactions } of ledger.parts().credits) {
          expect(consumedAmount.lte(creditAmount)).toBe(true);
          const spent = transactions.map(({ amount }) => Number(textOf(amount)) * 100).reduce((a, b) => a + b, 0);
          expect(Math.round(spent)).toBe(Math.round(Number(textOf(consumedAmount)) * 100));
        }
      }),
      { numRuns: runs(30) },
    );
  });
});
