/** A backtest of five drafts, compared with one preview of the same events. */

import { backtest } from "../../src/analysis/backtest/backtest.ts";
import { parsePlan } from "../../src/book/book.ts";
import { preview } from "../../src/ledger/preview/preview.ts";
import { type Bench, measure } from "../bench.ts";
import { METERS, createMonthBook, createMonthEvents } from "../metering/scenario.ts";

const EVENTS = { smoke: 2_000, full: 1_000_000 } as const;
const DRAFTS = 5;
const ROUNDS = 3;

/** Totals only, without causes and lines. */
export const backtestBenches: readonly Bench[] = [
  {
    name: "backtest of five drafts compared with one preview, target: at most 1.5 times its time",
    run: (size) => compareBacktest(EVENTS[size]),
  },
];

/** Runs both sides alternately on the same events; the best time of each counts. */
function compareBacktest(count: number): readonly string[] {
  const book = createMonthBook(true);
  const events = createMonthEvents(count);
  const drafts = Array.from({ length: DRAFTS }, (_, index) => parsePlan(createDraft(index), book));
  let [previewSeconds, backtestSeconds] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS; round++) {
    previewSeconds = Math.min(
      previewSeconds,
      measure(() => {
        if (preview(book, events).invoices.length === 0) throw new Error("a preview without invoices");
      }),
    );
    backtestSeconds = Math.min(
      backtestSeconds,
      measure(() => {
        const { plans } = backtest(book, drafts, { events, lines: false });
        if (plans.some(({ accounts }) => accounts.length === 0)) throw new Error("a draft without accounts");
      }),
    );
  }
  const eventsPerSecond = (seconds: number): string => Math.round(count / seconds).toLocaleString("en-US");
  return [
    `one preview: ${previewSeconds.toFixed(2)} s, ${eventsPerSecond(previewSeconds)} events/s`,
    `${DRAFTS} drafts and the current plans: ${backtestSeconds.toFixed(2)} s, ${(backtestSeconds / previewSeconds).toFixed(2)} times one preview`,
  ];
}

/** Each draft has two slabs and its own rates. */
function createDraft(index: number): object {
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
