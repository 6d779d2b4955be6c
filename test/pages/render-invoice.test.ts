/** `renderInvoice`: languages, taxes, alignment, and details that are refused. */
import { readFileSync } from "node:fs";

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  type BookInput,
  createEngine,
  memoryStore,
  type InvoiceDetails,
  preview,
  renderInvoice,
} from "../../src/index.ts";
import { computeTotals } from "../../src/invoicing/invoice.ts";
import { Decimal } from "../../src/numbers/decimal.ts";
import { examplePath } from "../support/examples.ts";
import { invoiceForUnits } from "./small-invoice.ts";

const INVOICE = invoiceForUnits(1500);

/** The texts of a page, a line for each row, with plain spaces: runtimes differ in the width of theirs. */
function readTexts(html: string): readonly string[] {
  return html
    .slice(html.indexOf("<main>"))
    .replaceAll("\n", "|")
    .replaceAll(/<\/tr>|<\/h1>|<\/section>|<\/dl>|<\/p>|<footer>/g, "\n")
    .replaceAll(/<[^>]+>/g, "|")
    .replaceAll(/[\u00A0\u2009\u202F]/g, " ")
    .split("\n")
    .map((line) => line.replaceAll(/\s*\|[\s|]*/g, " | ").replaceAll(/^ \| | \| $/g, ""))
    .filter((line) => line.trim() !== "");
}

const DETAILS: InvoiceDetails = {
  id: "inv.1",
  number: "R-1",
  seller: { name: "Acme", address: ["Hafen 1"], taxIds: ["DE 1"] },
  status: "DUE",
  dueDate: "2024-07-15",
  units: { "um.units": "GB" },
  taxes: [
    { name: "T", rate: "7.7" },
    { name: "R", reverseCharge: true },
  ],
  notes: "Thank you.\nPay soon.",
};

// 100 × 2 + 1,400 × 1 = 1,600; 2,000 − 1,600 = 400; 2,000 × 7.7 % = 154; 2,154 − 50 = 2,104.
const GOLDEN = {
  en: [
    "Invoice",
    "Acme",
    "From | Acme | Hafen 1 | DE 1",
    "Invoice number | R-1 | Date | July 1, 2024 | Due | July 15, 2024 | Period | June 1 – 30, 2024 | Account | prod",
    "$2,104.00 due July 15, 2024",
    "Description | Quantity | Unit price | Amount",
    "units | 1,500 | GB | $1,600.00",
    "first 100 | 100 | GB | $2.00 | / GB | $200.00",
    "above 100 | 1,400 | GB | $1.00 | / GB | $1,400.00",
    "Subtotal | $1,600.00",
    "Minimum commitment | $400.00",
    "minimum commitment of the billing period: $2,000.00",
    "already charged: $1,600.00",
    "T 7.7% on $2,000.00 | $154.00",
    "R | $0.00",
    "Reverse charge: the recipient accounts for the tax.",
    "Total | $2,154.00",
    "Paid with credit: welcome | -$50.00",
    "Amount due | $2,104.00",
    "Thank you. | Pay soon.",
    "inv.1",
  ],
  "de-DE": [
    "Rechnung",
    "Acme",
    "Rechnungssteller | Acme | Hafen 1 | DE 1",
    "Rechnungsnummer | R-1 | Rechnungsdatum | 1. Juli 2024 | Fällig am | 15. Juli 2024 | Leistungszeitraum | 1.–30. Juni 2024 | Konto | prod",
    "2.104,00 $ fällig am 15. Juli 2024",
    "Beschreibung | Menge | Einzelpreis | Betrag",
    "units | 1.500 | GB | 1.600,00 $",
    "erste 100 | 100 | GB | 2,00 $ | / GB | 200,00 $",
    "über 100 | 1.400 | GB | 1,00 $ | / GB | 1.400,00 $",
    "Zwischensumme | 1.600,00 $",
    "Mindestumsatz | 400,00 $",
    "Mindestumsatz des Abrechnungszeitraums: 2.000,00 $",
    "bereits berechnet: 1.600,00 $",
    "T 7,7 % auf 2.000,00 $ | 154,00 $",
    "R | 0,00 $",
    "Steuerschuldnerschaft des Leistungsempfängers",
    "Gesamtbetrag | 2.154,00 $",
    "Mit Guthaben bezahlt: welcome | -50,00 $",
    "Zu zahlen | 2.104,00 $",
    "Thank you. | Pay soon.",
    "inv.1",
  ],
  "fr-FR": [
    "Facture",
    "Acme",
    "Émetteur | Acme | Hafen 1 | DE 1",
    "Numéro de facture | R-1 | Date | 1 juillet 2024 | Échéance | 15 juillet 2024 | Période | 1–30 juin 2024 | Compte | prod",
    "2 104,00 $US à payer au plus tard le 15 juillet 2024",
    "Description | Quantité | Prix unitaire | Montant",
    "units | 1 500 | GB | 1 600,00 $US",
    "100 premières unités | 100 | GB | 2,00 $US | / GB | 200,00 $US",
    "au-delà de 100 | 1 400 | GB | 1,00 $US | / GB | 1 400,00 $US",
    "Sous-total | 1 600,00 $US",
    "Engagement minimum | 400,00 $US",
    "engagement minimum de la période de facturation : 2 000,00 $US",
    "déjà facturé : 1 600,00 $US",
    "T 7,7 % sur 2 000,00 $US | 154,00 $US",
    "R | 0,00 $US",
    "Autoliquidation",
    "Total | 2 154,00 $US",
    "Payé par crédit : welcome | -50,00 $US",
    "Montant dû | 2 104,00 $US",
    "Thank you. | Pay soon.",
    "inv.1",
  ],
} as const;

