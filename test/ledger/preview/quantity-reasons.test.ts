/** What explanations and traces say of quantities that are no sums (S13.6, S19). */
import { describe, expect, test } from "vitest";

import { readBook } from "../../../src/book/book.ts";
import type { ShortMeterInput } from "../../../src/book/resources/short-items.ts";
import { toInstant } from "../../../src/calendar/instant.ts";
import { formatTrace } from "../../../src/cli/table/trace-text.ts";
import { createEngine } from "../../../src/engine/engine.ts";
import { invoiceRows } from "../../../src/invoicing/invoice-rows.ts";
import type { Invoice } from "../../../src/invoicing/invoice.ts";
import { preview, type PreviewOptions } from "../../../src/ledger/preview/preview.ts";
import { memoryStore } from "../../../src/store/memory/memory.ts";
import { verify } from "../../../src/verify.ts";
import { sampleBook, sampleEvents } from "../../support/samples.ts";

const OCTOBER: PreviewOptions = { from: "2026-10-01", until: "2026-11-01", explain: true };

/** The reasons of an invoice's usage card that cite S19.1. */
function reasonsOf(invoice: Invoice | undefined): readonly string[] {
  if (invoice === undefined) return [];
  const texts = invoiceRows(invoice).flatMap((row) => (row.kind === "text" ? [row] : []));
  return texts.flatMap(({ text, rules }) => (rules.some((rule) => rule.endsWith("#s19.1")) ? [text] : []));
}

/** What October's invoice says of the quantity; it is verified too. */
function explain(meter: Partial<ShortMeterInput>, samples: string, usage: object = { rate: 1 }): string {
  const book = readBook(sampleBook(meter, { usage: [{ meter: "m", ...usage }] }));
  const { invoices } = preview(book, sampleEvents(samples), OCTOBER);
  expect(verify({ invoices: JSON.parse(JSON.stringify(invoices)) }).differences).toEqual([]);
  return reasonsOf(invoices[0]).at(-1) ?? "";
}

describe("S13.6 the reason of a quantity", () => {
  const peaks = "10-02T10:00 30, 10-14T10:00 48, 10-20T10:00 48, 10-20T11:00 12";
  test("of MAX and MIN names the first day with the value; if daily, the day with the most", () => {
    expect(explain({ max: "value" }, peaks)).toBe("the peak in the billing period: 48 on 2026-10-14");
    expect(explain({ min: "value" }, peaks)).toBe("the lowest value in the billing period: 12 on 2026-10-20");
    expect(explain({ max: "value", daily: true }, peaks)).toBe(
      "the sum of the peaks of 3 days: at most 48 on 2026-10-14",
    );
  });

  test("of groups names the three largest", () => {
    const samples = "10-01T10:00 1, 10-02T10:00 2 us, 10-03T10:00 3 in, 10-04T10:00 4 br";
    expect(explain({ max: "value", groupBy: ["region"] }, samples)).toBe(
      "the peaks of 4 groups in the billing period: us: 2 on 2026-10-02; in: 3 on 2026-10-03; br: 4 on 2026-10-04; and 1 more group",
    );
  });

  test("of a price table stands beside the units of its rows", () => {
    const usage = { rateTable: { rows: [{ when: { region: "eu" }, rate: "1" }, { rate: "2" }] } };
    expect(explain({ max: "value", groupBy: ["region"] }, `${peaks}, 10-03T10:00 5 us`, usage)).toBe(
      "the peaks of 2 groups in the billing period: eu: 48 on 2026-10-14; us: 5 on 2026-10-03",
    );
  });

  test("of UNIQUE_COUNT says how many values were new on the last day with new ones", () => {
    const name = "the number of different values in the billing period";
    expect(explain({ unique: "user" }, peaks)).toBe(`${name}: 3, 1 of them new on 2026-10-20`);
    expect(explain({ unique: "user" }, "10-02T10:00 30")).toBe(`${name}: 1, all of them new on 2026-10-02`);
  });

  test("of LATEST names the time, also before the period", () => {
    const meter = { latest: "value", carryOver: true };
    expect(explain(meter, peaks)).toBe("the last value in the billing period: 12 from 2026-10-20T11:00Z");
    expect(explain(meter, "09-12T08:00 7")).toBe(
      "the last value in the billing period: 7 from 2026-09-12T08:00Z, before the billing period",
    );
  });

  // 40 until 3 October 10:00 is 58 hours, 2.42 days; 120 until 1 November is 686 hours, 28.58 days.
  test("of a level names the levels that weigh most, and how long they held", () => {
    const name = "the average level in the billing period";
    const levels = "09-20T10:00 40, 10-03T10:00 120";
    const from40 = "40 from before the billing period for 2.42 days";
    expect(explain({ level: "value" }, levels)).toBe(`${name}: ${from40}; 120 from 2026-10-03T10:00Z for 28.58 days`);
    const more = `${levels}, 10-31T12:00 1, 10-31T18:00 2`;
    expect(explain({ level: "value" }, more)).toBe(
      `${name}: ${from40}; 120 from 2026-10-03T10:00Z for 28.08 days; 2 from 2026-10-31T18:00Z for 0.25 days; and 1 more level`,
    );
  });

  test("of changes of a level names the level at the end of days", () => {
    const changes = "09-20T10:00 40, 10-03T10:00 80, 10-03T11:00 -20";
    expect(explain({ change: "value" }, changes)).toBe(
      "the average level in the billing period: 40 from before the billing period; 100 from the end of 2026-10-03",
    );
  });
});

