/** Labels that affect an amount are verified like figures: the kind of price, line, invoice or day. */
import { describe, expect, test } from "vitest";

import { DAY_MS } from "../../src/calendar/instant.ts";
import { meter, parseBook, preview } from "../../src/index.ts";
import type { EventInput } from "../../src/metering/event-envelope.ts";
import { verify } from "../../src/verify.ts";
import { catalogBook } from "../book/catalog-book.ts";
import { exampleEvents, exampleText, previewExample } from "../support/examples.ts";
import { goldenCases } from "../support/golden.ts";

/** Some golden cases of every kind: each changed label requires a verification of all invoices of its case. */
const EVERY = 9;
const invoiceSets: readonly unknown[] = [
  previewExample("cloud-storage", exampleEvents("cloud-storage", "events.ndjson"), { explain: true }).invoices,
  ...goldenCases()
    .filter((_, index) => index % EVERY === 0)
    .map(({ book, events, options }) => {
      return preview(catalogBook(book), events as Iterable<EventInput>, { ...options, explain: true }).invoices;
    }),
].map((invoices) => JSON.parse(JSON.stringify(invoices)) as unknown);

type Holder = Readonly<Record<string, unknown>>;
/** Another value of a label, or none to keep it. */
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
const LINE_TYPES = [
  ...new Set([...JSON.stringify(invoiceSets).matchAll(/"type":"(\w+)"/g)].map(([, type = ""]) => type)),
];
const oneOf = (label: string, values: readonly string[]): Change => {
  return (name, value) => (name === label ? next(values, value) : undefined);
};

describe("S13.6 a changed label is detected:", () => {
  test.each<[string, Change]>([
    ["the type of a line", oneOf("type", LINE_TYPES)],
    ["the type of an explanation", oneOf("of", ["CARD", "SUM", "SLAB", "BOUNDS", "TRUE_UP", "CREDIT"])],
    [
      "the type of an invoice, unless it charges an increase as a cycle begins",
      (name, value, holder) => {
        if (value === "STANDARD_ADVANCED" && JSON.stringify(holder).includes('"least"')) return undefined;
        return oneOf("invoiceType", ["STANDARD", "STANDARD_ADVANCED", "AD_HOC"])(name, value, holder);
      },
    ],
    [
      "how a slab is priced, unless the price is the same",
      (name, value, { rate, quantity, packageSize }) => {
        if (name !== "priceType" || rate === "0" || quantity === "1" || quantity === packageSize) return undefined;
        return value === "FLAT" ? "PER_UNIT" : "FLAT";
      },
    ],
    [
      "the days that a card served, except of seats charged in full in advance",
      (name, value, { type }) => {
        const { served } = (name === "explanation" ? value : {}) as { readonly served?: { readonly until: string } };
        if (served === undefined || type === "ADVANCED_LICENSE_RATE_CARD_AMOUNT") return undefined;
        const until = new Date(Date.parse(served.until) - DAY_MS).toISOString();
        return { ...(value as object), served: { ...served, until } };
      },
    ],
  ])("%s", (_, change) => {
    let attempts = 0;
    for (const invoices of invoiceSets) {
      for (const copy of changedCopies(invoices, change)) {
        attempts++;
        if (verify({ invoices: copy }).differences.length > 0) continue;
        expect.fail(`not found: ${JSON.stringify(copy)}`);
      }
    }
    expect(attempts).toBeGreaterThan(20);
  });
});

test.each(["cloud-storage", "seats-and-usage"])(
  "S17.1 with the usage, an invoice in arrears under another account's name is detected: %s",
  (example) => {
    const events = exampleEvents(example, "events.ndjson");
    const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
    const usage = json(meter(parseBook(JSON.parse(exampleText(example, "book.json"))), events).usage) as object[];
    const invoices = json(previewExample(example, events, { explain: true }).invoices) as readonly {
      readonly accountId: string;
      readonly invoiceType: string;
    }[];
    expect(verify({ invoices, usage }).differences).toEqual([]);
    const standard = invoices.filter(({ invoiceType }) => invoiceType === "STANDARD");
    let attempts = 0;
    for (const a of standard) {
      for (const b of standard.filter(({ accountId }) => accountId > a.accountId)) {
        const withSwappedLabels = invoices.map((each) => {
          return each === a ? { ...a, accountId: b.accountId } : each === b ? { ...b, accountId: a.accountId } : each;
        });
        expect(verify({ invoices: withSwappedLabels, usage }).differences).not.toEqual([]);
        attempts++;
      }
    }
    expect(attempts).toBeGreaterThan(0);
  },
);
