/** Invoices of meters that do not sum (S19), with figures worked by hand. */
import { describe, expect, test } from "vitest";

import { readBook } from "../../../src/book/book.ts";
import type { ShortMeterInput } from "../../../src/book/resources/short-items.ts";
import { preview } from "../../../src/ledger/preview/preview.ts";
import { sampleBook, sampleEvents, type SampleTerms } from "../../support/samples.ts";

/** The quantities and amounts of October, at 1.00 for a unit unless the terms differ. */
function bill(meter: Partial<ShortMeterInput>, samples: string, terms?: SampleTerms) {
  const range = { from: "2026-10-01", until: "2026-11-01" };
  const { invoices, problems } = preview(readBook(sampleBook(meter, terms)), sampleEvents(samples), range);
  expect(problems).toEqual([]);
  const [invoice] = invoices;
  const quantities = invoice?.usageInfo?.lineItems.map(({ quantity }) => quantity.toFixed());
  return `${quantities?.join()} for ${invoice?.revenueInfo.value.toFixed(2)}`;
}

describe("S19.1 the quantity of October", () => {
  const peaks = "09-30T23:59 99, 10-14T10:00 48, 10-14T11:00 50, 10-20T10:00 7";
  test("of MAX is the peak, of MIN the low; if daily, the sum of those of the days", () => {
    expect(bill({ max: "value" }, peaks)).toBe("50 for 50.00");
    expect(bill({ max: "value", daily: true }, peaks)).toBe("57 for 57.00");
    expect(bill({ min: "value" }, peaks)).toBe("7 for 7.00");
    expect(bill({ min: "value", daily: true }, peaks)).toBe("55 for 55.00");
  });
  test("of MAX of negative values is negative, and priced as zero", () => {
    const negative = "10-02T10:00 -5, 10-03T10:00 -3";
    expect(bill({ max: "value" }, negative)).toBe("-3 for 0.00");
  });
  test("of UNIQUE_COUNT counts a user once; if daily, once on each day", () => {
    const users = "10-02T10:00 ann, 10-02T11:00 ann, 10-02T10:00 bob, 10-09T10:00 ann";
    expect(bill({ unique: "user" }, users)).toBe("2 for 2.00");
    expect(bill({ unique: "user", daily: true }, users)).toBe("3 for 3.00");
  });
  test("of UNIQUE_COUNT by region counts a user of two regions twice", () => {
    const users = "10-02T10:00 ann eu, 10-02T11:00 ann us";
    expect(bill({ unique: "user", groupBy: ["region"] }, users)).toBe("2 for 2.00");
  });
  test("of LATEST is the last value, or that of September if it is carried over", () => {
    const values = "09-12T10:00 5";
    expect(bill({ latest: "value" }, `${values}, 10-30T10:00 3`)).toBe("3 for 3.00");
    expect(bill({ latest: "value", carryOver: true }, values)).toBe("5 for 5.00");
    expect(bill({ latest: "value", carryOver: true }, `${values}, 10-30T10:00 1`)).toBe("1 for 1.00");
  });
  test("of a level is its average: (40 × 744 + 80 × 686 − 20 × 156) ÷ 744 hours", () => {
    const changes = "09-12T00:00 40, 10-03T10:00 80, 10-25T12:00 -20";
    const levels = "09-12T00:00 40, 10-03T10:00 120, 10-25T12:00 100";
    expect(bill({ change: "value" }, changes)).toBe("109.56989247311827956989 for 109.57");
    expect(bill({ level: "value" }, levels)).toBe("109.56989247311827956989 for 109.57");
  });
});

describe("S19.4 a cycle that ends on 16 October, after 15 of 31 days", () => {
  const until = "2026-10-16";
  test("prorates the price of a level: 100 units, 50 free, then 0.62 is 31.00 × 15 ÷ 31", () => {
    const usage = [{ meter: "m", tiers: [{ upTo: 50, rate: 0 }, { rate: "0.62" }] }];
    expect(bill({ level: "value" }, "09-01T00:00 100", { usage, until })).toBe("100 for 15.00");
  });
  test("prorates the price of a peak if the card says so: 62 × 15 ÷ 31", () => {
    const peak = "10-02T00:00 62";
    expect(bill({ max: "value" }, peak, { until })).toBe("62 for 62.00");
    expect(bill({ max: "value" }, peak, { usage: [{ meter: "m", rate: 1, prorate: true }], until })).toBe(
      "62 for 30.00",
    );
  });
  test("does not prorate an allowance besides the price: 62 − 31 at 1.00 × 15 ÷ 31", () => {
    const rateTable = { allowance: { quantity: 31 }, rows: [{ rate: 1 }] };
    const usage = [{ meter: "m", rateTable, prorate: true }];
    expect(bill({ max: "value", groupBy: ["region"] }, "10-02T00:00 62", { usage, until })).toBe("62 for 15.00");
  });
});

test("S19.3 a peak that rises after a price cut costs the new price above the old peak: 10 × 2.00 + 5 × 1.00", () => {
  const rows = [
    { when: { region: "eu" }, rate: 2 },
    { when: { region: "eu" }, from: "2026-10-15", rate: 1 },
  ];
  const usage = [{ meter: "m", rateTable: { rows } }];
  const samples = "10-03T10:00 10, 10-20T10:00 15, 10-21T10:00 12";
  expect(bill({ max: "value", groupBy: ["region"] }, samples, { usage })).toBe("15 for 25.00");
});
