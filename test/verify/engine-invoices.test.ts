/** Invoices of an engine are verified, in any order of finalization; changes to them are detected. */
import { describe, expect, test } from "vitest";

import type { Invoice, ShortBookInput } from "../../src/index.ts";
import { stringifyJson } from "../../src/numbers/json.ts";
import { verify } from "../../src/verify.ts";
import { exportParts } from "../cli/export/read-export.ts";
import { type EngineUnderTest, engineAt } from "../engine/support.ts";

const ADVANCE = "IN_ADVANCE";
const fee = (rate: number) => ({ id: "addon.fee", rate });
const support = (rate: number) => ({ id: "addon.support", rate, timing: ADVANCE }) as const;
const BOOK = {
  pricePlans: [
    // 1,000 a week in arrears, 31 a week in advance.
    { id: "weekly", cycle: "WEEKLY", fees: [fee(1000), support(31)] },
    { id: "monthly", cycle: "MONTHLY", fees: [{ ...fee(30), timing: ADVANCE, prorate: true }] },
    { id: "seats", cycle: "MONTHLY", licenses: [{ id: "addon.seats", rate: 10, timing: ADVANCE, prorate: true }] },
    { id: "committed", cycle: "MONTHLY", fees: [{ ...fee(0.1), timing: ADVANCE, prorate: true }], commitment: 10 },
  ],
  accounts: [{ id: "a", name: "Acme a" }],
} as const satisfies ShortBookInput;

interface ChangedInvoice {
  [name: string]: unknown;
}
/** A line as JSON, to be changed. */
interface Line extends ChangedInvoice {
  type: string;
  explanation: ChangedInvoice;
  lineItems?: Line[];
}
interface ExportedInvoice extends ChangedInvoice {
  invoiceType: Invoice["invoiceType"];
  invoiceDate: string;
  revenueInfo: Line;
}

/** The output of `export` for an engine, as JSON. */
async function exportFrom({ engine }: EngineUnderTest, now: string): Promise<ExportedInvoice[]> {
  const { invoices } = await exportParts({ engine, now: () => Date.parse(now) });
  return JSON.parse(stringifyJson(invoices)) as ExportedInvoice[];
}

function* lines(line: Line): Generator<Line> {
  yield line;
  for (const item of line.lineItems ?? []) yield* lines(item);
}

/** For each credit line: the date of its invoice, its value, and the remainder before it in its explanation. */
function creditSteps(invoices: readonly ExportedInvoice[]): readonly string[] {
  return invoices.flatMap(({ invoiceType, invoiceDate, revenueInfo }) =>
    [...lines(revenueInfo)].flatMap(({ type, value, explanation }) => {
      if (type !== "SUB_CREDITS") return [];
      const { takenBefore, heldByDrafts = "0", left, remaining } = explanation;
      const kind = invoiceType === "STANDARD" ? "arrears" : "advance";
      return [
        `${kind} ${invoiceDate.slice(5, 10)}: ${String(value)}, taken ${String(takenBefore)}, held ${String(heldByDrafts)}, left ${String(left)} to ${String(remaining)}`,
      ];
    }),
  );
}

function differencesIn(invoices: unknown): readonly string[] {
  return verify({ invoices }).differences.map(({ where, expected, found }) => `${where}: ${expected}, not ${found}`);
}

/** The invoices with one of them changed. */
function changeInvoice(
  invoices: readonly ExportedInvoice[],
  at: number,
  change: (invoice: ExportedInvoice) => void,
): readonly ExportedInvoice[] {
  const copy = structuredClone(invoices);
  const invoice = copy[at];
  if (invoice === undefined) throw new Error(`there are ${invoices.length} invoices`);
  change(invoice);
  return copy;
}

/**
 * The weekly plan, associated on Wednesday 12 April from Monday 3 April on: its first week is open until Thursday
 * (S6.5).
 */
async function loadedLate(): Promise<EngineUnderTest> {
  const underTest = engineAt("2023-04-01");
  await underTest.engine.load(BOOK);
  await underTest
    .at("2023-04-12T00:30:00Z")
    .credits.create([
      { accountId: "a", purpose: "Welcome", creditAmount: 2000, priority: 0, effectiveFrom: "2023-04-01" },
    ]);
  await underTest.engine.associate("a", { pricePlanId: "weekly", effectiveFrom: "2023-04-03" });
  underTest.at("2023-04-18");
  await underTest.engine.finalize();
  return underTest;
}