describe("the language of an invoice", () => {
  test.each(["en", "de-DE", "fr-FR"] as const)("%s has its words, numbers and dates", (locale) => {
    const html = renderInvoice(INVOICE, { ...DETAILS, locale });
    expect(readTexts(html)).toEqual(GOLDEN[locale]);
    expect(html).toContain(`<html lang="${locale}">`);
  });

  test("of other locales is English, with their numbers", () => {
    const html = renderInvoice(INVOICE, { ...DETAILS, locale: "ar-EG" });
    expect(html).toContain(`<html lang="en">`);
    expect(readTexts(html)).toContainEqual(expect.stringMatching(/^Total \| .*٢٬١٥٤٫٠٠/));
    const japanese = readTexts(renderInvoice(INVOICE, { ...DETAILS, locale: "ja-JP" }));
    expect(japanese).toContain("Total | $2,154.00");
    expect(japanese).toContainEqual(expect.stringContaining("Date | 1 July 2024"));
  });

  test.each([
    ["en", "Nothing is due."],
    ["de", "Es ist nichts fällig."],
    ["fr", "Rien n’est dû."],
  ])("%s: a total of 0 or less is not called paid", (locale, status) => {
    const { revenueInfo } = INVOICE;
    for (const units of [0, 1500]) {
      const value = units === 0 ? revenueInfo.value.times(0) : revenueInfo.value.negated();
      const invoice = { ...INVOICE, lines: [], revenueInfo: { ...revenueInfo, value } };
      expect(readTexts(renderInvoice(invoice, { locale, status: "DUE" }))).toContain(status);
    }
  });

  test.each(["en-US@posix", "x", "de_DE", "<b>"])("of %s, which is no locale, is English", (locale) => {
    expect(readTexts(renderInvoice(INVOICE, { ...DETAILS, locale }))).toEqual(GOLDEN.en);
  });

  test("names proration, free units and packages", () => {
    const usage = (rate: object, more: object = {}) =>
      preview(
        {
          organization: { id: "o", baseCurrency: "EUR" },
          eventSchemas: [{ name: "call", attributes: ["n"] }],
          usageMeters: [{ id: "um.calls", name: "Calls", schema: "call", sum: "n" }],
          pricePlans: [{ id: "p", name: "P", cycle: "MONTHLY", usage: [{ meter: "um.calls", ...rate }], ...more }],
          accounts: [{ id: "acme", plan: "p", from: "2026-06-11" }],
        },
        { usage: [{ accountId: "acme", meterId: "um.calls", date: "2026-06-20", quantity: "2500" }] },
        { from: "2026-06-01", until: "2026-07-01", explain: true },
      ).invoices.map((invoice) => readTexts(renderInvoice(invoice, { locale: "de" })).join("\n"));
    const [page = ""] = usage(
      { tiers: [{ upTo: 1000, rate: 0 }, { rate: "0.002" }] },
      { fees: [{ id: "f", rate: 90, prorate: true }] },
    );
    expect(page).toContain("erste 1.000 | 1.000 | kostenlos | 0,00 €");
    expect(page).toContain("über 1.000 | 1.500 | 0,002 € | 3,00 €");
    expect(page).toContain("anteilige Gebühr: 90,00 € für 20 von 30 Tagen");
    expect(usage({ tiers: [{ rate: "1.5", package: 1000 }] }).join("\n")).toContain(
      "| 2.500 | 1,50 € | / 1.000 | 4,50 €",
    );
  });
});

