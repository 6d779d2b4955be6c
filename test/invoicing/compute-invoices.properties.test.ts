import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { DAY_MS, formatInstant } from "../../src/calendar/instant.ts";
import { computeInvoices } from "../../src/invoicing/compute-invoices.ts";
import type { Invoice } from "../../src/invoicing/invoice.ts";
import { cyclesIn } from "../../src/invoicing/timeline.ts";
import { minorUnitDigits } from "../../src/numbers/currency.ts";
import { Decimal, sum } from "../../src/numbers/decimal.ts";
import { createSlabPricing } from "../rating/cards.ts";
import { headOf, flattenLines, linesOfType } from "../support/invoice-lines.ts";
import { runs } from "../support/runs.ts";
import { type AccountToBill, billedAccounts, FIRST, SPAN_DAYS } from "./account-arbitrary.ts";
import { decision, viewOf } from "./plans.ts";

/** Each run calculates a whole account, so fewer runs are enough. */
const RUNS = { numRuns: runs(25) };
const UNTIL = FIRST + SPAN_DAYS * DAY_MS;

function computeAll({ view, catalog }: AccountToBill, from = FIRST, until = UNTIL): readonly Invoice[] {
  return computeInvoices(view, catalog, { from, until, explain: true });
}

describe("all invoices", () => {
  test("S1.5 no value has more digits than the minor unit", () => {
    fc.assert(
      fc.property(billedAccounts, (account) => {
        const digits = minorUnitDigits(account.view.currency);
        for (const { revenueInfo } of computeAll(account)) {
          for (const { line } of flattenLines(revenueInfo))
            expect(line.value.decimalPlaces()).toBeLessThanOrEqual(digits);
        }
      }),
      RUNS,
    );
  });

  test("S13.1 no invoice is empty, and none is duplicated", () => {
    fc.assert(
      fc.property(billedAccounts, (account) => {
        const invoices = computeAll(account);
        for (const invoice of invoices) {
          const leaves = flattenLines(invoice.revenueInfo).filter(({ line }) => line.lineItems === undefined);
          const charges = leaves.filter(({ line }) => line.type !== "SUB_TOTAL_AMOUNT" && line.type !== "SUB_CREDITS");
          expect(charges.length + (invoice.usageInfo?.lineItems.length ?? 0)).toBeGreaterThan(0);
        }
        const heads = invoices.map(
          (invoice) => `${headOf(invoice)} ${invoice.pricePlanId}@${invoice.pricePlanVersion}`,
        );
        expect(new Set(heads).size).toBe(heads.length);
      }),
      RUNS,
    );
  });

  test("S12.3 credits never make a net amount negative, nor exceed their own amount", () => {
    fc.assert(
      fc.property(billedAccounts, (account) => {
        for (const invoice of computeAll(account)) {
          const [gross] = linesOfType(invoice, "GROSS_AMOUNT");
          const credits = linesOfType(invoice, "SUB_CREDITS");
          if (credits.length > 0) expect(invoice.revenueInfo.value.isNegative()).toBe(false);
          else expect(invoice.revenueInfo.value.eq(gross?.value ?? 0)).toBe(true);
        }
        const overdrawn = account.view.credits.map(({ id, creditAmount }) => {
          const creditLines = computeAll(account).flatMap((invoice) =>
            linesOfType(invoice, "SUB_CREDITS").filter((line) => line.id === id),
          );
          return creditLines.reduce((rest, line) => rest.plus(line.value), creditAmount).isNegative();
        });
        expect(overdrawn).not.toContain(true);
      }),
      RUNS,
    );
  });

  test("S13.3 a cycle's invoices reach its part of the commitment, with no larger true-up", () => {
    fc.assert(
      fc.property(billedAccounts, (account) => {
        const invoices = computeAll(account);
        const unit = new Decimal(`1e-${minorUnitDigits(account.view.currency)}`);
        for (const cycle of cyclesIn(account.view.timeline, FIRST, UNTIL)) {
          const { details, planId } = cycle.term.plan;
          const [start, end] = [formatInstant(cycle.start), formatInstant(cycle.end)];
          const own = invoices.filter(
            ({ startDate, pricePlanId, invoiceType, invoiceDate, endDate }) =>
              pricePlanId === planId &&
              start <= startDate &&
              startDate < end &&
              // Charges that were known only after the cycle was closed.
              !(invoiceType === "AD_HOC" && invoiceDate === endDate),
          );
          const sumOfType = (type: "SUB_TOTAL_AMOUNT" | "TRUE_UP_AMOUNT"): Decimal =>
            sum(own.flatMap((invoice) => linesOfType(invoice, type).map(({ value }) => value)));
          const [subTotal, trueUp] = [sumOfType("SUB_TOTAL_AMOUNT"), sumOfType("TRUE_UP_AMOUNT")];
          const rate = details.minimumCommitment?.rateValues[0]?.rate ?? new Decimal(0);
          const days = (cycle.end - cycle.start) / DAY_MS;
          const part = rate.times(days).div((cycle.natural.end - cycle.natural.start) / DAY_MS);
          const refunds = own.flatMap((invoice) =>
            linesOfType(invoice, "TRUE_UP_AMOUNT").flatMap(({ explanation }) =>
              explanation?.of === "TRUE_UP" ? (explanation.refunds ?? []).map(({ value }) => value) : [],
            ),
          );
          const chargedBefore = subTotal.minus(sum(refunds));
          if (trueUp.gt(0)) expect(chargedBefore.plus(trueUp).minus(part).abs().lt(unit)).toBe(true);
          else if (details.minimumCommitment) expect(subTotal.gt(part.minus(unit))).toBe(true);
        }
      }),
      RUNS,
    );
  });

  test("S13.5 before credits the preview of a range is the union of the previews of its cycles", () => {
    const grossOf = (invoices: readonly Invoice[]): readonly string[] =>
      invoices
        .map((invoice) => `${headOf(invoice)} ${linesOfType(invoice, "GROSS_AMOUNT")[0]?.value.toFixed() ?? ""}`)
        .toSorted();
    fc.assert(
      fc.property(billedAccounts, (account) => {
        const cycles = cyclesIn(account.view.timeline, FIRST, UNTIL);
        const single = cycles.flatMap(({ start }) => computeAll(account, start, start + 1));
        expect(grossOf(single)).toEqual(grossOf(computeAll(account)));
      }),
      RUNS,
    );
  });

  test("S13.1 invoices are listed in the order in which they consume credits", () => {
    const kinds = ["STANDARD", "STANDARD_ADVANCED", "AD_HOC"];
    fc.assert(
      fc.property(billedAccounts, (account) => {
        const places = computeAll(account).map(
          ({ invoiceDate, invoiceType }) => `${invoiceDate} ${kinds.indexOf(invoiceType)}`,
        );
        expect(places).toEqual(places.toSorted());
      }),
      RUNS,
    );
  });

  test("S1.4 a minimum of 48.338 for 22 of 31 days can be printed, although its hundredth digit is a zero", () => {
    const [account] = fc.sample(billedAccounts, { numRuns: 1, seed: 1 });
    const pricing = createSlabPricing("TIERED", [{ after: 0, rate: 0 }], { minimumRate: "48.338" });
    const licenseRateCards = [{ id: "addon.seats", enableProration: true, ...pricing }];
    if (account === undefined) throw new Error("a sample has one account");
    const view = viewOf([decision("2024-01-10", { details: { licenseRateCards } })]);
    const [january] = computeAll({ ...account, view }, FIRST, FIRST + 1);
    // 48.338 × 22/31 = 34.304387…
    expect(january && linesOfType(january, "LICENSE_RATE_CARD_AMOUNT")[0]?.exactValue?.slice(0, 9)).toBe("34.304387");
  });
});
