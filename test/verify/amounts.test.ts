/** The verifier on all figures calculated by hand: all are verified, and a changed digit or label is detected. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { DAY_MS } from "../../src/calendar/instant.ts";
import { type EventInput, type Invoice, meter, parseBook, type Preview, preview } from "../../src/index.ts";
import { computeInvoices } from "../../src/invoicing/compute-invoices.ts";
import { minorUnitDigits } from "../../src/numbers/currency.ts";
import { type Metering, type Verification, verify } from "../../src/verify.ts";
import { CATALOG } from "../book/catalog-book.ts";
import { billedAccounts, FIRST, SPAN_DAYS } from "../invoicing/account-arbitrary.ts";
import { exampleEvents, exampleText, previewExample, traceEvents } from "../support/examples.ts";
import { goldenCases } from "../support/golden.ts";
import { flattenLines } from "../support/invoice-lines.ts";
import { runs } from "../support/runs.ts";
import {
  asJson,
  digitChoices,
  expectDigitFound,
  isTerm,
  listFigures,
  meterEvents,
  previewGolden,
  withOtherDigit,
} from "./figures.ts";

/** A line of the printed invoices, to be changed. */
interface SumLine {
  readonly type: string;
  value: string;
  lineItems?: SumLine[];
}

/** Expects that every line of some invoices is verified, and every quantity from the events if they are metered. */
function expectVerified(invoices: readonly Invoice[], metering?: Metering): Verification {
  const verification = verify({ invoices: asJson(invoices), ...(metering && { metering }) });
  const lines = invoices.flatMap(({ revenueInfo }) => flattenLines(revenueInfo)).length;
  expect(verification.differences).toEqual([]);
  expect(verification.amounts).toEqual({ verified: lines, total: lines });
  return verification;
}

/** A preview, and what the verifier meters it from. */
interface VerifiedCase {
  readonly name: string;
  readonly result: Preview;
  readonly book: unknown;
  readonly events: Iterable<unknown>;
}

function toCase(name: string, example: string, events: readonly EventInput[]): VerifiedCase {
  const book: unknown = JSON.parse(exampleText(example, "book.json"));
  return { name, events, book, result: previewExample(example, events, { explain: true }) };
}

const SPAN = { from: FIRST, until: FIRST + SPAN_DAYS * DAY_MS, explain: true };
const llmEvents = [...traceEvents("code", "contoso-code"), ...traceEvents("conv", "contoso-chat")];
const verifiedCases: readonly VerifiedCase[] = [
  toCase("the model API example", "llm-api", llmEvents),
  ...["cloud-storage", "seats-and-usage"].map((name) =>
    toCase(`the example ${name}`, name, exampleEvents(name, "events.ndjson")),
  ),
  ...goldenCases().map((golden): VerifiedCase => {
    const book = { ...CATALOG.book, ...golden.book };
    return { name: golden.it, events: golden.events, book, result: previewGolden(golden) };
  }),
];
/** The events of examples, and the quantities on their invoices. */
const COUNTS: Readonly<Record<string, readonly [events: number, quantities: number]>> = {
  "the model API example": [28_185, 6],
  "the example cloud-storage": [13, 8],
  "the example seats-and-usage": [5, 3],
};
/** The invoices of every golden case and example. */
const invoiceSets = verifiedCases.map(({ name, result }) => [name, result.invoices] as const);

describe("S13.6 every line is verified", () => {
  test.each(verifiedCases)(
    "S4.3 S5.2 $name, in both orders of its invoices, with quantities from its events",
    ({ name, result, book, events }) => {
      const haveCredits = result.events["INGESTION_FAILED_INSUFFICIENT_CREDITS"] === undefined;
      const metering = meterEvents(book, events, haveCredits);
      const { quantities } = expectVerified(result.invoices, metering);
      expectVerified(result.invoices.toReversed(), metering);
      const [total, count] = COUNTS[name] ?? [];
      if (total === undefined) return;
      expect(metering.events()).toEqual({ total, unverified: 0 });
      expect(quantities).toEqual({ verified: count, total: count });
    },
  );

  test("S13.6 for any account", () => {
    fc.assert(
      fc.property(billedAccounts, ({ view, catalog }) => {
        expectVerified(computeInvoices(view, catalog, SPAN));
      }),
      { numRuns: runs(25) },
    );
  });
});