test("S19.5 a draft of an engine says how many days are to come; its final invoice says what a preview says", async () => {
  let now = toInstant("2026-09-01");
  const engine = createEngine({ store: memoryStore(), clock: () => now });
  const book = sampleBook({ level: "value" });
  await engine.load(book);
  now = toInstant("2026-10-11T12:00:00Z");
  const events = sampleEvents("10-01T00:00 40");
  await engine.ingest(events);
  const readReasons = async (): Promise<readonly string[]> => {
    const filter = { accountId: "contoso", from: "2026-10-01", until: "2026-11-01" };
    const { items } = await engine.invoices.list({ filter });
    return reasonsOf(items[0]?.invoice);
  };
  const name = "the average level in the billing period: 40 from 2026-10-01T00:00Z for";
  expect(await readReasons()).toEqual([`${name} 10 days; 21 days to come count as 0`]);
  now = toInstant("2026-12-01");
  expect(await readReasons()).toEqual([`${name} 31 days`]);
  const { invoices } = preview(readBook(book), events, OCTOBER);
  expect(reasonsOf(invoices[0])).toEqual([`${name} 31 days`]);
});

test("S13.6 a trace names the event of each peak, and the change of each day", () => {
  const book = readBook(sampleBook({ max: "value", groupBy: ["region"] }));
  const events = sampleEvents("10-02T10:00 30, 10-02T11:00 5 us, 10-14T10:00 48, 10-15T10:00 48");
  const { traces = [] } = preview(book, events, { ...OCTOBER, trace: "m" });
  expect(traces.flatMap(({ events: traced }) => traced.filter(({ decides }) => decides).map(({ id }) => id))).toEqual([
    "e1",
    "e2",
  ]);
  expect(traces.flatMap((trace) => [...formatTrace(trace)])).toEqual([
    "contoso  usage of m, 2026-10-01 to 2026-11-01: 53",
    '  step 1: {"var":"attribute.value"}',
    "  the peaks of 2 groups in the billing period: eu: 48 on 2026-10-14; us: 5 on 2026-10-02",
    "  2026-10-02: +35",
    "    2026-10-02T10:00:00.000Z  30  e0  sample value=30 user=30 region=eu",
    "    2026-10-02T11:00:00.000Z  5  e1  sample value=5 user=5 region=us  → decides the quantity",
    "  2026-10-14: +18",
    "    2026-10-14T10:00:00.000Z  48  e2  sample value=48 user=48 region=eu  → decides the quantity",
    "  2026-10-15: 0",
    "    2026-10-15T10:00:00.000Z  48  e3  sample value=48 user=48 region=eu",
  ]);
});
