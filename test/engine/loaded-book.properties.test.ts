/** A preview of a book and an engine that was loaded with it the day before make the same invoices, to the cent (S13.5). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { DAY_MS, formatInstant, parseDate } from "../../src/calendar/instant.ts";
import { type Invoice, preview, readBook } from "../../src/index.ts";
import { textOf } from "../../src/numbers/decimal.ts";
import { linesOf } from "../support/invoice-lines.ts";
import { engineAt } from "./support.ts";

const FIRST = parseDate("2024-06-01");
const HOUR_MS = 3_600_000;
const RANGE = { from: "2024-06-01", until: "2024-10-01" };
const day = (days: number): string => formatInstant(FIRST + days * DAY_MS).slice(0, 10);
const hour = (hours: number): string => formatInstant(FIRST + hours * HOUR_MS);

const plan = (id: string, rate: number, enableProration: boolean): object => ({
  id,
  name: id,
  status: "ACTIVE",
  pricePlanDetails: {
    supportedCurrencies: ["USD"],
    pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" } },
    fixedFeeRateCards: [
      {
        id: "addon.fee",
        invoiceTiming: "IN_ADVANCE",
        enableProration,
        rateValues: [{ currency: "USD", rate: 10 * rate }],
      },
    ],
    licenseRateCards: [
      {
        id: "addon.seats",
        invoiceTiming: "IN_ADVANCE",
        enableProration,
        proratedRefundMode: "CREDITS",
        ratePlan: {
          pricingModel: "VOLUME",
          slabs: [
            { order: 1, startAfter: 0, priceType: "PER_UNIT" },
            { order: 2, startAfter: 10, priceType: "PER_UNIT" },
          ],
        },
        rateValues: [
          {
            currency: "USD",
            slabRates: [
              { order: 1, rate },
              { order: 2, rate: rate / 2 },
            ],
          },
        ],
      },
    ],
  },
});

const bookOf = (account: object): object => ({
  organization: { id: "org", baseCurrency: "USD" },
  addOns: [
    { id: "addon.fee", name: "Fee", type: "FIXED_FEE" },
    { id: "addon.seats", name: "Seats", type: "LICENSE" },
  ],
  pricePlans: [plan("a", 10, true), plan("b", 7, true), plan("c", 12, false)],
  customers: [{ id: "ann", name: "Ann" }],
  accounts: [{ id: "acc", name: "Account", customerId: "ann", ...account }],
});

const account = fc
  .record({
    changes: fc.array(
      fc.record({
        pricePlanId: fc.constantFrom("a", "b", "c"),
        wait: fc.integer({ min: 1, max: 30 * 24 }),
        ahead: fc.nat(20),
      }),
      { maxLength: 3 },
    ),
    saysWhen: fc.boolean(),
    updates: fc.array(fc.record({ hours: fc.oneof(fc.nat(72), fc.nat(90 * 24)), quantity: fc.nat(20) }), {
      maxLength: 6,
    }),
    credits: fc.array(fc.record({ from: fc.nat(60), creditAmount: fc.integer({ min: 1, max: 200 }) }), {
      maxLength: 2,
    }),
  })
  .map(({ changes, saysWhen, updates, credits }) => {
    let now = 0;
    return {
      pricePlans: [
        { pricePlanId: "a", effectiveFrom: day(0) },
        ...changes.map(({ pricePlanId, wait, ahead }) => {
          // At noon, so that nothing else happens at that very instant.
          now += wait;
          const today = Math.floor(now / 24);
          const said = saysWhen ? { decidedAt: hour(today * 24 + 12.5) } : {};
          return { pricePlanId, effectiveFrom: day(today + 1 + ahead), ...said };
        }),
      ],
      licenseUpdates: updates.map(({ hours, quantity }) => ({
        licenseId: "addon.seats",
        effectiveFrom: hour(hours),
        quantity,
      })),
      credits: credits.map(({ from, creditAmount }, index) => ({
        id: `credit.${index}`,
        purpose: "gift",
        creditAmount,
        effectiveFrom: day(from),
      })),
    };
  });

const shown = (invoices: readonly Invoice[]): readonly string[] =>
  invoices
    .map(({ invoiceType, startDate, endDate, invoiceDate, pricePlanId, revenueInfo }) =>
      [
        [invoiceType, startDate, endDate, invoiceDate, pricePlanId].join(" "),
        ...linesOf(revenueInfo).map(({ line }) => `${line.type} ${textOf(line.value)}`),
      ].join("\n"),
    )
    .toSorted();

async function finalsOf(book: object): Promise<readonly Invoice[]> {
  const { engine, at } = engineAt("2024-05-31");
  await engine.load(book);
  at("2025-06-01");
  await engine.finalize();
  const all: Invoice[] = [];
  let page = await engine.invoices.list();
  for (;;) {
    all.push(...page.items.map(({ invoice }) => invoice));
    if (page.next === undefined) break;
    page = await engine.invoices.list({}, { after: page.next });
  }
  return all.filter(({ startDate }) => startDate < RANGE.until);
}

describe("a book that an engine is loaded with before its first day", () => {
  test("S9.2 S9.5 a plan change that is decided in the middle of a cycle gives back what was charged", async () => {
    const book = bookOf({
      pricePlans: [
        { pricePlanId: "a", effectiveFrom: "2024-06-01" },
        { pricePlanId: "b", effectiveFrom: "2024-06-16" },
      ],
    });
    const finals = await finalsOf(book);
    // 100 for June on the 1st. On the 16th 100 × 15/30 = 50 comes back and pays 35 of plan b, 70 × 15/30; 15 are left for July.
    expect(
      finals
        .map(({ invoiceDate, revenueInfo }) => `${invoiceDate.slice(0, 10)} ${textOf(revenueInfo.value)}`)
        .toSorted()
        .slice(0, 3),
    ).toEqual(["2024-06-01 100", "2024-06-16 0", "2024-07-01 55"]);
  });

  test("S13.5 S10.3 is invoiced as a preview shows it", async () => {
    await fc.assert(
      fc.asyncProperty(account, async (given) => {
        const book = bookOf(given);
        const { invoices } = preview(readBook(book), [], RANGE);
        expect(shown(await finalsOf(book))).toEqual(shown(invoices));
      }),
      { numRuns: 40 },
    );
  });

  test("S9.2 S16.1 a plan that is associated afterwards is laid over what the book says of later days", async () => {
    const { engine, at } = engineAt("2024-05-31");
    const later = { pricePlanId: "b", effectiveFrom: "2024-09-01" };
    await engine.load(bookOf({ pricePlans: [{ pricePlanId: "a", effectiveFrom: "2024-06-01" }, later] }));
    at("2024-06-10T09:00:00Z");
    await engine.associate("acc", { pricePlanId: "c", effectiveFrom: "2024-07-01" });
    at("2024-10-01");
    await engine.finalize();
    const plans = (await engine.invoices.list()).items.map(({ invoice }) => invoice);
    const begun = plans.map(({ startDate, pricePlanId }) => `${startDate.slice(0, 7)} ${pricePlanId}`).toSorted();
    expect(begun).toEqual(["2024-06 a", "2024-07 c", "2024-08 c", "2024-09 c", "2024-10 c"]);
  });
});