describe("a changed digit", () => {
  const all = invoiceSets.map(([, invoices]) => asJson(invoices));
  const places = all.flatMap((invoices) =>
    listFigures(invoices).flatMap((path) => (isTerm(path, invoices) ? [] : [{ invoices, path }])),
  );

  test("S13.6 in any figure that an amount depends on is detected", () => {
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.nat(40), fc.nat(8), ({ invoices, path }, place, step) => {
        const withError = withOtherDigit(invoices, path, place, step);
        const { differences } = verify({ invoices: withError });
        expect(differences).not.toEqual([]);
      }),
      { numRuns: runs(1500) },
    );
  });

  test("S13.6 in any figure of any account is detected", () => {
    fc.assert(
      fc.property(billedAccounts, digitChoices, ({ view, catalog }, digit) => {
        const invoices = computeInvoices(view, catalog, SPAN);
        expectDigitFound(asJson(invoices), (changed) => verify({ invoices: changed }).differences, digit);
      }),
      { numRuns: runs(100) },
    );
  });

  test("is reported with its path, the expected value and the actual one", () => {
    const [, invoices] = invoiceSets.find(([name]) => name.startsWith("S7.2 TIERED")) ?? ["", []];
    const tree = JSON.stringify(invoices).replace('"rate":"2"', '"rate":"3"');
    const { amounts, differences } = verify({ invoices: JSON.parse(tree) as unknown });
    // 150 units: 100 × 3 where the slab says 200, and with 50 × 1 350 where the line says 250.
    const line = "acc STANDARD 2024-07-01T00:00:00.000Z: USAGE_RATE_CARD_AMOUNT um.calls";
    expect(differences).toContainEqual({ where: `${line}, part 1, slab 1, amount`, expected: "300", found: "200" });
    expect(differences).toContainEqual({ where: `${line}, value`, expected: "350", found: "250" });
    expect(amounts.total - amounts.verified).toBe(2);
  });
});

