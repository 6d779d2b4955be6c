import { backtest } from "../../src/analysis/backtest/backtest.ts";
/** A backtest of five drafts, beside one preview of the same events. */
import { parsePlan } from "../../src/book/book.ts";
import { preview } from "../../src/ledger/preview/preview.ts";
import type { Bench } from "../bench.ts";
import { measure } from "../bench.ts";
import { METERS, monthBook, monthEvents } from "../metering/scenario.ts";

const EVENTS = { smoke: 2_000, full: 1_000_000 } as const;
const DRAFTS = 5;
const ROUNDS = 3;

/** Totals alone, without causes and lines. */
export const backtestBenches: readonly Bench[] = [
  {
    name: "backtest of five drafts beside one preview, wanted at most 1.5 times",
    run: (size) => compare(EVENTS[size]),
  },
];

/** Both sides in turn over the same events; the best of each counts. */
function compare(count: number): readonly string[] {
  const book = monthBook(true);
  const events = monthEvents(count);
  const drafts = Array.from({ length: DRAFTS }, (_, index) => parsePlan(draftOf(index), book));
  let [previewed, tested] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS; round++) {
    previewed = Math.min(
      previewed,
      measure(() => {
        if (preview(book, events).invoices.length === 0) throw new Error("a preview without invoices");
      }),
    );
    tested = Math.min(
      tested,
      measure(() => {
        const { plans } = backtest(book, drafts, { events, lines: false });
        if (plans.some(({ accounts }) => accounts.length === 0)) throw new Error("a draft without accounts");
      }),
    );
  }
  const rate = (taken: number): string => Math.round(count / taken).toLocaleString("en-US");
  return [
    `one preview: ${previewed.toFixed(2)} s, ${rate(previewed)} events/s`,
    `${DRAFTS} drafts and the current plans: ${tested.toFixed(2)} s, ${(tested / previewed).toFixed(2)} times one preview`,
  ];
}

/** Each draft with two slabs and rates of its own. */
function draftOf(index: number): object {
  return {
    id: `pp.draft-${index}`,
    name: `Draft ${index}`,
    pricePlanDetails: {
      supportedCurrencies: ["USD"],
      pricingCycleConfig: { interval: "MONTHLY", startOffset: { dayOffset: "1" } },
      usageRateCards: METERS.map(({ id }) => ({
        usageMeterId: id,
        ratePlan: {
          pricingModel: "TIERED",
          slabs: [
            { order: 1, startAfter: 0, priceType: "PER_UNIT" },
            { order: 2, startAfter: 100_000 * (index + 1), priceType: "PER_UNIT" },
          ],
        },
        rateValues: [
          {
            currency: "USD",
            slabRates: [
              { order: 1, rate: "0.0012" },
              { order: 2, rate: "0.0008" },
            ],
          },
        ],
      })),
    },
  };
}
