/** Plans that are changed by command: no period is charged twice, and none is lost. */
import { describe, expect, test } from "vitest";

import type { ShortPlanInput } from "../../../src/book/resources/short-plan.ts";
import { type Invoice, type InvoiceLine, preview, readBook } from "../../../src/index.ts";
import { verify } from "../../../src/verify.ts";
import { exportParts } from "../../cli/export/read-export.ts";
import { flattenLines, linesOfType } from "../../support/invoice-lines.ts";
import { type ClockedEngine, loadedAt } from "../support.ts";

type Version = Partial<ShortPlanInput>;
type Timing = "IN_ADVANCE" | "IN_ARREARS";
const TIMINGS: readonly Timing[] = ["IN_ADVANCE", "IN_ARREARS"];

/** Versions of a plan in months, and an account. */
const bookOf = (versions: readonly Version[], account: object = {}) => ({
  pricePlans: versions.map((details, at) => ({ id: "p", version: at + 1, cycle: "MONTHLY" as const, ...details })),
  accounts: [{ id: "a", name: "Acme a", ...account }],
});

/** Changes the account to the version of each time, from that day on; without a version, its plan ends. */
async function changePlan(
  { at }: ClockedEngine,
  ...changes: readonly (readonly [time: string, version: number | undefined])[]
): Promise<void> {
  for (const [time, version] of changes) {
    const effectiveFrom = time.slice(0, 10);
    if (version === undefined) await at(time).dissociate("a", { effectiveFrom });
    else await at(time).associate("a", { pricePlanId: "p", version, effectiveFrom });
  }
}

async function invoicesAt({ at }: ClockedEngine, time: string): Promise<readonly Invoice[]> {
  const { items } = await at(time).invoices.list({ page: { limit: 100 } });
  return items.map(({ invoice }) => invoice);
}

const valueOf = (invoice: Invoice, type: InvoiceLine["type"]): number =>
  linesOfType(invoice, type)[0]?.value.toNumber() ?? 0;
/** The sum of invoices before credits. */
const sumGross = (invoices: readonly Invoice[]): number =>
  invoices.reduce((sum, invoice) => sum + valueOf(invoice, "GROSS_AMOUNT"), 0);

test("S13.3 an override of the same version on the first day of a cycle counts like a new version", async () => {
  const fees = [{ id: "fee", rate: 25, timing: "IN_ADVANCE", prorate: true }] as const;
  const underTest = await loadedAt("2024-01-01", bookOf([{ fees, commitment: 100 }]));
  await changePlan(underTest, ["2024-01-01", 1]);
  const fixedFeeRateCards = [
    { id: "fee", rateValues: [{ currency: "USD", rate: 25 }], invoiceTiming: "IN_ADVANCE", enableProration: true },
  ] as const;
  await underTest.at("2024-02-01T10:00:00Z").associate("a", {
    pricePlanId: "p",
    effectiveFrom: "2024-02-01",
    pricePlanDetailsOverride: { fixedFeeRateCards },
  });
  const february = (await invoicesAt(underTest, "2024-03-02")).filter(({ startDate }) =>
    startDate.startsWith("2024-02"),
  );
  const amounts = february.map((each) =>
    (["GROSS_AMOUNT", "TRUE_UP_AMOUNT", "TOTAL_AMOUNT"] as const).map((type) => valueOf(each, type)).join(" "),
  );
  // 25 at midnight, 25 by the override, paid by the refund of 25, and 100 − (25 + 25 − 25).
  expect(amounts.toSorted()).toEqual(["25 0 0", "25 0 25", "75 75 75"]);
});

describe("a one-time fee of 50.00 that is a recurring one of 280.00 in the next version", () => {
  const oneTime: Version = { fees: [{ id: "fee", rate: 50, once: true }] };
  // In the middle of February, after the cycle of the one-time fee: 14 of 28 days. In its cycle, the recurring fee is
  // not charged too.
  const rows = [
    ...TIMINGS.flatMap((timing) => [
      {
        day: "2023-02-15",
        timing,
        prorate: true,
        expected: { "2023-01-01": 50, "2023-02-15": 140, "2023-03-01": 280 },
      },
      {
        day: "2023-02-15",
        timing,
        prorate: false,
        expected: { "2023-01-01": 50, "2023-02-15": 280, "2023-03-01": 280 },
      },
    ]),
    { day: "2023-01-15", expected: { "2023-01-01": 50, "2023-02-01": 280, "2023-03-01": 280 } },
  ];

  test.each(rows)("S9.1 from $day on, $timing, prorated $prorate", async ({ day, expected, ...terms }) => {
    const underTest = await loadedAt("2023-01-01", bookOf([oneTime, { fees: [{ id: "fee", rate: 280, ...terms }] }]));
    await changePlan(underTest, ["2023-01-01", 1], [`${day}T09:00:00Z`, 2]);
    const charges = (await invoicesAt(underTest, "2023-03-31")).map((invoice) => [
      invoice.startDate.slice(0, 10),
      valueOf(invoice, "GROSS_AMOUNT"),
    ]);
    expect(Object.fromEntries(charges)).toEqual(expected);
  });
});