test("S13.3 a refund that rounds to zero has no effect on a true-up", async () => {
  const underTest = engineAt("2024-01-31");
  await underTest.engine.load(BOOK);
  await underTest.engine.associate("a", { pricePlanId: "committed", effectiveFrom: "2024-02-01" });
  await underTest.at("2024-02-10").dissociate("a", { effectiveFrom: "2024-02-29" });
  underTest.at("2024-03-01");
  await underTest.engine.finalize();
  const invoices = await exportFrom(underTest, "2024-03-01");
  // 0.10 was charged, and 0.10 × 1/29 is 0.00: 10 × 28/29 − (0.10 − 0.00) is 9.56.
  const trueUps = invoices.flatMap(({ revenueInfo }) =>
    [...lines(revenueInfo)].filter(({ type }) => type === "TRUE_UP_AMOUNT"),
  );
  expect(trueUps.map(({ value }) => value)).toEqual([9.56]);
  expect(trueUps[0]?.explanation["refunds"]).toHaveLength(1);
  expect(differencesIn(invoices)).toEqual([]);
});

describe("S12.4 a credit shared by invoices of several dates", () => {
  test("is verified in the order of finalization, including amounts held by drafts", async () => {
    const invoices = await exportFrom(await loadedLate(), "2023-04-18");
    // On 12 April both weeks are charged in advance; the draft of the first week comes between them and holds 1,000. On
    // 13 April
    // it is final: 2,000 − 62 are left for it. On 17 April 938 pay a part of 1,000, and nothing is left for the next
    // week.
    expect(creditSteps(invoices)).toEqual([
      "advance 04-03: -31, taken 0, held 0, left 2000 to 1969",
      "arrears 04-10: -1000, taken 62, held 0, left 1938 to 938",
      "advance 04-10: -31, taken 31, held 1000, left 969 to 938",
      "arrears 04-17: -938, taken 1062, held 0, left 938 to 0",
    ]);
    expect(differencesIn(invoices)).toEqual([]);
    expect(differencesIn(invoices.toReversed())).toEqual([]);
  });

  test("has a difference if an invoice between two others is missing", async () => {
    const invoices = await exportFrom(await loadedLate(), "2023-04-18");
    expect(differencesIn(invoices.filter((_, at) => at !== 1))).toEqual([
      "a STANDARD 2023-04-17T00:00:00.000Z: SUB_CREDITS a.credit.1, takenBefore: 62, not 1062".replace(
        "a.credit.1",
        [...lines(invoices[1]?.revenueInfo ?? ({} as Line))].find(({ type }) => type === "SUB_CREDITS")?.[
          "id"
        ] as string,
      ),
      expect.stringContaining(", left: 1938, not 938"),
    ]);
  });

  test("has a difference if any of its figures is changed", async () => {
    const invoices = await exportFrom(await loadedLate(), "2023-04-18");
    const names = ["creditAmount", "takenBefore", "heldByDrafts", "left", "remaining"];
    let attempts = 0;
    for (const [at, { revenueInfo }] of invoices.entries()) {
      for (const [place, { type, explanation }] of [...lines(revenueInfo)].entries()) {
        for (const name of type === "SUB_CREDITS" ? names.filter((each) => explanation[each] !== undefined) : []) {
          const copy = changeInvoice(invoices, at, (invoice) => {
            const line = [...lines(invoice.revenueInfo)][place];
            if (line !== undefined) line.explanation[name] = `${Number(explanation[name]) + 1}`;
          });
          expect(differencesIn(copy), `${name} of invoice ${at}`).not.toEqual([]);
          attempts++;
        }
      }
    }
    expect(attempts).toBe(4 * 4 + 1);
  });

  test("is verified as before in invoices without consumed amounts: then from the largest remainder to the smallest", async () => {
    const invoices = await exportFrom(await loadedLate(), "2023-04-18");
    const older = structuredClone(invoices);
    for (const { type, explanation } of older.flatMap(({ revenueInfo }) => [...lines(revenueInfo)])) {
      if (type !== "SUB_CREDITS") continue;
      for (const name of ["creditAmount", "takenBefore", "heldByDrafts"]) delete explanation[name];
    }
    // From 1,969 left by the first, 1,938 are not left to the next; from 938 left by this one, 969 are not.
    expect(differencesIn(older)).toEqual([
      expect.stringMatching(/^a STANDARD 2023-04-10.*, left: 1969, not 1938$/),
      expect.stringMatching(/^a STANDARD_ADVANCED 2023-04-10.*, left: 938, not 969$/),
    ]);
    // Older invoices come first: the three together took 1,062.
    expect(differencesIn([...older.slice(0, 3), ...invoices.slice(3)])).toEqual(differencesIn(older));
    const wrong = changeInvoice(invoices, 3, ({ revenueInfo }) => {
      for (const { type, explanation } of lines(revenueInfo))
        if (type === "SUB_CREDITS") Object.assign(explanation, { takenBefore: "1061", creditAmount: "1999" });
    });
    expect(differencesIn([...older.slice(0, 3), ...wrong.slice(3)])).toHaveLength(4);
  });
});