describe("taxes", () => {
  const totalsOf = (...taxes: NonNullable<InvoiceDetails["taxes"]>): readonly string[] =>
    readTexts(renderInvoice(INVOICE, { ...DETAILS, taxes })).slice(12, -4);

  test("have an amount, a rate, both, or neither with a reverse charge", () => {
    expect(totalsOf({ name: "A", amount: "1.5" }, { name: "B", rate: 5, amount: "99.99", taxable: "2000" })).toEqual([
      "already charged: $1,600.00",
      "A | $1.50",
      "B 5% on $2,000.00 | $99.99",
      "Total | $2,101.49",
    ]);
    expect(totalsOf({ name: "C", reverseCharge: "Article 196" })).toEqual([
      "already charged: $1,600.00",
      "C | $0.00",
      "Article 196",
      "Total | $2,000.00",
    ]);
  });

  test("from a rate are rounded half up to the minor unit, each line by itself", () => {
    const rate = fc.integer({ min: 0, max: 10_000 }).map((value) => new Decimal(value).div(100));
    const cents = fc.integer({ min: -1_000_000, max: 1_000_000 });
    fc.assert(
      fc.property(fc.array(fc.record({ rate, cents })), (taxes) => {
        const stated = taxes.map((tax) => ({ rate: tax.rate, taxable: new Decimal(tax.cents).div(100) }));
        const totals = computeTotals(INVOICE, stated);
        // In units of 1/10,000 cent, half a cent away from zero is added before cutting.
        const expected = taxes.map((tax) => {
          const exact = BigInt(tax.cents) * BigInt(tax.rate.times(100).toFixed());
          const size = exact < 0n ? -exact : exact;
          const rounded = (size + 5000n) / 10_000n;
          return Number(exact < 0n ? -rounded : rounded);
        });
        expect(totals.taxes.map(({ amount }) => amount.times(100).toNumber())).toEqual(
          expected.map((value) => value + 0),
        );
        expect(totals.total.times(100).toNumber()).toBe(200_000 + expected.reduce((all, each) => all + each, 0));
        expect(totals.payable.toFixed()).toBe(totals.total.minus(50).toFixed());
      }),
    );
  });
});