describe("a missing or duplicate part", () => {
  const [, invoices] = invoiceSets.find(([name]) => name === "the example seats-and-usage") ?? ["", []];

  test("S13.6 is a difference: a figure", () => {
    const tree = JSON.stringify(invoices).replace('"packageSize":"1000",', "");
    expect(verify({ invoices: JSON.parse(tree) as unknown }).differences).not.toEqual([]);
  });

  test("S10.3 is a difference: the seats that were charged before an increase", () => {
    const silent = invoiceSets.flatMap(([, some]) => {
      const tree = JSON.stringify(some);
      const without = tree.replaceAll(/"chargedBefore":"[1-9]\d*",/g, "");
      return without === tree ? [] : [verify({ invoices: JSON.parse(without) as unknown }).differences];
    });
    expect(silent).not.toEqual([]);
    for (const path of silent)
      expect(path.map(({ where }) => where).join()).toMatch(/LICENSE_RATE_CARD_AMOUNT .*, quantity/);
  });

  test("S13.3 is a difference: an invoice that a true-up counts", () => {
    const [, counted] = invoiceSets.find(([name]) => name.startsWith("S13.3 what the cycle charged in advance")) ?? [
      "",
      [],
    ];
    const standard = counted.filter(({ invoiceType }) => invoiceType === "STANDARD");
    expect(standard.length).toBeLessThan(counted.length);
    expect(verify({ invoices: asJson(standard) }).differences).not.toEqual([]);
  });

  test("S13.1 is a difference if duplicated: an invoice", () => {
    const twice = asJson([...invoices, ...invoices]);
    expect(verify({ invoices: twice }).differences.map(({ expected }) => expected)).toContain(
      "days that no other STANDARD invoice has",
    );
  });

  test("S9.3, S10.3 is a difference if charged in advance twice: each such invoice of every example and golden case", () => {
    let attempts = 0;
    for (const [, some] of invoiceSets) {
      for (const invoice of some.filter(({ invoiceType }) => invoiceType !== "STANDARD")) {
        attempts++;
        const { differences } = verify({ invoices: asJson([...some, invoice]) });
        expect(differences.map(({ expected }) => expected)).toContain("one invoice of its kind, days and plan");
      }
    }
    expect(attempts).toBeGreaterThan(20);
  });

  test("S12.3 is a difference: a credit consumed by two invoices that is enough for one", () => {
    let attempts = 0;
    for (const [, some] of invoiceSets) {
      for (const invoice of some.filter(({ revenueInfo }) => JSON.stringify(revenueInfo).includes('"SUB_CREDITS"'))) {
        attempts++;
        const { differences } = verify({ invoices: asJson([...some, invoice]) });
        expect(differences.map(({ where }) => where).join()).toMatch(/SUB_CREDITS \S*, left/);
      }
    }
    expect(attempts).toBeGreaterThan(10);
  });

  test("S13.1 is a difference: a card twice on an invoice in advance, with consistent sums", () => {
    const advance = invoices.find(({ invoiceType }) => invoiceType === "STANDARD_ADVANCED");
    // 30 in advance, and 30 again: every sum is 60.
    const { revenueInfo: fees } = asJson(advance) as { readonly revenueInfo: SumLine };
    expect(fees.value).toBe("30");
    for (let line: SumLine | undefined = fees; line !== undefined; line = line.lineItems?.[0]) {
      if (line.type === "ADVANCED_FIXED_FEE") break;
      line.value = "60";
      if (line.type === "SUB_TOTAL_AMOUNT") line.lineItems = [...(line.lineItems ?? []), ...(line.lineItems ?? [])];
    }
    const withDoubledFees = { ...(asJson(advance) as object), revenueInfo: fees };
    expect(verify({ invoices: [withDoubledFees] }).differences.map(({ where }) => where)).toEqual([
      expect.stringMatching(/STANDARD_ADVANCED .*, cards$/),
    ]);
  });

  test("is not a list of invoices", () => {
    expect(() => verify({ invoices: "none" })).toThrow('expected a list of invoices, or an object with "invoices"');
  });
});

/** Some cases of every kind: each changed label requires a verification of all invoices of its case. */
const someInvoices = invoiceSets
  .filter(([name], index) => name === "the example cloud-storage" || (index >= 3 && (index - 3) % 9 === 0))
  .map(([, some]) => asJson(some));

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
  ...new Set([...JSON.stringify(someInvoices).matchAll(/"type":"(\w+)"/g)].map(([, type = ""]) => type)),
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
    for (const invoices of someInvoices) {
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
    const usage = asJson(meter(parseBook(JSON.parse(exampleText(example, "book.json"))), events).usage) as object[];
    const invoices = asJson(previewExample(example, events, { explain: true }).invoices) as Pick<
      Invoice,
      "accountId" | "invoiceType"
    >[];
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

test("S1.5 the digits of the currencies match ISO 4217", () => {
  const codes = ["USD", "EUR", "JPY", "KWD", "HUF", "CLF", "UYW", "ISK", "KRW", "TND", "XOF", "CLP", "BHD", "VND"];
  for (const currency of codes) {
    const digits = minorUnitDigits(currency);
    const rate = digits === 0 ? "1" : `1.${"0".repeat(digits - 1)}1`;
    const book = parseBook({
      organization: { id: "acme", baseCurrency: currency },
      pricePlans: [{ id: "p", cycle: "MONTHLY", fees: [{ id: "fee", rate }] }],
      accounts: [{ id: "one", plan: "p", from: "2024-06-01" }],
    });
    const { invoices } = preview(book, [], { from: "2024-06-01", until: "2024-07-01", explain: true });
    const totals = invoices.map((invoice) => `${invoice.revenueInfo.value.toFixed()} ${invoice.currency}`);
    expect([totals, verify({ invoices: asJson(invoices) }).differences]).toEqual([[`${rate} ${currency}`], []]);
  }
});