test("S9.5 a plan associated again on its cycle's first day charges the cycle again, and refunds the first charge", async () => {
  const underTest = engineAt("2024-05-30");
  await underTest.engine.load(BOOK);
  await underTest.at("2024-05-31T12:00:00Z").associate("a", { pricePlanId: "monthly", effectiveFrom: "2024-06-01" });
  await underTest.at("2024-06-01T10:00:00Z").associate("a", { pricePlanId: "monthly", effectiveFrom: "2024-06-01" });
  underTest.at("2024-06-03");
  const invoices = await exportFrom(underTest, "2024-06-03");
  // 30 for June, refunded and charged again.
  expect(invoices.map(({ revenueInfo, planDecidedAt }) => [revenueInfo["value"], planDecidedAt])).toEqual([
    [30, undefined],
    [0, "2024-06-01T10:00:00.000Z"],
  ]);
  expect(differencesIn(invoices)).toEqual([]);
  for (const invoice of invoices)
    expect(
      verify({ invoices: [...invoices, structuredClone(invoice)] }).differences.map(({ expected }) => expected),
    ).toContain("one invoice of its kind, days and plan");
});

describe("S13.1 the days of an invoice in advance or AD_HOC", () => {
  /** 10 seats from 11 June on, 16 from 16 June on. */
  async function seatsInJune(): Promise<ExportedInvoice[]> {
    const underTest = engineAt("2024-06-10");
    await underTest.engine.load(BOOK);
    const seatsFrom = (quantity: number, effectiveFrom: string) =>
      underTest.engine.licenses.update("a", {
        licenseId: "addon.seats",
        updateType: "ABSOLUTE",
        quantity,
        effectiveFrom,
      });
    await underTest.engine.associate("a", { pricePlanId: "seats", effectiveFrom: "2024-06-11" });
    await seatsFrom(10, "2024-06-11T00:00:00Z");
    await seatsFrom(16, "2024-06-16T09:00:00Z");
    underTest.at("2024-07-02");
    return exportFrom(underTest, "2024-07-02");
  }
  const addDays = (date: string, days: number): string =>
    new Date(Date.parse(date) + days * 24 * 60 * 60 * 1000).toISOString();

  test("follow from those that its cards served", async () => {
    const invoices = await seatsInJune();
    const heads = invoices.map(({ invoiceType, startDate, endDate, invoiceDate, revenueInfo }) =>
      [
        invoiceType,
        ...[startDate, endDate, invoiceDate].map((each) => String(each).slice(5, 10)),
        revenueInfo["value"],
      ].join(" "),
    );
    // 10 × 10 × 20/30 days; 6 × 10 × 15/30 days; 16 × 10.
    expect(heads).toEqual([
      "STANDARD_ADVANCED 06-11 07-01 06-11 66.67",
      "AD_HOC 06-11 07-01 06-16 30",
      "STANDARD_ADVANCED 07-01 08-01 07-01 160",
    ]);
    expect(differencesIn(invoices)).toEqual([]);
    for (const [at, { startDate, endDate, invoiceDate }] of invoices.entries()) {
      for (const days of [-1, 1]) {
        for (const [name, date] of Object.entries({ startDate, endDate, invoiceDate })) {
          // 160 for July are unprorated: a fee for several months would end no earlier.
          if (at === 2 && name === "endDate" && days === -1) continue;
          const copy = changeInvoice(invoices, at, (invoice) => (invoice[name] = addDays(String(date), days)));
          expect(differencesIn(copy), `${name} of invoice ${at}`).not.toEqual([]);
        }
      }
    }
  });

  test("begin where a STANDARD invoice of the cycle begins", async () => {
    const underTest = engineAt("2024-05-30");
    await underTest.engine.load({
      ...BOOK,
      pricePlans: [{ id: "whole", cycle: "MONTHLY", fees: [fee(5), support(30)] }],
    });
    await underTest.engine.associate("a", { pricePlanId: "whole", effectiveFrom: "2024-06-11" });
    underTest.at("2024-07-02");
    const invoices = await exportFrom(underTest, "2024-07-02");
    expect(differencesIn(invoices)).toEqual([]);
    // 30 for all of June: the fee itself does not show that it was charged on 11 June.
    const movedInvoices = changeInvoice(invoices, 0, (invoice) => {
      invoice["startDate"] = addDays("2024-06-11T00:00:00.000Z", 1);
      invoice.invoiceDate = addDays("2024-06-11T00:00:00.000Z", 1);
    });
    expect(differencesIn(movedInvoices)).toEqual([
      "a STANDARD_ADVANCED 2024-06-12T00:00:00.000Z, startDate: 2024-06-11T00:00:00.000Z, not 2024-06-12T00:00:00.000Z",
    ]);
  });
});