test("numbers of a column have their decimal marks at one place", () => {
  const html = renderInvoice(invoiceForUnits(1234.5678), DETAILS);
  const cells = [...html.matchAll(/<td class="q"(?: data-pad="([^"]*)")?>([\d,.]+)<\/td>/g)];
  const fractions = cells.map(([, pad = "", text = ""]) => `${text}${pad}`.split(".")[1]?.length);
  expect(cells.map(([, , text]) => text)).toEqual(["1,234.5678", "100", "1,134.5678"]);
  expect(fractions).toEqual([4, 4, 4]);
});

test("the number of an invoice is derived from the id that an engine gives it", async () => {
  const book = JSON.parse(readFileSync(examplePath("seats-and-usage", "book.json"), "utf8")) as BookInput;
  const engine = createEngine({ store: memoryStore(), clock: () => Date.parse("2024-07-20") });
  await engine.load(book);
  await engine.customers.create({ id: "late", name: "Late", account: { id: "late-main", name: "Late" } });
  await engine.associate("late-main", { pricePlanId: "pp.team", effectiveFrom: "2024-07-01" });
  const { invoices } = await engine.preview();
  const types = invoices.map(({ invoice }) => invoice.invoiceType);
  expect(new Set(types)).toEqual(new Set(["STANDARD", "STANDARD_ADVANCED", "AD_HOC"]));
  expect(invoices.map(({ invoice }) => invoice.dueSince)).toContain("2024-07-20T00:00:00.000Z");
  for (const { id, invoice } of invoices) {
    expect(renderInvoice(invoice)).toContain(`<footer>${id}</footer>`);
  }
});

describe("details", () => {
  test.each([
    ["seller", { seller: "Acme" }, "seller: expected an object"],
    ["seller.name", { seller: {} }, "seller.name: expected a text"],
    ["seller.name", { seller: { name: " " } }, "seller.name: expected 1 to 500 characters, got 1"],
    ["seller.name", { seller: { name: "x".repeat(501) } }, "seller.name: expected 1 to 500 characters, got 501"],
    ["buyer.address", { buyer: { name: "x", address: "x" } }, "buyer.address: expected a list"],
    ["taxes[0]", { taxes: [{ name: "x" }] }, "taxes[0]: expected a rate, an amount or both, or else reverseCharge"],
    [
      "taxes[0]",
      { taxes: [{ name: "x", rate: 1, reverseCharge: true }] },
      "taxes[0]: expected a rate, an amount or both",
    ],
    ["taxes[0].rate", { taxes: [{ name: "x", rate: 101 }] }, "taxes[0].rate: expected 0 to 100 percent"],
    ["taxes[0].rate", { taxes: [{ name: "x", rate: "NaN" }] }, 'taxes[0].rate: "NaN" is not a decimal'],
    [
      "taxes[0].amount",
      { taxes: [{ name: "x", amount: "1.001" }] },
      "taxes[0].amount: amounts in USD have 2 decimal places",
    ],
    ["dueDate", { dueDate: "soon" }, "dueDate: "],
    ["status", { status: "MERGED" }, "status: expected DRAFT or DUE or PAID"],
    ["units.x", { units: { x: "x".repeat(51) } }, "units.x: expected 1 to 50 characters"],
    ["__proto__", JSON.parse('{ "__proto__": 1 }'), "__proto__: unknown field; known are seller"],
    ["seler", { seler: {} }, "seler: unknown field; known are seller"],
    ["details", [], "details: expected an object"],
  ] as const)("refuse %s", (option, details, message) => {
    expect(() => renderInvoice(INVOICE, details as never)).toThrow(
      expect.objectContaining({
        code: "ERR_OPTION_INVALID",
        message: expect.stringContaining(message),
        details: expect.objectContaining({ option }),
      }),
    );
  });

  test.each([[undefined], [null], [{}], [JSON.parse(JSON.stringify(INVOICE))]])(
    "refuse %j as an invoice",
    (invoice) => {
      expect(() => renderInvoice(invoice as never)).toThrow(/^invoice: expected an invoice of `preview`/);
    },
  );
});
