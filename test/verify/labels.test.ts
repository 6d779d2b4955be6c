/** Labels that say something of an amount are verified as figures are: what kind of price, line, invoice or day it is. */
import { describe, expect, test } from "vitest";

import { preview } from "../../src/index.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { verify } from "../../src/verify.ts";
import { bookOf } from "../book/catalog-book.ts";
import { exampleEvents, previewExample } from "../support/examples.ts";
import { goldenCases } from "../support/golden.ts";

/** Some golden cases of every kind: each changed label is a verification of all invoices of its case. */
const EVERY = 9;
const worked: readonly unknown[] = [
  previewExample("cloud-storage", exampleEvents("cloud-storage", "events.ndjson"), { explain: true }).invoices,
  ...goldenCases()
    .filter((_, index) => index % EVERY === 0)
    .map(({ book, events, options }) => {
      return preview(bookOf(book), events as Iterable<EventInput>, { ...options, explain: true }).invoices;
    }),
].map((invoices) => JSON.parse(JSON.stringify(invoices)) as unknown);

type Holder = Readonly<Record<string, unknown>>;
/** Another value of a label, or none to leave it. */
type Change = (name: string, value: unknown, holder: Holder) => unknown;

/** Every copy of a JSON value with one label changed. */
function* changedCopies(value: unknown, change: Change): Generator {
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    const withPart = (other: unknown): unknown =>
      Array.isArray(value)
        ? value.map((each: unknown, at) => (String(at) === name ? other : each))
        : { ...value, [name]: other };
    const other = change(name, part, value as Holder);
    if (other !== undefined) yield withPart(other);
    for (const below of changedCopies(part, change)) yield withPart(below);
  }
}

const next = (values: readonly string[], value: unknown): string | undefined =>
  values[(values.indexOf(String(value)) + 1) % values.length];
const LINE_TYPES = [...new Set([...JSON.stringify(worked).matchAll(/"type":"(\w+)"/g)].map(([, type = ""]) => type))];
const oneOf = (label: string, values: readonly string[]): Change => {
  return (name, value) => (name === label ? next(values, value) : undefined);
};

describe("S13.6 a changed label is found:", () => {
  test.each<[string, Change]>([
    ["the type of a line", oneOf("type", LINE_TYPES)],
    ["what an explanation is of", oneOf("of", ["CARD", "SUM", "SLAB", "BOUNDS", "TRUE_UP", "CREDIT"])],
    [
      "the type of an invoice, unless it charges an increase as a cycle begins",
      (name, value, holder) => {
        if (value === "STANDARD_ADVANCED" && JSON.stringify(holder).includes('"least"')) return undefined;
        return oneOf("invoiceType", ["STANDARD", "STANDARD_ADVANCED", "AD_HOC"])(name, value, holder);
      },
    ],
    [
      "how a slab is priced, unless it comes to the same",
      (name, value, { rate, quantity, packageSize }) => {
        if (name !== "priceType" || rate === "0" || quantity === "1" || quantity === packageSize) return undefined;
        return value === "FLAT" ? "PER_UNIT" : "FLAT";
      },
    ],
  ])("%s", (_, change) => {
    let tried = 0;
    for (const invoices of worked) {
      for (const copy of changedCopies(invoices, change)) {
        tried++;
        if (verify({ invoices: copy }).differences.length > 0) continue;
        expect.fail(`not found: ${JSON.stringify(copy)}`);
      }
    }
    expect(tried).toBeGreaterThan(20);
  });
});