describe("S17.1 a meter whose events consume a feature", () => {
  const withFeature: ShortBookInput = {
    eventSchemas: [{ name: "job", attributes: ["n"] }],
    usageMeters: [{ id: "um.jobs", name: "jobs", schema: "job", sum: "n" }],
    features: [{ id: "units", name: "Units", schemaAssociations: [{ schemaName: "job", attributeName: "n" }] }],
    pricePlans: [
      {
        id: "jobs",
        cycle: "MONTHLY",
        usage: [{ meter: "um.jobs", rate: 1 }],
        overages: [{ feature: "units", rate: 1 }],
      },
    ],
    accounts: [{ id: "a", name: "Acme a" }],
  };

  test("is in a separate file of an export, from which its quantities are verified", async () => {
    const underTest = engineAt("2024-01-01");
    await underTest.engine.load(withFeature);
    await underTest.engine.associate("a", { pricePlanId: "jobs", effectiveFrom: "2024-01-01" });
    await underTest
      .at("2024-01-05T12:00:00Z")
      .ingest([
        { schemaName: "job", id: "1", accountId: "a", timestamp: "2024-01-05T00:00:00Z", attributes: { n: 5 } },
      ]);
    const now = (): number => Date.parse("2024-01-20");
    const { invoices, usage, featureUsage } = await exportParts({ engine: underTest.engine, now });
    const rows = featureUsage.map((row) => ({ ...row, quantity: row.quantity.toFixed() }));
    expect({ usage, rows }).toEqual({
      usage: [],
      rows: [{ accountId: "a", meterId: "um.jobs", date: "2024-01-05", quantity: "5" }],
    });
    const invoiceJson = JSON.parse(stringifyJson(invoices)) as unknown;
    const quantities = { verified: 1, total: 1 };
    expect(verify({ invoices: invoiceJson, usage: rows })).toMatchObject({ differences: [], quantities });
    const wrong = verify({ invoices: invoiceJson, usage: [...rows, ...rows] });
    expect(wrong.differences).toEqual([
      { where: "a STANDARD 2024-02-01T00:00:00.000Z: usage of um.jobs", expected: "10", found: "5" },
    ]);
    const none = verify({ invoices: invoiceJson, usage: [] });
    expect(none).toMatchObject({ differences: [], quantities: { verified: 0, total: 0 } });
    expect([...none.unverifiedMeters]).toEqual(["um.jobs"]);
  });
});