describe("an unprorated quarter that is paid", () => {
  /** 100.00 a month, charged for several months together. */
  const every = (everyCycles: number, terms: object, afterCycles = 0): Version => ({
    fees: [{ id: "fee", rate: 100 * everyCycles, everyCycles, afterCycles, ...terms }],
  });
  const rows = TIMINGS.flatMap((timing) => [false, true].map((prorate) => ({ timing, prorate })));

  test.each(rows)("S9.1 $timing stays paid when versions of other months follow, prorated $prorate", async (terms) => {
    const { timing } = terms;
    // 300.00 for January to March, and 100.00 for April. The version of two months would have charged February and March.
    for (const versions of [
      [every(3, { timing }), every(1, terms)],
      [every(3, { timing }), every(2, { timing }, 1), every(1, terms)],
    ]) {
      const underTest = await loadedAt("2023-01-01", bookOf(versions));
      const mornings = [
        "2023-01-01",
        ...(versions.length === 3 ? ["2023-02-01T09:00:00Z"] : []),
        "2023-02-10T09:00:00Z",
      ];
      await changePlan(underTest, ...mornings.map((time, place) => [time, place + 1] as const));
      await underTest.at("2023-04-20").dissociate("a", { effectiveFrom: "2023-05-01" });
      expect(sumGross(await invoicesAt(underTest, "2023-06-01"))).toBe(400);
    }
  });
});

interface Terms {
  readonly timing: Timing;
  readonly prorate: boolean;
  readonly cycle?: Version["cycle"];
}
const WHOLE_AFTER: Terms = { timing: "IN_ARREARS", prorate: false };
const WHOLE_BEFORE: Terms = { timing: "IN_ADVANCE", prorate: false };
const DAYS_AFTER: Terms = { timing: "IN_ARREARS", prorate: true };
const DAYS_BEFORE: Terms = { timing: "IN_ADVANCE", prorate: true };

/** Cards of each kind that add up to 280.00 a month; entitlements and credit grants are never prorated. */
const CARDS = {
  fee: (terms: Terms): Version => ({ fees: [{ id: "fee", rate: 280, ...terms }] }),
  seats: (terms: Terms): Version => ({ licenses: [{ id: "seats", rate: 28, refund: true, ...terms }] }),
  entitlement: ({ timing }: Terms): Version => ({
    entitlements: [{ feature: "ft", quantity: 10, for: "P1M", rate: 28, timing }],
  }),
  "credit grant": ({ timing }: Terms): Version => ({ credits: [{ id: "grant", amount: 10, rate: 28, timing }] }),
};
type Kind = keyof typeof CARDS;
const KINDS = Object.keys(CARDS) as Kind[];
const termsOf = (kind: Kind): readonly Terms[] =>
  kind === "fee" || kind === "seats"
    ? [WHOLE_AFTER, WHOLE_BEFORE, DAYS_AFTER, DAYS_BEFORE]
    : [WHOLE_AFTER, WHOLE_BEFORE];

describe("280.00 a month if the plan changes on the first day of February", () => {
  const versionsBook = (kind: Kind, versions: readonly Terms[], account: object = {}) =>
    bookOf(
      versions.map(({ cycle, ...terms }) => ({ ...CARDS[kind](terms), ...(cycle !== undefined && { cycle }) })),
      { ...account, ...(kind === "seats" && { licenses: { seats: [{ from: "2023-01-01", quantity: 10 }] } }) },
    );
  const sumFebruary = (invoices: readonly Invoice[]): number =>
    sumGross(invoices.filter(({ startDate }) => startDate.startsWith("2023-02")));

  /** The charges for February less refunds, if the plan changes each hour from 6:00 on, and then the number of seats. */
  async function netFebruary(
    kind: Kind,
    versions: readonly Terms[],
    changes: readonly (number | undefined)[] = [2],
    seats?: number,
  ): Promise<number> {
    const underTest = await loadedAt("2023-01-01", versionsBook(kind, versions));
    await changePlan(underTest, ["2023-01-01", 1]);
    for (const [place, version] of changes.entries()) {
      await changePlan(underTest, [`2023-02-01T0${place + 6}:00:00Z`, version]);
      const update = { licenseId: "seats", updateType: "ABSOLUTE", quantity: seats ?? 0 } as const;
      if (seats !== undefined) await underTest.at(`2023-02-01T0${place + 6}:30:00Z`).licenses.update("a", update);
    }
    const invoices = await invoicesAt(underTest, "2023-02-28T12:00:00Z");
    const { items } = await underTest.engine.credits.list({ page: { limit: 100 } });
    const refunds = items.filter(({ credit }) => credit.purpose.startsWith("refund"));
    return sumFebruary(invoices) - refunds.reduce((sum, { credit }) => sum + credit.creditAmount.toNumber(), 0);
  }

  test.each(KINDS)("S9.1 is charged once for a %s, whatever the terms of both versions", async (kind) => {
    for (const before of termsOf(kind)) {
      for (const after of termsOf(kind))
        expect([before, after, await netFebruary(kind, [before, after])]).toEqual([before, after, 280]);
    }
  });

  test.each(KINDS)("S9.1 is charged once for a %s if the plan was removed in between", async (kind) => {
    expect(await netFebruary(kind, [WHOLE_BEFORE, WHOLE_AFTER], [undefined, 2])).toBe(280);
    expect(await netFebruary(kind, [WHOLE_AFTER, WHOLE_BEFORE], [undefined, 2])).toBe(280);
  });

  test.each(KINDS)("S9.1 is charged once for a %s of a version that was in force for a few hours", async (kind) => {
    expect(await netFebruary(kind, [WHOLE_AFTER, WHOLE_BEFORE, WHOLE_AFTER], [2, 3])).toBe(280);
    expect(await netFebruary(kind, [DAYS_BEFORE, WHOLE_BEFORE, DAYS_AFTER], [2, 3])).toBe(280);
  });

  test.each(KINDS)("S9.1 is charged for a %s of a version with other cycles for its own periods too", async (kind) => {
    for (const terms of termsOf(kind)) {
      const after = { ...terms, cycle: { interval: "QUARTERLY", month: 2 } } as const;
      // 280.00 for February, whole, and 280.00 for February to April.
      expect(await netFebruary(kind, [WHOLE_BEFORE, after])).toBe(560);
      // Back on monthly cycles, February is already paid; with proration, the quarter is refunded.
      const quarter = terms.prorate || terms.timing === "IN_ARREARS" ? 0 : 280;
      expect(await netFebruary(kind, [WHOLE_BEFORE, after, WHOLE_AFTER], [2, 3])).toBe(280 + quarter);
    }
  });

  test("S10.3 is charged once for seats if their number grew between two versions of the same morning", async () => {
    // 12 seats at 28.00, whichever version charged the first ten and whichever the other two.
    expect(await netFebruary("seats", [WHOLE_BEFORE, DAYS_BEFORE, WHOLE_AFTER], [2, 3], 12)).toBe(336);
    expect(await netFebruary("seats", [DAYS_BEFORE, WHOLE_BEFORE, DAYS_AFTER], [2, 3], 12)).toBe(336);
  });

  test.each(KINDS)("S13.5 is charged once for a %s in a preview", (kind) => {
    const plans = [1, 2].map((version) => {
      const from = `2023-0${version}-01`;
      return { plan: "p", version, from, decidedAt: version === 1 ? from : `${from}T09:00:00Z` };
    });
    for (const versions of [
      [WHOLE_AFTER, WHOLE_BEFORE],
      [WHOLE_BEFORE, WHOLE_AFTER],
    ]) {
      const book = readBook(versionsBook(kind, versions, { plans }));
      expect(sumFebruary(preview(book, [], { from: "2023-02-01", until: "2023-03-01" }).invoices)).toBe(280);
    }
  });
});

describe("a plan that ends at the end of a cycle whose invoice is already final", () => {
  /**
   * A prorated fee of 91.00 for three months, an unprorated one of 7.00 for three months, quarterly overage, and at
   * least 40.00 a month; and another plan.
   */
  const book = {
    eventSchemas: [{ name: "chat", attributes: ["n"] }],
    features: [{ id: "tokens", name: "Tokens", schemaAssociations: [{ schemaName: "chat", attributeName: "n" }] }],
    pricePlans: [
      {
        id: "p",
        cycle: "MONTHLY",
        fees: [
          { id: "fee", rate: 91, everyCycles: 3, prorate: true },
          { id: "support", rate: 7, everyCycles: 3 },
        ],
        overages: [{ feature: "tokens", rate: 2, everyCycles: 3 }],
        commitment: 40,
      },
      { id: "other", cycle: "MONTHLY", overages: [{ feature: "tokens", rate: 5 }] },
    ],
  } as const;
  const account = { id: "a", name: "Acme a" };
  const plan = { plan: "p", from: "2024-01-01" };
  const useTokens = (timestamp: string, n: number) => ({
    schemaName: "chat",
    id: timestamp,
    accountId: "a",
    timestamp,
    attributes: { n },
  });
  const january = useTokens("2024-01-05T10:00:00Z", 10);

  /** An account that used 10 tokens in January, and changes its plan, by default in the morning after it. */
  async function changed(pricePlanId: string | undefined, time = "2024-02-01T09:00:00Z"): Promise<ClockedEngine> {
    const underTest = await loadedAt("2023-12-31", { ...book, accounts: [{ ...account, plans: [plan] }] });
    await underTest.at(january.timestamp).ingest([january]);
    if (pricePlanId === undefined) await underTest.at(time).dissociate("a", { effectiveFrom: "2024-02-01" });
    else await underTest.at(time).associate("a", { pricePlanId, effectiveFrom: "2024-02-01" });
    return underTest;
  }

  /** `kind, days, date: cards; total`. */
  function describeInvoice({ invoiceType, startDate, endDate, invoiceDate, status, revenueInfo }: Invoice): string {
    const cards = flattenLines(revenueInfo).filter(
      ({ line: { id, type } }) => id !== undefined && !type.includes("_SLAB_"),
    );
    const [from, until, date] = [startDate, endDate, invoiceDate].map((each) => each.slice(5, 10));
    const cardTexts = cards.map(({ line: { id, value } }) => `${id} ${value.toFixed(2)}`).join(", ");
    return `${invoiceType} ${from}/${until} of ${date}, ${status}: ${cardTexts}; ${revenueInfo.value.toFixed(2)}`;
  }
  const describeInvoices = (invoices: readonly Invoice[]): readonly string[] =>
    invoices.map(describeInvoice).toSorted();

  // 91 × 31 ÷ 91 days, 7 unprorated, 10 × 2; the 40.00 of January were invoiced before.
  const LATE = "AD_HOC 01-01/02-01 of 02-01, DUE: fee 31.00, support 7.00, tokens 20.00; 58.00";
  const JANUARY = "STANDARD 01-01/02-01 of 02-01, DUE: ; 40.00";

  test("S9.3 invoices what is left at once, and leaves the final true-up unchanged, with another plan from that day on", async () => {
    const underTest = await changed("other");
    await underTest.at("2024-02-03").ingest([useTokens("2024-02-03T00:00:00Z", 4)]);
    const invoices = await invoicesAt(underTest, "2024-03-15");
    const february = "STANDARD 02-01/03-01 of 03-01, DUE: tokens 20.00; 20.00";
    expect(describeInvoices(invoices)).toEqual([LATE, JANUARY, february]);
    const report = verify({ invoices: JSON.parse(JSON.stringify(invoices)) as unknown });
    expect(report.differences).toEqual([]);
    expect(report.amounts.verified).toBe(report.amounts.total);
    const { differences, notes } = await exportParts({ engine: underTest.engine, now: () => Date.parse("2024-03-15") });
    expect({ differences, notes }).toEqual({ differences: [], notes: [] });
  });

  test("S9.3 invoices what is left at once without a new plan", async () => {
    expect(describeInvoices(await invoicesAt(await changed(undefined), "2024-05-01"))).toEqual([LATE, JANUARY]);
  });

  test("S9.1 charges nothing twice with the same plan again: the next part of the quarter has its own days", async () => {
    const underTest = await changed("p");
    await underTest.at("2024-02-03").ingest([useTokens("2024-02-03T00:00:00Z", 4)]);
    // 60 of 91 days; 4 × 2.
    expect(describeInvoices(await invoicesAt(underTest, "2024-04-02"))).toEqual([
      LATE,
      JANUARY,
      "STANDARD 02-01/03-01 of 03-01, DUE: ; 40.00",
      "STANDARD 03-01/04-01 of 04-01, DUE: fee 60.00, tokens 8.00; 68.00",
      "STANDARD 04-01/05-01 of 05-01, DRAFT: ; 40.00",
    ]);
  });

  test("S9.3 has the charges on its STANDARD invoice if decided in the night before, and they count for its commitment", async () => {
    const underTest = await changed("other", "2024-01-31T23:00:00Z");
    expect(describeInvoices(await invoicesAt(underTest, "2024-02-02"))).toContain(LATE.replace("AD_HOC", "STANDARD"));
  });

  test("S13.5 gives the same in a preview of a book with the decision time", () => {
    const later = { plan: "other", from: "2024-02-01", decidedAt: "2024-02-01T09:00:00Z" };
    const decided = readBook({ ...book, accounts: [{ ...account, plans: [plan, later] }] });
    const { invoices } = preview(decided, [january], { from: "2024-01-01", until: "2024-02-01" });
    expect(describeInvoices(invoices)).toEqual([LATE, JANUARY].map((each) => each.replace("DUE", "DRAFT")));
  });
});
